package review

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

func TestWalkCountsForItsBytes(t *testing.T) {
	t.Parallel()
	at := func(path, result string) Path { return Path{Path: path, Result: result} }
	p := Proposal{Commit: "c1", Paths: []Path{at("k/a.md", "1"), at("k/b.md", "2"), at("k/c.md", "3")}}
	w, _ := Walk{}.About(p)
	w = w.With(Decided{Path: p.Paths[0], ID: "a", Take: Leave, Reason: "no word of ours"})
	w = w.With(Decided{Path: p.Paths[1], ID: "b", Take: Verified})
	w = w.With(Decided{Path: p.Paths[2], ID: "c"}) // shown
	w = w.With(Decided{Path: p.Paths[1], ID: "b", Take: Accept})
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if w, err = ReadWalk(b); err != nil {
		t.Fatal(err)
	}
	if w.Count("") != 2 || w.String() != "1 taken, 1 left out" {
		t.Errorf("%d decided: %s", w.Count(""), w)
	}
	if d := cmp.Diff([]LeftOut{{"a", "no word of ours"}}, w.LeftOut()); d != "" {
		t.Error(d)
	}
	p.Commit, p.Paths[0].Result = "c2", "other"
	w, dropped := w.About(p)
	_, a := w.Of(p.Paths[0])
	_, c := w.Of(p.Paths[2])
	if dropped != 1 || a || !c || w.Count("") != 1 || w.Proposal != "c2" {
		t.Errorf("%d dropped of %+v", dropped, w)
	}
	if v := w.With(Decided{Path: p.Paths[2], ID: "c", Take: Verified}).Verify(); !v.Marks("c") || v.Marks("b") {
		t.Errorf("%+v", v)
	}
}

func FuzzReadWalk(f *testing.F) {
	f.Add([]byte(`{"proposal":"c1","atoms":[{"path":"k/a.md","base":"","result":"1","id":"a","take":"leave out","reason":"no"}]}`))
	f.Add([]byte(`{"proposal":"c1","atoms":[{"path":"k/a.md","take":"perhaps"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := ReadWalk(b)
		if err != nil {
			if len(w.Atoms) > 0 {
				t.Error("a walk that cannot be read decides something")
			}
			return
		}
		w, _ = w.About(Proposal{Paths: []Path{{Path: "k/a.md", Result: "1"}}})
		if n := w.Count(Accept) + w.Count(Verified) + w.Count(Leave); n != w.Count("") {
			t.Errorf("%d of %d decisions are known", n, w.Count(""))
		}
		for _, id := range w.LeftOut() {
			if w.Verify().Marks(okf.ID(id.ID)) && len(w.Atoms) == 1 {
				t.Errorf("%s is left out and verified", id.ID)
			}
		}
	})
}
