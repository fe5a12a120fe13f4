package okf

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxScanned is the number of keys up to which comparing each with all others is cheap.
const maxScanned = 64

// scanBlock reads front matter in the common shape without the YAML parser, which takes
// thirty times as long. It knows keys in column 0 with a scalar, a flow list or flow
// mapping on one line, a block list of those, a block mapping of scalars, or a folded or
// literal text of plain lines. It is not ok for anything else, right or wrong; decodeYAML
// reads that. What scanBlock accepts, decodeYAML reads with the same result.
func scanBlock(block string) (fields []Field, ok bool) {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	if !s.scanNodes(block) {
		return nil, false
	}
	return s.makeFields(), true
}

// scanners are reused with the memory of their nodes.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// node is one part of a scanned block. Nodes are in the order of the text: a key, then its
// value; a list or mapping, then its contents.
type node struct {
	text string // a text, the digits of a number, a key; "" for no value
	at   int32  // for a list or mapping the index after its last node; for a field its line
	kind byte   // a kind of value in a record, or one of those below
}

// The kinds of nodes that are no values.
const (
	kindField = kindMap + 1 + iota // a top-level key
	kindKey                        // a key of a mapping
)

// scanNodes splits the block into nodes, which are valid until the next call.
func (s *scanner) scanNodes(block string) bool {
	if !isScannable(block) {
		return false
	}
	s.rest, s.n, s.nodes, s.heads = block, 1, s.nodes[:0], s.heads[:0]
	s.nextLine()
	for s.more {
		key, rest, ok := splitKey(s.text)
		if s.indent != 0 || !ok || s.hasKey(key) || len(s.heads) == maxScanned {
			return false
		}
		at := int32(len(s.nodes))
		s.heads = append(s.heads, at)
		s.nodes = append(s.nodes, node{key, int32(s.n), kindField})
		if !s.scanField(rest) {
			return false
		}
		if v := s.nodes[at+1]; v.kind == kindText && (key == "type" || key == "id") && isYAML11Bool(v.text) {
			return false
		}
	}
	return true
}

func (s *scanner) hasKey(key string) bool {
	for _, at := range s.heads {
		if s.nodes[at].text == key {
			return true
		}
	}
	return false
}

// push adds a scalar. It always returns true.
func (s *scanner) push(kind byte, text string) bool {
	s.nodes = append(s.nodes, node{text: text, kind: kind})
	return true
}

// open begins a list or mapping and returns its index; close ends it.
func (s *scanner) open(kind byte) int {
	s.push(kind, "")
	return len(s.nodes) - 1
}

func (s *scanner) close(at int) bool {
	s.nodes[at].at = int32(len(s.nodes))
	return true
}

// addKey adds a key to the mapping that was opened at from. It returns false for a
// duplicate, and if there are too many keys to look for one.
func (s *scanner) addKey(from int, key string) bool {
	n := 0
	for i := from + 1; i < len(s.nodes); i = s.nodeAfter(i + 1) {
		if n++; n == maxScanned || s.nodes[i].text == key {
			return false
		}
	}
	return s.push(kindKey, key)
}

// nodeAfter returns the index after the value at i.
func (s *scanner) nodeAfter(i int) int {
	if k := s.nodes[i].kind; k == kindList || k == kindMap {
		return int(s.nodes[i].at)
	}
	return i + 1
}

// countValues counts the values in nodes[from:to], without nested ones.
func (s *scanner) countValues(from, to int) int {
	n := 0
	for i := from; i < to; i = s.nodeAfter(i) {
		n++
	}
	return n
}

func (s *scanner) makeFields() []Field {
	out := make([]Field, len(s.heads))
	for i, at := range s.heads {
		out[i] = Field{Key: s.nodes[at].text, Value: s.makeValue(int(at) + 1), Line: int(s.nodes[at].at)}
	}
	return out
}

// makeValue makes the value at i. Numbers are valid already.
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
		out := make([]any, 0, s.countValues(i+1, int(n.at)))
		for j := i + 1; j < int(n.at); j = s.nodeAfter(j) {
			out = append(out, s.makeValue(j))
		}
		return out
	case kindMap:
		out := make(map[string]any, s.countValues(i+1, int(n.at))/2)
		for j := i + 1; j < int(n.at); j = s.nodeAfter(j + 1) {
			out[s.nodes[j].text] = s.makeValue(j + 1)
		}
		return out
	}
	return nil
}

