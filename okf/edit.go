package okf

import "errors"

// Set is one edit of a top-level frontmatter key. A nil Value removes the key.
// Value may be what a Field's value may be, and also []string, []map[string]string
// and Stamp or []Stamp.
type Set struct {
	Key   string
	Value any
}

// Edit returns the file b with the sets applied and every other byte as it was:
// comments, order, quoting and line endings of untouched keys survive. A key
// that is absent is added at the end of the block. The result is parsed again;
// an edit that would change anything else is refused.
func Edit(b []byte, sets ...Set) ([]byte, error) { return nil, errors.New("edit: unwritten") }
