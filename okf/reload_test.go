package okf

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Names that are not UTF-8 come, stay and go in a Reload as in a Load, and are
// in the cache that is made of one.
func TestReloadOfBadNames(t *testing.T) {
	t.Parallel()
	ok := &fstest.MapFile{Data: []byte("---\ntype: term\n---\n")}
	with := func(names ...string) fstest.MapFS {
		f := fstest.MapFS{"a.md": ok, "d/a.md": ok}
		for _, n := range names {
			f[n] = ok
		}
		return f
	}
	for name, tt := range map[string]struct {
		before, after []string // beside a.md and d/a.md
		want          int
	}{
		"stays":                      {[]string{"x\xff.md"}, []string{"x\xff.md", "o.md"}, 1},
		"goes":                       {[]string{"x\xff.md"}, nil, 0},
		"comes":                      {nil, []string{"d/x\xff.md"}, 1},
		"one of two goes":            {[]string{"x\xfe.md", "x\xff.md"}, []string{"x\xfe.md"}, 1},
		"a folder comes":             {nil, []string{"d\xff/e\xff/o.md"}, 1},
		"a folder goes":              {[]string{"d\xff/o.md"}, nil, 0},
		"a folder keeps a file":      {[]string{"d\xff/o.md", "d\xff/p"}, []string{"d\xff/p"}, 1},
		"the folder of one goes":     {[]string{"e/x\xff.md"}, nil, 0},
		"another elsewhere goes":     {[]string{"x\xff.md", "d/x\xff.md"}, []string{"x\xff.md"}, 1},
		"hidden":                     {nil, []string{".d/x\xff.md", ".x\xff.md"}, 0},
		"no concept":                 {nil, []string{"x\xff.png"}, 0},
		"another file looks like it": {[]string{"x\xff.md"}, []string{"x\xff.md", "x\ufffd.md"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ps, err := Load(with(tt.before...))
			if err != nil {
				t.Fatal(err)
			}
			g, ps, err = Decode(Encode(g, ps), with(tt.after...))
			if err != nil {
				t.Fatal(err)
			}
			changed := map[string]bool{}
			for _, p := range slices.Concat(tt.before, tt.after) {
				if !slices.Contains(tt.before, p) || !slices.Contains(tt.after, p) {
					changed[p] = true
				}
			}
			got, gotPs := Reload(with(tt.after...), g, ps, changed)
			want, wantPs, err := Load(with(tt.after...))
			if err != nil || len(wantPs) != tt.want || got.Len() != want.Len() {
				t.Errorf("%d atoms, want %d; %d problems, want %d; %v", got.Len(), want.Len(), len(wantPs), tt.want, err)
			}
			if d := cmp.Diff(wantPs, gotPs); d != "" {
				t.Errorf("problems: %s", d)
			}
		})
	}
}

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
