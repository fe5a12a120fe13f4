package verify

import (
	"bytes"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// copyBundle are the files of the bundle in another folder, kb.
func (s *story) copyBundle() repo.Changes {
	s.Helper()
	ch := repo.Changes{}
	for _, name := range s.listFiles("knowledge") {
		ch["kb/"+strings.TrimPrefix(name, "knowledge/")] = s.file(name)
	}
	return ch
}

// moveBundle names kb as the bundle.
func (s *story) moveBundle(ch repo.Changes) repo.OID {
	s.Helper()
	ch["odd.toml"] = []byte("[bundle]\nroot = \"kb\"\n" + string(s.file("odd.toml")))
	return s.ann("flip", ch)
}

// A folder that becomes the bundle is judged as if the bundle had moved there, even if git sees no move.
func TestAnotherFolderBecomesTheBundle(t *testing.T) {
	const gone = ":1 is append-only and was deleted"
	prepare := func(change func(*story, repo.Changes)) func(*story) repo.OID {
		return func(s *story) repo.OID {
			work(s, "t")
			ch := s.copyBundle()
			change(s, ch)
			s.ann("prepare", ch)
			return s.moveBundle(repo.Changes{})
		}
	}
	swapped := func(old, now string) func(*story, repo.Changes) {
		return func(s *story, ch repo.Changes) {
			for name, b := range ch {
				ch[name] = bytes.Replace(b, []byte(old), []byte(now), 1)
			}
		}
	}
	runTampers(t, []tamper{
		{name: "prepared as it is", tell: prepare(func(*story, repo.Changes) {}), want: []string{}},
		{name: "prepared, and the other taken away", tell: func(s *story) repo.OID {
			work(s, "t")
			ch := s.copyBundle()
			s.ann("prepare", ch)
			away := repo.Changes{}
			for _, name := range s.listFiles("knowledge") {
				away[name] = nil
			}
			return s.moveBundle(away)
		}, want: []string{}},
		{name: "empty", tell: func(s *story) repo.OID { work(s, "t"); return s.moveBundle(repo.Changes{"kb/a.md": []byte("# A\n")}) },
			want: []string{"14 journal/2026-03-02-R1.tsv" + gone, "14 ledger/2026-03/R1.jsonl" + gone}},
		{name: "without its last line, which is put back", tell: func(s *story) repo.OID {
			name := strings.Replace(work(s, "t").file, "knowledge/", "kb/", 1)
			ch := s.copyBundle()
			whole := ch[name]
			ch[name] = whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1]
			s.moveBundle(ch)
			return s.ann("back", repo.Changes{name: whole})
		}, want: []string{"14 kb/ledger/2026-03/R1.jsonl:3 is append-only, and old lines of it were changed"}},
		{name: "with another cost", tell: prepare(swapped(`"cost_micro_usd":100000`, `"cost_micro_usd":100`)),
			want: []string{"14 kb/ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed"}},
		{name: "with a task that nobody approved", tell: prepare(swapped("state: review", "state: done")),
			want: []string{"3 kb/tasks/t.md:5 the task was added as done; only odd approve sets done"}},
		{name: "with a line more", tell: prepare(func(s *story, ch repo.Changes) {
			name := "kb/ledger/2026-03/run-01KJ0000000000000000000001.jsonl"
			s.record(&run{id: "run-01KJ0000000000000000000001", file: name}, ch, event.Record{Kind: event.Refused})
		}), want: []string{"14 kb/ledger/2026-03/R1.jsonl:4 is a record of R1 that another commit than its own adds"}},
		{name: "with a ledger more", tell: prepare(func(s *story, ch repo.Changes) {
			name := "kb/ledger/2026-03/run-01KJ0000000000000000000009.jsonl"
			s.record(&run{id: "run-01KJ0000000000000000000009", file: name, task: "t"}, ch, event.Record{Kind: event.Refused})
		}), want: []string{"14 kb/ledger/2026-03/R9.jsonl:1 is a record of R9 that another commit than its own adds"}},
		{name: "without what a line beside it adds", tell: func(s *story) repo.OID {
			w := s.claim("t")
			base := s.tip()
			s.result(w, 100_000, terms("keel"))
			theirs := s.tip()
			s.land(base)
			s.ann("prepare", s.copyBundle())
			ours := s.moveBundle(repo.Changes{})
			tree, _, err := s.r.MergeTree(s.Context(), ours, theirs)
			if err != nil {
				s.Fatal(err)
			}
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{ours, theirs}, tree: tree}))
		}, want: []string{"14 kb/ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed", "14 journal/2026-03-02-R1.tsv" + gone}},
	})
}
