package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linked    = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	goComment = regexp.MustCompile(`(?m)^\s*//.*$`)
	goName    = regexp.MustCompile("`(?:\\[\\])?(?:[a-z]+\\.)?([A-Za-z]\\w+)`")
)

// TestContributing: what CONTRIBUTING.md links to is there, and what a section on adding
// something names stands in a file that the section links to, and not only in a comment.
func TestContributing(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(string(b), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		var held strings.Builder
		for _, m := range linked.FindAllStringSubmatch(section, -1) {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[1])))
			if err != nil {
				t.Errorf("CONTRIBUTING.md, %s: %v", title, err)
			}
			held.Write(goComment.ReplaceAll(text, nil))
		}
		if !strings.HasPrefix(title, "Add ") {
			continue
		}
		names := goName.FindAllStringSubmatch(section, -1)
		if len(names) < 4 {
			t.Errorf("CONTRIBUTING.md, %s: names %d things of the code", title, len(names))
		}
		for _, m := range names {
			if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(held.String()) {
				t.Errorf("CONTRIBUTING.md, %s: no file that it links to has %s", title, m[1])
			}
		}
	}
}
