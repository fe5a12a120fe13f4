package verify

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
)

// What a rule forbids does not land; what was wrong before, and what others made, stops nobody.
func TestLanding(t *testing.T) {
	t.Parallel()
	forged := func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "title: T t", "title: U t") }
	s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){"claim t": forged})
	s.add("t", "")
	before := s.tip()
	first, err := s.r.Commit(before)
	if err != nil {
		t.Fatal(err)
	}
	w := s.claim("t")
	claimed := s.tip()
	s.result(w, 1, terms("keel"))
	told := s.tip()
	make := func(parents []repo.OID, ch repo.Changes) repo.OID {
		oid, err := s.r.Make(context.Background(), parents, ch, repo.Signature{Name: "Ann", Email: "ann@example.org", When: s.now}, "by hand\n")
		if err != nil {
			t.Fatal(err)
		}
		return oid
	}
	odd := s.file("odd.toml")
	newer := make([]repo.OID{before}, repo.Changes{"odd.toml": append(bytes.Clone(odd), "\n[odd]\nformat = 9\n"...)})
	merge := make([]repo.OID{before, make([]repo.OID{newer}, repo.Changes{"odd.toml": odd})}, nil)
	proposal := repo.RefUpdate{Name: "refs/heads/odd/review/t.1", New: w.proposal}
	line := &repo.Line{Repo: s.r, Ref: "refs/heads/main"}
	l := NewLanding(s.r)
	for _, c := range []struct {
		name      string
		old, next repo.OID
		also      []repo.RefUpdate
		want      string // part of the refusal, "" for none
	}{
		{"an honest commit", first.Parents[0], before, nil, ""},
		{"a commit that breaks a rule", before, claimed, nil, "knowledge/tasks/t.md:1: a commit by odd or an agent changes the task's key title; the commit was not kept, because rule 2"},
		{"the next, on a finding that is there already", claimed, told, []repo.RefUpdate{proposal}, ""},
		{"one that brings the finding of another", before, told, nil, ""},
		{"a merge of a commit that this odd cannot judge", before, merge, nil, ""},
		{"a commit that this odd cannot judge", before, newer, nil, "this odd knows formats up to 1"},
		{"a branch that is to be deleted", claimed, told, []repo.RefUpdate{proposal, {Name: "refs/heads/odd/review/old.1", Old: before}}, ""},
		{"a branch that breaks a rule", before, before, []repo.RefUpdate{{Name: "refs/heads/odd/review/u.1", New: claimed}}, "changes the task's key title"},
	} {
		err := l.Check(context.Background(), line, c.old, c.next, c.also)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), " more)") {
			t.Errorf("%s: %v counts more than its one finding", c.name, err)
		}
		if err != nil && !errors.Is(err, repo.ErrForbidden) && !strings.Contains(c.want, "formats") {
			t.Errorf("%s: %v is not repo.ErrForbidden", c.name, err)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := NewLanding(s.r).Check(stopped, line, before, claimed, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a check that was interrupted: %v", err)
	}
}

// What a run keeps is judged as it is about to be: a brief that its ref will not hold does not land.
func TestLandingSeesTheRefsThatMove(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := s.claim("t")
	claimed, kept := s.tip(), "refs/odd/run/"+w.id
	s.keepBrief(w, func(b string) string { return b })
	brief := get(s.r.Ref(kept))
	s.git("", "update-ref", "-d", kept)
	s.result(w, 1, terms("keel"))
	other := get(s.r.WriteTree(t.Context(), "", repo.Changes{"other.md": []byte("# Other\n")}))
	for oid, want := range map[repo.OID]bool{"": true, brief: true, other: false} {
		also := []repo.RefUpdate{{Name: "refs/heads/odd/review/t.1", New: w.proposal}, {Name: kept, New: oid}}
		err := NewLanding(s.r).Check(t.Context(), &repo.Line{Repo: s.r, Ref: "refs/heads/main"}, claimed, s.tip(), also)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "the stored brief") {
			t.Errorf("kept %q: %v", oid, err)
		}
	}
}
