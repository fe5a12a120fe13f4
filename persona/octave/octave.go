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
	"slices"
	"sort"
)

// The limits of what is read. Beyond them is a problem.
const (
	MaxBytes = 1 << 20 // of a file
	MaxDepth = 32      // blocks, sections, lists and brackets, one in the other
)

// Kind is what an entry is.
type Kind uint8

// The kinds of entries.
const (
	Envelope Kind = iota + 1 // ===KEY=== to ===END===
	Section                  // §1::KEY, or a markdown heading "## KEY"
	Block                    // KEY: and Entries
	Pair                     // KEY::Value
	Item                     // an element of a list without a key
	Loose                    // Text that is none of these, a fence without a key among it
)

// Entry is a node of a document.
type Entry struct {
	Kind    Kind
	Key     string // without quotes
	Text    string // of Loose
	Value   Value  // of Pair and Item
	Entries []*Entry
	Line    int // where it begins, from 1

	flat bool // a section whose entries are not indented
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

// Value is what a key stands for, or an element of a list. Line ends are line
// feeds whatever they are in the file.
type Value struct {
	Kind  ValueKind
	Text  string
	Items []*Entry
	Raw   string // of a word, a list and a text in quotes: as it stands in the file
}

// Problem is what leaves the structure in doubt, where it is, and the way out.
type Problem struct {
	Line          int // from 1
	Message, Hint string
}

// maxProblems is how many are told of one file.
const maxProblems = 50

// Parse reads a file. The problems are in order of place; a file with one has
// entries that may not be what was meant.
func Parse(b []byte) ([]*Entry, []Problem) {
	p := &parser{root: &Entry{}}
	if p.checkText(b) {
		p.readFile()
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
	return p.root.Entries, p.problems[:min(len(p.problems), maxProblems)]
}

// note adds a problem at a place of the source.
func (p *parser) note(at int, message, hint string) {
	p.problems = append(p.problems, Problem{p.lineOf(at), message, hint})
}

// lineOf returns the line of a place, from 1.
func (p *parser) lineOf(at int) int { return sort.SearchInts(p.lines, at+1) }

// Holds returns the value of a pair or an element, or all that is in a block, section
// or envelope; loose text holds none.
func (e *Entry) Holds() (Value, bool) {
	switch e.Kind {
	case Pair, Item:
		return e.Value, true
	case Block, Section, Envelope:
		return Value{Kind: Nested, Items: e.Entries}, true
	}
	return Value{}, false
}
