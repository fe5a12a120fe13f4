package okf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// graph loads a bundle of texts; a text without a fence is the keys of an atom
// and, after a blank line, its body.
func graph(t *testing.T, files map[string]string) *Graph {
	t.Helper()
	whole := map[string]string{}
	for file, text := range files {
		if !strings.HasPrefix(text, "-") {
			keys, body, _ := strings.Cut(text, "\n\n")
			text = "---\n" + keys + "\n---\n\n" + body
		}
		whole[file] = text
	}
	g, _, err := Load(bundle(whole))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func press(t *testing.T) *Graph {
	t.Helper()
	return graph(t, map[string]string{
		"roles/editor.md":      "type: role\nreports_to: chief",
		"roles/chief.md":       "type: role\nid: chief",
		"processes/publish.md": "type: process\ngoverned_by: [/policies/style.md, policies/style]\nowner: roles/editor\nuses: cms\n\nBy [the chief](../roles/chief.md), in [the CMS](/systems/cms.md#login), [again](/systems/cms.md), [itself](publish.md).",
		"policies/style.md":    "type: policy\ndecided_by: ../decisions/d1.md",
		"systems/cms.md":       "type: system\n\n[No](gone.md), [list](index.md), [picture](a.png), [out](https://example.org/x.md), [folder](/roles/), [short](/roles/editor).",
		"systems/index.md":     "# System\n",
		"decisions/d1.md":      "type: decision",
		"a/twin.md":            "type: term",
		"b/twin.md":            "type: term",
		"terms/lost.md":        "type: term\nrelates_to: [nobody, twin, torn, /terms/torn.md, https://example.org/x]",
		"terms/torn.md":        "---\ntype: term\n",
	})
}

func showHops(hs []Hop) []string {
	var out []string
	for _, h := range hs {
		out = append(out, fmt.Sprintf("%s -%s-> %s :%d", h.From, h.Kind, h.To, h.Line))
	}
	return out
}

func TestOut(t *testing.T) {
	t.Parallel()
	g := press(t)
	want := []string{
		"processes/publish -owner-> roles/editor :4",
		"processes/publish -uses-> systems/cms :5",
		"processes/publish -governed_by-> policies/style :3",
		"processes/publish -link-> chief :8",
	}
	if d := cmp.Diff(want, showHops(g.Out("processes/publish"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"policies/style -decided_by-> decisions/d1 :3"}, showHops(g.Out("policies/style"))); d != "" {
		t.Error(d)
	}
	if got := g.Out("nobody"); got != nil {
		t.Errorf("edges of nobody: %v", got)
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	g := press(t)
	tests := []struct {
		id   ID
		want []string
	}{
		{"chief", []string{"roles/editor -reports_to-> chief :3", "processes/publish -link-> chief :8"}},
		{"systems/cms", []string{"processes/publish -uses-> systems/cms :5"}},
		{"roles/editor", []string{"processes/publish -owner-> roles/editor :4", "systems/cms -link-> roles/editor :5"}},
		{"terms/lost", nil},
		{"nobody", nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, showHops(g.In(tt.id))); d != "" {
			t.Errorf("%s: %s", tt.id, d)
		}
	}
}

// Sources of one kind arrive in order of id, which is not the order of path.
func TestInOrder(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"a.md": "type: x\nid: zeta\nuses: hub\n\n[mirror](hub.md)", "b.md": "type: x\nid: ypsilon\nowner: hub\nuses: hub", "c.md": "type: x\nid: delta\nuses: hub", "e.md": "type: x\nid: alpha\n\n[hub](hub.md)", "hub.md": "type: x",
	})
	want := []string{"ypsilon -owner-> hub :4", "delta -uses-> hub :4", "ypsilon -uses-> hub :5", "zeta -uses-> hub :4", "alpha -link-> hub :6"}
	if d := cmp.Diff(want, showHops(g.In("hub"))); d != "" {
		t.Error(d)
	}
}

func TestManyEdgesOfOneAtom(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var names, links []string
	for i := range 30 {
		name := fmt.Sprintf("t%02d", 29-i)
		files[name+".md"] = "type: x"
		names = append(names, name, name)
		links = append(links, fmt.Sprintf("[x](%s.md)", name))
	}
	files["all.md"] = "type: x\nuses: [" + strings.Join(names, ", ") + "]\n\n" + strings.Join(links, "\n") + "\n[x](far.md) [x](far.md)"
	files["far.md"] = "type: x"
	out := graph(t, files).Out("all")
	if len(out) != 31 {
		t.Fatalf("%d edges, want 31", len(out))
	}
	if out[0].To != "t29" || out[29].To != "t00" || out[30] != (Hop{From: "all", To: "far", Kind: Link, Line: 36}) {
		t.Errorf("edges are %v … %v, %v", out[0], out[29], out[30])
	}
}

func TestDangling(t *testing.T) {
	t.Parallel()
	g := press(t)
	want := []Dangling{
		{From: "terms/lost", Kind: RelatesTo, Target: "nobody", Line: 3},
		{From: "terms/lost", Kind: RelatesTo, Target: "twin", Line: 3, Ambiguous: true},
		{From: "terms/lost", Kind: RelatesTo, Target: "torn", Line: 3, Broken: true},
		{From: "terms/lost", Kind: RelatesTo, Target: "/terms/torn.md", Line: 3, Broken: true},
	}
	if d := cmp.Diff(want, g.Dangling("terms/lost")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Dangling{{From: "systems/cms", Kind: Link, Target: "systems/gone.md", Line: 5}}, g.Dangling("systems/cms")); d != "" {
		t.Error(d)
	}
	if got := g.Dangling("processes/publish"); got != nil {
		t.Errorf("publish: %v", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"roles/editor.md":  "type: role",
		"terms/page.md":    "type: term\nid: leaf",
		"terms/cover.md":   "type: term\nid: page",
		"canon/x.md":       "type: canon\nid: c/why\nuri: klappy://canon/reasons",
		"a/twin.md":        "type: term",
		"b/twin.md":        "type: term",
		"terms/torn.md":    "---\n",
		"terms/deep/w.md":  "type: term",
		"terms/double.md":  "type: term\nid: one",
		"terms/zdouble.md": "type: term\nid: one",
	})
	tests := []struct{ name, want string }{
		{"roles/editor", "roles/editor.md"},
		{"/roles/editor.md", "roles/editor.md"},
		{"roles/editor.md", "roles/editor.md"},
		{"editor", "roles/editor.md"},
		{"editor.md", "roles/editor.md"},
		{"leaf", "terms/page.md"},
		{"page", "terms/cover.md"},
		{"terms/page", "terms/page.md"},
		{"c/why", "canon/x.md"},
		{"why", "canon/x.md"},
		{"x", "canon/x.md"},
		{"klappy://canon/reasons", "canon/x.md"},
		{"klappy://canon/reasons#part", "canon/x.md"},
		{"one", "terms/double.md"},
	}
	for _, tt := range tests {
		if a, err := g.Find(tt.name); err != nil || a.Path != tt.want {
			t.Errorf("Find(%q) = %v, %v; want %s", tt.name, a, err, tt.want)
		}
	}
	for name, want := range map[string]error{"twin": ErrAmbiguous, "nobody": ErrNotFound, "": ErrNotFound, "/": ErrNotFound, "klappy://canon/x": ErrNotFound, "deep/w": ErrNotFound, "/page.md": ErrNotFound} {
		if a, err := g.Find(name); !errors.Is(err, want) {
			t.Errorf("Find(%q) = %v, %v; want %v", name, a, err, want)
		}
	}
}

func TestFindSaysWhatIsNear(t *testing.T) {
	t.Parallel()
	g := press(t)
	for name, want := range map[string]string{
		"editr":          "editr: no such atom; did you mean roles/editor?",
		"role/editor":    "role/editor: no such atom; did you mean roles/editor?",
		"publ":           "publ: no such atom; did you mean processes/publish?",
		"twim":           "twim: no such atom; did you mean a/twin or b/twin?",
		"Chief":          "Chief: no such atom; did you mean chief?",
		"quite another":  "quite another: no such atom",
		"b/twim":         "b/twim: no such atom; did you mean b/twin or a/twin?",
		"twin":           "twin: ambiguous name; say a/twin or b/twin",
		"decisions/d1-x": "decisions/d1-x: no such atom; did you mean decisions/d1?",
	} {
		if _, err := g.Find(name); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestCanonReferencesAreEdges(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"a.md": "type: canon\nuri: klappy://a\nsupersedes: \"DRAFT v3 (2026-04-24, pre-Vodka-cut)\"\n\n[b](klappy://b#x), [gone](klappy://gone), [far](odd://b)",
		"b.md": "type: canon\nuri: klappy://b\nsupersedes: klappy://c, d.md\nrelates_to: [klappy://gone, odd://far]",
		"c.md": "type: canon\nuri: klappy://c",
		"d.md": "type: canon\nuri: https://kb.example.org/d\nrelates_to: [https://kb.example.org/e, https://example.org/e]",
	})
	if d := cmp.Diff([]string{"a -link-> b :7"}, showHops(g.Out("a"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"b -supersedes-> c :4", "b -supersedes-> d :4"}, showHops(g.Out("b"))); d != "" {
		t.Error(d)
	}
	want := map[ID][]Dangling{
		"a": {{From: "a", Kind: Link, Target: "klappy://gone", Line: 7}},
		"b": {{From: "b", Kind: RelatesTo, Target: "klappy://gone", Line: 5}},
		"d": {{From: "d", Kind: RelatesTo, Target: "https://kb.example.org/e", Line: 4}},
	}
	for id, ds := range want {
		if d := cmp.Diff(ds, g.Dangling(id)); d != "" {
			t.Errorf("%s: %s", id, d)
		}
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	g := press(t)
	for file, want := range map[string]bool{"terms/torn.md": true, "torn.md": false, "terms/lost.md": false, "terms/torn": false} {
		if got := g.Broken(file); got != want {
			t.Errorf("Broken(%q) = %t", file, got)
		}
	}
}

func TestExternal(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{"a.md": "type: t\nuri: acme://1", "b.md": "type: t\nuri: https://KB.example.org/b", "c.md": "type: t\nuri: no-uri"})
	for name, want := range map[string]bool{
		"acme://2": false, "ACME:2": false, "other://2": true, "https://kb.example.org/x": false, "https://kb.example.org": false,
		"https://example.org/x": true, "http://kb.example.org/b": true, "mailto:ann@example.org": true, "terms/a": false, "": false,
	} {
		if got := g.External(name); got != want {
			t.Errorf("External(%q) = %t", name, got)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"a", "abcdefgh", Far}, {"aaaa", "bbbb", Far}, {"ab", "ba", Far}, {"", "x", Far}, {"a", "x", Far}, {"a", "ab", 1}, {"ab", "xb", 1}, {"sunday morning", "monday evening", Far}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
