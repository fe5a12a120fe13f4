// Package octave reads, edits, formats and writes the part of OCTAVE that odd
// speaks: an agent's identity, its proof, and the constitutions of roles.
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
// in it are kept together, and operators (→ ⇌ ⊕ ⧺ ∧ ∨ and their ASCII forms) are
// letters of it. // begins a comment at the start of a line or after a space.
//
// Reading never changes a byte. A Doc keeps the file as it was and every node
// its place in it, so that Bytes returns what was read, byte order mark,
// carriage returns, tabs and all; Set replaces the bytes of one value and no
// others; only Format writes a file anew. Nothing is guessed: a word is a word,
// 007 is not 7, and text that fits nowhere is kept as Loose, never dropped.
//
// What is not as written above is a Problem with a code, a line and a column.
// Strict takes each for an error. Lenient takes for an error only what leaves
// the structure in doubt (Codes tells which), and warns of the rest: agents
// write what they have seen, and a reader that refuses half of it is not used.
// Two keys of one name in one place are both kept; to look them up is an error.
//
// Limits: MaxBytes a file, MaxLine a line, MaxDepth levels. Work and memory are
// linear in the file: every byte is looked at a bounded number of times.
package octave

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// The limits of what is read. Beyond them is an error in both modes.
const (
	MaxBytes = 1 << 20  // of a file
	MaxLine  = 64 << 10 // bytes of a line
	MaxDepth = 32       // blocks, sections, lists and brackets, one in the other
)

// Mode is how deviations are judged. The zero Mode is as strict as Strict.
type Mode uint8

// The modes of reading.
const (
	Strict  Mode = iota + 1 // every deviation is an error
	Lenient                 // a deviation that loses nothing is a warning
)

// Kind is what an entry is.
type Kind uint8

// The kinds of entries.
const (
	Envelope    Kind = iota + 1 // ===KEY=== to ===END===
	Section                     // §Mark::KEY; a markdown heading "## KEY" leniently, with the hashes as Mark
	Block                       // KEY: and Entries
	Pair                        // KEY::Value
	Item                        // an element of a list without a key
	Comment                     // on a line of its own; Text is all of it
	Rule                        // --- after META
	Loose                       // Text that is none of these, a fence without a key among it
	Frontmatter                 // Text from --- to ---
)

// Entry is a node of a document.
type Entry struct {
	Kind    Kind
	Key     string // without quotes
	Mark    string // of a section
	Text    string // of Comment, Loose, Frontmatter; of Section, the [note] behind its name
	Comment string // behind it on its line, with its slashes
	Value   Value  // of Pair and Item
	Entries []*Entry

	from, to int  // its span in the source
	blank    bool // an empty line stands before it
	endBlank bool // and before its ===END===
	flat     bool // a section whose entries are not indented
}

// ValueKind is how a value is written.
type ValueKind uint8

// The kinds of values.
const (
	Empty  ValueKind = iota // nothing behind the colons
	Word                    // bare; Text is as it stands, spaces inside and all
	Quoted                  // "…" with the escapes \" \\ \n \t; Text is unescaped
	Triple                  // """…""" verbatim
	List                    // Items
	Fence                   // Text is the lines between, each with its line feed
	Nested                  // not a value but a block, section or envelope: Items are its entries
)

// String names the kind as --json prints it.
func (k ValueKind) String() string {
	return [...]string{"empty", "word", "quoted", "triple", "list", "fence", "nested"}[k]
}

// Value is what a key stands for, or an element of a list. Line ends in Text are
// line feeds whatever they are in the file.
type Value struct {
	Kind  ValueKind
	Text  string
	Items []*Entry
	Raw   string // as it stands in the file

	from, to         int  // its span; for Empty the place behind the colons
	bodyFrom, bodyTo int  // of Fence: the lines between
	faulty           bool // a word that strict wants quoted
}

// Doc is a file that was read.
type Doc struct {
	Entries []*Entry // frontmatter, comments and loose text besides the envelopes; or a body without one

	name  string
	src   string
	lines []int    // where each line begins
	err   *Problem // the first that leaves the structure in doubt
}

// Parse reads a file. It never fails: whatever it is given there is a Doc whose
// Bytes are b, and the problems are in order of place. name is for the problems.
// A Doc whose structure is in doubt answers neither Get nor Set.
func Parse(name string, b []byte, mode Mode) (*Doc, []Problem) {
	d, p := parse(name, b)
	return d, d.reportNotes(p.notes, mode)
}

func parse(name string, b []byte) (*Doc, *parser) {
	d := &Doc{name: name, src: string(b), lines: []int{0}}
	p := &parser{src: d.src, root: &Entry{}}
	if p.checkText() {
		d.lines = lineStarts(d.src)
		p.readFile()
		p.checkDocument()
		d.Entries = p.root.Entries
	} else if len(d.src) <= MaxBytes {
		d.lines = lineStarts(d.src)
	}
	return d, p
}

func lineStarts(s string) []int {
	starts := make([]int, 1, 1+strings.Count(s, "\n"))
	for i := range len(s) {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Bytes returns the file as it was read.
func (d *Doc) Bytes() []byte { return []byte(d.src) }

// Pos returns where an entry of d begins: its line and column from 1, the column in
// characters.
func (d *Doc) Pos(e *Entry) (line, col int) { return d.position(e.from) }

func (d *Doc) position(off int) (line, col int) {
	line = sort.SearchInts(d.lines, off+1)
	start := d.lines[line-1]
	if off > len(d.src) || off-start > MaxLine {
		return line, 1
	}
	return line, 1 + utf8.RuneCountInString(d.src[start:off])
}

// Holds returns the value of a pair or an element, or all that is in a block, section
// or envelope; comments and loose text hold none. Raw is empty for a block.
func (e *Entry) Holds() (Value, bool) {
	switch e.Kind {
	case Pair, Item:
		return e.Value, true
	case Block, Section, Envelope:
		return Value{Kind: Nested, Items: e.Entries, from: e.from, to: e.to}, true
	}
	return Value{}, false
}
