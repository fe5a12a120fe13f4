package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Error is one thing wrong with an odd.toml.
type Error struct {
	File    string
	Line    int // 1-based
	Message string
}

// Error is "file:line: message".
func (e Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Errors is everything wrong with an odd.toml, in the order of its lines.
type Errors []Error

// Error is one error a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// syntax is the error of a file that is not TOML.
func syntax(file string, err error) Error {
	var pe toml.ParseError
	if errors.As(err, &pe) {
		return Error{file, max(pe.Position.Line, 1), plain(pe.Message)}
	}
	return Error{file, 1, strings.TrimPrefix(err.Error(), "toml: ")}
}

// plain is a message of the TOML library as odd words its own.
func plain(msg string) string {
	if key, ok := strings.CutSuffix(msg, "' has already been defined."); ok {
		return strings.TrimPrefix(key, "Key '") + " is set twice; keep one of them"
	}
	return strings.TrimSuffix(msg, ".")
}

// node is one key of the file: a table with its children in the order of the
// lines, or a value with the text it was written as.
type node struct {
	name     string
	line     int
	value    any    // as the TOML library reads it; nil for a table
	literal  string // of a number
	children []node // of a table; the tables of an array of them
	table    bool
}

// located takes any TOML value and then fails on purpose: the library adds the
// value's position to an Unmarshaler's error and gives it away nowhere else.
type located struct{ value any }

var errLocated = errors.New("located")

// UnmarshalTOML keeps the value. Its error is always errLocated.
func (l *located) UnmarshalTOML(v any) error {
	l.value = v
	return errLocated
}

// read parses b into a tree of nodes.
func read(b []byte) (node, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var top map[string]toml.Primitive
	md, err := toml.Decode(string(b), &top)
	if err != nil {
		return node{}, err
	}
	root := node{line: 1, table: true}
	root.children, err = children(b, &md, top)
	return root, err
}

func children(b []byte, md *toml.MetaData, table map[string]toml.Primitive) ([]node, error) {
	var out []node
	for name, prim := range table {
		n, err := one(b, md, prim)
		if err != nil {
			return nil, err
		}
		n.name = name
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b node) int { return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.name, b.name)) })
	return out, nil
}

func one(b []byte, md *toml.MetaData, prim toml.Primitive) (node, error) {
	var l located
	var pe toml.ParseError
	if err := md.PrimitiveDecode(prim, &l); !errors.As(err, &pe) {
		return node{}, fmt.Errorf("a value has no position: %w", err)
	}
	n := node{line: max(pe.Position.Line, 1), value: l.value}
	switch _, is := l.value.(map[string]any); {
	case is:
		return table(b, md, prim)
	case areTables(l.value):
		var err error
		n.children, err = items(b, md, prim)
		return n, err
	}
	if start := pe.Position.Start; start >= 0 && start < len(b) {
		n.literal = number(l.value, b[start:])
	}
	return n, nil
}

// table is a node of a table.
func table(b []byte, md *toml.MetaData, prim toml.Primitive) (node, error) {
	var l located
	var pe toml.ParseError
	if err := md.PrimitiveDecode(prim, &l); !errors.As(err, &pe) {
		return node{}, fmt.Errorf("a table has no position: %w", err)
	}
	var below map[string]toml.Primitive
	if err := md.PrimitiveDecode(prim, &below); err != nil {
		return node{}, err
	}
	var err error
	n := node{line: max(pe.Position.Line, 1), table: true}
	n.children, err = children(b, md, below)
	return n, err
}

// figure is a TOML decimal number; assigned is one behind its key, which is
// where the library places a value of an inline table.
var (
	figure   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?[0-9][0-9_.]*(?:[eE][+-]?[0-9_]+)?`) })
	assigned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^=\n]*=[ \t]*`) })
)

// number is the text a number was written as, without underscores and the sign
// of plus; "" when the text at hand does not read back as the value.
func number(v any, at []byte) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		for _, text := range [][]byte{figure().Find(at), figure().Find(at[len(assigned().Find(at)):])} {
			s := strings.TrimPrefix(strings.ReplaceAll(string(text), "_", ""), "+")
			if again, err := strconv.ParseFloat(s, 64); err == nil && again == v {
				return s
			}
		}
	}
	return ""
}
