package extract

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

// TestTidy: an atom that two documents define loses what one of them no longer says, also
// where the other one is not read again.
func TestTidy(t *testing.T) {
	t.Parallel()
	const two = "# Glossary\n\nSkeg\n: A fin that is let down in a side wind.\n"
	a := drive(t, request("docs/a.md", glossaryText, "docs/b.md", two)).Atoms
	i := 0
	for a[i].Atom.Title != "Skeg" {
		i++
	}
	skeg := a[i].Atom
	if len(skeg.Sources) != 2 || strings.Count(string(skeg.Body()), "> ") != 2 {
		t.Fatalf("%s", skeg.Bytes())
	}
	for _, c := range []struct {
		name   string
		files  []string
		inputs []string
		want   string // what stays, "" for nothing emitted
	}{
		{"nothing is gone", []string{"docs/a.md", glossaryText, "docs/b.md", two}, []string{"docs/b.md"}, ""},
		{"gone, and not asked for", []string{"docs/a.md", glossaryText}, []string{"docs/a.md"}, ""},
		{"gone", []string{"docs/a.md", glossaryText}, []string{"docs/b.md"}, "docs-a"},
		{"gone with its folder", []string{"lib/a.md", "# A\n", "docs/a.md", glossaryText}, []string{"lib/", "docs/b.md"}, "docs-a"},
		{"says it no longer", []string{"docs/a.md", glossaryText, "docs/b.md", "# Glossary\n"}, []string{"docs/b.md"}, "docs-a"},
		{"elsewhere, and not read there", []string{"docs/a.md", glossaryText, "docs/c.md", two}, []string{"docs/b.md"}, ""},
		{"both are gone", nil, []string{"docs/a.md", "docs/b.md"}, "deprecated"},
	} {
		r := after(t, request(c.files...), skeg)
		r.Inputs = c.inputs
		var got *okf.Atom
		for _, e := range drive(t, r).Atoms {
			if e.Atom.ID == skeg.ID {
				got = &e.Atom
			}
		}
		switch {
		case (got != nil) != (c.want != ""):
			t.Errorf("%s: emitted is %v", c.name, got)
		case got == nil:
		case c.want == "deprecated":
			if got.Status != "deprecated" {
				t.Errorf("%s: %s", c.name, got.Bytes())
			}
		case len(got.Sources) != 1 || got.Sources[0].ID != c.want || strings.Count(string(got.Body()), "> ") != 1 || strings.Contains(string(got.Body()), "docs-b") || got.Status == "deprecated":
			t.Errorf("%s: %s", c.name, got.Bytes())
		}
	}
}

// TestUnquoted: of several quotes from one file only those go whose text is gone.
func TestUnquoted(t *testing.T) {
	t.Parallel()
	body := "> One.[^a]\n\n> ```\n> make\n> ```\n\nSource[^a]\n\n> Three.[^b]\n\n[^a]: [a, lines 1, 5](a#L1)\n[^b]: [b, line 2](b#L2)\n\n# Related\n\n* [x](x.md)\n"
	sources := []any{map[string]any{"id": "a"}, map[string]any{"id": "b"}}
	for name, c := range map[string]struct {
		drift []okf.Drift
		want  string
	}{
		"the first of a":  {[]okf.Drift{{Source: 0, Lost: true, Kept: []int{1}}}, strings.Replace(body, "> One.[^a]\n\n", "", 1)},
		"the second of a": {[]okf.Drift{{Source: 0, Lost: true, Kept: []int{0}}}, strings.Replace(body, "> ```\n> make\n> ```\n\nSource[^a]\n\n", "", 1)},
		"b":               {[]okf.Drift{{Source: 1, Lost: true}}, strings.NewReplacer("> Three.[^b]\n\n", "", "[^b]: [b, line 2](b#L2)\n", "").Replace(body)},
		"a, which moved":  {[]okf.Drift{{Source: 0, Files: []string{"c"}}}, body},
		"all":             {[]okf.Drift{{Source: 0, Lost: true}, {Source: 1, Lost: true}}, ""},
	} {
		for _, old := range []string{"Source[^", "[^"} { // with the word, as older atoms have it
			text, want := strings.Replace(body, "Source[^", old, 1), strings.Replace(c.want, "Source[^", old, 1)
			if got := withoutQuotes(text, sources, c.drift); got != want {
				t.Errorf("%s:\n%s", name, got)
			}
		}
	}
}
