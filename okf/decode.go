package okf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxExpanded bounds the values one block may reach through aliases. Ten lines
// of aliases to aliases can name a billion values.
const maxExpanded = 10_000

// decode reads a block with the full YAML parser. It is the oracle for scan.
//
// Mappings keep their keys as text, "<<" included. Aliases are expanded.
// Timestamps, infinities and integers outside int64 stay the author's text.
func decode(src []byte) ([]Field, *Problem) {
	root, p := document(src)
	if p != nil || root == nil {
		return nil, p
	}
	r := reader{at: lineMap(src)}
	fields := r.fields(root)
	if r.bad != nil {
		return nil, r.bad
	}
	return fields, nil
}

// document is the one mapping of a block, or nil where the block is empty.
func document(src []byte) (*yaml.Node, *Problem) {
	if emptyBlock(src) {
		return nil, nil
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		return nil, yamlProblem(src, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, bad(2, codeFrontmatter, "frontmatter is not a mapping", `write it as "key: value" lines`)
	}
	return doc.Content[0], nil
}

// emptyBlock reports whether a block holds nothing but blanks and comments.
func emptyBlock(src []byte) bool {
	for line := range bytes.Lines(src) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return false
		}
	}
	return true
}

func yamlProblem(src []byte, err error) *Problem {
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	line, msg := 1, err.Error()
	var one *yaml.LoadError
	if errors.As(err, &one) {
		msg = strings.TrimPrefix(one.Message, "yaml: ")
		if one.ContextMsg != "" {
			msg = one.ContextMsg + ": " + msg
		}
		if one.Mark.Line > 0 {
			line = lineMap(src).file(one.Mark.Line)
		}
	}
	return bad(line, codeFrontmatter, msg, yamlWay(msg))
}

// yamlWay is the way out of what the YAML parser found: nearly always a text that
// holds a mark of YAML and has no quotes.
func yamlWay(msg string) string {
	for _, w := range [][2]string{
		{"tab character", "set it in with blanks"},
		{"flow", "close the bracket, or put the value in quotes"},
		{"quoted scalar", "close the quote"},
		{"simple key", `write it as "key: value", or set it in below its key`},
	} {
		if strings.Contains(msg, w[0]) {
			return w[1]
		}
	}
	return "put the value in quotes if it is text"
}

// lines maps a line of the YAML parser, which also breaks at a lone CR and at
// three Unicode separators, to a line of the file. It is nil when they agree.
type lines []int

// lineMap counts from 1: the block's first line is line 2 of the file.
func lineMap(src []byte) lines {
	if !bytes.ContainsAny(src, "\r\u0085\u2028\u2029") {
		return nil
	}
	at, line, from := lines{}, 2, 0
	for _, start := range lineStarts(src) {
		line += bytes.Count(src[from:start], []byte("\n"))
		at, from = append(at, line), start
	}
	return at
}

// lineStarts is the offset of every line as the YAML parser counts them.
func lineStarts(src []byte) []int {
	at := []int{0}
	for i := 0; i < len(src); {
		c, n := utf8.DecodeRune(src[i:])
		i += n
		if c == '\r' && i < len(src) && src[i] == '\n' {
			i++
		}
		if c == '\r' || c == '\n' || c == '\u0085' || c == '\u2028' || c == '\u2029' {
			at = append(at, i)
		}
	}
	return at
}

// file is the line of the file that YAML line n (1-based) lies on.
func (l lines) file(n int) int {
	if l == nil {
		return n + 1
	}
	return l[min(max(n, 1), len(l))-1]
}

// reader turns nodes into values and keeps the first thing that is wrong.
type reader struct {
	at       lines
	expanded int // values reached through aliases
	aliases  int // aliases being expanded
	bad      *Problem
}

func (r *reader) fields(m *yaml.Node) []Field {
	r.unique(m)
	out := make([]Field, 0, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content) && r.bad == nil; i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		f := Field{Key: k.Value, Value: r.value(v), Line: r.at.file(k.Line)}
		if named := f.Key == "type" || f.Key == "id"; named && ambiguous(v) {
			code := map[string]string{"type": codeType, "id": codeID}[f.Key]
			r.fail(bad(f.Line, code, fmt.Sprintf("%s: %s is read as true or false by YAML 1.1", f.Key, v.Value), "quote it"))
		}
		out = append(out, f)
	}
	return out
}

// ambiguous reports a plain scalar that YAML 1.1 reads as a truth value and
// YAML 1.2 reads as text.
func ambiguous(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && plainStyle(n) && yaml11Bool(n.Value)
}

func plainStyle(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
}

func (r *reader) fail(p *Problem) {
	if r.bad == nil {
		r.bad = p
	}
}

// unique refuses keys that are not scalars and keys that are set twice.
func (r *reader) unique(m *yaml.Node) {
	seen := make(map[string]int, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		line := r.at.file(k.Line)
		if k.Kind != yaml.ScalarNode {
			r.fail(bad(line, codeFrontmatter, "a key is not a plain name", `write keys as "name: value"`))
			return
		}
		if first, ok := seen[k.Value]; ok {
			r.fail(bad(line, codeFrontmatter, fmt.Sprintf("%s is set twice, first on line %d", k.Value, first), "keep one of them"))
			return
		}
		seen[k.Value] = line
	}
}

func (r *reader) value(n *yaml.Node) any {
	if r.bad != nil {
		return nil
	}
	if r.aliases > 0 {
		if r.expanded++; r.expanded > maxExpanded {
			r.fail(bad(r.at.file(n.Line), codeFrontmatter, "aliases expand to too many values", "write the values out"))
			return nil
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.aliases++
		v := r.value(n.Alias)
		r.aliases--
		return v
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			out = append(out, r.value(c))
		}
		return out
	case yaml.MappingNode:
		r.unique(n)
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = r.value(n.Content[i+1])
		}
		return out
	}
	return plainValue(n)
}

func plainValue(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
	default:
		return n.Value
	}
	var v any
	if n.Decode(&v) != nil {
		return n.Value
	}
	switch v := v.(type) {
	case bool, int:
		return v
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v
		}
	}
	return n.Value
}
