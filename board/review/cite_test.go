package review

import (
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

func TestQuotes(t *testing.T) {
	cited := []Citation{{Lines: []string{"1. Stop it.", "", "   `rm -x`"}}}
	for body, want := range map[string]bool{
		"> 1. Stop it.[^a]\n>\n>    `rm -x`\n": true,
		"> * Stop it.\n>\n> `rm -x`\n":         true,
		"> Stop it.\n":                         false, // something is left out
		"> Stop it.\n> `rm x`\n":               false,
		"> Stop it.\n> `rm -x`\n> So it is.\n": false,
		"Stop it. `rm -x`\n":                   false, // nothing is quoted
	} {
		if got := IsQuote([]byte(body), cited); got != want {
			t.Errorf("IsQuote(%q) = %v, want %v", body, got, want)
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
