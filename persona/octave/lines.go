package octave

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

const bom = "\ufeff"

// parser reads one file, once.
type parser struct {
	src      string
	lines    []int // where each line begins
	pos      int
	stop     bool // the rest is not read
	problems []Problem

	root   *Entry
	bare   bool    // there is no envelope in the file: the body is the file
	scopes []scope // none outside of envelopes
	depth  int     // of lists
}

// scope is an open envelope, block or section: what its entries are indented by.
type scope struct {
	entry  *Entry
	base   int // the column of the line that opened it; -2 outside of all
	indent int // of its entries; -1 until the first
}

// checkText takes the text of a file over, and checks what must hold before it is
// worth reading.
func (p *parser) checkText(b []byte) bool {
	p.src = string(bytes.ReplaceAll(bytes.TrimPrefix(b, []byte(bom)), []byte("\r\n"), []byte("\n")))
	p.lines = []int{0}
	if len(p.src) > MaxBytes {
		p.note(0, "the file is over 1 MiB and is not read", "split it")
		return false
	}
	for i, r := range p.src {
		switch {
		case r == '\n':
			p.lines = append(p.lines, i+1)
		case r == utf8.RuneError && !strings.HasPrefix(p.src[i:], string(utf8.RuneError)):
			p.note(i, "the file is not UTF-8 here", "save it as UTF-8")
			return false
		case r != '\t' && isHidden(r):
			p.note(i, "a control character, or one that turns the direction of text", "delete it")
			return false
		}
	}
	return true
}

