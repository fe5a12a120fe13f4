package okf

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// alike fails where two graphs of one bundle answer any question differently.
func alike(t *rapid.T, want, got *Graph, wantPs, gotPs []Problem) {
	t.Helper()
	ask := func(what string, of func(g *Graph) any) {
		if d := cmp.Diff(of(want), of(got)); d != "" {
			t.Fatalf("%s -want +got\n%s", what, d)
		}
	}
	ask("findings", func(g *Graph) any { return Check(g, noon()) }) // first: same makes all atoms
	same(t, want, got, wantPs, gotPs)
	ids := func(as []*Atom) (out []ID) {
		for _, a := range as {
			out = append(out, a.ID)
		}
		return out
	}
	ask("length", func(g *Graph) any { return g.Len() })
	ask("terms", func(g *Graph) any { return ids(g.OfType(func(s string) bool { return s == "term" })) })
	ask("hits", func(g *Graph) any { return g.Search("one two three four", 0) })
	for _, a := range want.Atoms() {
		ask("hops at "+a.Path, func(g *Graph) any { return g.In(a.ID) })
		ask("dangling at "+a.Path, func(g *Graph) any { return append([]Dangling{}, g.Dangling(a.ID)...) })
		ask("ways from "+a.Path, func(g *Graph) any { return g.Expand(a.ID, -1, false) })
	}
	for _, name := range append(spoken(), drawnPaths()...) {
		ask("find "+name, func(g *Graph) any {
			a, err := g.Find(name)
			return fmt.Sprint(a != nil && a == g.ByID(a.ID), err) + g.atomPath(a)
		})
		ask("broken "+name, func(g *Graph) any { return g.Broken(name) })
		ask("file "+name, func(g *Graph) any { return g.atomPath(g.ByPath(name)) })
		ask("from a folder "+name, func(g *Graph) any { return g.atomPath(g.Target(name, "d/one.md")) })
	}
}

func (g *Graph) atomPath(a *Atom) string {
	if a == nil {
		return ""
	}
	return " " + a.Path
}

// spoken are names that atoms are called by and refer to others with: few, so
// that they meet.
func spoken() []string {
	return []string{
		"one", "two", "d/one", "d/two", "/d/one.md", "./two", "../one.md", "..", "three.md", "d/three", "four", "e/four", "nobody",
		"odd://x/one", "odd://x/one#a", "odd://y", "foreign://z", "one, two", "in words {x}", "d",
	}
}

func drawnPaths() []string {
	return []string{"one.md", "two.md", "three.md", "d.md", "d/one.md", "d/two.md", "d/three.md", "d/e/one.md", "e/four.md", "e/four-a.md", "index.md", "d/log.md"}
}

// drawFile is a file that may be an atom, broken, or a reserved file.
func drawFile(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
		return "---\nid: [\n"
	}
	name := rapid.SampledFrom(spoken())
	s := "---\ntype: " + rapid.SampledFrom([]string{"term", "process", "canon"}).Draw(t, "type") + "\n"
	if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
		s += "id: " + rapid.SampledFrom([]string{"one", "two", "d/one", "x/four", "three", "d"}).Draw(t, "id") + "\n"
	}
	if rapid.IntRange(0, 4).Draw(t, "with uri") == 0 {
		s += "uri: " + rapid.SampledFrom([]string{"odd://x/one", "odd://y", "odd://x/one#a"}).Draw(t, "uri") + "\n"
	}
	for _, key := range []string{"owner", "uses", "supersedes", "derives_from"} {
		if rapid.Bool().Draw(t, key) {
			s += fmt.Sprintf("%s: %q\n", key, name.Draw(t, "to"))
		}
	}
	if rapid.Bool().Draw(t, "sources") {
		s += fmt.Sprintf("sources: [{resource: %q}]\n", name.Draw(t, "source"))
	}
	s += "---\n\n# " + rapid.SampledFrom([]string{"one", "Citations"}).Draw(t, "heading") + "\n\n"
	for range rapid.IntRange(0, 3).Draw(t, "links") {
		s += fmt.Sprintf("See [it](<%s>).\n", name.Draw(t, "link"))
	}
	return s
}

// drawEdits draws a change of f at a moment, and returns the paths it concerns.
func drawEdits(t *rapid.T, f fstest.MapFS, at time.Time) map[string]bool {
	changed := map[string]bool{}
	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		path := rapid.SampledFrom(drawnPaths()).Draw(t, "path")
		changed[path] = true
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			delete(f, path)
		case 2:
			f[path] = &fstest.MapFile{Data: []byte("x"), Mode: fs.ModeSymlink | 0o777, ModTime: at}
		default:
			f[path] = &fstest.MapFile{Data: []byte(drawFile(t)), Mode: 0o644, ModTime: at}
		}
	}
	return changed
}

// Whatever was edited since, a graph from a cache answers as one that was
// loaded afresh, and so does one that was kept in memory and told what changed.
func TestChangedGraphIsAFreshOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := fstest.MapFS{}
		for _, path := range drawnPaths() {
			if rapid.IntRange(0, 2).Draw(t, "there") > 0 {
				f[path] = &fstest.MapFile{Data: []byte(drawFile(t)), Mode: 0o644, ModTime: noon().Add(-time.Hour)}
			}
		}
		kept, keptPs, cache, err := LoadCached(f, nil, noon())
		if err != nil {
			t.Fatal(err)
		}
		for step := range rapid.IntRange(1, 3).Draw(t, "steps") {
			changed := drawEdits(t, f, noon().Add(time.Duration(step)*time.Minute))
			want, wantPs, err := Load(f)
			if err != nil {
				t.Fatal(err)
			}
			got, gotPs := lateLoad(t, f, cache)
			alike(t, want, got, wantPs, gotPs)
			kept, keptPs = Reload(f, kept, keptPs, changed)
			alike(t, want, kept, wantPs, keptPs)
		}
	})
}

// lateLoad is LoadCached, however little it is worth to keep what a small
// bundle's cache says.
func lateLoad(t *rapid.T, f fs.FS, cache []byte) (*Graph, []Problem) {
	old, err := openCache(cache, f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := listFiles(f)
	if err != nil {
		t.Fatal(err)
	}
	todo, gone := old.diffFiles(l.files, statFiles(f, l.files))
	found := make([]reading, len(l.files))
	readAll(f, l.files, todo, found)
	g, ps := newGraph(old.rows, nil).applyChanges(collectChanged(found, todo, gone))
	return g, mergeProblems(ps, l.problems)
}
