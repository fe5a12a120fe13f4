package octave

import (
	"fmt"
	"slices"
)

// Severity says whether a problem makes a file unusable.
type Severity string

// The severities.
const (
	Error Severity = "error"
	Warn  Severity = "warning"
)

// Problem is one deviation, where it is, and the way out.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Col      int      `json:"col"` // in characters, from 1
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
}

// Error returns the problem on one line, as compilers tell it.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; %s [%s]", p.File, p.Line, p.Col, p.Message, p.Hint, p.Code)
}

// Code is one kind of problem. Strict is an error for all of them.
type Code struct {
	Name    string   `json:"name"`
	Lenient Severity `json:"lenient"`
	About   string   `json:"about"`
	Hint    string   `json:"hint"`
}

type code uint8

const (
	codeTooBig code = iota
	codeLongLine
	codeEncoding
	codeControl
	codeDepth
	codeUnclosed
	codeUnbalanced
	codeColumn
	codeFence
	codeBOM
	codeCRLF
	codeTab
	codeIndent
	codeEnvelope
	codeName
	codeSeveral
	codeEnd
	codeOutside
	codeMeta
	codeHeading
	codeLoose
	codeColon
	codeKey
	codeDuplicate
	codeEmpty
	codeWords
	codeQuote
	codeBacktick
	codeDate
	codeComma
	codeNested
	codeEscape
)

// Codes lists every problem that Parse can find. Those that are errors in
// lenient reading too leave the structure in doubt.
func Codes() []Code {
	return []Code{
		codeTooBig:     {"octave-too-big", Error, "the file is over 1 MiB and is not read", "split it"},
		codeLongLine:   {"octave-long-line", Error, "a line is over 64 KiB", "break it: a list may go over many lines"},
		codeEncoding:   {"octave-encoding", Error, "the file is not UTF-8 here", "save it as UTF-8"},
		codeControl:    {"octave-control", Error, "a control character, or one that turns the direction of text", "delete it"},
		codeDepth:      {"octave-depth", Error, "more than 32 levels, one in the other; what follows is not read", "make it flatter"},
		codeUnclosed:   {"octave-unclosed", Error, "something is opened here and not closed", "close it"},
		codeUnbalanced: {"octave-unbalanced", Error, "a bracket without its other half", "put the value in double quotes"},
		codeColumn:     {"octave-column", Error, "the line stands at a column that nothing opened", "indent it as its neighbours, two spaces a level"},
		codeFence:      {"octave-fence", Error, "a longer fence inside a fence", "make the outer fence the longer one"},
		codeBOM:        {"octave-bom", Warn, "the file starts with a byte order mark", "odd anchor octave fmt takes it out"},
		codeCRLF:       {"octave-crlf", Warn, "lines end in carriage return and line feed", "odd anchor octave fmt makes it line feeds"},
		codeTab:        {"octave-tab", Warn, "a tab", "indent with two spaces a level; in a quoted string write \\t"},
		codeIndent:     {"octave-indent", Warn, "the indentation is not two spaces a level", "indent by two; odd anchor octave fmt does"},
		codeEnvelope:   {"octave-envelope", Warn, "no envelope", "begin with ===NAME=== and end with ===END==="},
		codeName:       {"octave-envelope-name", Warn, "the line is not an envelope's: ===NAME=== at the first column", "name it with letters, digits and _, parts joined by :"},
		codeSeveral:    {"octave-envelopes", Warn, "a second envelope", "one envelope a file"},
		codeEnd:        {"octave-end", Warn, "the envelope has no end", "end it with ===END==="},
		codeOutside:    {"octave-outside", Warn, "text outside of the envelope", "move it in, or make it a // comment"},
		codeMeta:       {"octave-meta", Warn, "an envelope begins with META, and META has TYPE and VERSION", "add what is missing"},
		codeHeading:    {"octave-heading", Warn, "a markdown heading; it is taken for a section", "write §1::NAME, or open a block with NAME:"},
		codeLoose:      {"octave-loose", Warn, "the line is neither KEY::value, nor KEY:, nor a section, nor a // comment", "give it a key, as L1::\"…\""},
		codeColon:      {"octave-colon", Warn, "the colons behind a key are not as they should be", "write KEY::value, and KEY: to open a block; odd anchor octave fmt does"},
		codeKey:        {"octave-key", Warn, "a key that is not letters, digits and _", "rename it"},
		codeDuplicate:  {"octave-duplicate", Warn, "a second key of this name in one place; looking it up is ambiguous", "keep one"},
		codeEmpty:      {"octave-empty", Warn, "a key without a value", "write \"\" for an empty one, or delete the key"},
		codeWords:      {"octave-words", Warn, "several words without quotes are taken for one value", "put them in double quotes"},
		codeQuote:      {"octave-quote", Warn, "( ) { } and commas, a bracket in front and a colon at the end are for quoted values", "put the value in double quotes"},
		codeBacktick:   {"octave-backtick", Warn, "back-ticks are for fences", "put the value in double quotes"},
		codeDate:       {"octave-date", Warn, "a date without quotes", "put it in double quotes"},
		codeComma:      {"octave-comma", Warn, "elements of a list are parted by one comma each", "write one comma between two elements"},
		codeNested:     {"octave-nested", Warn, "a list of pairs in a list of pairs", "make the outer one a block: KEY: and indented lines"},
		codeEscape:     {"octave-escape", Warn, "an escape that is not \\\" \\\\ \\n \\t; both its characters are kept", "write \\\\ for a backslash"},
	}
}

// note is a problem before its place is counted out.
type note struct {
	at   int
	code code
	what string // instead of the code's About
}

func (p *parser) note(c code, at int, what string) { p.notes = append(p.notes, note{at, c, what}) }

// perCode is how often one code is told; one more problem says how often it was not.
const perCode = 50

// reportNotes makes problems of notes, and remembers the first that is an error in
// both modes.
func (d *Doc) reportNotes(notes []note, mode Mode) []Problem {
	slices.SortStableFunc(notes, func(a, b note) int { return a.at - b.at })
	table := Codes()
	count := make([]int, len(table))
	var out []Problem
	for _, n := range notes {
		if count[n.code]++; count[n.code] > perCode {
			continue
		}
		out = append(out, d.newProblem(n, table[n.code], mode))
		if d.err == nil && table[n.code].Lenient == Error {
			p := out[len(out)-1]
			d.err = &p
		}
	}
	for i := range out {
		c := slices.IndexFunc(table, func(c Code) bool { return c.Name == out[i].Code })
		if n := count[c]; n > perCode {
			out[i].Message += fmt.Sprintf(" (the first of %d in the file; %d are told)", n, perCode)
			count[c] = 0
		}
	}
	return out
}

func (d *Doc) newProblem(n note, c Code, mode Mode) Problem {
	p := Problem{File: d.name, Severity: Error, Code: c.Name, Message: c.About, Hint: c.Hint}
	p.Line, p.Col = d.position(n.at)
	if mode == Lenient {
		p.Severity = c.Lenient
	}
	if n.what != "" {
		p.Message = n.what
	}
	return p
}

// Errors returns the problems that are errors.
func Errors(ps []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(ps), func(p Problem) bool { return p.Severity != Error })
}