// isHidden reports the characters that no file may hold: controls, and those that
// turn the direction of text.
func isHidden(r rune) bool {
	switch {
	case unicode.Is(unicode.Cc, r), r == '\ufeff', r == 0x61c, r == 0x200e, r == 0x200f:
		return true
	}
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// lineEnd returns the end of the line that contains at, and the start of the next.
func (p *parser) lineEnd(at int) (end, next int) {
	n := strings.IndexByte(p.src[at:], '\n')
	if n < 0 {
		return len(p.src), len(p.src)
	}
	return at + n, at + n + 1
}

// measureIndent returns the first position of a line that is not blank, and its column
// from 0; a tab counts two.
func (p *parser) measureIndent(at, end int) (first, col int) {
	for ; at < end && isBlank(p.src[at]); at++ {
		if col++; p.src[at] == '\t' {
			col++
		}
	}
	return at, col
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func (p *parser) skipBlanks() {
	for p.pos < len(p.src) && isBlank(p.src[p.pos]) {
		p.pos++
	}
}

func (p *parser) isAtLineEnd(i int) bool { return i >= len(p.src) || p.src[i] == '\n' }

func (p *parser) hasAt(i int, s string) bool {
	return i <= len(p.src) && strings.HasPrefix(p.src[i:], s)
}

func (p *parser) readFile() {
	p.skipFrontmatter()
	if p.bare = !p.hasEnvelope(p.pos); p.bare {
		p.scopes = []scope{{entry: p.root, base: -2, indent: -1}}
	}
	for p.pos < len(p.src) && !p.stop {
		p.readLine()
	}
}

// skipFrontmatter passes the YAML block at the top.
func (p *parser) skipFrontmatter() {
	end, next := p.lineEnd(0)
	if strings.TrimRight(p.src[:end], " \t") != "---" {
		return
	}
	for next < len(p.src) {
		from := next
		end, next = p.lineEnd(from)
		if strings.TrimRight(p.src[from:end], " \t") == "---" {
			p.pos = next
			return
		}
	}
	p.note(0, "the frontmatter has no closing ---", "close it")
	p.pos, p.stop = len(p.src), true
}

// hasEnvelope reports whether an envelope begins on any line, fences left out.
func (p *parser) hasEnvelope(at int) bool {
	for open := 0; at < len(p.src); {
		end, next := p.lineEnd(at)
		line := strings.TrimSpace(p.src[at:end])
		name := envelopeName(line)
		n := fenceLength(line)
		switch {
		case open > 0:
			if n == open && len(line) == n {
				open = 0
			}
		case name != "" && name != "END":
			return true
		default:
			open = n
		}
		at = next
	}
	return false
}

// envelopeName returns the name between the equals signs of an envelope's line, ""
// for another line.
func envelopeName(line string) string {
	line = strings.TrimRight(line, " \t")
	if len(line) < 7 || !strings.HasPrefix(line, "===") || !strings.HasSuffix(line, "===") || line[3] == '=' {
		return ""
	}
	return strings.TrimSpace(line[3 : len(line)-3])
}

// fenceLength returns how many back-ticks a line begins with, if it can open a fence.
func fenceLength(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < 3 || strings.Contains(line[n:], "`") {
		return 0
	}
	return n
}

func (p *parser) readLine() {
	end, next := p.lineEnd(p.pos)
	at, col := p.measureIndent(p.pos, end)
	line := p.src[at:end]
	switch name := envelopeName(line); {
	case name == "END":
		if p.pos = next; !p.bare {
			p.scopes = nil
		}
	case name != "":
		env := &Entry{Kind: Envelope, Key: name, Line: p.lineOf(at)}
		p.root.Entries = append(p.root.Entries, env)
		p.scopes = []scope{{entry: env, base: -2, indent: -1}}
		p.pos, p.bare = next, false
	case line == "", strings.HasPrefix(line, "//"), len(p.scopes) == 0:
		p.pos = next
	default:
		p.readItem(at, end, next, col)
	}
}

// readItem reads a line of an envelope, and the lines its value goes on for.
func (p *parser) readItem(at, end, next, col int) {
	line := p.src[at:end]
	e := &Entry{Kind: Loose, Line: p.lineOf(at), Text: strings.TrimRight(line, " \t")}
	section := e.readSection(line)
	if left := p.scopes[0].indent; !section && (left < 0 || col == left) {
		section = e.readHeading(line)
	}
	into := p.findScope(at, col, section)
	into.Entries = append(into.Entries, e)
	p.pos = next
	switch {
	case section:
		p.openScope(e, at, col)
	case fenceLength(line) > 0:
		e.Text = line + "\n" + p.readFence(at, end, next).Text
	default:
		p.readKeyed(e, at, end, next, col)
	}
}

func (p *parser) openScope(e *Entry, at, col int) {
	if len(p.scopes)+1 > MaxDepth {
		p.stopTooDeep(at)
		return
	}
	p.scopes = append(p.scopes, scope{entry: e, base: col, indent: -1})
}

func (p *parser) stopTooDeep(at int) {
	if !p.stop {
		p.note(at, "more than 32 levels, one in the other; what follows is not read", "make it flatter")
	}
	p.stop, p.pos = true, len(p.src)
}

// findScope finds the scope of a line at column col, leaving those it ends.
func (p *parser) findScope(at, col int, section bool) *Entry {
	for {
		s := &p.scopes[len(p.scopes)-1]
		switch {
		case s.indent < 0 && col > s.base:
			s.indent = col
		case s.indent < 0 && s.entry.Kind == Section && col == s.base && !section:
			s.indent, s.entry.flat = col, true
		case col == s.indent && !(section && s.entry.flat):
		case s.indent >= 0 && col > s.indent, len(p.scopes) == 1:
			p.note(at, "the line stands at a column that nothing opened", "indent it as its neighbours, two spaces a level")
		default:
			p.scopes = p.scopes[:len(p.scopes)-1]
			continue
		}
		return s.entry
	}
}

// readSection reads §1::NAME or #1::NAME, with a [note] behind it or none.
func (e *Entry) readSection(line string) bool {
	rest, ok := strings.CutPrefix(line, "§")
	if !ok {
		rest, ok = strings.CutPrefix(line, "#")
	}
	mark, rest, cut := strings.Cut(rest, "::")
	digits := strings.TrimLeft(mark, "0123456789")
	if !ok || !cut || !isPlainKey(mark) && (digits == mark || len(digits) > 1 || digits != "" && !isPlainKey(digits)) {
		return false
	}
	rest, _, _ = strings.Cut(rest, " //")
	name, note := rest, ""
	if i := strings.IndexAny(rest, " \t["); i >= 0 {
		name, note = rest[:i], strings.TrimSpace(rest[i:])
	}
	if !isPlainKey(strings.ReplaceAll(name, "-", "_")) || note != "" && (note[0] != '[' || strings.IndexByte(note, ']') != len(note)-1) {
		return false
	}
	e.Kind, e.Key = Section, name
	return true
}

func (e *Entry) readHeading(line string) bool {
	name := strings.TrimLeft(line, "#")
	marks := len(line) - len(name)
	if marks == 0 || marks > 6 || !strings.HasPrefix(name, " ") || !isPlainKey(strings.TrimSpace(name)) {
		return false
	}
	e.Kind, e.Key = Section, strings.TrimSpace(name)
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
