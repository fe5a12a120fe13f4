package verify

import (
	"context"
	"testing"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// A merged root commit brings in neither ledgers nor done tasks.
func TestAnotherRootBringsNothingFromNowhere(t *testing.T) {
	merged := func(done, records bool) func(*story) repo.OID {
		return func(s *story) repo.OID {
			w := s.claim("t")
			ours := s.tip()
			ch := repo.Changes{"knowledge/terms/x.md": []byte("---\ntype: term\ntitle: X\nconfidence: inferred\n---\n")}
			if done {
				ch[taskFile("x")] = []byte("---\ntype: task\nid: x\ntitle: X\nstate: done\n---\n")
			}
			if records {
				v := &run{id: "run-01KJ0000000000000000000009", file: "knowledge/ledger/2026-03/run-01KJ0000000000000000000009.jsonl", task: "t"}
				s.record(v, ch, event.Record{Kind: event.Abandoned, DeadRun: w.id, Team: "docs"})
			}
			root := s.make("root", "", draft{who: annMail, ch: ch})
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{ours, root}, ch: ch}))
		}
	}
	runTampers(t, []tamper{
		{name: "knowledge", tell: merged(false, false), want: []string{}},
		{name: "a done task", tell: merged(true, false), want: []string{"3 tasks/x.md:5 done in a commit without parents, where this history does not begin; nothing proves its approval"}},
		{name: "a reservation given back", tell: merged(false, true), want: []string{"14 ledger/2026-03/R9.jsonl:1 is a ledger in a commit without parents, where this history does not begin; nothing proves it"}},
	})
}

// One commit without parents may begin one range and be a second root in another of the same Checker.
func TestARootIsJudgedInEachRange(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	ours := s.tip()
	ch := repo.Changes{taskFile("x"): []byte("---\ntype: task\nid: x\ntitle: X\nstate: done\n---\n")}
	root := s.make("root", "", draft{who: annMail, ch: ch})
	merged := s.make("merge", "", draft{who: annMail, parents: []repo.OID{ours, root}, ch: ch})
	all := NewChecker(context.Background(), s.r)
	for _, c := range []struct {
		to   repo.OID
		want int
	}{{root, 0}, {merged, 1}, {root, 0}} {
		r, err := all.Check(Scope{To: c.to, Refs: map[string]repo.OID{"refs/heads/main": c.to}})
		if err != nil || len(r.Findings) != c.want {
			t.Errorf("%s: %v, %v, want %d findings", c.to, listFindings(r), err, c.want)
		}
	}
}
