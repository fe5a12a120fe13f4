package okf

import (
	"fmt"
	"slices"
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
	for _, i := range Index(f, g, nil) {
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
	for _, i := range Index(f, g, nil) {
		if i.State != IndexFresh {
			t.Errorf("%s is %s after it was written", i.Path, i.State)
		}
	}
}

func TestIndexStates(t *testing.T) {
	t.Parallel()
	atom := "---\ntype: x\n---\n"
	f, g := indexed(t, map[string]string{
		"index.md":       "---\nokf_version: \"0.2\"\n# mine\n---\n# Subdirectories\n\n* [gone](gone/index.md) - Was here.\n* [hand](hand/index.md) - Kept, as (it) is.\n",
		"fresh/index.md": "# x\r\n\r\n* [a](a.md)\r\n",
		"fresh/a.md":     atom,
		"hand/index.md":  "# x\n\nRead this first.\n",
		"hand/a.md":      atom,
		"new/a.md":       atom,
		"open/index.md":  "See [a](a.md).\n\n<!--\n",
		"open/a.md":      atom,
		"open/b.md":      atom,
		"thin/index.md":  "# Thin\n",
		"thin/a.md":      atom,
		"old/index.md":   "# x\n\n* [a](a.md)\n",
		"prose/index.md": "Nothing here yet.\n",
		"torn/index.md":  "# x\n\n* [a](a.md)\n* [Notes](notes.md)\n",
		"torn/a.md":      atom,
		"torn/notes.md":  "no atom\n",
	})
	is := Index(f, g, nil)
	want := "fresh/index.md fresh, hand/index.md written, index.md stale, new/index.md missing, old/index.md stale, open/index.md written, thin/index.md stale, torn/index.md fresh"
	if got := states(is); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantRoot := "---\nokf_version: \"0.2\"\n# mine\n---\n# Subdirectories\n\n* [fresh](fresh/index.md)\n* [hand](hand/index.md) - Kept, as (it) is.\n* [new](new/index.md)\n* [open](open/index.md)\n* [thin](thin/index.md)\n* [torn](torn/index.md)\n"
	if d := cmp.Diff(wantRoot, string(is[2].Want)); d != "" {
		t.Error(d)
	}
	if got := states(StaleIndex(f, g, nil)); got != "index.md stale, new/index.md missing, old/index.md stale, thin/index.md stale" {
		t.Error(got)
	}
}

// TestIndexEdits: an index that is there keeps every line but the entries of what is gone.
func TestIndexEdits(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"t/ebb.md":      "---\ntype: term\ntitle: Ebb\ndescription: Falling water.\n---\n",
		"t/flood.md":    "---\ntype: term\ntitle: Flood\ndescription: Rising water.\n---\n",
		"t/slack.md":    "---\ntype: term\ntitle: Slack\n---\n",
		"t/keep-dry.md": "---\ntype: policy\ntitle: Keep it dry\n---\n",
		"t/sub/x.md":    "---\ntype: x\n---\n",
		"other.md":      "---\ntype: x\n---\n",
	}
	policy, sub := "\n# policy\n\n* [Keep it dry](keep-dry.md)\n", "\n# Subdirectories\n\n* [sub](sub/index.md)\n"
	for _, c := range []struct{ name, is, want string }{
		{"in its place", "# term\n\n* [Ebb](ebb.md)\n* [Slack](slack.md)\n", "# term\n\n* [Ebb](ebb.md)\n* [Flood](flood.md) - Rising water.\n* [Slack](slack.md)\n" + policy + sub},
		{"last where they are not sorted", "# term\n\n- [Slack](slack.md) - read this first\n- [Ebb](ebb.md)\n", "# term\n\n- [Slack](slack.md) - read this first\n- [Ebb](ebb.md)\n- [Flood](flood.md) - Rising water.\n" + policy + sub},
		{"under the heading of the type", "# Our words\n\nHello.\n\n## Terms\n\n## Policies\n\n- [Dry!](./keep-dry.md \"dry\"): always\n\n## More\n\nSee [the tides](flood.md), [out](../other.md) and [sub](sub/).\n",
			"# Our words\n\nHello.\n\n## Terms\n\n* [Ebb](ebb.md) - Falling water.\n* [Slack](slack.md)\n\n## Policies\n\n- [Dry!](./keep-dry.md \"dry\"): always\n\n## More\n\nSee [the tides](flood.md), [out](../other.md) and [sub](sub/).\n"},
		{"a list of any type", "All of it:\n\n1. [Ebb](ebb.md)\n2. [Dry](keep-dry.md)\n   with more\n\n   of it\n3. [Slack](slack.md)\n", "All of it:\n\n1. [Ebb](ebb.md)\n2. [Dry](keep-dry.md)\n   with more\n\n   of it\n3. [Flood](flood.md) - Rising water.\n3. [Slack](slack.md)\n" + sub},
		{"before the sub-folders", "# Subdirectories\n\n* [sub](sub/index.md) - below\n", "\n# policy\n\n* [Keep it dry](keep-dry.md)\n\n# term\n\n* [Ebb](ebb.md) - Falling water.\n* [Flood](flood.md) - Rising water.\n* [Slack](slack.md)\n\n# Subdirectories\n\n* [sub](sub/index.md) - below\n"[1:]},
		{"what is gone", "# term\n\n* [Ebb](ebb.md)\n* [Neap](neap.md) - a small tide\n* [Spring](spring.md)\n  tides, with a story\n* [Flood](flood.md)\n* [Slack](slack.md)\n* [Dry](keep-dry.md), not [wet](wet.md)\n* [sub](sub/index.md)\n* [out](../gone.md)\n* [web](https://e.org/neap.md)\n",
			"# term\n\n* [Ebb](ebb.md)\n* [Spring](spring.md)\n  tides, with a story\n* [Flood](flood.md)\n* [Slack](slack.md)\n* [Dry](keep-dry.md), not [wet](wet.md)\n* [sub](sub/index.md)\n* [web](https://e.org/neap.md)\n"},
		{"a new name", "# term\n\n* [Ebb](falling.md) - when it goes\n* [Flood](flood.md)\n* [Slack](slack.md)\n", "# term\n\n* [Ebb](ebb.md) - when it goes\n* [Flood](flood.md)\n* [Slack](slack.md)\n" + policy + sub},
		{"carriage returns, and no end", "# term\r\n\r\n* [Ebb](ebb.md)\r\n* [Flood](falling.md)\r\n* [Slack](slack.md)", "# term\r\n\r\n* [Ebb](ebb.md)\r\n* [Flood](flood.md)\r\n* [Slack](slack.md)\r\n" + strings.ReplaceAll(policy+sub, "\n", "\r\n")},
	} {
		files["t/index.md"] = c.is
		f, g := indexed(t, files)
		i := slices.IndexFunc(Index(f, g, nil), func(i IndexFile) bool { return i.Path == "t/index.md" })
		if d := cmp.Diff(c.want, string(Index(f, g, nil)[i].Want)); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
	}
}

