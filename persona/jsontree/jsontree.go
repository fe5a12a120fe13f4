// Package jsontree reads JSON as a tree in which every value knows its place, for
// readers that must say where something is wrong, or change nothing else.
package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Node is one JSON value, the bytes From to To of its document.
type Node struct {
	From, To int
	Kind     byte     // '{', '[', '"', or 0 for a number, true, false and null
	Text     string   // what a string says
	Members  []Member // of an object or a list
}

// Member is one entry of an object or a list. It begins at From: in an object
// where its name does.
type Member struct {
	Name  string
	From  int
	Value Node
}

// SyntaxError says at which offset a document is not JSON.
type SyntaxError struct {
	Offset int
	Text   string
}

func (e *SyntaxError) Error() string { return e.Text }

// Parse reads one JSON document in UTF-8. An object may have a name twice. The
// error is a *SyntaxError.
func Parse(b []byte) (Node, error) {
	if !utf8.Valid(b) {
		return Node{}, &SyntaxError{0, "not UTF-8"}
	}
	if err := json.Unmarshal(b, new(json.RawMessage)); err != nil {
		at := len(bytes.TrimSpace(b))
		if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
			at = int(e.Offset) - 1
		}
		return Node{}, &SyntaxError{max(0, min(at, len(b))), err.Error()}
	}
	r := reader{b, json.NewDecoder(bytes.NewReader(b))}
	r.UseNumber()
	return r.next(), nil
}

// reader walks JSON that is known to be valid.
type reader struct {
	b []byte
	*json.Decoder
}

func (r reader) next() Node {
	n := Node{From: int(r.InputOffset())}
	for strings.IndexByte(" \t\r\n,:", r.b[n.From]) >= 0 {
		n.From++
	}
	switch t, _ := r.Token(); t := t.(type) {
	case string:
		n.Kind, n.Text = '"', t
	case json.Delim:
		n.Kind = byte(t)
		for r.More() {
			var m Member
			if n.Kind == '{' {
				name := r.next()
				m.Name, m.From = name.Text, name.From
			}
			m.Value = r.next()
			if n.Kind == '[' {
				m.From = m.Value.From
			}
			n.Members = append(n.Members, m)
		}
		_, _ = r.Token() // its bracket
	}
	n.To = int(r.InputOffset())
	return n
}

// Get finds an object's first member of a name.
func (n Node) Get(name string) (Node, bool) {
	i := n.Index(name)
	if i < 0 {
		return Node{}, false
	}
	return n.Members[i].Value, true
}

// Index is the place of an object's first member of a name, or -1.
func (n Node) Index(name string) int {
	for i, m := range n.Members {
		if n.Kind == '{' && m.Name == name {
			return i
		}
	}
	return -1
}

// ReadText reads an object's member that is a string into to, and leaves it where there is none.
func (n Node) ReadText(name string, to *string) error {
	v, ok := n.Get(name)
	if ok && v.Kind != '"' {
		return errors.New(name + " is no string")
	} else if ok {
		*to = v.Text
	}
	return nil
}

// ParseUnique is Parse of a document whose objects have each name once: nobody knows which of two
// another reader believes.
func ParseUnique(b []byte) (Node, *SyntaxError) {
	n, err := Parse(b)
	no, _ := errors.AsType[*SyntaxError](err)
	if m, twice := n.Twice(); twice {
		no = &SyntaxError{m.From, fmt.Sprintf("%q stands twice in one object", m.Name)}
	}
	return n, no
}

// Twice finds the first member, at any depth, whose object has its name before it:
// nobody knows which of the two another reader believes.
func (n Node) Twice() (Member, bool) {
	seen := map[string]bool{}
	for _, m := range n.Members {
		if n.Kind == '{' && seen[m.Name] {
			return m, true
		}
		seen[m.Name] = true
		if in, twice := m.Value.Twice(); twice {
			return in, true
		}
	}
	return Member{}, false
}
