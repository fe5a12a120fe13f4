// Package octave reads and quotes the part of OCTAVE that odd speaks: an agent's
// identity, its proof, and the constitutions of roles.
//
//	===IDENTITY===
//	META:
//	  TYPE::IDENTITY
//	  VERSION::"5.0"
//	BIND:
//	  ROLE::implementation-lead            // a pair: KEY::value
//	  ARCHETYPES::[HEPHAESTUS,ATLAS]       // a list
//	  AUTHORITY::"RESPONSIBLE[fix drain lock]"
//	===END===
//
// A file is optional YAML frontmatter and one envelope. An envelope holds META
// first, then blocks (KEY: and what is indented below it), sections (§1::NAME),
// pairs and comments. A value is a word, "quoted", """triple""", a [list], or a
// fence of back-ticks that begins on the next line. A list holds values and
// pairs. A word runs to the end of its line, or in a list to a comma; brackets
// in it are kept together, and operators (→ ⇌ ⊕ and their ASCII forms) are
// letters of it. // begins a comment at the start of a line or after a space.
//
// Reading is lenient, since agents write what they have seen, and a reader that
// refuses half of it is not used: an envelope or a comma may be missing, a
// markdown heading is a section, one colon may stand for two. Nothing is
// guessed: a word is a word, 007 is not 7, and text that fits nowhere is kept as
// Loose. Two keys of one name are both kept. Only what leaves the structure in
// doubt is a Problem.
package octave

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The limits of what is read. Beyond them is a problem.
const (
	MaxBytes    = 1 << 20 // of a file
	maxDepth    = 32      // lists, one in the other
	maxProblems = 50      // are told of one file
)

// Kind is what an entry is, or how the value of its key is written.
type Kind uint8

// The kinds of entries. The first four hold Items.
const (
	Envelope Kind = iota + 1 // ===KEY=== to ===END===
	Section                  // §1::KEY, or a markdown heading "## KEY"
	Block                    // KEY: and what is indented below it
	List                     // […]; Text is as it stands in the file
	Empty                    // nothing behind the colons
	Word                     // bare; Text is as it stands, spaces inside and all
	Quoted                   // "…" with the escapes \" \\ \n \t; Text is unescaped
	Triple                   // """…""" verbatim
	Fence                    // Text is the lines between, each with its line feed
	Loose                    // Text that is none of these, a fence without a key among it
)

// Entry is a node of a document: what a key stands for, an element of a list, or text
// that fits nowhere. Line ends are line feeds whatever they are in the file.
type Entry struct {
	Kind  Kind
	Key   string // without quotes; "" of an element without one
	Text  string
	Items []*Entry
	Line  int // where it begins, from 1

	flat bool // a section whose entries are not indented
}

// Problem is what leaves the structure in doubt, where it is, and the way out.
type Problem struct {
	Line          int // from 1
	Message, Hint string
}

// Parse reads a file. The problems are in order of place; a file with one has
// entries that may not be what was meant.
func Parse(b []byte) ([]*Entry, []Problem) {
	p := &parser{}
	root := &Entry{}
	if p.readText(b) {
		start := p.skipFrontmatter()
		told := len(p.problems)
		if p.readLines(start, root, nil); len(root.Items) == 0 { // without an envelope the body is the file
			p.problems = p.problems[:told]
			p.readLines(start, root, []scope{{entry: root, base: -2, indent: -1}})
		}
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
	return root.Items, p.problems[:min(len(p.problems), maxProblems)]
}

// parser reads one file.
type parser struct {
	src      string
	lines    []int // where each line begins
	pos      int
	stop     bool // the rest is not read
	problems []Problem
	scopes   []scope // none outside of envelopes
	depth    int     // of lists
}

// scope is an open envelope, block or section: what its entries are indented by.
type scope struct {
	entry  *Entry
	base   int // the column of the line that opened it; -2 outside of all
	indent int // of its entries; -1 until the first
}

// note adds a problem at a place of the source.
func (p *parser) note(at int, message, hint string) {
	if !p.stop {
		p.problems = append(p.problems, Problem{p.lineOf(at), message, hint})
	}
}

// fail notes a problem behind which nothing can be read.
func (p *parser) fail(at int, message, hint string) {
	p.note(at, message, hint)
	p.pos, p.stop = len(p.src), true
}

// lineOf returns the line of a place, from 1.
func (p *parser) lineOf(at int) int { return sort.SearchInts(p.lines, at+1) }

// readText takes the text of a file over, and checks what must hold before it is
// worth reading.
func (p *parser) readText(b []byte) bool {
	p.src = string(bytes.ReplaceAll(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("\r\n"), []byte("\n")))
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
		case r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control), r == '\ufeff':
			p.note(i, "a control character, or one that turns the direction of text", "delete it")
			return false
		}
	}
	return true
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
	first = p.skipBlanks(at)
	return first, first - at + strings.Count(p.src[at:first], "\t")
}

