package verify

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/repo"
)

// otherRepository begins a repository of its own beside this one, with all that only grows, and returns its end; the
// story goes on where it was.
func (s *story) otherRepository(root string) repo.OID {
	s.Helper()
	ours, n := s.tip(), s.n
	defer func() { s.land(ours) }()
	more := "[bundle]\nroot = \"" + root + "\"\n"
	s.land(s.make("root", "", draft{who: annMail, ch: repo.Changes{"odd.toml": []byte(more + lawWith(s, ""))}}))
	s.ann("journal", repo.Changes{root + "/journal/2026-03-02-ann.tsv": []byte("O\tObservation\t\t\t\t\ta\tb\n")})
	s.ann("proposals", repo.Changes{root + "/proposals/ann.jsonl": s.encodeProposal("P-1", "user_signal")})
	s.n = n
	return s.tip()
}

// addSubtree is a merge that brings a commit below a folder, as git subtree makes it.
func (s *story) addSubtree(who string, other repo.OID, folder string, drop ...string) repo.OID {
	s.Helper()
	s.git("", "read-tree", string(s.tip()))
	s.git("", "rm", "-r", "-q", "--cached", "--ignore-unmatch", folder)
	s.git("", "read-tree", "--prefix="+folder+"/", string(other))
	for _, name := range drop {
		s.git("", "rm", "-q", "--cached", path.Join(folder, name))
	}
	tree := repo.OID(strings.TrimSpace(s.git("", "write-tree")))
	return s.land(s.make("subtree", "", draft{who: who, parents: []repo.OID{s.tip(), other}, tree: tree}))
}

// Another repository in a folder is clean. Leaving out its append-only files, or moving this repository's own, is
// found.
func TestAnotherRepositoryInAFolder(t *testing.T) {
	const told = ":1 is append-only and was deleted"
	grow := func(s *story, other repo.OID, root string) repo.OID {
		name := root + "/journal/2026-03-02-ann.tsv"
		return s.make("more", "", draft{who: annMail, parents: []repo.OID{other}, ch: repo.Changes{name: append(s.at(other, name), "O\tObservation\t\t\t\t\tc\td\n"...)}})
	}
	of := func(root string) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.ann("ours", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-2", "user_signal")})
			other := s.otherRepository(root)
			s.addSubtree(annMail, other, "vendored/it")
			s.addSubtree(annMail, grow(s, other, root), "vendored/it")
			return ""
		}
	}
	runTampers(t, []tamper{
		{name: "brought in, and again", tell: of("knowledge"), want: []string{}},
		{name: "whose bundle lies elsewhere", tell: of("kb"), want: []string{}},
		{name: "beside this one's bundle", tell: func(s *story) repo.OID {
			other := s.otherRepository("kb")
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.tip(), other}, ch: repo.Changes{
				"kb/journal/2026-03-02-ann.tsv": s.at(other, "kb/journal/2026-03-02-ann.tsv"), "kb/proposals/ann.jsonl": s.at(other, "kb/proposals/ann.jsonl")}}))
		}, want: []string{}},
		{name: "with something left out", tell: func(s *story) repo.OID {
			return s.addSubtree(annMail, s.otherRepository("kb"), "vendored", "kb/journal/2026-03-02-ann.tsv")
		}, want: []string{"14 kb/journal/2026-03-02-ann.tsv" + told, "14 kb/proposals/ann.jsonl" + told}},
		{name: "with something taken back", tell: func(s *story) repo.OID {
			other := s.otherRepository("kb")
			s.addSubtree(annMail, other, "vendored")
			s.land(s.tip())
			more := grow(s, other, "kb")
			tree, err := s.r.TreeOID(s.tip(), "")
			if err != nil {
				s.Fatal(err)
			}
			return s.land(s.make("ours", "", draft{who: annMail, parents: []repo.OID{s.tip(), more}, tree: tree}))
		}, want: []string{"14 kb/journal/2026-03-02-ann.tsv" + told, "14 kb/proposals/ann.jsonl" + told}},
		{name: "this repository's own, put away in a merge", tell: func(s *story) repo.OID {
			base := s.tip()
			other := s.ann("journal", repo.Changes{"knowledge/journal/2026-03-02-ann.tsv": []byte("O\tObservation\t\t\t\t\ta\tb\n")})
			s.land(base)
			return s.addSubtree(annMail, other, "attic")
		}, want: []string{"14 journal/2026-03-02-ann.tsv" + told}},
		{name: "by a machine", tell: func(s *story) repo.OID { return s.addSubtree(agentMail, s.otherRepository("kb"), "vendored") }, want: []string{
			"14 kb/journal/2026-03-02-ann.tsv" + told, "14 kb/proposals/ann.jsonl" + told,
			"2 vendored/kb/journal/2026-03-02-ann.tsv:1 a merge by odd or an agent had a conflict, or more than two parents; only a person merges these"}},
	})
}

