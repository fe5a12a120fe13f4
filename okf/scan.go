package okf

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxScanned is the number of keys up to which looking for a duplicate among
// all earlier ones is cheap.
const maxScanned = 64

// scan reads the common shape of frontmatter without the YAML parser, which
// costs thirty times as much: keys in column 0 with a scalar, a flow list or
// flow mapping on one line, a block list of those, a block mapping of scalars,
// or a folded or literal text of plain lines. Anything else, right or wrong, is not ok and is left to decode;
// what scan accepts, decode reads as the very same fields.
func scan(block string) (fields []Field, ok bool) {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	if !s.scan(block) {
		return nil, false
	}
	return s.fields(), true
}

// scanners are kept from one block to the next, with the room of their nodes.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// node is one piece of a scanned block. Nodes follow each other as they are
// written: a key, and then its value; a list or mapping, and then what it holds.
type node struct {
	text string // a text, a number as it is written, a key; "" for no value
	at   int32  // of a list or mapping, behind its last node; of a field, its line
	kind byte   // what its value is in a record, or one of those below
}

// The kinds of node that are no values.
const (
	kindField = kindMap + 1 + iota // a top-level key
	kindKey                        // a key of a mapping
)

// scan lays the block out as nodes, which hold until the next scan.
func (s *scanner) scan(block string) bool {
	if !scannable(block) {
		return false
	}
	s.rest, s.n, s.nodes, s.heads = block, 1, s.nodes[:0], s.heads[:0]
	s.next()
	for s.more {
		key, rest, ok := splitKey(s.text)
		if s.indent != 0 || !ok || s.has(key) || len(s.heads) == maxScanned {
			return false
		}
		at := int32(len(s.nodes))
		s.heads = append(s.heads, at)
		s.nodes = append(s.nodes, node{key, int32(s.n), kindField})
		if !s.field(rest) {
			return false
		}
		if v := s.nodes[at+1]; v.kind == kindText && (key == "type" || key == "id") && yaml11Bool(v.text) {
			return false
		}
	}
	return true
}

func (s *scanner) has(key string) bool {
	for _, at := range s.heads {
		if s.nodes[at].text == key {
			return true
		}
	}
	return false
}

// push adds a scalar. It is always ok.
func (s *scanner) push(kind byte, text string) bool {
	s.nodes = append(s.nodes, node{text: text, kind: kind})
	return true
}

// open begins a list or mapping and returns its place; close ends it.
func (s *scanner) open(kind byte) int {
	s.push(kind, "")
	return len(s.nodes) - 1
}

func (s *scanner) close(at int) bool {
	s.nodes[at].at = int32(len(s.nodes))
	return true
}

// key adds a key to the mapping that was opened at from, unless it is there, or
// so many are that looking for it is not cheap.
func (s *scanner) key(from int, key string) bool {
	n := 0
	for i := from + 1; i < len(s.nodes); i = s.after(i + 1) {
		if n++; n == maxScanned || s.nodes[i].text == key {
			return false
		}
	}
	return s.push(kindKey, key)
}

// after is the place behind the value at i.
func (s *scanner) after(i int) int {
	if k := s.nodes[i].kind; k == kindList || k == kindMap {
		return int(s.nodes[i].at)
	}
	return i + 1
}

// size is how many values stand side by side in nodes[from:to].
func (s *scanner) size(from, to int) int {
	n := 0
	for i := from; i < to; i = s.after(i) {
		n++
	}
	return n
}

// fields makes fields of the nodes.
func (s *scanner) fields() []Field {
	out := make([]Field, len(s.heads))
	for i, at := range s.heads {
		out[i] = Field{Key: s.nodes[at].text, Value: s.makeValue(int(at) + 1), Line: int(s.nodes[at].at)}
	}
	return out
}

