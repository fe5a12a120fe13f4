package okf

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// bundleOf loads files written as path → frontmatter lines and body.
func bundleOf(t testing.TB, files map[string]string) *Graph {
	t.Helper()
	f := fstest.MapFS{}
	for name, s := range files {
		f[name] = &fstest.MapFile{Data: []byte("---\n" + s)}
	}
	g, _, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func small(t testing.TB) *Graph {
	return bundleOf(t, map[string]string{
		"roles/editor.md":      "type: role\nid: editor\nuses: cms\n---\nKeeps [style](../policies/style.md) and [style again](/policies/style.md#x).\n",
		"processes/publish.md": "type: process\nid: publish\nowner: editor\ngoverned_by: [style, gone]\n---\n\nSee [style](/policies/style.md), [lost](/policies/lost.md) and `[code](/policies/code.md)`.\n",
		"policies/style.md":    "type: policy\nuri: acme://style\n---\n",
		"systems/cms.md":       "type: system\nid: cms\n---\n[out](../../x.md) [web](https://example.org/a.md) ![pic](../a.png)\n",
		"systems/bad.md":       "no: type\n---\n",
	})
}

func TestOutAndIn(t *testing.T) {
	t.Parallel()
	g := small(t)
	got := g.Out("publish")
	want := []Hop{{"publish", "editor", Owner, 4}, {"publish", "policies/style", GovernedBy, 5}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Out: %s", d)
	}
	got = g.In("policies/style")
	want = []Hop{{"publish", "policies/style", GovernedBy, 5}, {"editor", "policies/style", Link, 6}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("In: %s", d)
	}
}

func TestDangling(t *testing.T) {
	t.Parallel()
	g := bundleOf(t, map[string]string{
		"a.md":   "type: x\nuses: [gone, bad, other://thing, 'acme://lost']\nuri: acme://a\n---\n[lost](b.md) [folder](c/) [index](index.md) [picture](p.png)\n",
		"bad.md": "no: type\n---\n",
	})
	want := []Dangling{{"a", Uses, "gone", 3, false}, {"a", Uses, "bad", 3, true}, {"a", Uses, "acme://lost", 3, false}, {"a", Link, "b.md", 6, false}}
	if d := cmp.Diff(want, g.Dangling("a")); d != "" {
		t.Error(d)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	g := small(t)
	for name, want := range map[string]ID{
		"editor": "editor", "roles/editor.md": "editor", "/roles/editor": "editor", "style": "policies/style",
		"acme://style": "policies/style", "policies/style": "policies/style", "style.md": "policies/style",
	} {
		a, err := g.Find(name)
		if err != nil || a.ID != want {
			t.Errorf("Find(%q) = %v, %v, want %s", name, a, err, want)
		}
	}
	if _, err := g.Find("edtor"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "did you mean editor?") {
		t.Errorf("Find(edtor): %v", err)
	}
	if _, err := g.Find("../roles/editor"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Find outside: %v", err)
	}
	g = bundleOf(t, map[string]string{"a/x.md": "type: t\n---\n", "b/x.md": "type: t\n---\n"})
	if _, err := g.Find("x"); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "a/x, b/x") {
		t.Errorf("Find(x): %v", err)
	}
}

func TestDuplicateURIs(t *testing.T) {
	t.Parallel()
	g := bundleOf(t, map[string]string{"a.md": "type: t\nuri: acme://1\n---\n", "b.md": "type: t\nuri: acme://1\n---\n"})
	d := g.DuplicateURIs()
	if len(d) != 1 || d[0].First.Path != "a.md" || d[0].Second.Path != "b.md" {
		t.Errorf("DuplicateURIs = %+v", d)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	a, err := Parse("d/a.md", []byte("---\ntype: t\n---\n# H [x](b.md)\n\n[r][ref] <https://auto.example>\n\n```\n[no](no.md)\n```\n<!-- [no](no.md) -->\n\n[*e* m](<sp ace.md> \"t\") [%](b%20c.md#f)\n\n[ref]: /r.md\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range a.Links() {
		got = append(got, fmt.Sprintf("%d %s %q %s", l.Line, l.Target, l.Text, l.Fragment))
	}
	want := []string{`4 d/b.md "x" `, `6 r.md "r" `, `13 d/sp ace.md "e m" `, `13 d/b c.md "%" f`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzLinks(f *testing.F) {
	f.Add([]byte("[a](b.md) [c][d]\n\n[d]: ../e.md 't'\n"))
	f.Add([]byte("| [a](b) |\n|-|\n\xff[x](%zz)"))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := Atom{Path: "d/a.md", src: body, BodyLine: 1}
		lines := strings.Count(string(body), "\n") + 1
		for _, l := range a.Links() {
			if l.Line < 1 || l.Line > lines {
				t.Fatalf("line %d of %d", l.Line, lines)
			}
			if l.Target == ".." || strings.HasPrefix(l.Target, "../") || strings.HasPrefix(l.Target, "/") {
				t.Fatalf("target %q leaves the bundle", l.Target)
			}
		}
		a.Headings()
	})
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"a", "abcdefgh", 4}, {"aaaa", "bbbb", 4}} {
		if got := distance(c.a, c.b, 3); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