// A second root commit cannot make this repository's own records count as another repository's.
func TestNoRootMakesThisRepositoryAnother(t *testing.T) {
	const journal, gone = "14 journal/2026-03-02-R1.tsv:1 is append-only and was deleted", "14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"
	const done = "3 tasks/earlier.md:3 done in a commit without parents, where this history does not begin; nothing proves its approval" // in the root commit that is put away
	// root lands a root commit that holds what a commit does, behind it a merge of others
	root := func(s *story, like repo.OID, others ...repo.OID) repo.OID {
		tree, err := s.r.TreeOID(like, "")
		if err != nil {
			s.Fatal(err)
		}
		if s.land(s.make("root", "", draft{who: annMail, tree: tree})); len(others) > 0 {
			s.land(s.make("join", "", draft{who: annMail, parents: append([]repo.OID{s.tip()}, others...), tree: tree}))
		}
		return s.tip()
	}
	runTampers(t, []tamper{
		{name: "before what is put away", tell: func(s *story) repo.OID {
			before := s.tip()
			work(s, "t")
			away := root(s, s.tip(), s.tip())
			s.land(before)
			s.ann("no tasks", repo.Changes{taskFile("t"): nil, taskFile("earlier"): nil})
			return s.addSubtree(annMail, away, "attic")
		}, want: []string{journal, gone}},
		{name: "before what is kept", tell: func(s *story) repo.OID {
			before := s.tip()
			work(s, "t")
			away := s.tip()
			root(s, before, before)
			return s.addSubtree(annMail, away, "attic")
		}, want: []string{done, journal, gone}},
		{name: "that is what is kept", tell: func(s *story) repo.OID {
			before := s.tip()
			work(s, "t")
			away := s.tip()
			root(s, before)
			return s.addSubtree(annMail, away, "attic")
		}, want: []string{done, journal, gone}},
		{name: "with less of a ledger", tell: func(s *story) repo.OID {
			w := s.claim("t")
			claim := s.tip()
			s.result(w, 100_000, terms("keel"))
			away := s.tip()
			root(s, claim)
			s.ann("no tasks", repo.Changes{taskFile("t"): nil, taskFile("earlier"): nil})
			return s.addSubtree(annMail, away, "attic")
		}, want: []string{journal, "14 ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed"}},
	})
}

// Records of a bundle that begins anew belong to another repository when read from the beginning, and to this one for a
// range that starts at them.
func TestWhatARangeStandsOnIsOurs(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "team: docs\n")
	from := s.tip()
	work(s, "t")
	away := s.tip()
	s.land(s.make("root", "", draft{who: annMail, ch: repo.Changes{"odd.toml": s.file("odd.toml")}}))
	s.addSubtree(annMail, away, "attic")
	gone := []string{"14 journal/2026-03-02-R1.tsv:1 is append-only and was deleted", "14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"}
	for at, want := range map[repo.OID][]string{"": {}, from: gone, away: gone} {
		if d := cmp.Diff(want, listFindings(s.check(at, s.tip()))); d != "" {
			t.Errorf("from %q: %s", at, d)
		}
	}
}