// TestIndexFollows: an entry that says what its atom said when the index was written was
// generated, and says what the atom says now; a person's words stay.
func TestIndexFollows(t *testing.T) {
	t.Parallel()
	f, g := indexed(t, map[string]string{
		"ebb.md":   "---\ntype: term\nid: ebb\ntitle: Ebb\ndescription: Falling water.\n---\n",
		"flood.md": "---\ntype: term\ntitle: Flood\ndescription: Rising water.\n---\n",
		"rise.md":  "---\ntype: term\nid: high\ntitle: High water\n---\n",
		"index.md": "- [Ebb tide](ebb.md) - Water.\n* [Flood](flood.md) - As I say.\n* [High](high.md)\n",
	})
	_, before := indexed(t, map[string]string{
		"ebb.md":   "---\ntype: term\ntitle: Ebb tide\ndescription: Water.\n---\n",
		"flood.md": "---\ntype: term\ntitle: Flood\ndescription: Water.\n---\n",
		"high.md":  "---\ntype: term\nid: high\ntitle: High\n---\n",
	})
	was := func(index, atom string) *Atom { return before.ByPath(atom) }
	want := "- [Ebb](ebb.md) - Falling water.\n* [Flood](flood.md) - As I say.\n* [High water](rise.md)\n"
	if d := cmp.Diff(want, string(Index(f, g, was)[0].Want)); d != "" {
		t.Error(d)
	}
}

