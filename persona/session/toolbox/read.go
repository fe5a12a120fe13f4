package toolbox

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// readers are the tools that look at the tree.
func readers() []entry {
	return []entry{
		{Tool: Tool{Name: "read_file", Description: "Reads a text file of the repository, with line numbers. It must have been read before it can be edited, overwritten or deleted."},
			path: "path", grant: "fetch", do: readFile, params: []param{
				{name: "path", kind: isText, must: true, about: "the file, from the top of the repository"},
				{name: "first", kind: isInt, most: 1 << 30, about: "the first line, from 1"},
				{name: "last", kind: isInt, most: 1 << 30, about: "the last line"},
			}},
	}
}

// readFile shows lines of a file and remembers that it was read as it is now.
func readFile(_ context.Context, c *call) (string, error) {
	b, _, err := c.b.tree.load(c.at, c.b.o.Limits.FileBytes)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) || strings.ContainsRune(string(b), 0) {
		return "", failf("not_text", "%s is not text (%d bytes)", c.at, len(b))
	}
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first, last := max(c.args.num("first", 1), 1), min(c.args.num("last", len(lines)), len(lines))
	if first > last && len(lines) > 0 {
		return "", failf("bad_arguments", "first: %s has %d lines", c.at, len(lines))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, lines %d to %d of %d\n", c.at, first, last, len(lines))
	for i := first; i <= last; i++ {
		fmt.Fprintf(&out, "%d\t%s", i, lines[i-1])
	}
	c.b.mu.Lock()
	c.b.read[c.at] = hash(b)
	c.b.mu.Unlock()
	return out.String(), nil
}
