package anchor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/odd-cli/odd/persona/jsontree"
)

// maxSettings is the largest settings file that is edited, in bytes.
const maxSettings = 1 << 20

// settingsError is a settings file that is not edited: it does not read as one
// JSON object with unique names, or the hook has no place in it.
type settingsError struct {
	File string
	Line int
	Text string
}

// Error writes the place first.
func (e settingsError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Refused returns the reason code.
func (e settingsError) Refused() string { return "settings-unread" }

// settings is a harness's settings file with the place of every value in it, so
// that an edit touches no other byte.
type settings struct {
	file string
	b    []byte
	top  jsontree.Node
}

// readSettings locates every value. A name that an object has twice is an error,
// because a harness may believe either.
func readSettings(file string, b []byte) (settings, error) {
	s := settings{file: file, b: b}
	switch {
	case len(b) > maxSettings:
		return s, s.errorAt(0, "longer than 1 MiB; no settings file is")
	case len(bytes.TrimSpace(b)) == 0:
		return s, s.errorAt(0, "empty; write {} or delete the file first")
	}
	top, at, err := readUnique(b)
	if err != nil {
		return s, s.errorAt(at, "%v; repair it first", err)
	}
	s.top = top
	if top.Kind != '{' {
		return s, s.errorAt(top.From, "not a JSON object; settings are one")
	}
	return s, nil
}

// readUnique reads JSON whose objects have each name once, or says at which offset
// it is something else.
func readUnique(b []byte) (top jsontree.Node, at int, err error) {
	top, err = jsontree.Parse(b)
	if e := (*jsontree.SyntaxError)(nil); errors.As(err, &e) {
		return top, e.Offset, err
	}
	if m, twice := top.Twice(); twice {
		return top, m.From, fmt.Errorf("%q stands twice in one object", m.Name)
	}
	return top, 0, nil
}

// errorAt returns an error that names the line of an offset.
func (s settings) errorAt(at int, format string, args ...any) error {
	return settingsError{s.file, s.lineAt(at), fmt.Sprintf(format, args...)}
}

func (s settings) lineAt(at int) int { return 1 + bytes.Count(s.b[:at], []byte("\n")) }

func (s settings) decode(n jsontree.Node) (v any) {
	if json.Unmarshal(s.b[n.From:n.To], &v) != nil {
		return nil
	}
	return v
}