// makeValue makes the value at i. Numbers were found to be some before.
func (s *scanner) makeValue(i int) any {
	n := s.nodes[i]
	switch n.kind {
	case kindFalse:
		return false
	case kindTrue:
		return true
	case kindInt:
		v, _ := strconv.Atoi(n.text)
		return v
	case kindFloat:
		v, _ := strconv.ParseFloat(n.text, 64)
		return v
	case kindText:
		return n.text
	case kindList:
		out := make([]any, 0, s.size(i+1, int(n.at)))
		for j := i + 1; j < int(n.at); j = s.after(j) {
			out = append(out, s.makeValue(j))
		}
		return out
	case kindMap:
		out := make(map[string]any, s.size(i+1, int(n.at))/2)
		for j := i + 1; j < int(n.at); j = s.after(j + 1) {
			out[s.nodes[j].text] = s.makeValue(j + 1)
		}
		return out
	}
	return nil
}

// scannable refuses blocks with tabs, control characters, and the characters
// that YAML breaks lines at or does not print.
func scannable(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x20 && c < 0x7f || c == '\n':
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r >= 0xfffd && r <= 0xffff {
				return false
			}
			i += n - 1
		default:
			return false
		}
	}
	return true
}

// scanner stands on one content line: its text without indent and trailing
// blanks, and its number in the file.
type scanner struct {
	rest   string
	text   string
	indent int
	n      int
	more   bool

	nodes []node
	heads []int32  // where the fields begin
	lines []string // of the paragraph that was read last
}

// next moves to the next line that is not blank and not a comment.
func (s *scanner) next() {
	for s.rest != "" {
		var line string
		line, s.rest, _ = strings.Cut(s.rest, "\n")
		s.n++
		line = trimEnd(line)
		t := strings.TrimLeft(line, " ")
		if t == "" || t[0] == '#' {
			continue
		}
		s.text, s.indent, s.more = t, len(line)-len(t), true
		return
	}
	s.text, s.indent, s.more = "", 0, false
}

// trimEnd is a line without the spaces and carriage returns it ends in.
func trimEnd(line string) string {
	n := len(line)
	for n > 0 && (line[n-1] == ' ' || line[n-1] == '\r') {
		n--
	}
	return line[:n]
}

