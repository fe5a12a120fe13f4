package start

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The usual folders come before the fullest ones, and a task's inputs stay a short list.
func TestDocumentsFindsFolders(t *testing.T) {
	t.Parallel()
	paths := []string{"README.md", "charter/a.md", "src/README.md", "lib/vendor/a.md", "lib/vendor/b.md", "lib/vendor/c.md", ".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.md", ".gitlab/a.md", ".gitlab/b.md", ".gitlab/c.md", "a.mdx"}
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
	if got, want := findDocuments([]string{"README.md", ".github/CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md"}), []string{"*.md", ".github/*.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := findDocuments([]string{"main.go", "src/a.md", "_template/1.md", "_template/2.md", "_template/3.md", "templates/1.md", "templates/2.md", "templates/3.md"}); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// What no input names is counted, so that nobody believes that the first task reads all.
func TestDocumentsThatNoInputNames(t *testing.T) {
	t.Parallel()
	paths := []string{"README.md", "docs/a.md", "a/1.md", "b/1.md", "b/2.md", "c/1.md", "d/1.md", "vendor/1.md", "templates/1.md", "main.go"}
	for _, test := range []struct{ inputs, want string }{
		{"*.md docs/", "5 documents in 4 other places: b/, a/, c/ and 1 more"},
		{"docs/ a/1.md b/*.md", "3 documents in 3 other places: *.md, c/, d/"},
		{"*.md docs/ a/ b/ c/", ""},
		{"**/*.md", ""},
	} {
		if got := describeOthers(paths, strings.Fields(test.inputs)); got != test.want {
			t.Errorf("%s: %q, want %q", test.inputs, got, test.want)
		}
	}
}

// Documents that the built-in reader cannot read are told where they are many; a template or a list of packages is
// no document.
func TestDocumentsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	files := func(form string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(form, i))
		}
		return out
	}
	for want, paths := range map[string][]string{
		"": slices.Concat(files("app/views/%d.html.erb", 40), files("docs/%d.md", 40), files("docs/%d.adoc", 3), files("vendor/%d.adoc", 9), files("source/%d.html.md.erb", 9), files("etc/%d.txt", 9)),
		"manual/ (30 .adoc), source/ (4 .html), notes/ (3 .docx), 1 more": slices.Concat(files("%d.adoc", 3), files("manual/part/%d.ADOC", 30), files("source/x/%d.html", 4), files("notes/%d.docx", 3)),
		"the top folder (3 .adoc)":                                        slices.Concat(files("%d.adoc", 3), files("%d.md", 3)),
	} {
		if got := findUnread(paths); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
