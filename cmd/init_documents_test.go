package cmd

import (
	"fmt"
	"slices"
	"testing"
)

// The usual folders come before the fullest ones, and a task's inputs stay a short list.
func TestDocumentsFindsFolders(t *testing.T) {
	t.Parallel()
	paths := []string{"README.md", "charter/a.md", "src/README.md", "lib/vendor/a.md", "lib/vendor/b.md", "lib/vendor/c.md", ".github/a.md", ".github/b.md", ".github/c.md", "a.mdx"}
	for group := range 9 {
		for n := range group + 3 {
			paths = append(paths, fmt.Sprintf("group%d/%d.md", group, n))
		}
	}
	want := []string{"*.md", "charter/", "group3/", "group4/", "group5/", "group6/", "group7/", "group8/"}
	if got := findDocuments(paths); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := findDocuments([]string{"README.rst", "docs/index.rst"}), []string{"*.rst", "docs/"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := findDocuments([]string{"source/a.html.md.erb", "source/b.html.md.erb", "source/c.md", "x/a.erb", "x/b.erb", "x/c.erb"}), []string{"source/"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := findDocuments([]string{"main.go", "src/a.md"}); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
