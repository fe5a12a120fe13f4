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

// maxExpanded limits the values that one block may reach through aliases. Ten lines of
// aliases to aliases can name a billion values.
const maxExpanded = 10_000

// decodeYAML reads a block with the full YAML parser. Tests compare scanBlock with it.
//
// Mappings keep their keys as text, "<<" included. Aliases are expanded. Timestamps,
// infinities and integers outside int64 stay text.
func decodeYAML(src []byte) ([]Field, *Problem) {
	root, p := parseMapping(src)
	if p != nil || root == nil {
		return nil, p
	}
	r := yamlReader{at: newLineTable(src)}
	fields := r.readFields(root)
	if r.bad != nil {
		return nil, r.bad
	}
	return fields, nil
}

// parseMapping returns the mapping of a block; nil for an empty block.
func parseMapping(src []byte) (*yaml.Node, *Problem) {
	if emptyBlock(src) {
		return nil, nil
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		return nil, yamlProblem(src, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, newProblem(2, codeFrontmatter, "frontmatter is not a mapping", `write it as "key: value" lines`)
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
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		msg = strings.TrimPrefix(one.Message, "yaml: ")
		if one.ContextMsg != "" {
			msg = one.ContextMsg + ": " + msg
		}
		at := one.Mark.Line
		if strings.Contains(one.ContextMsg, "flow") || strings.Contains(one.ContextMsg, "quoted") {
			at = one.ContextMark.Line // where the bracket or the quote was opened
		}
		if at > 0 {
			line = newLineTable(src).fileLine(at)
		}
	}
	return newProblem(line, codeFrontmatter, msg, yamlHint(msg))
}

// yamlHint returns the way out of an error of the YAML parser. Nearly always, a text with a
// special character lacks quotes.
func yamlHint(msg string) string {
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

// lineTable maps a line of the YAML parser to a line of the file. The parser also breaks
// lines at a lone CR and at three Unicode separators. It is nil if the two agree.
type lineTable []int

// newLineTable counts from 1: the first line of the block is line 2 of the file.
func newLineTable(src []byte) lineTable {
	if !bytes.ContainsAny(src, "\r\u0085\u2028\u2029") {
		return nil
	}
	at, line, from := lineTable{}, 2, 0
	for _, start := range lineStarts(src) {
		line += bytes.Count(src[from:start], []byte("\n"))
		at, from = append(at, line), start
	}
	return at
}

// lineStarts returns the offset of every line as the YAML parser counts them.
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

// fileLine returns the line of the file for line n (from 1) of the YAML parser.
func (l lineTable) fileLine(n int) int {
	if l == nil {
		return n + 1
	}
	return l[min(max(n, 1), len(l))-1]
}

// yamlReader turns nodes into values and keeps the first problem.
type yamlReader struct {
	at       lineTable
	expanded int // values reached through aliases
	aliases  int // aliases being expanded
	bad      *Problem
}

func (r *yamlReader) readFields(m *yaml.Node) []Field {
	r.checkKeys(m)
	out := make([]Field, 0, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content) && r.bad == nil; i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		f := Field{Key: k.Value, Value: r.readValue(v), Line: r.at.fileLine(k.Line)}
		if named := f.Key == "type" || f.Key == "id"; named && isAmbiguousBool(v) {
			code := map[string]string{"type": codeType, "id": codeID}[f.Key]
			r.fail(newProblem(f.Line, code, fmt.Sprintf("%s: %s is read as true or false by YAML 1.1", f.Key, v.Value), "quote it"))
		}
		out = append(out, f)
	}
	return out
}

// isAmbiguousBool reports a plain scalar that is a bool in YAML 1.1 and text in YAML 1.2.
func isAmbiguousBool(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && isPlainStyle(n) && isYAML11Bool(n.Value)
}

func isPlainStyle(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
}

func (r *yamlReader) fail(p *Problem) {
	if r.bad == nil {
		r.bad = p
	}
}

// checkKeys refuses keys that are not scalars and keys that are set twice.
func (r *yamlReader) checkKeys(m *yaml.Node) {
	seen := make(map[string]int, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		line := r.at.fileLine(k.Line)
		if k.Kind != yaml.ScalarNode {
			r.fail(newProblem(line, codeFrontmatter, "a key is not a plain name", `write keys as "name: value"`))
			return
		}
		if first, ok := seen[k.Value]; ok {
			r.fail(newProblem(line, codeFrontmatter, fmt.Sprintf("%s is set twice, first on line %d", k.Value, first), "keep one of them"))
			return
		}
		seen[k.Value] = line
	}
}

func (r *yamlReader) readValue(n *yaml.Node) any {
	if r.bad != nil {
		return nil
	}
	if r.aliases > 0 {
		if r.expanded++; r.expanded > maxExpanded {
			r.fail(newProblem(r.at.fileLine(n.Line), codeFrontmatter, "aliases expand to too many values", "write the values out"))
			return nil
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.aliases++
		v := r.readValue(n.Alias)
		r.aliases--
		return v
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			out = append(out, r.readValue(c))
		}
		return out
	case yaml.MappingNode:
		r.checkKeys(n)
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = r.readValue(n.Content[i+1])
		}
		return out
	}
	return readScalar(n)
}

func readScalar(n *yaml.Node) any {
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
