package okf

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Reload after any change gives what Load gives.
func TestReloadIsLoad(t *testing.T) {
	t.Parallel()
	atom := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\ntype: term\nid: " + id + "\n---\n")}
	}
	before := fstest.MapFS{
		"a.md": atom("one"), "b.md": atom("two"), "c.md": atom("two"), "bad.md": {Data: []byte("no fence")}, "index.md": {Data: []byte("---\n---\n")},
	}
	for name, change := range map[string]func(fstest.MapFS) string{
		"changed":               func(f fstest.MapFS) string { f["a.md"] = atom("three"); return "a.md" },
		"new":                   func(f fstest.MapFS) string { f["d.md"] = atom("four"); return "d.md" },
		"gone":                  func(f fstest.MapFS) string { delete(f, "a.md"); return "a.md" },
		"the first of two goes": func(f fstest.MapFS) string { delete(f, "b.md"); return "b.md" },
		"mended":                func(f fstest.MapFS) string { f["bad.md"] = atom("five"); return "bad.md" },
		"broken":                func(f fstest.MapFS) string { f["a.md"] = &fstest.MapFile{Data: []byte("x")}; return "a.md" },
		"not a concept":         func(f fstest.MapFS) string { f[".x/y.md"] = atom("six"); return ".x/y.md" },
	} {
		t.Run(name, func(t *testing.T) {
			g, ps, err := Load(before)
			if err != nil {
				t.Fatal(err)
			}
			after := maps.Clone(before)
			path := change(after)
			want, wantPs, err := Load(after)
			if err != nil {
				t.Fatal(err)
			}
			got, gotPs := Reload(after, g, ps, map[string]bool{path: true})
			if d := cmp.Diff(wantPs, gotPs); d != "" {
				t.Errorf("problems: %s", d)
			}
			var ids, wantIDs []ID
			for _, a := range got.Atoms() {
				ids = append(ids, a.ID)
			}
			for _, a := range want.Atoms() {
				wantIDs = append(wantIDs, a.ID)
			}
			if d := cmp.Diff(wantIDs, ids); d != "" {
				t.Errorf("atoms: %s", d)
			}
		})
	}
}
