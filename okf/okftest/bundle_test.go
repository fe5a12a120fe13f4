package okftest

import (
	"bytes"
	"testing"
	"time"

	"github.com/odd-cli/odd/okf"
)

// The bundle is what its comment says, so that figures measured on it mean
// what they say.
func TestBundle(t *testing.T) {
	t.Parallel()
	size, n := 0, 0
	for path, text := range Bundle(350) {
		a, err := okf.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Edges) != 3 || bytes.Count(text, []byte("](")) != 3 || a.BodyLine != 15 {
			t.Fatalf("%s: %d edges, %d links, body on line %d", path, len(a.Edges), bytes.Count(text, []byte("](")), a.BodyLine)
		}
		size, n = size+len(text), n+1
	}
	if n != 350 || size/n < 600 || size/n > 800 {
		t.Errorf("%d atoms of %d bytes", n, size/n)
	}
}

func TestBundleIsSound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 150} {
		g, ps, err := okf.Load(FS(n))
		if err != nil || len(g.Atoms()) != n {
			t.Fatal(n, len(g.Atoms()), err)
		}
		for _, p := range append(ps, okf.Check(g, time.Unix(0, 0))...) {
			if p.Code == "odd-edge-unknown-target" || p.Code == "odd-link-broken" || !okf.Conformant([]okf.Problem{p}) {
				t.Errorf("%d: %v", n, p)
			}
		}
	}
}
