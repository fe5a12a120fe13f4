package okftest

import (
	"bytes"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/okf"
)

// The corpus has the sizes, hubs and planted words that its comment promises,
// and not one atom that odd finds fault with.
func TestCorpus(t *testing.T) {
	t.Parallel()
	c, bundle := Corpus{Seed: 8, N: 1500}, fstest.MapFS{}
	var sizes []int
	planted := 0
	for path, text := range c.All() {
		bundle[path] = &fstest.MapFile{Data: text}
		sizes = append(sizes, len(text))
		planted += bytes.Count(text, []byte(Planted))
	}
	slices.Sort(sizes)
	if mid, far := sizes[len(sizes)/2], sizes[len(sizes)*99/100]; mid < 650 || mid > 850 || far < 2*mid {
		t.Errorf("sizes: median %d, 99 in 100 below %d", mid, far)
	}
	if planted != c.N/Planting {
		t.Errorf("%d planted words, want %d", planted, c.N/Planting)
	}
	g, ps, err := okf.Load(bundle)
	if err != nil || len(g.Atoms()) != c.N {
		t.Fatal(len(g.Atoms()), err)
	}
	for _, p := range append(ps, okf.Check(g, time.Unix(0, 0))...) {
		if p.Code == "odd-edge-unknown-target" || p.Code == "odd-link-broken" || !okf.Conformant([]okf.Problem{p}) {
			t.Error(p)
		}
	}
	var in []int
	for _, a := range g.Atoms() {
		in = append(in, len(g.Backlinks(a.ID)))
	}
	slices.Sort(in)
	if hub, mid := in[len(in)-1], in[len(in)/2]; hub < 40*mid || mid > 10 {
		t.Errorf("the hub has %d backlinks, the median atom %d", hub, mid)
	}
}

func TestCorpusIsTheSameAgain(t *testing.T) {
	t.Parallel()
	_, one := Corpus{Seed: 8, N: 300}.Atom(77)
	_, two := Corpus{Seed: 8, N: 300}.Atom(77)
	_, other := Corpus{Seed: 9, N: 300}.Atom(77)
	if !bytes.Equal(one, two) || bytes.Equal(one, other) {
		t.Errorf("same seed:\n%s\n%s\nother seed:\n%s", one, two, other)
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	waits, planted, size := 0, 0, 0
	for path, text := range (Tasks{Seed: 8, N: 1000, Role: "editor"}).All() {
		a, err := okf.Parse(path, text)
		if err != nil || a.Type != "task" {
			t.Fatal(a.Type, err)
		}
		waits += bytes.Count(text, []byte("dependencies: "))
		planted += bytes.Count(text, []byte(Planted))
		size += len(TaskBody(8, planted))
	}
	if waits != 200 || planted != 2 || size/1000 < 600 || size/1000 > 800 {
		t.Errorf("%d wait, %d planted, bodies of %d bytes", waits, planted, size/1000)
	}
}
