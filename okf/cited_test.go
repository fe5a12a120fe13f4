package okf

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title string
		want  [][2]int
	}{
		{"line 5", [][2]int{{5, 5}}},
		{"lines 1-3, 9", [][2]int{{1, 3}, {9, 9}}},
		{"line 0", nil}, {"lines 3-1", nil}, {"lines 1-", nil}, {"Handbook", nil}, {"line five", nil}, {"", nil},
	} {
		got := ReadPlaces(c.title)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.title, d)
		}
		if got != nil && Places(got) != c.title {
			t.Errorf("%q is written %q", c.title, Places(got))
		}
	}
}

func TestCited(t *testing.T) {
	t.Parallel()
	if a, b := Cited([]byte("a \nb\t\r\n")), Cited([]byte("a\nb")); a != b || !strings.HasPrefix(a, hashPrefix) || a[len(hashPrefix)+16:] != "/"+Cited([]byte("a"))[len(hashPrefix):][:4] {
		t.Errorf("%s, %s", a, b)
	}
	if a, b := Cited([]byte("a")), Cited([]byte(" a")); a == b || len(a) != len(hashPrefix)+16 {
		t.Errorf("%s, %s", a, b)
	}
}

// TestCheckSources: an atom that cites lines 3 and 5-6 of docs/g.md, against what became
// of that file.
func TestCheckSources(t *testing.T) {
	t.Parallel()
	const was = "# Words\n\nFlood: it rises.\n\nEbb: it falls\nand falls.\n"
	cite := func(extra string) string {
		return fmt.Sprintf("---\ntype: term\n%ssources:\n  - {id: x, resource: 'https://x.example/docs/g.md', blob: 'a'}\n"+
			"  - id: g\n    resource: docs/g.md\n    title: lines 3, 5-6\n    blob: '%s'\n    text: ['%s', '%s']\n---\n",
			extra, BlobID([]byte(was)), Cited([]byte("Flood: it rises.")), Cited([]byte("Ebb: it falls\nand falls.\n")))
	}
	atom := cite("")
	one := func(keys string) string {
		return "---\ntype: term\nsources: [{resource: docs/g.md, " + keys + "}]\n---\n"
	}
	for _, c := range []struct {
		name, atom string
		files      map[string]string
		want       string
	}{
		{"unchanged", atom, map[string]string{"docs/g.md": was}, ""},
		{"changed elsewhere", atom, map[string]string{"docs/g.md": was + "\nSlack.\n"}, ""},
		{"other line ends", atom, map[string]string{"docs/g.md": strings.ReplaceAll(was, "\n", " \r\n")}, ""},
		{"further down", atom, map[string]string{"docs/g.md": "new\n\n" + was}, "a.md:6 odd-source-moved the text on lines 3, 5-6 of its source docs/g.md is now at docs/g.md:5, docs/g.md:7-8"},
		{"changed", atom, map[string]string{"docs/g.md": strings.Replace(was, "and falls", "and rests", 1)}, "a.md:6 odd-source-changed its source docs/g.md no longer has the text that it had on lines 5-6"},
		{"renamed", atom, map[string]string{"docs/w.md": "new\n" + was}, "a.md:6 odd-source-moved the text on lines 3, 5-6 of its source docs/g.md is now at docs/w.md:4, docs/w.md:6-7"},
		{"one taken along", atom, map[string]string{"docs/g.md": "Flood: it rises.\n", "docs/w.md": "Ebb: it falls\nand falls.\n"},
			"a.md:6 odd-source-changed its source docs/g.md no longer has the text that it had on lines 3, 5-6; the same text is at docs/g.md:1, docs/w.md:1-2"},
		{"changed in one of two sources", "---\ntype: term\nsources:\n  - {resource: docs/g.md, title: line 3, text: '" + Cited([]byte("Flood: it rises.")) + "'}\n  - {resource: docs/w.md, title: line 3, text: '" + Cited([]byte("Flood: it rises.")) + "'}\n---\n",
			map[string]string{"docs/g.md": "Flood: it rests.\n", "docs/w.md": was}, "a.md:4 odd-source-changed its source docs/g.md no longer has the text that it had on line 3; its source docs/w.md still has it"},
		{"renamed and changed", atom, map[string]string{"docs/w.md": "Flood: it rises.\n"}, "a.md:6 odd-source-gone its source docs/g.md is gone, and no other file has the text"},
		{"in a file of another kind", atom, map[string]string{"docs/w.txt": was, ".x/w.md": was}, "a.md:6 odd-source-gone its source docs/g.md is gone, and no other file has the text"},
		{"deprecated", cite("status: deprecated\n"), nil, ""},
		{"nothing known of it", one("title: line 3"), nil, ""},
		{"no text, gone", one("blob: aa"), nil, "a.md:3 odd-source-gone its source docs/g.md is gone, and no other file has the text"},
		{"no text, changed", one("blob: aa"), map[string]string{"docs/g.md": was}, ""},
		{"a title by hand", one("title: Words, text: 'sha256:0123'"), map[string]string{"docs/g.md": was}, ""},
		{"a text of several lines without its key", one("title: lines 1-2, text: '" + Cited([]byte("Ebb: it falls\nand falls."))[:23] + "'"), map[string]string{"docs/g.md": was}, ""},
		{"lines that no file has", one("title: lines 1-99999999, text: 'sha256:0123456789abcdef/0123'"), map[string]string{"docs/g.md": was}, "a.md:3 odd-source-changed its source docs/g.md no longer has the text that it had on lines 1-99999999"},
		{"a folder in its place", one("blob: aa"), map[string]string{"docs/g.md/x.md": was}, "a.md:3 odd-source-gone its source docs/g.md is gone, and no other file has the text"},
	} {
		a, err := Parse("a.md", []byte(c.atom))
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for name, s := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(s)}
		}
		got := ""
		for _, p := range CheckSources(NewGraph([]Atom{a}), files, nil) {
			got += fmt.Sprintf("%s:%d %s %s", p.Path, p.Line, p.Code, p.Message)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Who says that an atom holds changes no byte of it but the blobs of sources that drifted.
func TestStillHolds(t *testing.T) {
	t.Parallel()
	const was, other = "1a11111111111111111111111111111111111111", "2a22222222222222222222222222222222222222"
	files := fstest.MapFS{"docs/g.md": {Data: []byte("now\n")}, "docs/h.md": {Data: []byte("other\n")}}
	now := BlobID([]byte("now\n"))
	for name, c := range map[string]struct{ sources, want, fault string }{
		"one":              {"  - {id: g, resource: docs/g.md, blob: " + was + "}\r\n  - {resource: docs/h.md, blob: " + other + "}\r\n", "  - {id: g, resource: docs/g.md, blob: " + now + "}\r\n  - {resource: docs/h.md, blob: " + other + "}\r\n", ""},
		"twice the file":   {"  - {blob: " + was + ", resource: docs/g.md}\n  - {resource: docs/g.md, blob: " + was + "}\n", "  - {blob: " + now + ", resource: docs/g.md}\n  - {resource: docs/g.md, blob: " + now + "}\n", ""},
		"a copy":           {"  - {resource: docs/h.md, blob: " + was + "}\n  - {resource: docs/g.md, blob: " + was + "}\n", "  - {resource: docs/h.md, blob: " + was + "}\n  - {resource: docs/g.md, blob: " + now + "}\n", ""},
		"a blob elsewhere": {"  - {resource: docs/g.md, blob: " + was + "}\nnote: " + was + "\n", "", "cannot tell where its source docs/g.md has a blob"},
		"without a blob":   {"  - {resource: docs/g.md}\n", "", "write blob: " + now + " under it"},
		"a number":         {"  - {resource: docs/g.md, blob: 1111111111111111111111111111111111111111}\n", "", "write blob: " + now + " under it"},
		"a file not there": {"  - {resource: docs/x.md, blob: " + was + "}\n", "", "its source docs/x.md is gone"},
	} {
		text := "---\ntype: term\nsources:\n" + c.sources + "---\n\nBlob " + was + ".\n"
		a, err := Parse("a.md", []byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		var drift []Drift
		f, _ := a.Field("sources")
		for i, v := range listItems(f.Value) {
			if m, _ := v.(map[string]any); m["resource"] != "docs/h.md" {
				drift = append(drift, Drift{Source: i, Resource: valueText(m["resource"])})
			}
		}
		got, err := StillHolds(&a, drift, files)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if want := strings.Replace(text, c.sources, c.want, 1); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// What an atom rests on is the text that it cites, wherever that stands and in which order.
func TestGrounds(t *testing.T) {
	t.Parallel()
	of := func(sources, body string) string {
		a, err := Parse("terms/a.md", []byte("---\ntype: term\n"+sources+"---\n\n"+body+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return Grounds(&a)
	}
	cites := of("sources:\n  - {resource: a.md, title: line 1, blob: 'b1', text: 'sha256:11'}\n  - {resource: b.md, text: ['sha256:22', 'sha256:33/ab']}\n", "x")
	own := of("", "Own.")
	for name, c := range map[string]struct {
		got, want string
		same      bool
	}{
		"moved, renamed, in another order":  {of("sources:\n  - {resource: c.md, text: ['sha256:33/ab', 'sha256:22']}\n  - {resource: a.md, title: line 9, blob: 'b2', text: 'sha256:11'}\n", "y"), cites, true},
		"another text":                      {of("sources:\n  - {resource: a.md, text: 'sha256:11'}\n", "x"), cites, false},
		"a file as a whole":                 {of("sources:\n  - {resource: a.md, blob: 'b1'}\n", "x"), of("sources:\n  - {resource: a.md, blob: 'b2'}\n", "x"), false},
		"no sources, the same text, linked": {of("related: [b]\n", "Own.\n\n# Related\n\n* [B](b.md)"), own, true},
		"no sources, another text":          {of("", "Other."), own, false},
	} {
		if (c.got == c.want) != c.same {
			t.Errorf("%s: %s and %s", name, c.got, c.want)
		}
	}
	if !strings.HasPrefix(own, "sha256:") || len(own) != len("sha256:")+16 {
		t.Errorf("%q", own)
	}
}
