package proof

import (
	"path"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
)

// another begins a repository of its own beside this one, with all that only grows, and
// returns its end; the story goes on where it was.
func (s *story) another(root string) repo.OID {
	s.Helper()
	ours, n := s.tip(), s.n
	defer func() { s.land(ours) }()
	more := "[bundle]\nroot = \"" + root + "\"\n"
	s.land(s.make("root", "", draft{who: annMail, ch: repo.Changes{"odd.toml": []byte(more + lawful(s, ""))}}))
	s.ann("journal", repo.Changes{root + "/journal/2026-03-02-ann.tsv": []byte("O\tObservation\t\t\t\t\ta\tb\n")})
	s.ann("proposals", repo.Changes{root + "/proposals/ann.jsonl": s.proposal("P-1", "user_signal")})
	s.n = n
	return s.tip()
}

// subtree is a merge that brings a commit below a folder, as git subtree makes it.
func (s *story) subtree(who string, other repo.OID, folder string, drop ...string) repo.OID {
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

// Another repository in a folder of this one is not deleted; but who leaves out what only
// grows there, or moves what is this repository's own, is told of.
func TestAnotherRepositoryInAFolder(t *testing.T) {
	const told = ":1 was deleted; it only grows"
	grow := func(s *story, other repo.OID, root string) repo.OID {
		name := root + "/journal/2026-03-02-ann.tsv"
		return s.make("more", "", draft{who: annMail, parents: []repo.OID{other}, ch: repo.Changes{name: append(s.at(other, name), "O\tObservation\t\t\t\t\tc\td\n"...)}})
	}
	of := func(root string) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.ann("ours", repo.Changes{"knowledge/proposals/ann.jsonl": s.proposal("P-2", "user_signal")})
			other := s.another(root)
			s.subtree(annMail, other, "vendored/it")
			s.subtree(annMail, grow(s, other, root), "vendored/it")
			return ""
		}
	}
	runTampers(t, []tamper{
		{name: "brought in, and again", tell: of("knowledge"), want: []string{}},
		{name: "whose bundle lies elsewhere", tell: of("kb"), want: []string{}},
		{name: "with something left out", tell: func(s *story) repo.OID {
			return s.subtree(annMail, s.another("kb"), "vendored", "kb/journal/2026-03-02-ann.tsv")
		}, want: []string{"14 kb/journal/2026-03-02-ann.tsv" + told, "14 kb/proposals/ann.jsonl" + told}},
		{name: "with something taken back", tell: func(s *story) repo.OID {
			other := s.another("kb")
			s.subtree(annMail, other, "vendored")
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
			return s.subtree(annMail, other, "attic")
		}, want: []string{"14 journal/2026-03-02-ann.tsv" + told}},
		{name: "by a machine", tell: func(s *story) repo.OID { return s.subtree(agentMail, s.another("kb"), "vendored") }, want: []string{
			"14 kb/journal/2026-03-02-ann.tsv" + told, "14 kb/proposals/ann.jsonl" + told,
			"2 vendored/kb/journal/2026-03-02-ann.tsv:1 a machine's merge where git finds a conflict or more than two parents; only a person resolves one"}},
	})
}
