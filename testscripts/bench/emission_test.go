//go:build bench

package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named and linked are the ids and the links of a corpus; an emission has ids
// of its own, so that no atom is one that the bundle has under another id.
var (
	named  = regexp.MustCompile(`dept-\d+/(?:\w+/)?\w+-(\d+)`)
	linked = regexp.MustCompile(`\(/dept-\d+/(?:\w+/)?\w+-(\d+)\.md\)`)
)

// emission is a file of n atoms as a session hands them back, none of which is
// in a bundle yet.
func emission(t *testing.T, n int) string {
	t.Helper()
	file := filepath.Join(work, fmt.Sprintf("emission-%d.md", n))
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(out)
	for path, text := range emitted(fmt.Sprint(n)).All() {
		body := "---\nid: " + named.ReplaceAllString(strings.TrimSuffix(path, ".md"), "emitted-$1") + strings.TrimPrefix(string(text), "---")
		body = linked.ReplaceAllString(body, "(/terms/emitted-$1.md)")
		body = named.ReplaceAllString(body, "emitted-$1")
		body = strings.Replace(body, "confidence: verified\nverified:\n  - {by: \"human:ann@example.org\", at: 2026-02-03T10:00:00Z}\n", "confidence: inferred\n", 1)
		fmt.Fprintf(w, "```atom\n%s```\n\n", body)
	}
	fmt.Fprint(w, "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n")
	for _, err := range []error{w.Flush(), out.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return file
}
