package okf

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Gather reads the atoms that OfType makes, each as if it were the only one, and
// makes none for keeps; of a bundle that changed since its cache was made too.
func TestGatherReadsWhatOfTypeMakes(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{}
	write := func(i int, more string) {
		f[fmt.Sprintf("a/%03d.md", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("---\ntype: %s\ntitle: Number %d\n%s---\n\nText %d, [next](%03d.md).\n", []string{"term", "role", "task"}[i%3], i, more, i, i+1))}
	}
	for i := range 300 {
		more := ""
		if i%4 == 0 {
			more = fmt.Sprintf("tags: [a, b%d]\nowner: x%d\ngenerated: {by: human:ann, at: now}\nsources: [{resource: y}]\nverified: {by: human:ann}\n", i, i)
		}
		if i%7 == 0 {
			more += "status: stale\nuri: u://" + fmt.Sprint(i) + "\n"
		}
		write(i, more)
	}
	loaded, ps, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	cache := Encode(loaded, ps)
	decoded := func() *Graph {
		g, _, err := Decode(cache, f)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := decoded()
	some := g.ByPath("a/030.md")
	fits := func(typ string) bool { return typ != "role" }
	tell := func(a *Atom) string {
		return fmt.Sprint(a.Path, a.ID, a.ExplicitID, a.Type, a.Title, a.URI, a.Status, a.Tags, a.Edges, a.Sources, a.Generated, a.Verified, a.Fields, a.Blob, a.Links(), string(a.Bytes()), a == some)
	}
	made := func(g *Graph) (n int) {
		for i := range g.atoms {
			if g.atoms[i].Load() != nil {
				n++
			}
		}
		return n
	}
	same := func(g *Graph, n int) {
		t.Helper()
		before := made(g)
		got := Gather(g, fits, tell)
		if n := made(g) - before; n > 0 || before > 10 {
			t.Errorf("%d atoms were made beside %d", n, before)
		}
		var want []string
		for _, a := range g.OfType(fits) {
			want = append(want, tell(a))
		}
		if d := cmp.Diff(want, got); d != "" || len(want) != n {
			t.Errorf("%d of %d: %s", len(got), len(want), d)
		}
	}
	same(g, 200)
	changed := map[string]bool{"a/004.md": true, "a/002.md": true, "a/003.md": true, "a/301.md": true}
	write(4, "tags: [new]\n")
	write(301, "") // a role
	delete(f, "a/002.md")
	f["a/003.md"].Data = []byte(strings.Replace(string(f["a/003.md"].Data), "type: term", "type: role", 1))
	f["a/0001.md"] = &fstest.MapFile{Data: []byte("---\ntype: first\n---\n")}
	changed["a/0001.md"] = true
	g, _ = Reload(f, decoded(), ps, changed)
	some = nil
	same(g, 199)
}