// FuzzIndex: of an index only entries of what is gone go, nothing is listed twice, and
// what was written is in order.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{"", "# term\n\n* [a](a.md)\n", "- [x](x.md)\r\n- [b](b.md)\r\n", "1. [b](b.md)\n\n   more\n", "```\n* [a](a.md)\n", "<!-- \n* [x](x.md)\n", "Text [a](a.md)\n===\n* [b](x.md)\n", "---\nokf_version: \"0.2\"\n---\n* [s](s/index.md)", "> * [x](x.md)\n* [x](x.md)\n  y\n", "|[a](a.md)|\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		files := map[string]string{"a.md": "---\ntype: term\ntitle: A [b]\n---\n", "b.md": "---\ntype: term\n---\n", "c.md": "---\ntype: policy\ndescription: C.\n---\n", "s/d.md": "---\ntype: term\n---\n", "index.md": s}
		file, g := indexed(t, files)
		i := Index(file, g, nil)[0]
		next := slices.Collect(strings.Lines(string(i.Want)))
		for line := range strings.Lines(s) {
			at := slices.IndexFunc(next, func(l string) bool { return strings.TrimRight(l, "\r\n") == strings.TrimRight(line, "\r\n") })
			if at < 0 && !strings.Contains(line, "](") {
				t.Fatalf("%q is gone from\n%q\n%q", line, s, i.Want)
			}
			next = next[at+1:]
		}
		files["index.md"] = string(i.Want)
		file, g = indexed(t, files)
		if again := Index(file, g, nil)[0]; i.State != IndexWritten && again.State != IndexFresh {
			t.Errorf("%s after it was written\n%q\n%q\n%q", again.State, s, i.Want, again.Want)
		}
	})
}

// A bundle without listings is not given any; one whose root alone is a thin has none.
func TestStaleIndexOfABundleWithout(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"none":    {"a/x.md": "---\ntype: x\n---\n"},
		"thin":    {"a/x.md": "---\ntype: x\n---\n", "index.md": "---\nokf_version: \"0.2\"\n---\n\n# Knowledge\n"},
		"by hand": {"a/x.md": "---\ntype: x\n---\n", "a/index.md": "Read x.\n"},
	} {
		f, g := indexed(t, files)
		if got := StaleIndex(f, g, nil); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	f, g := indexed(t, map[string]string{"a/x.md": "---\ntype: x\n---\n", "b/x.md": "---\ntype: x\n---\n", "a/index.md": "# x\n\n* [x](x.md)\n"})
	if got := states(StaleIndex(f, g, nil)); got != "b/index.md missing, index.md missing" {
		t.Errorf("a bundle with listings: %s", got)
	}
}

// TestCheckIndex: what an index lists wrongly or lacks is a warning.
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
		{"lists nothing", map[string]string{"a/x.md": atom, "a/index.md": "See x.\n"}, ""},
		{"in the text", map[string]string{"a/x.md": atom, "a/index.md": "See [x](x.md), [y](y.md) and [z](z.txt).\n", "index.md": "By hand.\n"},
			"a/index.md:1 warning: lists y.md, which is not there; correct the link\n"},
		{"lacks two", map[string]string{"a/x.md": atom, "a/y.md": atom, "a/z.md": atom, "a/index.md": "# term\n\n* [x](x.md)\n", "index.md": "By hand.\n"},
			"a/index.md:1 warning: does not list y.md and 1 more; run odd knowledge index\n"},
		{"lacks a task", map[string]string{"a/x.md": atom, "a/y.md": "---\ntype: task\n---\n", "a/index.md": "# term\n\n* [x](x.md)\n", "index.md": "By hand.\n"},
			"a/index.md:1 info: does not list y.md; run odd knowledge index\n"},
		{"lists what is gone", map[string]string{"a/x.md": atom, "a/index.md": "# term\n\n* [x](x.md)\n* [y](y.md)\n", "index.md": "By hand.\n"},
			"a/index.md:4 warning: lists y.md, which is not there; run odd knowledge index, or correct the link\n"},
		{"a folder without atoms", map[string]string{"a/x.md": atom, "b/index.md": "# term\n\n* [y](y.md)\n", "c/x.md": atom, "c/index.md": "* [x](x.md)\n", "index.md": "By hand.\n"},
			"a/index.md:1 info: is missing, and other folders have one; run odd knowledge index\nb/index.md:3 warning: lists y.md, which is not there; run odd knowledge index, or correct the link\n"},
	} {
		got := ""
		f, g := indexed(t, c.files)
		for _, p := range CheckIndex(f, g) {
			got += fmt.Sprintf("%s:%d %s: %s; %s\n", p.Path, p.Line, p.Severity, p.Message, p.Hint)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
