package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// decodeStrict decodes one line into v. encoding/json accepts a key in any case, and takes
// the last of two. decodeStrict refuses keys that are not in names, and keys that occur
// twice, so that no two readers understand a line differently.
func decodeStrict(line []byte, v any, names []string) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8; restore the file from git")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("want one JSON object a line; restore the file from git")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, isKey := t.(string)
		switch {
		case err != nil || !isKey:
			return fmt.Errorf("not JSON: %v", err)
		case !slices.Contains(names, key):
			return fmt.Errorf("unknown key %q; want %s", key, strings.Join(names, ", "))
		case seen[key]:
			return fmt.Errorf("key %q twice; restore the file from git", key)
		}
		seen[key] = true
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the object; restore the file from git")
	}
	if err := json.Unmarshal(line, v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
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
