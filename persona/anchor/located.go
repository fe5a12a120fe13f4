package anchor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

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

// locate finds every value of one JSON document, or the offset where it is not
// one. A name that an object has twice is an error: nobody knows which of them
// another reader believes.
func locate(b []byte) (top node, at int, err error) {
	switch {
	case !utf8.Valid(b):
		return node{}, 0, errors.New("not UTF-8")
	case !json.Valid(b):
		var v any
		err := json.Unmarshal(b, &v)
		if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
			at = int(e.Offset) - 1
		}
		return node{}, at, err
	}
	r := scanner{b: b}
	top = r.value()
	if r.twice != "" {
		return node{}, r.at, fmt.Errorf("%q stands twice in one object", r.twice)
	}
	return top, 0, nil
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
