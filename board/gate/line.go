package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// eachLine calls read with every line of a JSONL file, without its newline. The error names
// the line. A last line without a newline is an error.
func eachLine(text []byte, read func(line []byte) error) error {
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return fmt.Errorf("line %d: torn, the last line has no newline; restore the file from git", n)
		}
		if err := read(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		text = rest
	}
	return nil
}

// printLine returns v as one line with its newline.
func printLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// isHidden reports a character that a person does not see and a terminal may obey.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}

// cleanLine returns s on one line without hidden characters, cut to at most max bytes.
func cleanLine(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return strings.TrimSpace(s[:max])
}

// checkKnown returns an error if v is not in the closed set.
func checkKnown[T ~string](what string, v T, set []T) error {
	if slices.Contains(set, v) {
		return nil
	}
	return fmt.Errorf("unknown %s %q; want one of %s", what, string(v), strings.Join(toStrings(set), ", "))
}
