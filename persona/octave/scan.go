package octave

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const bom = "\ufeff"

// parser reads one file, once. Everything it meets is noted without regard to
// the mode; settle judges.
type parser struct {
	src   string
	pos   int
	ops   int  // bytes looked at, for the promise that this is linear
	stop  bool // too deep: the rest is not read
	notes []note

	root      *Entry
	env       *Entry // the open envelope
	bare      bool   // there is none in the file: the body is the file
	begun     bool   // something stands in it besides META and comments
	scopes    []scope
	depth     int // of lists
	envelopes int
	pending   []pending
	blank     bool   // the line before was empty
	opaque    []span // fences and frontmatter, where a tab is text
}

type span struct{ from, to int }

// checkText checks what must hold before a file is worth reading.
func (p *parser) checkText() bool {
	if len(p.src) > MaxBytes {
		p.note(codeTooBig, 0, "")
		return false
	}
	ok, start, crlf := true, 0, false
	refuse := func(c code, at int) { p.note(c, at, ""); ok = false }
	for i := 0; i < len(p.src); {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			refuse(codeEncoding, i)
		case r == '\n':
			start = i + 1
		case r == '\r' && strings.HasPrefix(p.src[i:], "\r\n"):
			if !crlf {
				p.note(codeCRLF, i, "")
			}
			crlf = true
		case strings.HasPrefix(p.src[i:], bom) && i == 0:
			p.note(codeBOM, 0, "")
		case isForbidden(r):
			refuse(codeControl, i)
		}
		if i += n; i-start > MaxLine && i-n-start <= MaxLine {
			refuse(codeLongLine, start)
		}
	}
	p.ops += len(p.src)
	return ok
}

// isForbidden reports the characters that no file may hold: controls but tab and
// line feed, and those that turn the direction of text.
func isForbidden(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case unicode.Is(unicode.Cc, r), r == '\ufeff', r == 0x61c, r == 0x200e, r == 0x200f:
		return true
	}
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// lineEnd returns the end of the line that contains at, and the start of the next.
func (p *parser) lineEnd(at int) (end, next int) {
	n := strings.IndexByte(p.src[at:], '\n')
	if n < 0 {
		p.ops += len(p.src) - at
		return len(p.src), len(p.src)
	}
	p.ops += n
	end = at + n
	if end > at && p.src[end-1] == '\r' {
		end--
	}
	return end, at + n + 1
}

// measureIndent returns the first position of a line that is not blank, and its column
// from 0; a tab counts two.
func (p *parser) measureIndent(at, end int) (first, col int) {
	for ; at < end && isBlank(p.src[at]); at++ {
		if col++; p.src[at] == '\t' {
			col++
		}
		p.ops++
	}
	return at, col
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// skipBlanks passes blanks on a line.
func (p *parser) skipBlanks() {
	for p.pos < len(p.src) && isBlank(p.src[p.pos]) {
		p.pos++
		p.ops++
	}
}

// isAtLineEnd reports that nothing of the line is left at i.
func (p *parser) isAtLineEnd(i int) bool {
	return i >= len(p.src) || p.src[i] == '\n' || strings.HasPrefix(p.src[i:], "\r\n")
}

func (p *parser) hasAt(i int, s string) bool {
	return i <= len(p.src) && strings.HasPrefix(p.src[i:], s)
}

// envelopeMarker returns the name between the equals signs of an envelope's line.
func envelopeMarker(line string) (name string, ok bool) {
	if !strings.HasPrefix(line, "===") {
		return "", false
	}
	line = strings.TrimRight(line, " \t")
	if len(line) < 7 || !strings.HasSuffix(line, "===") || line[3] == '=' {
		return "", false
	}
	name = strings.TrimSpace(line[3 : len(line)-3])
	return name, name != "" && name[0] != '='
}

// isEnvelopeName reports an envelope's name that strict accepts.
func isEnvelopeName(name string) bool {
	for part := range strings.SplitSeq(name, ":") {
		if !isPlainKey(part) {
			return false
		}
	}
	return true
}

// isPlainKey reports [A-Za-z_][A-Za-z0-9_]*.
func isPlainKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// isKeyRune reports what a key may hold at all without quotes.
func isKeyRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// isBareKey reports a key that is read as one without quotes.
func isBareKey(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !isKeyRune(r) }) < 0
}

// fenceLength returns how many back-ticks a line begins with, if it can open a fence.
func fenceLength(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < 3 || strings.Contains(line[n:], "`") {
		return 0
	}
	return n
}

func withLineFeeds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
