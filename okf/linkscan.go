package okf

import (
	"strings"

	"github.com/yuin/goldmark/util"
)

// maxMarkers bounds the containers that one line of a scanned text opens.
const maxMarkers = 8

// scanLinks reads the links of a body without the markdown parser, which costs
// fifty times as much. It knows inline links on one line, "[text](target)",
// in paragraphs, headings, quotes and lists, and passes over images, code spans
// on one line and fences in column 0. Whatever else might matter to what is a
// link is not ok and is left to the parser: definitions and footnotes ("]:"),
// HTML and autolinks, titles, brackets within brackets or over several lines,
// fences and code that are indented, lone carriage returns. What scanLinks
// accepts, the parser reads as the very same links; TestScanLinksIsMarkdown
// and FuzzScanLinks hold it to that.
//
// file is the bundle path of the atom and line the file's line that body
// begins on. Links are added to out; their texts are parts of body.
func scanLinks(file, body string, line int, out []Linked) (links []Linked, ok bool) {
	if len(body) > wholeText || strings.Contains(body, "]:") {
		return out, false
	}
	s := linkScanner{file: file, out: out, line: line}
	if n := strings.Count(body, "]("); out == nil && n > 0 {
		s.out = make([]Linked, 0, n)
	}
	for body != "" {
		var text string
		text, body, _ = strings.Cut(body, "\n")
		if !s.scan(strings.TrimSuffix(text, "\r")) {
			return out, false
		}
		s.line++
	}
	return s.out, s.fence == ""
}

// linkScanner stands on one line of a body. fence is the run that opened the
// code it is in.
type linkScanner struct {
	file  string
	fence string
	line  int
	out   []Linked
}

// scan reads one line, without what ends it.
func (s *linkScanner) scan(line string) bool {
	if s.fence != "" {
		return s.code(line)
	}
	text, ok := content(line)
	switch {
	case !ok:
		return !strings.ContainsAny(text, "`~<[]\\\r\f\v")
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		return len(text) == len(line) && s.open(line)
	}
	return s.inline(text)
}

// open enters fenced code. Backticks with one behind them are a code span.
func (s *linkScanner) open(line string) bool {
	s.fence = fenceRun(line)
	return line[0] == '~' || strings.IndexByte(line[len(s.fence):], '`') < 0
}

// code reads a line of fenced code: one that looks like a fence must be the
// closing one, in column 0.
func (s *linkScanner) code(line string) bool {
	text := strings.TrimLeft(line, " \t")
	run := fenceRun(text)
	if run == "" || run[0] != s.fence[0] || len(run) < len(s.fence) {
		return true
	}
	if len(text) < len(line) || strings.Trim(text[len(run):], " ") != "" {
		return false
	}
	s.fence = ""
	return true
}

// fenceRun is the run of three or more "`" or "~" that s begins with, or "".
func fenceRun(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}

// content is what stands on a line behind its quote marks, bullets and
// numbers. It is not ok where so much space stands before it, or a tab, that
// it may be code.
func content(line string) (text string, ok bool) {
	limit := 3
	for range maxMarkers {
		text = strings.TrimLeft(line, " ")
		if text == "" {
			return "", true
		}
		if len(line)-len(text) > limit || text[0] == '\t' {
			return text, false
		}
		n := marker(text)
		if n == 0 {
			return text, true
		}
		line, limit = text[n:], 4 // one space belongs to the mark
	}
	return line, false
}

// telling marks the bytes that token looks at.
var telling = func() [256]bool {
	t := bytesIn("`\\<![]")
	for c := range 0x20 {
		t[c] = c != '\t'
	}
	return t
}()

// opener is the bracket that is open on a line; at is -1 where none is.
type opener struct {
	at    int
	image bool
}

// inline reads the text of a line. Every code span and every bracket must end
// on it, so that no line needs to know of another.
func (s *linkScanner) inline(text string) bool {
	o := opener{at: -1}
	for i := 0; i < len(text); {
		if !telling[text[i]] {
			i++
			continue
		}
		n := s.token(text, i, &o)
		if n == 0 {
			return false
		}
		i += n
	}
	return o.at < 0
}

// token reads what begins with a telling byte at i and returns its length, 0
// where it is not certain.
func (s *linkScanner) token(text string, i int, o *opener) int {
	after := byte(0)
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch text[i] {
	case '`':
		return spanLen(text[i:])
	case '\\':
		return escapeLen(after)
	case '<':
		if after == ' ' {
			return 1
		}
	case '!':
		if after != '[' {
			return 1
		}
		if o.at < 0 {
			*o = opener{i + 1, true}
			return 2
		}
	case '[':
		if o.at < 0 {
			*o = opener{i, false}
			return 1
		}
	case ']':
		from := *o
		o.at = -1
		return s.closes(text, from, i)
	}
	return 0
}

// escapeLen is the length of a backslash with what it escapes.
func escapeLen(after byte) int {
	switch {
	case after == 0:
		return 0
	case util.IsPunct(after):
		return 2
	}
	return 1
}

// closes reads the "]" at i, which may end the text of a link, with the link's
// target, and returns their length, 0 where it is not certain.
func (s *linkScanner) closes(text string, o opener, i int) int {
	rest := text[i+1:]
	if rest == "" || rest[0] != '(' {
		if strings.HasPrefix(rest, "[") {
			return 0
		}
		return 1
	}
	if o.at < 0 {
		return 0
	}
	url, ok := simpleTarget(rest[1:])
	if !ok {
		return 0
	}
	if !o.image {
		label, ok := simpleLabel(text[o.at+1 : i])
		if !ok {
			return 0
		}
		l := Linked{URL: url, Text: label, Line: s.line}
		l.Target, l.Fragment = resolveURL(s.file, entities(url))
		s.out = append(s.out, l)
	}
	return len("](") + len(url) + len(")")
}

// spanLen is the length of the code span that t begins with, 0 where it does
// not end in t.
func spanLen(t string) int {
	n := len(t) - len(strings.TrimLeft(t, "`"))
	for i := n; i < len(t); {
		at := strings.IndexByte(t[i:], '`')
		if at < 0 {
			return 0
		}
		i += at
		end := i
		for end < len(t) && t[end] == '`' {
			end++
		}
		if end-i == n {
			return end
		}
		i = end
	}
	return 0
}

// simpleTarget reads "target)" without spaces, brackets, quotes and escapes.
func simpleTarget(t string) (string, bool) {
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == ')':
			return t[:i], i > 0
		case c <= ' ' || c == '(' || c == '<' || c == '>' || c == '\\' || c == '"' || c == '\'':
			return "", false
		}
	}
	return "", false
}

// simpleLabel is a link's text without its markup, where that is none but
// emphasis and one code span of the simplest kind around all of it.
func simpleLabel(t string) (string, bool) {
	if strings.ContainsAny(t, "`\\") {
		inner := strings.TrimSuffix(strings.TrimPrefix(t, "`"), "`")
		if len(inner) != len(t)-2 || strings.ContainsAny(inner, "`\\ ") {
			return "", false
		}
		t = inner
	}
	return strings.TrimSpace(stripMarkup(t)), true
}

// entities is a target without backslashes, with its entities undone.
func entities(url string) string {
	if strings.IndexByte(url, '&') < 0 {
		return url
	}
	return unescape([]byte(url))
}

// mayLink reports a body that can have a link: an inline link has "](" and a
// link by reference needs a definition, which has "]:".
func mayLink(body string) bool {
	return strings.Contains(body, "](") || strings.Contains(body, "]:")
}
