// Package journal keeps DOLCHEO entries: typed notes of what a session decided,
// observed and learned, one row an entry, eight tab-separated columns, one file a writer.
//
//	type	typeName	facet	quality_score	quality_max	quality_level	title	content
//	D	Decision		5	5	strong	Keep the ledger in JSON lines	A line is written once …
//	O	Open	open	3	5	adequate	Who owns the glossary?	Nobody has said so since …
//
// The letters are Decision, Observation, Learning, Constraint, Handoff, Encode
// and Open, and T for Tension. Two of them are O, so what identifies a type is
// the pair (letter, facet): (O, "") is a finished observation, (O, open) is
// unresolved. A knowledge base may add letters of its own, which is why a type
// is a string and a Registry says which are known.
//
// A file is UTF-8 with LF line ends and a header. There is no quoting and no
// escape: a newline in a field is written as the two characters \n and stays
// so when it is read, a tab becomes a space, and a double quote is a double
// quote (a CSV reader loses rows over it). The order of rows is the order of
// the story, never sorted, and rows are only ever added.
//
// What a type asks for beyond a title and a text (a decision's rationale, an
// open question's priority) has no column. It stands behind the text, one
// "name: value" after the other, a bar between spaces in front of each:
//
//	A line is written once. | rationale: it diffs well | alternatives: SQLite
//
// A name counts only if a type of the registry has it. Where a text or a value
// itself has a bar that is followed by a word and a colon, the bar gets one more
// backslash in front of it than it had, and reading takes one away; nothing else
// is escaped, so a text with other bars in it is the same in the row.
//
// Quality is computed from the row by the criteria of its type and is nobody's
// judgement: see Registry.Score. Rows of other writers keep what they assert.
//
// An entry is named by its file and line, "journal/2026-03-02-ann.tsv#3". A
// later entry closes an open question, or resolves a tension, by the field
// "closes" with that name; the row that is closed stays as it is.
//
// Append writes this shape only. Parse reads it and four others found in the
// wild:
//
//	A  eight columns with the header above
//	B  no header, a width for each letter: D title body rationale alternatives reversibility,
//	   O open priority title body, …
//	C  no header, three columns: letter, summary, detail
//	D  the header Type Title Body
//	E  the header id ts contributor verdict tier signals scope custody confidence
//	   relationships short long; the verdict ("crystallize:decision") is the type
//
// What is wrong with a row is a Problem with its line; the other rows are read.
// One defect is common enough to have a repair: a doubled tab behind the facet
// that shifts all that follows. Parse reads such a row as it was meant and says
// so, Fix rewrites it, and nobody does so silently.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Entry is one row. Type and Facet together are its identity.
type Entry struct {
	Type, TypeName, Facet string
	Score, Max            string // as the row has them
	Level, Title, Content string
	More                  []Field // what stands behind the content, or in columns of other shapes, in file order
	Line                  int     // 1-based; Append ignores it
}

// ID is the entry's identity as people write it: D, O-open. A facet that makes
// no type of its own is left out.
func (e Entry) ID() string { return Standard().ID(e) }

// ID is Entry.ID with the types of r.
func (r Registry) ID(e Entry) string {
	if t, ok := r.find(e.Type, e.Facet); ok {
		return t.ID()
	}
	return e.Type
}

// Field is a named cell that shape A has no column for, such as a decision's
// rationale or an open question's priority.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Problem is one located finding of Lint or Parse.
type Problem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
	Fixable bool   `json:"fixable,omitempty"` // by Fix
	Warning bool   `json:"warning,omitempty"` // a convention of journals, not what a row must be to be read
}

// header is the first row of shape A.
const header = "type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\n"

// Parse reads any of the five shapes in the wild, with the standard letters.
func Parse(b []byte) ([]Entry, []Problem, error) { return Standard().Parse(b) }

// Append appends with the standard letters.
func Append(b []byte, e Entry) ([]byte, error) { return Standard().Append(b, e) }

// Append returns the file b (empty: with the header first) with the entry as its last row. A newline in a field is
// written \n, a tab as a space, and other control characters are dropped. An entry needs a type and a title; TypeName,
// when empty, is the letter's own. More goes behind the content; its names are names of r's fields. b must be of shape
// A and is never changed: the result begins with it.
func (r Registry) Append(b []byte, e Entry) ([]byte, error) {
	row, err := r.row(e)
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(b)
	switch {
	case len(bytes.TrimSpace(bytes.TrimPrefix(b, bom))) == 0:
		out = append(out, header...)
	case shapeOf(b) != shapeA:
		return nil, errors.New("line 1: not the eight-column header; odd appends only to files that have it, start a new one")
	case b[len(b)-1] != '\n':
		out = append(out, '\n')
	}
	return append(out, row...), nil
}

// row is an entry as a row of shape A, with its newline.
func (r Registry) row(e Entry) (string, error) {
	more := slices.Clone(e.More)
	for i, f := range more {
		if !r.hasField(f.Name) {
			return "", fmt.Errorf("entry %q: has %q, which no type of entry has; put it into the content", e.Title, f.Name)
		}
		more[i].Value = cell(f.Value)
	}
	e.Type, e.Facet = strings.TrimSpace(e.Type), strings.TrimSpace(e.Facet)
	if t, ok := r.find(e.Type, e.Facet); ok && e.TypeName == "" {
		e.TypeName = t.Name
	}
	cells := []string{e.Type, e.TypeName, e.Facet, e.Score, e.Max, e.Level, e.Title, Compose(cell(e.Content), more)}
	for i, c := range cells {
		cells[i] = cell(c)
	}
	switch {
	case cells[0] == "":
		return "", fmt.Errorf("entry %q: no type; give a letter, like D or O", e.Title)
	case strings.TrimSpace(cells[6]) == "":
		return "", fmt.Errorf("entry of type %s: no title", e.Type)
	}
	return strings.Join(cells, "\t") + "\n", nil
}

// cell is s as it may stand in a row.
func cell(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n', r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case !unicode.IsControl(r) && r != '\ufeff':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Path is where a writer's file lies below the bundle root:
// journal/YYYY-MM-DD-SLUG.tsv by the UTC date. Characters of the slug that do
// not belong into a file name become "-".
func Path(date time.Time, slug string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, slug)
	return path.Join("journal", date.UTC().Format(time.DateOnly)+"-"+name+".tsv")
}

// Walk calls visit with every journal file of the bundle f, journal/*.tsv, in
// the order of their names, which begin with the date. It stops at the first
// error, which it prefixes with the file's path. A bundle without a journal has
// no entries.
func Walk(f fs.FS, visit func(file string, b []byte) error) error {
	list, err := fs.ReadDir(f, "journal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.IsDir() || path.Ext(d.Name()) != ".tsv" {
			continue
		}
		file := path.Join("journal", d.Name())
		b, err := fs.ReadFile(f, file)
		if err != nil {
			return err
		}
		if err := visit(file, b); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}
