package okf

import (
	"strings"

	"github.com/yuin/goldmark/util"
)

// maxMarkers limits the containers that one line of a scanned text opens.
const maxMarkers = 8

// scanLinks reads the links of a body without the markdown parser, which takes fifty times
// as long. It knows inline links on one line, "[text](target)", in paragraphs, headings,
// quotes and lists. It skips images, code spans on one line and fences in column 0.
//
// It is not ok for anything else that may affect links; the parser reads such bodies.
// Examples are definitions and footnotes ("]:"), HTML, autolinks, titles, nested brackets,
// brackets over several lines, indented fences and code, and lone carriage returns. What
// scanLinks accepts, the parser reads with the same result; TestScanLinksIsMarkdown and
// FuzzScanLinks check this.
//
// file is the bundle path of the atom, and line the line of the file on which body begins.
// The links are appended to out; their texts are parts of body.
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
		if !s.scanLine(strings.TrimSuffix(text, "\r")) {
			return out, false
		}
		s.line++
	}
	return s.out, s.fence == ""
}

// linkScanner scans a body line by line. fence is the run that opened the current fenced
// code.
type linkScanner struct {
	file  string
	fence string
	line  int
	out   []Linked
}

// scanLine reads one line without its end.
func (s *linkScanner) scanLine(line string) bool {
	if s.fence != "" {
		return s.scanCode(line)
	}
	text, ok := lineContent(line)
	switch {
	case !ok:
		return !strings.ContainsAny(text, "`~<[]\\\r\f\v")
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		return len(text) == len(line) && s.openFence(line)
	}
	return s.scanInline(text)
}

// openFence begins fenced code. If another backtick follows on the line, it is a code span.
func (s *linkScanner) openFence(line string) bool {
	s.fence = fenceRun(line)
	return line[0] == '~' || strings.IndexByte(line[len(s.fence):], '`') < 0
}

// scanCode reads a line of fenced code. A line that looks like a fence must be the closing
// one, in column 0.
func (s *linkScanner) scanCode(line string) bool {
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

// fenceRun returns the run of three or more "`" or "~" that s begins with; "" without one.
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

// lineContent returns a line without its quote marks, bullets and numbers. It is not ok if
// enough space, or a tab, precedes that the line may be code.
func lineContent(line string) (text string, ok bool) {
	limit := 3
	for range maxMarkers {
		text = strings.TrimLeft(line, " ")
		if text == "" {
			return "", true
		}
		if len(line)-len(text) > limit || text[0] == '\t' {
			return text, false
		}
		n := markerLen(text)
		if n == 0 {
			return text, true
		}
		line, limit = text[n:], 4 // one space belongs to the mark
	}
	return line, false
}

// tokenStart marks the bytes that scanToken examines.
var tokenStart = func() [256]bool {
	t := byteSet("`\\<![]")
	for c := range 0x20 {
		t[c] = c != '\t'
	}
	return t
}()

// openBracket is the open bracket on a line; at is -1 if there is none.
type openBracket struct {
	at    int
	image bool
}

// scanInline reads the text of a line. Every code span and bracket must end on it, so that
// no line depends on another.
func (s *linkScanner) scanInline(text string) bool {
	o := openBracket{at: -1}
	for i := 0; i < len(text); {
		if !tokenStart[text[i]] {
			i++
			continue
		}
		n := s.scanToken(text, i, &o)
		if n == 0 {
			return false
		}
		i += n
	}
	return o.at < 0
}

// scanToken reads the token at i and returns its length; 0 if it is not certain.
func (s *linkScanner) scanToken(text string, i int, o *openBracket) int {
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
			*o = openBracket{i + 1, true}
			return 2
		}
	case '[':
		if o.at < 0 {
			*o = openBracket{i, false}
			return 1
		}
	case ']':
		from := *o
		o.at = -1
		return s.closeBracket(text, from, i)
	}
	return 0
}

// escapeLen returns the length of a backslash and what it escapes.
func escapeLen(after byte) int {
	switch {
	case after == 0:
		return 0
	case util.IsPunct(after):
		return 2
	}
	return 1
}

// closeBracket reads the "]" at i, which may end the text of a link, and the target after
// it. It returns their length; 0 if it is not certain.
func (s *linkScanner) closeBracket(text string, o openBracket, i int) int {
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
	url, ok := readTarget(rest[1:])
	if !ok {
		return 0
	}
	if !o.image {
		label, ok := readLabel(text[o.at+1 : i])
		if !ok {
			return 0
		}
		l := Linked{URL: url, Text: label, Line: s.line}
		l.Target, l.Fragment = resolveURL(s.file, resolveEntities(url))
		s.out = append(s.out, l)
	}
	return len("](") + len(url) + len(")")
}

// spanLen returns the length of the code span that t begins with; 0 if it does not end in
// t.
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

// readTarget reads "target)" without spaces, brackets, quotes and escapes.
func readTarget(t string) (string, bool) {
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

// readLabel returns the text of a link without markup. It accepts only emphasis, and one
// simple code span around the whole text.
func readLabel(t string) (string, bool) {
	if strings.ContainsAny(t, "`\\") {
		inner := strings.TrimSuffix(strings.TrimPrefix(t, "`"), "`")
		if len(inner) != len(t)-2 || strings.ContainsAny(inner, "`\\ ") {
			return "", false
		}
		t = inner
	}
	return strings.TrimSpace(stripMarkup(t)), true
}

// resolveEntities resolves the entities of a target that has no backslashes.
func resolveEntities(url string) string {
	if strings.IndexByte(url, '&') < 0 {
		return url
	}
	return unescape([]byte(url))
}

// mayHaveLinks reports whether a body can have a link: an inline link has "](", and a link
// by reference needs a definition with "]:".
func mayHaveLinks(body string) bool {
	return strings.Contains(body, "](") || strings.Contains(body, "]:")
}
