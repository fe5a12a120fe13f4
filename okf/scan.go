package okf

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxScanned is the number of keys up to which looking for a duplicate among
// all earlier ones is cheap.
const maxScanned = 64

// scan reads the common shape of frontmatter without the YAML parser, which
// costs thirty times as much: keys in column 0 with a scalar, a flow list or
// flow mapping on one line, a block list of those, or a block mapping of
// scalars. Anything else, right or wrong, is not ok and is left to decode;
// what scan accepts, decode reads as the very same fields.
func scan(block string) (fields []Field, ok bool) {
	if !scannable(block) {
		return nil, false
	}
	s := scanner{rest: block, n: 1}
	s.next()
	fields = make([]Field, 0, min(strings.Count(block, "\n"), maxScanned))
	for s.more {
		key, rest, ok := splitKey(s.text)
		if s.indent != 0 || !ok || has(fields, key) || len(fields) == maxScanned {
			return nil, false
		}
		f := Field{Key: key, Line: s.n}
		s.next()
		if f.Value, ok = s.value(rest, 0); !ok {
			return nil, false
		}
		if w, isText := f.Value.(string); isText && (key == "type" || key == "id") && yaml11Bool(w) {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, true
}

func has(fields []Field, key string) bool {
	for i := range fields {
		if fields[i].Key == key {
			return true
		}
	}
	return false
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
}

// next moves to the next line that is not blank and not a comment.
func (s *scanner) next() {
	for s.rest != "" {
		var line string
		line, s.rest, _ = strings.Cut(s.rest, "\n")
		s.n++
		line = strings.TrimRight(line, " \r")
		t := strings.TrimLeft(line, " ")
		if t == "" || t[0] == '#' {
			continue
		}
		s.text, s.indent, s.more = t, len(line)-len(t), true
		return
	}
	s.text, s.indent, s.more = "", 0, false
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

// value reads what follows "key:" in column 0; the scanner is on the next line.
func (s *scanner) value(rest string, indent int) (any, bool) {
	if rest != "" {
		if s.more && s.indent > indent {
			return nil, false // continued on the next line
		}
		return inline(rest)
	}
	switch {
	case !s.more:
		return nil, true
	case s.text[0] == '-':
		return s.sequence()
	case s.indent > indent:
		return s.mapping(s.indent, "")
	}
	return nil, true
}

// sequence reads "- item" lines of one indent.
func (s *scanner) sequence() (any, bool) {
	indent, out := s.indent, []any{}
	for s.more && s.indent == indent && strings.HasPrefix(s.text, "- ") {
		rest := strings.TrimLeft(s.text[2:], " ")
		col := indent + len(s.text) - len(rest)
		var v any
		var ok bool
		if _, _, isMap := splitKey(rest); isMap {
			v, ok = s.mapping(col, rest)
		} else {
			s.next()
			if s.more && s.indent > indent {
				return nil, false
			}
			v, ok = inline(rest)
		}
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	if len(out) == 0 || s.more && s.indent >= indent && (indent > 0 || s.indent > 0 || s.text[0] == '-') {
		return nil, false
	}
	return out, true
}

// mapping reads "key: scalar" lines of one indent; first, if any, is the entry
// that stands behind a dash.
func (s *scanner) mapping(indent int, first string) (any, bool) {
	out := map[string]any{}
	for t := first; t != "" || s.more && s.indent == indent; t = "" {
		if t == "" {
			t = s.text
		}
		key, rest, ok := splitKey(t)
		if _, twice := out[key]; !ok || twice {
			return nil, false
		}
		s.next()
		if s.more && (s.indent > indent || rest == "" && s.text[0] == '-') {
			return nil, false // nested deeper, or continued
		}
		if out[key], ok = inline(rest); !ok {
			return nil, false
		}
	}
	// A line between two levels belongs to neither.
	if s.more && s.indent > 0 && s.text[0] != '-' {
		return nil, false
	}
	return out, true
}

// inline reads a scalar or a flow collection that ends on its line.
func inline(t string) (any, bool) {
	if t == "" {
		return nil, true
	}
	switch t[0] {
	case '"', '\'':
		v, rest, ok := quoted(t)
		return v, ok && onlyComment(rest)
	case '[', '{':
		v, rest, ok := flow(t, 0)
		return v, ok && onlyComment(rest)
	}
	if i := strings.Index(t, " #"); i >= 0 {
		t = strings.TrimRight(t[:i], " ")
	}
	if !plainStart(t) || strings.Contains(t, ": ") || t[len(t)-1] == ':' {
		return nil, false
	}
	return resolve(t)
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

// quoted reads a quoted scalar without escapes, ” aside.
func quoted(t string) (v any, rest string, ok bool) {
	q := t[0]
	for i := 1; i < len(t); i++ {
		switch {
		case t[i] == '\\' && q == '"':
			return nil, "", false
		case t[i] != q:
		case q == '\'' && i+1 < len(t) && t[i+1] == q:
			i++
		default:
			s := t[1:i]
			if q == '\'' {
				s = strings.ReplaceAll(s, "''", "'")
			}
			return s, t[i+1:], true
		}
	}
	return nil, "", false
}

// flow reads [a, b] and {a: b}, nested at most three deep.
func flow(t string, depth int) (v any, rest string, ok bool) {
	if depth == 3 {
		return nil, "", false
	}
	if t[0] == '[' {
		return flowList(t[1:], depth)
	}
	return flowMap(t[1:], depth)
}

func flowList(t string, depth int) (any, string, bool) {
	out := []any{}
	t = strings.TrimLeft(t, " ")
	if t != "" && t[0] == ']' {
		return out, t[1:], true
	}
	for {
		v, rest, ok := flowItem(t, depth)
		if !ok {
			return nil, "", false
		}
		out = append(out, v)
		t = strings.TrimLeft(rest, " ")
		if t == "" {
			return nil, "", false
		}
		if t[0] == ']' {
			return out, t[1:], true
		}
		if t[0] != ',' {
			return nil, "", false
		}
		t = strings.TrimLeft(t[1:], " ")
	}
}

func flowMap(t string, depth int) (any, string, bool) {
	out := map[string]any{}
	t = strings.TrimLeft(t, " ")
	if t != "" && t[0] == '}' {
		return out, t[1:], true
	}
	for {
		key, rest, ok := splitKey(t)
		if _, twice := out[key]; !ok || twice || rest == "" {
			return nil, "", false
		}
		v, rest, ok := flowItem(rest, depth)
		if !ok {
			return nil, "", false
		}
		out[key] = v
		t = strings.TrimLeft(rest, " ")
		if t == "" {
			return nil, "", false
		}
		if t[0] == '}' {
			return out, t[1:], true
		}
		if t[0] != ',' {
			return nil, "", false
		}
		t = strings.TrimLeft(t[1:], " ")
	}
}

// flowItem reads one value up to the comma or bracket that ends it.
func flowItem(t string, depth int) (v any, rest string, ok bool) {
	if t == "" {
		return nil, "", false
	}
	switch t[0] {
	case '"', '\'':
		return quoted(t)
	case '[', '{':
		return flow(t, depth+1)
	}
	i := strings.IndexAny(t, ",[]{}#?")
	if i < 0 || t[i] == '[' || t[i] == '{' || t[i] == '#' || t[i] == '?' {
		return nil, "", false
	}
	s := strings.TrimRight(t[:i], " ")
	if !plainStart(s) || strings.Contains(s, ": ") || s[len(s)-1] == ':' {
		return nil, "", false
	}
	v, ok = resolve(s)
	return v, t[i:], ok
}

// resolve types a plain scalar. Numbers in any but the commonest spelling are
// not ok.
func resolve(t string) (any, bool) {
	switch c := t[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return number(t)
	case c == 't' || c == 'T' || c == 'f' || c == 'F' || c == 'n' || c == 'N' || c == '~':
		switch t {
		case "true", "True", "TRUE":
			return true, true
		case "false", "False", "FALSE":
			return false, true
		case "null", "Null", "NULL", "~":
			return nil, true
		}
	}
	return t, true
}

// numeric marks the bytes that a number in any spelling may have.
var numeric = func() (t [256]bool) {
	for _, c := range "0123456789abcdefABCDEFxXoO_.+-:iInN" {
		t[c] = true
	}
	return t
}()

// number reads a decimal integer or fraction. A text that only starts like a
// number must hold a byte that no number can.
func number(t string) (any, bool) {
	for i := range len(t) {
		if !numeric[t[i]] {
			return t, true
		}
	}
	if date(t) {
		return t, true
	}
	d := strings.TrimPrefix(t, "-")
	whole, frac, dot := strings.Cut(d, ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || len(whole) > 15 || dot && (!digits(frac) || len(frac) > 15) {
		return nil, false
	}
	if dot {
		v, err := strconv.ParseFloat(t, 64)
		return v, err == nil && v != 0
	}
	v, err := strconv.Atoi(t)
	return v, err == nil && t != "-0"
}

// date reports a plain YYYY-MM-DD, which stays text.
func date(t string) bool {
	return len(t) == 10 && t[4] == '-' && t[7] == '-' && digits(t[:4]) && digits(t[5:7]) && digits(t[8:])
}

func digits(t string) bool {
	for i := 0; i < len(t); i++ {
		if t[i] < '0' || t[i] > '9' {
			return false
		}
	}
	return t != ""
}

// yaml11Bool reports the words that YAML 1.1 reads as truth values and YAML
// 1.2 does not.
func yaml11Bool(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}
