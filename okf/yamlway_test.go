package okf

import (
	"errors"
	"strings"
	"testing"
)

// What the YAML parser cannot read is told with the way out.
func TestYAMLHasAWayOut(t *testing.T) {
	t.Parallel()
	for value, way := range map[string]string{
		"title: a: b":      "put the value in quotes if it is text",
		"title: @x":        "put the value in quotes if it is text",
		"title: *x":        "put the value in quotes if it is text",
		"title: [a":        "close the bracket, or put the value in quotes",
		"title: \"a":       "close the quote",
		"\ttitle: a":       "set it in with blanks",
		"title: a\nfoo":    `write it as "key: value", or set it in below its key`,
		"title: 'it's one": "put the value in quotes if it is text",
	} {
		_, err := Parse("a.md", []byte("---\ntype: term\n"+value+"\n---\n"))
		var p Problem
		if !errors.As(err, &p) || p.Hint != way || p.Line < 3 || strings.Contains(p.Message, "\n") {
			t.Errorf("%q: %v", value, err)
		}
	}
}
