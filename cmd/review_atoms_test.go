package cmd

import (
	"strings"
	"testing"
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
		if got := headingAbove(strings.Split(text, "\n")); got != want {
			t.Errorf("headingAbove(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestQuotes(t *testing.T) {
	cited := []citation{{Lines: []string{"1. Stop it.", "", "   `rm -x`"}}}
	for body, want := range map[string]bool{
		"> 1. Stop it.[^a]\n>\n>    `rm -x`\n": true,
		"> * Stop it.\n>\n> `rm -x`\n":         true,
		"> Stop it.\n":                         false, // something is left out
		"> Stop it.\n> `rm x`\n":               false,
		"> Stop it.\n> `rm -x`\n> So it is.\n": false,
		"Stop it. `rm -x`\n":                   false, // nothing is quoted
	} {
		if got := quotes([]byte(body), cited); got != want {
			t.Errorf("quotes(%q) = %v, want %v", body, got, want)
		}
	}
}
