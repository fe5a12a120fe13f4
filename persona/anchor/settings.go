package anchor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxSettings is the largest settings file that is edited, in bytes.
const maxSettings = 1 << 20

// SettingsError is a settings file that is not edited: it does not read as one
// JSON object with unique names, or the hook has no place in it.
type SettingsError struct {
	File string
	Line int
	Text string
}

// Error writes the place first.
func (e SettingsError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Refused is the reason code.
func (e SettingsError) Refused() string { return "settings-unread" }

// settings is a harness's settings file with the place of every value in it, so
// that an edit touches no other byte.
type settings struct {
	file string
	b    []byte
	top  node
}

// node is one JSON value: b[from:to].
type node struct {
	from, to int
	kind     byte // '{', '[' or 0 for what has no members
	members  []member
}

// member is one entry of an object or a list; its text begins at from, where an
// object's entry has its name, and ends with the value.
type member struct {
	name  string
	from  int
	value node
}

// get finds an object's member by name.
func (n node) get(name string) (int, bool) {
	for i, m := range n.members {
		if n.kind == '{' && m.name == name {
			return i, true
		}
	}
	return 0, false
}

// readSettings locates every value. A name that an object has twice is an error,
// since nobody knows which of them a harness believes.
func readSettings(file string, b []byte) (settings, error) {
	s := settings{file: file, b: b}
	switch {
	case len(b) > maxSettings:
		return s, s.refuse(0, "longer than 1 MiB; no settings file is")
	case !utf8.Valid(b):
		return s, s.refuse(0, "not UTF-8; repair the file first")
	case len(bytes.TrimSpace(b)) == 0:
		return s, s.refuse(0, "empty; write {} or delete the file first")
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		at := 0
		if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
			at = int(e.Offset) - 1
		}
		return s, s.refuse(at, "%v; repair the JSON first", err)
	}
	r := scanner{b: b}
	s.top = r.value()
	switch {
	case r.twice != "":
		return s, s.refuse(r.at, "%q stands twice in one object; keep one of them", r.twice)
	case s.top.kind != '{':
		return s, s.refuse(s.top.from, "not a JSON object; settings are one")
	}
	return s, nil
}

// refuse tells what is wrong at an offset.
func (s settings) refuse(at int, format string, args ...any) error {
	at = max(0, min(at, len(s.b)))
	return SettingsError{s.file, s.line(at), fmt.Sprintf(format, args...)}
}

func (s settings) line(at int) int { return 1 + bytes.Count(s.b[:at], []byte("\n")) }

// decode is what a value says.
func (s settings) decode(n node) (v any) {
	if json.Unmarshal(s.b[n.from:n.to], &v) != nil {
		return nil
	}
	return v
}

// scanner walks JSON that is known to be valid.
type scanner struct {
	b     []byte
	i     int
	twice string // a name an object has twice, and where
	at    int
}

func (r *scanner) space() {
	for r.i < len(r.b) && bytes.IndexByte([]byte(" \t\r\n"), r.b[r.i]) >= 0 {
		r.i++
	}
}

func (r *scanner) value() node {
	r.space()
	n := node{from: r.i}
	switch r.b[r.i] {
	case '{', '[':
		n.kind = r.b[r.i]
		n.members = r.entries(n.kind == '{')
	case '"':
		r.word()
	default:
		for r.i < len(r.b) && bytes.IndexByte([]byte(" \t\r\n,]}"), r.b[r.i]) < 0 {
			r.i++
		}
	}
	n.to = r.i
	return n
}

// word steps over a string and returns what it says.
func (r *scanner) word() string {
	from := r.i
	for r.i++; r.b[r.i] != '"'; r.i++ {
		if r.b[r.i] == '\\' {
			r.i++
		}
	}
	r.i++
	var s string
	if json.Unmarshal(r.b[from:r.i], &s) != nil {
		return strconv.Quote(string(r.b[from:r.i]))
	}
	return s
}

// entries reads an object or a list from its bracket to its bracket.
func (r *scanner) entries(named bool) []member {
	var all []member
	seen := map[string]bool{}
	for r.i++; ; {
		r.space()
		switch r.b[r.i] {
		case '}', ']':
			r.i++
			return all
		case ',':
			r.i++
			continue
		}
		m := member{from: r.i}
		if named {
			m.name = r.word()
			if seen[m.name] && r.twice == "" {
				r.twice, r.at = m.name, m.from
			}
			seen[m.name] = true
			r.space()
			r.i++ // the colon
		}
		m.value = r.value()
		all = append(all, m)
	}
}
