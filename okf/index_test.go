package okf

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func indexed(t *testing.T, files map[string]string) (fstest.MapFS, *Graph) {
	t.Helper()
	f := bundle(files)
	g, _, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return f, g
}

func states(is []IndexFile) string {
	var out []string
	for _, i := range is {
		out = append(out, i.Path+" "+string(i.State))
	}
	return strings.Join(out, ", ")
}

func TestIndex(t *testing.T) {
	t.Parallel()
	f, g := indexed(t, map[string]string{
		"a b/deep/x.md":   "---\ntype: term\n---\n",
		"roles/zed.md":    "---\ntype: role\ntitle: abc\ndescription: >\n  Two\n  lines.\n---\n",
		"roles/anna.md":   "---\ntype: role\ntitle: Bcd [x]\n---\n",
		"roles/b (c).md":  "---\ntype: BigQuery Table\n---\n",
		"roles/torn.md":   "---\ntype: role\n",
		"roles/log.md":    "## 2026-01-01\n",
		"top.md":          "---\ntype: x\n---\n",
		"empty/notes.txt": "x",
	})
	want := map[string]string{
		"a b/deep/index.md": "# term\n\n* [x](x.md)\n",
		"a b/index.md":      "# Subdirectories\n\n* [deep](deep/index.md)\n",
		"index.md":          "---\nokf_version: \"0.2\"\n---\n\n# x\n\n* [top](top.md)\n\n# Subdirectories\n\n* [a b](a%20b/index.md)\n* [roles](roles/index.md)\n",
		"roles/index.md":    "# BigQuery Table\n\n* [b (c)](b%20%28c%29.md)\n\n# role\n\n* [abc](zed.md) - Two lines.\n* [Bcd \\[x\\]](anna.md)\n",
	}
	got := map[string]string{}
	for _, i := range Index(f, g) {
		if i.State != IndexMissing {
			t.Errorf("%s is %s", i.Path, i.State)
		}
		got[i.Path] = string(i.Want)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for path, b := range want {
		f[path] = &fstest.MapFile{Data: []byte(b)}
	}
	g, ps, err := Load(f)
	if err != nil || len(ps) != 1 {
		t.Fatal(ps, err)
	}
	for _, i := range Index(f, g) {
		if i.State != IndexFresh {
			t.Errorf("%s is %s after it was written", i.Path, i.State)
		}
	}
}

func TestIndexStates(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"index.md":       "---\nokf_version: \"0.2\"\n# mine\n---\n# Subdirectories\n\n* [gone](gone/index.md) - Was here.\n* [hand](hand/index.md) - Kept, as (it) is.\n",
		"fresh/index.md": "# x\r\n\r\n* [a](a.md)\r\n",
		"fresh/a.md":     "---\ntype: x\n---\n",
		"hand/index.md":  "# x\n\nRead this first.\n",
		"hand/a.md":      "---\ntype: x\n---\n",
		"new/a.md":       "---\ntype: x\n---\n",
		"thin/index.md":  "# Thin\n",
		"thin/a.md":      "---\ntype: x\n---\n",
		"old/index.md":   "# x\n\n* [a](a.md)\n",
		"prose/index.md": "Nothing here yet.\n",
	}
	f, g := indexed(t, files)
	is := Index(f, g)
	want := "fresh/index.md fresh, hand/index.md written, index.md stale, new/index.md missing, old/index.md leftover, thin/index.md stale"
	if got := states(is); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantRoot := "---\nokf_version: \"0.2\"\n# mine\n---\n\n# Subdirectories\n\n* [fresh](fresh/index.md)\n* [hand](hand/index.md) - Kept, as (it) is.\n* [new](new/index.md)\n* [thin](thin/index.md)\n"
	if d := cmp.Diff(wantRoot, string(is[2].Want)); d != "" {
		t.Error(d)
	}
	var stale []string
	for p := range StaleIndex(f, g) {
		stale = append(stale, p)
	}
	if len(stale) != 3 {
		t.Errorf("stale: %v", stale)
	}
}

// A bundle without listings is not given any; one whose root alone is a thin has none.
func TestStaleIndexOfABundleWithout(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"none":    {"a/x.md": "---\ntype: x\n---\n"},
		"thin":    {"a/x.md": "---\ntype: x\n---\n", "index.md": "---\nokf_version: \"0.2\"\n---\n\n# Knowledge\n"},
		"by hand": {"a/x.md": "---\ntype: x\n---\n", "a/index.md": "Read x.\n"},
	} {
		if got := StaleIndex(indexed(t, files)); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	f, g := indexed(t, map[string]string{"a/x.md": "---\ntype: x\n---\n", "b/x.md": "---\ntype: x\n---\n", "a/index.md": "# x\n\n* [x](x.md)\n"})
	if got := StaleIndex(f, g); len(got) != 2 || got["b/index.md"] == nil || got["index.md"] == nil {
		t.Errorf("a bundle with listings: %v", got)
	}
}

// TestCheckIndex: an entry for what is gone is a warning, a missing one a note.
func TestCheckIndex(t *testing.T) {
	t.Parallel()
	atom := "---\ntype: term\n---\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"fresh", map[string]string{"a/x.md": atom, "a/index.md": "# term\n\n* [x](x.md)\n", "index.md": "# Subdirectories\n\n* [a](a/index.md)\n"}, ""},
		{"no listings", map[string]string{"a/x.md": atom, "b/y.md": atom}, ""},
		{"by hand", map[string]string{"a/x.md": atom, "a/index.md": "See [y](y.md).\n"}, ""},
		{"lacks one", map[string]string{"a/x.md": atom, "a/y.md": atom, "a/index.md": "# term\n\n* [x](x.md)\n", "index.md": "By hand.\n"},
			"a/index.md:1 info: does not list the folder as it is\n"},
		{"lists what is gone", map[string]string{"a/x.md": atom, "a/index.md": "# term\n\n* [x](x.md)\n* [y](y.md)\n", "index.md": "By hand.\n"},
			"a/index.md:4 warning: lists y.md, which is not there\n"},
		{"a folder without atoms", map[string]string{"a/x.md": atom, "b/index.md": "# term\n\n* [y](y.md)\n", "index.md": "By hand.\n"},
			"a/index.md:1 info: is missing, and other folders have one\nb/index.md:1 warning: lists a folder that has no atoms\n"},
	} {
		got := ""
		for _, p := range CheckIndex(indexed(t, c.files)) {
			got += fmt.Sprintf("%s:%d %s: %s\n", p.Path, p.Line, p.Severity, p.Message)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
