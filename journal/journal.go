// Package journal reads and writes journal entries: typed notes of what a session decided,
// observed and learned. An entry is one row of eight tab-separated columns, and each writer
// has a file.
//
//	type	typeName	facet	quality_score	quality_max	quality_level	title	content
//	D	Decision		5	5	strong	Keep the ledger in JSON lines	A line is written once …
//	O	Open	open	3	5	adequate	Who owns the glossary?	Nobody has said so since …
//
// The types, together called DOLCHEO, are Decision, Observation, Learning, Constraint,
// Handoff, Encode and Open; T is Tension. Two have the letter O, so the pair (letter, facet)
// identifies a type: (O, "") is an observation, (O, open) an open question. A knowledge base
// may add types of its own, so a type is a string, and a Registry lists the known ones.
//
// A file is UTF-8 with LF line ends and a header. Nothing is quoted or escaped: a newline
// in a field is written as the two characters \n and read back as them, and a tab becomes a
// space. A double quote is an ordinary character, so a CSV reader would lose rows. Rows are
// in the order of events; they are never sorted, and only appended.
//
// Further fields of a type, such as a decision's rationale or an open question's priority,
// have no column. They follow the text as "name: value", each after a bar between spaces:
//
//	A line is written once. | rationale: it diffs well | alternatives: SQLite
//
// A name counts only if a type of the registry has it. If a text or value itself has such a
// bar before a word and a colon, writing puts a backslash in front of the bar and reading
// removes one. No other bar is escaped.
//
// Quality is computed from the row by the criteria of its type; see Registry.Score. Rows
// of other writers keep the quality that they state.
//
// An entry is named by its file and line, "journal/2026-03-02-ann.tsv#3". A later entry
// closes an open question, or resolves a tension, with that name in its field "closes". The
// closed row does not change.
//
// Append writes this shape, A. Parse also reads two shapes without a header, B and C:
//
//	A  eight columns with the header above
//	B  a width for each letter: D title body rationale alternatives reversibility,
//	   O open priority title body, …
//	C  three columns: letter, summary, detail
//
// A malformed row is a Problem with its line; the other rows are read. One common defect can
// be repaired: a doubled tab behind the facet, which shifts the columns after it. Parse reads
// such a row as it was meant and reports it, and Fix rewrites it.
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
	Type     string  `json:"type"`
	TypeName string  `json:"type_name,omitempty"`
	Facet    string  `json:"facet,omitempty"`
	Score    string  `json:"quality_score,omitempty"` // as in the row
	Max      string  `json:"quality_max,omitempty"`
	Level    string  `json:"quality_level,omitempty"`
	Title    string  `json:"title"`
	Content  string  `json:"content,omitempty"`
	More     []Field `json:"more,omitempty"` // the fields behind the content, or in columns of other shapes, in order
	Line     int     `json:"line"`           // 1-based; Append ignores it
}

// ID returns the entry's type as people write it, D or O-open. It leaves out a facet that is not part of a type.
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

// Problem is one finding of Lint or Parse with its line.
type Problem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
	Fixable bool   `json:"fixable,omitempty"` // by Fix
	Warning bool   `json:"warning,omitempty"` // a broken convention; the row can be read
}

// header is the first row of shape A.
const header = "type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\n"

// Parse reads any of the three shapes with the standard types.
func Parse(b []byte) ([]Entry, []Problem, error) { return Standard().Parse(b) }

// Append appends with the standard types.
func Append(b []byte, e Entry) ([]byte, error) { return Standard().Append(b, e) }

// Append returns the file b (if it is empty, with the header first) with the entry as its last row. A newline in a
// field becomes \n and a tab a space; other control characters are dropped. An entry needs a type and a title; an
// empty TypeName becomes the type's own. More is written behind the content; its names must be fields of r. b must
// have shape A. It is not changed, and the result begins with it.
func (r Registry) Append(b []byte, e Entry) ([]byte, error) {
	row, err := r.formatRow(e)
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

// formatRow returns an entry as a row of shape A, with its newline.
func (r Registry) formatRow(e Entry) (string, error) {
	more := slices.Clone(e.More)
	for i, f := range more {
		if !r.hasField(f.Name) {
			return "", fmt.Errorf("entry %q: has %q, which no type of entry has; put it into the content", e.Title, f.Name)
		}
		more[i].Value = cleanCell(f.Value)
	}
	e.Type, e.Facet = strings.TrimSpace(e.Type), strings.TrimSpace(e.Facet)
	if t, ok := r.find(e.Type, e.Facet); ok && e.TypeName == "" {
		e.TypeName = t.Name
	}
	cells := []string{e.Type, e.TypeName, e.Facet, e.Score, e.Max, e.Level, e.Title, Compose(cleanCell(e.Content), more)}
	for i, c := range cells {
		cells[i] = cleanCell(c)
	}
	switch {
	case cells[0] == "":
		return "", fmt.Errorf("entry %q: no type; give a letter, like D or O", e.Title)
	case strings.TrimSpace(cells[6]) == "":
		return "", fmt.Errorf("entry of type %s: no title", e.Type)
	}
	return strings.Join(cells, "\t") + "\n", nil
}

// cleanCell returns s without the characters that a row cannot hold.
func cleanCell(s string) string {
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

// Path returns the path of a writer's file below the bundle root: journal/YYYY-MM-DD-SLUG.tsv by the UTC date.
// Characters of the slug that do not belong in a file name become "-".
func Path(date time.Time, slug string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, slug)
	return path.Join("journal", date.UTC().Format(time.DateOnly)+"-"+name+".tsv")
}

// walkFiles calls visit with every journal file of the bundle f, journal/*.tsv, in the order of their names, which begin
// with the date. It stops at the first error and prefixes it with the file's path. A bundle without a journal has
// no files.
func walkFiles(f fs.FS, visit func(file string, b []byte) error) error {
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