// splitKey cuts "key: rest". Keys are ASCII names.
func splitKey(t string) (key, rest string, ok bool) {
	i := 0
	for i < len(t) && wordByte(t[i]) {
		i++
	}
	if i == 0 || i > 128 || i == len(t) || t[i] != ':' || t[0] == '-' {
		return "", "", false
	}
	key, rest = t[:i], t[i+1:]
	if rest == "" {
		return key, "", true
	}
	if rest[0] != ' ' {
		return "", "", false
	}
	rest = strings.TrimLeft(rest, " ")
	if rest != "" && rest[0] == '#' {
		rest = ""
	}
	return key, rest, true
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// field reads what follows "key:" in column 0, and moves behind it.
func (s *scanner) field(rest string) bool {
	switch rest {
	case ">", ">-":
		return s.paragraph(" ", rest == ">-")
	case "|", "|-":
		return s.paragraph("\n", rest == "|-")
	}
	s.next()
	switch {
	case rest != "":
		// More indent would continue the value.
		return (!s.more || s.indent == 0) && s.inline(rest)
	case !s.more:
		return s.push(kindNil, "")
	case s.text[0] == '-':
		return s.sequence()
	case s.indent > 0:
		return s.mapping(s.indent, "")
	}
	return s.push(kindNil, "")
}

// paragraph reads a text of several lines, which are joined by between: all of
// one indent, with no blank line before the last of them. strip is without the
// line break at the end.
func (s *scanner) paragraph(between string, strip bool) bool {
	indent, blank := 0, false
	s.lines = s.lines[:0]
	for s.rest != "" {
		line, rest, ended := strings.Cut(s.rest, "\n")
		if line != "" && line[0] != ' ' {
			break
		}
		text := strings.TrimLeft(line, " ")
		if len(s.lines) == 0 {
			indent = len(line) - len(text)
		}
		switch {
		case line == "":
			blank = true
		case blank, text == "", !ended, len(line)-len(text) != indent, text[len(text)-1] == '\r':
			return false
		default:
			s.lines = append(s.lines, text)
		}
		s.rest, s.n = rest, s.n+1
	}
	s.next()
	if len(s.lines) == 0 || s.more && s.indent > 0 {
		return false
	}
	text := strings.Join(s.lines, between)
	if !strip {
		text += "\n"
	}
	return s.push(kindText, text)
}

// sequence reads "- item" lines of one indent.
func (s *scanner) sequence() bool {
	indent, at, ok := s.indent, s.open(kindList), false
	for s.more && s.indent == indent && strings.HasPrefix(s.text, "- ") {
		rest := strings.TrimLeft(s.text[2:], " ")
		col := indent + len(s.text) - len(rest)
		if _, _, isMap := splitKey(rest); isMap {
			ok = s.mapping(col, rest)
		} else {
			s.next()
			ok = (!s.more || s.indent <= indent) && s.inline(rest)
		}
		if !ok {
			return false
		}
	}
	if !ok || s.more && s.indent >= indent && (indent > 0 || s.indent > 0 || s.text[0] == '-') {
		return false
	}
	return s.close(at)
}

// mapping reads "key: scalar" lines of one indent; first, if any, is the entry
// that stands behind a dash.
func (s *scanner) mapping(indent int, first string) bool {
	at := s.open(kindMap)
	for t := first; t != "" || s.more && s.indent == indent; t = "" {
		if t == "" {
			t = s.text
		}
		key, rest, ok := splitKey(t)
		if !ok || !s.key(at, key) {
			return false
		}
		s.next()
		if s.more && (s.indent > indent || rest == "" && s.text[0] == '-') {
			return false // nested deeper, or continued
		}
		if !s.inline(rest) {
			return false
		}
	}
	// A line between two levels belongs to neither.
	if s.more && s.indent > 0 && s.text[0] != '-' {
		return false
	}
	return s.close(at)
}

// inline reads a scalar or a flow collection that ends on its line.
func (s *scanner) inline(t string) bool {
	if t == "" {
		return s.push(kindNil, "")
	}
	switch t[0] {
	case '"', '\'':
		rest, ok := s.readQuoted(t)
		return ok && onlyComment(rest)
	case '[', '{':
		rest, ok := s.flow(t, 0)
		return ok && onlyComment(rest)
	}
	return s.plain(withoutComment(t))
}

// withoutComment cuts a plain scalar off where a comment begins.
func withoutComment(t string) string {
	for from := 0; ; {
		at := strings.IndexByte(t[from:], '#')
		switch from += at; {
		case at < 0:
			return t
		case from > 0 && t[from-1] == ' ':
			return strings.TrimRight(t[:from], " ")
		}
		from++
	}
}

// keyLike reports a plain scalar that may be a key with its value.
func keyLike(t string) bool {
	for from := 0; ; from++ {
		at := strings.IndexByte(t[from:], ':')
		switch from += at; {
		case at < 0:
			return false
		case from+1 == len(t) || t[from+1] == ' ':
			return true
		}
	}
}

// plain reads a plain scalar.
func (s *scanner) plain(t string) bool {
	if !plainStart(t) || keyLike(t) {
		return false
	}
	kind, ok := resolve(t)
	if kind == kindNil {
		t = ""
	}
	return ok && s.push(kind, t)
}

// onlyComment reports whether nothing but a comment follows a closed value.
func onlyComment(rest string) bool {
	t := strings.TrimLeft(rest, " ")
	return t == "" || t[0] == '#' && len(t) < len(rest)
}

// plainStart reports whether a plain scalar may start so, beyond doubt.
func plainStart(t string) bool {
	if t == "" {
		return false
	}
	c := t[0]
	return wordByte(c) && (c != '-' || len(t) > 1 && wordByte(t[1])) || c >= utf8.RuneSelf || strings.IndexByte("/.~($+^;=", c) >= 0
}