// skipBlanks returns the first place from at on that is no blank.
func (p *parser) skipBlanks(at int) int {
	for at < len(p.src) && (p.src[at] == ' ' || p.src[at] == '\t') {
		at++
	}
	return at
}

func (p *parser) isAtLineEnd(i int) bool { return i >= len(p.src) || p.src[i] == '\n' }

func (p *parser) hasAt(i int, s string) bool {
	return i <= len(p.src) && strings.HasPrefix(p.src[i:], s)
}

// skipFrontmatter returns where the YAML block at the top ends.
func (p *parser) skipFrontmatter() int {
	isMark := func(from, end int) bool { return strings.TrimRight(p.src[from:end], " \t") == "---" }
	end, next := p.lineEnd(0)
	if !isMark(0, end) {
		return 0
	}
	for from := next; from < len(p.src); from = next {
		if end, next = p.lineEnd(from); isMark(from, end) {
			return next
		}
	}
	p.note(0, "the frontmatter has no closing ---", "close it")
	return len(p.src)
}

// readLines reads the envelopes into root, or without envelopes the lines into what is open.
func (p *parser) readLines(from int, root *Entry, open []scope) {
	for p.pos, p.stop, p.scopes = from, false, open; p.pos < len(p.src); {
		end, next := p.lineEnd(p.pos)
		at, col := p.measureIndent(p.pos, end)
		line := p.src[at:end]
		switch name := envelopeName(line); {
		case name == "END":
			if p.pos = next; len(p.scopes) > 0 && p.scopes[0].entry.Kind == Envelope {
				p.scopes = nil
			}
		case name != "":
			env := &Entry{Kind: Envelope, Key: name, Line: p.lineOf(at)}
			root.Items = append(root.Items, env)
			p.pos, p.scopes = next, []scope{{entry: env, base: -2, indent: -1}}
		case len(p.scopes) == 0 && fenceLength(line) > 0:
			p.readFence(at)
		case line == "", strings.HasPrefix(line, "//"), len(p.scopes) == 0:
			p.pos = next
		default:
			p.readItem(at, end, next, col)
		}
	}
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

// The lines that open a section: with a mark and perhaps a [note], and a heading.
var (
	sectionForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[§#](?:[A-Za-z_]\w*|\d+[A-Za-z_]?)::([A-Za-z_-][\w-]*)(?:[ \t]*\[[^\]]*\])?[ \t]*(?: //.*)?$`)
	})
	headingForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#{1,6} \s*([A-Za-z_]\w*)\s*$`) })
)

// readItem reads a line of an envelope, and the lines its value goes on for.
func (p *parser) readItem(at, end, next, col int) {
	line := p.src[at:end]
	e := &Entry{Kind: Loose, Line: p.lineOf(at), Text: strings.TrimRight(line, " \t")}
	m := sectionForm().FindStringSubmatch(line)
	if left := p.scopes[0].indent; m == nil && (left < 0 || col == left) {
		m = headingForm().FindStringSubmatch(line)
	}
	into := p.findScope(at, col, m != nil)
	into.Items = append(into.Items, e)
	p.pos = next
	switch {
	case m != nil:
		*e = Entry{Kind: Section, Key: m[1], Line: e.Line}
		p.openScope(e, col)
	case fenceLength(line) > 0:
		e.Text = line + "\n" + p.readFence(at)
	default:
		p.readKeyed(e, at, end, next, col)
	}
}

func (p *parser) openScope(e *Entry, col int) {
	p.scopes = append(p.scopes, scope{entry: e, base: col, indent: -1})
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
