package verify

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
)

// oldHistory is a plain history of n commits on which an odd.toml was taken up, and then one branch from each of every
// step-th of them, merged by hand: the push, from its ground.
func oldHistory(s *story, n, step int) (from repo.OID, merges int) {
	s.Helper()
	old := []repo.OID{s.make("plain", "", draft{who: annMail, ch: repo.Changes{"README.md": []byte("# Plain\n")}})}
	for i := range n - 1 {
		old = append(old, s.make("plain", "", draft{who: annMail, parents: old[i:], ch: repo.Changes{"src/n": fmt.Appendf(nil, "%d\n", i)}}))
	}
	from = s.land(s.make("take up", "", draft{who: annMail, parents: []repo.OID{old[n-1], s.tip()}, ch: repo.Changes{"odd.toml": []byte(law)}}))
	for i := 0; i < n; i += step {
		merges++
		side := s.make("side", "", draft{who: bobMail, parents: old[i : i+1], ch: repo.Changes{fmt.Sprintf("src/side-%d", i): []byte("x\n")}})
		tree, _, err := s.r.MergeTree(s.Context(), s.tip(), side)
		if err != nil {
			s.Fatal(err)
		}
		s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.tip(), side}, tree: tree}))
	}
	return from, merges
}

// Commits before a range are read once, however many commits of the range descend from them.
func TestOldHistoryIsWalkedOnce(t *testing.T) {
	t.Parallel()
	const n = 40
	s := begin(t, lawWith(t, ""), nil)
	from, merges := oldHistory(s, n, 4)
	h, err := newGround(t.Context(), s.r).readHistory(Scope{From: from, To: s.tip()})
	if err != nil {
		t.Fatal(err)
	}
	if max := n + 1; merges != n/4 || h.walked > max {
		t.Errorf("%d merges onto a history of %d commits looked at %d commits, want %d at most", merges, n, h.walked, max)
	}
}

// A range and the whole history agree whether an odd.toml ever existed, also before it was added, after it was deleted,
// and for a symbolic link of that name.
func TestARangeKnowsWhatWasRuled(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	link, err := s.r.WriteBlob([]byte("elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	all, ends := []repo.OID{}, map[repo.OID]bool{}
	m := &maze{story: s, trees: map[repo.OID]files{}, ends: ends}
	for i := range 60 {
		c := repo.Commit{Author: repo.Signature{Name: "P", Email: annMail}, Message: "odd\n"}
		for range min(i, 1+rnd.IntN(2)) {
			if p := all[rnd.IntN(len(all))]; !slices.Contains(c.Parents, p) {
				c.Parents = append(c.Parents, p)
			}
		}
		tree := files{"n": {m.blob(fmt.Append(nil, i)), "100644"}}
		switch rnd.IntN(20) {
		case 0:
			tree["odd.toml"] = node{m.blob([]byte(law)), "100644"}
		case 1:
			tree["odd.toml"] = node{link, "120000"}
		case 2:
			tree["odd.toml/n"] = node{link, "100644"}
		}
		m.put(c, tree)
		all = append(all, m.tip())
	}
	m.put(repo.Commit{Parents: slices.Sorted(maps.Keys(ends)), Author: repo.Signature{Name: "P", Email: annMail}, Message: "join\n"}, files{"n": {link, "100644"}})
	whole, err := newGround(t.Context(), s.r).readHistory(Scope{To: s.tip()})
	if err != nil {
		t.Fatal(err)
	}
	yes := 0
	for _, from := range all {
		h, err := newGround(t.Context(), s.r).readHistory(Scope{From: from, To: s.tip()})
		if err != nil {
			t.Fatal(err)
		}
		for oid, is := range h.ruled {
			if is != whole.ruled[oid] {
				t.Errorf("from %s, %s is ruled: %v, by the whole history %v", from, oid, is, whole.ruled[oid])
			}
			if is {
				yes++
			}
		}
	}
	if yes == 0 || yes > 60*40 {
		t.Errorf("%d are ruled", yes)
	}
}