// isScannable refuses tabs, control characters, and the characters that YAML breaks lines
// at or does not print.
func isScannable(s string) bool {
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

// scanner reads a block line by line: text is the current line without indent and trailing
// blanks, n its line in the file.
type scanner struct {
	rest   string
	text   string
	indent int
	n      int
	more   bool

	nodes []node
	heads []int32  // the indexes at which fields begin
	lines []string // the lines of the last paragraph
}

// nextLine moves to the next line that is neither blank nor a comment.
func (s *scanner) nextLine() {
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

// trimEnd cuts spaces and carriage returns off the end of a line.
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
	for i < len(t) && isWordByte(t[i]) {
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

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// scanField reads what follows "key:" in column 0, and moves past it.
func (s *scanner) scanField(rest string) bool {
	switch rest {
	case ">", ">-":
		return s.scanParagraph(" ", rest == ">-")
	case "|", "|-":
		return s.scanParagraph("\n", rest == "|-")
	}
	s.nextLine()
	switch {
	case rest != "":
		// More indent would continue the value.
		return (!s.more || s.indent == 0) && s.scanInline(rest)
	case !s.more:
		return s.push(kindNil, "")
	case s.text[0] == '-':
		return s.scanSequence()
	case s.indent > 0:
		return s.scanMapping(s.indent, "")
	}
	return s.push(kindNil, "")
}

// scanParagraph reads a text of several lines, which it joins with between. All lines have
// one indent, and no blank line comes before the last one. strip drops the final line
// break.
func (s *scanner) scanParagraph(between string, strip bool) bool {
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
	s.nextLine()
	if len(s.lines) == 0 || s.more && s.indent > 0 {
		return false
	}
	text := strings.Join(s.lines, between)
	if !strip {
		text += "\n"
	}
	return s.push(kindText, text)
}

// scanSequence reads "- item" lines of one indent.
func (s *scanner) scanSequence() bool {
	indent, at, ok := s.indent, s.open(kindList), false
	for s.more && s.indent == indent && strings.HasPrefix(s.text, "- ") {
		rest := strings.TrimLeft(s.text[2:], " ")
		col := indent + len(s.text) - len(rest)
		if _, _, isMap := splitKey(rest); isMap {
			ok = s.scanMapping(col, rest)
		} else {
			s.nextLine()
			ok = (!s.more || s.indent <= indent) && s.scanInline(rest)
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

// scanMapping reads "key: scalar" lines of one indent. first is an entry after a dash, or
// "".
func (s *scanner) scanMapping(indent int, first string) bool {
	at := s.open(kindMap)
	for t := first; t != "" || s.more && s.indent == indent; t = "" {
		if t == "" {
			t = s.text
		}
		key, rest, ok := splitKey(t)
		if !ok || !s.addKey(at, key) {
			return false
		}
		s.nextLine()
		if s.more && (s.indent > indent || rest == "" && s.text[0] == '-') {
			return false // nested deeper, or continued
		}
		if !s.scanInline(rest) {
			return false
		}
	}
	// A line between two levels belongs to neither.
	if s.more && s.indent > 0 && s.text[0] != '-' {
		return false
	}
	return s.close(at)
}

// scanInline reads a scalar or a flow collection that ends on its line.
func (s *scanner) scanInline(t string) bool {
	if t == "" {
		return s.push(kindNil, "")
	}
	switch t[0] {
	case '"', '\'':
		rest, ok := s.scanQuoted(t)
		return ok && isOnlyComment(rest)
	case '[', '{':
		rest, ok := s.scanFlow(t, 0)
		return ok && isOnlyComment(rest)
	}
	return s.scanPlain(trimComment(t))
}

// trimComment cuts a comment off a plain scalar.
func trimComment(t string) string {
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

// looksLikeKey reports a plain scalar that may be a key with its value.
func looksLikeKey(t string) bool {
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

func (s *scanner) scanPlain(t string) bool {
	if !canStartPlain(t) || looksLikeKey(t) {
		return false
	}
	kind, ok := classifyScalar(t)
	if kind == kindNil {
		t = ""
	}
	return ok && s.push(kind, t)
}

// isOnlyComment reports whether at most a comment follows a closed value.
func isOnlyComment(rest string) bool {
	t := strings.TrimLeft(rest, " ")
	return t == "" || t[0] == '#' && len(t) < len(rest)
}

// canStartPlain reports whether a plain scalar can certainly start so.
func canStartPlain(t string) bool {
	if t == "" {
		return false
	}
	c := t[0]
	return isWordByte(c) && (c != '-' || len(t) > 1 && isWordByte(t[1])) || c >= utf8.RuneSelf || strings.IndexByte("/.~($+^;=", c) >= 0
}
