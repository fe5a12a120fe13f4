package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

func TestHeadingAbove(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"words\n":                       "",
		"# One\n\nwords":                "One",
		"# One\n\n## Two ##\nwords":     "Two",
		"One\n===\nwords":               "One",
		"Two\n---\nwords":               "Two",
		"# One\n\n---\nwords":           "One",
		"#no heading":                   "",
		"# One\n```sh\n# comment\n```":  "One",
		"# One\n````\n```\n# a\n````\n": "One",
	} {
		doc, _, _ := okf.ParsePage("a.md", []byte(text))
		if got := headingAbove(doc, 1+strings.Count(text, "\n")); got != want {
			t.Errorf("headingAbove(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRepeats(t *testing.T) {
	stop := Citation{Lines: []string{"1. Stop it.", "", "   `rm -x`"}}
	other, none := Citation{Lines: []string{"So it is."}}, Citation{Missing: "it is no file"}
	cited := func(lines ...string) Citation { return Citation{Lines: lines} }
	const atom = InAtom
	for _, c := range []struct {
		body  string
		texts []Citation
		want  []int
	}{
		{"> 1. Stop it.[^a]\n>\n>    `rm -x`\n", []Citation{stop}, []int{atom}},
		{"> * Stop it.\n>\n> `rm -x`\n", []Citation{stop}, []int{atom}},
		{"> 1. Stop it.\n", []Citation{stop}, []int{0}}, // something is left out
		{"> 1. Stop it.\n> `rm x`\n", []Citation{stop}, []int{0}},
		{"> 1. Stop it.\n> `rm -x`\n> So it is.\n", []Citation{stop}, []int{0}},
		{"Stop it. `rm -x`\n", []Citation{stop}, []int{0}}, // nothing is quoted
		{"Stop it. `rm -x`\n", []Citation{none, stop, other, stop, none}, []int{0, 1, 2, 1, 4}},
		{"> 1. Stop it.\n> `rm -x`\n", []Citation{stop, stop}, []int{atom, atom}},
		{"> 1. Stop it.\n> `rm -x`\n", []Citation{stop, other, stop}, []int{atom, 1, atom}},
		{"> 1. Stop it.\n> `rm -x`\n\n> 1. Stop it.\n> `rm -x`\n", []Citation{stop, stop}, []int{atom, atom}},
		{"> 1. Stop it.\n> `rm -x`\n\n> So it is, now.\n", []Citation{stop, other}, []int{atom, 1}},
		{"> 1. Stop it.\n> `rm -x`\n> So it is.\n", []Citation{stop, other, none}, []int{atom, atom, atom}},
		{"> So it is.\n> 1. Stop it.\n> `rm -x`\n", []Citation{stop, other}, []int{0, 1}}, // in another order
		{"> Never sail[^unless the wind is below six] at night.\n", []Citation{cited("Never sail at night.")}, []int{0}},
		{"> Never sail[^b c] at night.\n", []Citation{cited("Never sail at night.")}, []int{0}}, // no reference has a blank
		{"> Never sail[^z] at night.\n", []Citation{cited("Never sail at night.")}, []int{0}},
		{"> Never[^a] sail at\n>  night.[^a]\n", []Citation{cited("Never sail at night.")}, []int{atom}},
		{"> now[^a]here\n", []Citation{cited("nowhere")}, []int{0}},
		{"> Keel: a fin.[^a]\n", []Citation{cited("Keel", ": a fin.")}, []int{atom}}, // a definition below its term
		{"> **Keel**: a fin.[^a]\n", []Citation{cited("- **Keel**: a fin.")}, []int{atom}},
		{"> - a fin.[^a]\n", []Citation{cited("a fin.")}, []int{0}},
		{"", []Citation{cited("- ")}, []int{0}},
		{"> now here\n", []Citation{cited("nowhere")}, []int{0}},
		{"> now\n> here\n", []Citation{cited("nowhere")}, []int{0}},
		{"> now\n\n> here\n", []Citation{cited("nowhere")}, []int{0}},
		{"> now\n\n> here\n", []Citation{cited("now"), cited("here")}, []int{atom, atom}},
		{"> 3. more than one light\n", []Citation{cited("more than one light")}, []int{0}},
		{"> more than one light\n", []Citation{cited("3. more than one light")}, []int{0}},
		{"> show more than\n> 3. lights\n", []Citation{cited("show more than", "lights")}, []int{0}},
	} {
		if got := Repeats([]byte(c.body), []okf.Source{{ID: "a"}, {ID: "b c"}}, c.texts); !slices.Equal(got, c.want) {
			t.Errorf("Repeats(%q, %v) = %v, want %v", c.body, c.texts, got, c.want)
		}
	}
}

func TestWithoutProvenance(t *testing.T) {
	text := "---\ntype: term\nid: a\nsources:\n  - id: s1\n    resource: docs/a.md\n    title: lines 3-5\n    note: hidden words\ngenerated: {by: odd/1, at: 2026-01-01T00:00:00Z}\n---\n\n> Keel.[^s1]\n\n" +
		"[^s1]: Deploys need no review.\n\n[^s1]: [docs/a.md, lines 3-5](../../docs/a.md#L3-L5)\n"
	a, err := okf.Parse("terms/a.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := "---\ntype: term\nid: a\n    note: hidden words\n---\n\n> Keel.[^s1]\n\n[^s1]: Deploys need no review.\n"
	if got := (Atom{Atom: a, At: Path{Path: "knowledge/terms/a.md"}}).WithoutProvenance(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
