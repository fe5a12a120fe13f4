package journal

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

var bom = []byte("\xef\xbb\xbf")

// shape is how a file lays out its rows.
type shape int

const (
	shapeA        shape = iota + 1 // eight columns under their header
	shapeHeadless                  // B and C: the letter and the width say what a cell is
	shapeD                         // Type Title Body
	shapeE                         // twelve columns of a folded-out stream
	shapeUnknown                   // a header odd does not know
)

var (
	columnsA = strings.Split(strings.TrimSuffix(header, "\n"), "\t")
	columnsD = []string{"Type", "Title", "Body"}
	columnsE = []string{"id", "ts", "contributor", "verdict", "tier", "signals", "scope", "custody", "confidence", "relationships", "short", "long"}
)

// row is one line, without its line end.
type row struct {
	line  int
	cells []string
}

// Parse reads a file with the letters of r. A row that cannot be read is a problem and is left out; one that can be
// read all the same (an unknown letter, a doubled tab) is both. The problems are in the order of lines. The error is
// for a file that is no journal at all: not UTF-8, binary, or under an unknown header.
func (r Registry) Parse(b []byte) ([]Entry, []Problem, error) {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil, nil, fmt.Errorf("line %d: not UTF-8 text; save the file as UTF-8", badLine(b))
	}
	kind := shapeOf(b)
	if kind == shapeUnknown {
		return nil, nil, fmt.Errorf("line 1: unknown header; odd writes %s", strings.Join(columnsA, ", "))
	}
	p := parser{Registry: r, shape: kind}
	p.file(b)
	for i, row := range rows(b) {
		if i == 0 && kind != shapeHeadless {
			continue
		}
		p.row(row)
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
	return p.entries, p.problems, nil
}

// badLine is the first line with a byte that is not text.
func badLine(b []byte) int {
	for i, line := range bytes.Split(b, []byte("\n")) {
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return i + 1
		}
	}
	return 1
}

// rows splits b into its rows that are not empty.
func rows(b []byte) []row {
	var out []row
	b = bytes.TrimPrefix(b, bom)
	for n := 1; len(b) > 0; n++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if text := strings.TrimSuffix(string(line), "\r"); strings.TrimSpace(text) != "" {
			out = append(out, row{n, strings.Split(text, "\t")})
		}
		b = rest
	}
	return out
}

// shapeOf tells a file's shape by its first row.
func shapeOf(b []byte) shape {
	all := rows(b)
	if len(all) == 0 {
		return shapeA
	}
	cells := all[0].cells
	same := func(columns []string) bool { return slices.EqualFunc(cells, columns, strings.EqualFold) }
	switch {
	case same(columnsA):
		return shapeA
	case same(columnsD):
		return shapeD
	case same(columnsE):
		return shapeE
	case slices.ContainsFunc([]string{"type", "typename", "letter"}, func(s string) bool { return strings.EqualFold(s, cells[0]) }):
		return shapeUnknown
	}
	return shapeHeadless
}

type parser struct {
	Registry
	shape    shape
	entries  []Entry
	problems []Problem
}

func (p *parser) bad(line int, fixable bool, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...), Fixable: fixable})
}

// file checks the bytes around the rows.
func (p *parser) file(b []byte) {
	if bytes.HasPrefix(b, bom) {
		p.bad(1, false, "begins with a byte order mark; save the file without it")
	}
	if i := bytes.Index(b, []byte("\r\n")); i >= 0 {
		p.bad(1+bytes.Count(b[:i], []byte("\n")), false, "CRLF line ends; save the file with LF")
	}
	if n := len(b); n > 0 && b[n-1] != '\n' {
		p.bad(1+bytes.Count(b, []byte("\n")), false, "no newline at the end; the row may be torn")
	}
}

func (p *parser) row(r row) {
	var e Entry
	var ok bool
	switch p.shape {
	case shapeA:
		e, ok = p.eight(r)
	case shapeD:
		e, ok = p.three(r)
	case shapeE:
		e, ok = p.twelve(r)
	default:
		e, ok = p.headless(r)
	}
	if !ok {
		return
	}
	e.Line = r.line
	e.normalise(p.Registry)
	p.check(e)
	p.entries = append(p.entries, e)
}

func (p *parser) eight(r row) (Entry, bool) {
	c := r.cells
	if isDoubled(c) {
		p.bad(r.line, true, "a doubled tab behind the facet shifts the columns; odd journal lint --fix removes it")
		c = slices.Delete(slices.Clone(c), 3, 4)
	}
	if len(c) != len(columnsA) {
		p.bad(r.line, false, "%d columns, want %d; is a tab missing, or inside a text?", len(c), len(columnsA))
		return Entry{}, false
	}
	e := Entry{Type: c[0], TypeName: c[1], Facet: c[2], Score: c[3], Max: c[4], Level: c[5], Title: c[6]}
	e.Content, e.More = p.decompose(c[7])
	return e, true
}

// isDoubled recognises the one defect Fix repairs: nine cells, the third and the
// fourth empty, whole numbers in the fifth and sixth.
func isDoubled(c []string) bool {
	return len(c) == len(columnsA)+1 && c[2] == "" && c[3] == "" && whole(c[4]) && whole(c[5])
}

func whole(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil
}

func (p *parser) three(r row) (Entry, bool) {
	if len(r.cells) != len(columnsD) {
		p.bad(r.line, false, "%d columns, want %d", len(r.cells), len(columnsD))
		return Entry{}, false
	}
	return Entry{Type: r.cells[0], Title: r.cells[1], Content: r.cells[2]}, true
}

// twelve reads a row of a stream: its verdict's last word is the type.
func (p *parser) twelve(r row) (Entry, bool) {
	if len(r.cells) != len(columnsE) {
		p.bad(r.line, false, "%d columns, want %d", len(r.cells), len(columnsE))
		return Entry{}, false
	}
	verdict := r.cells[3]
	e := Entry{Type: verdict[strings.LastIndexByte(verdict, ':')+1:], Title: r.cells[10], Content: r.cells[11]}
	if t, ok := p.typeNamed(e.Type); ok {
		e.Type, e.Facet, e.TypeName = t.Letter, t.Facet, t.Name
	}
	for i, name := range columnsE[:10] {
		if r.cells[i] != "" {
			e.More = append(e.More, Field{name, r.cells[i]})
		}
	}
	return e, true
}

// headless reads shapes B and C: three cells are letter, title and body
// whatever the letter; more are what the letter's type says.
func (p *parser) headless(r row) (Entry, bool) {
	c := r.cells
	e := Entry{Type: c[0]}
	e.normalise(p.Registry)
	cells := c[1:]
	if len(c) >= 4 && e.Facet == "" {
		if t, ok := p.find(e.Type, c[1]); ok && t.Facet != "" && t.Facet == c[1] {
			e.Facet, e.TypeName, cells = t.Facet, t.Name, cells[1:]
		}
	}
	names := []string{"title", "body"}
	if len(cells) > 2 {
		t, _ := p.find(e.Type, e.Facet)
		names = t.Fields
	}
	if len(cells) < 2 || len(cells) > len(names) {
		p.bad(r.line, false, "%d columns, which no entry of type %q has", len(c), c[0])
		return Entry{}, false
	}
	for i, cell := range cells {
		switch names[i] {
		case "title":
			e.Title = cell
		case "body":
			e.Content = cell
		default:
			e.More = append(e.More, Field{names[i], cell})
		}
	}
	return e, true
}

// overspelt is the set's name with a letter added that it already has.
var overspelt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bDOLCHEOT?\+[A-Z]\b`) })

// check reports what is wrong with an entry that could be read.
func (p *parser) check(e Entry) {
	t, known := p.find(e.Type, e.Facet)
	if !known {
		p.bad(e.Line, false, "unknown type %q; known are %s", e.Type, p.Letters())
	} else if !strings.EqualFold(e.TypeName, t.Name) && !(e.Type == "O" && strings.HasPrefix(e.TypeName, "Observation")) {
		p.bad(e.Line, false, "type %s is %s, not %q", t.ID(), t.Name, e.TypeName)
	}
	if strings.TrimSpace(e.Title) == "" {
		p.bad(e.Line, false, "no title")
	}
	p.quality(e)
	for _, f := range e.More {
		if f.Name == "priority" && !priority().MatchString(f.Value) {
			p.bad(e.Line, false, "priority %q is not like P1 or P2.1", f.Value)
		}
	}
	for _, m := range e.misspelt() {
		p.bad(e.Line, false, "%s", m)
	}
}

// misspelt lists the places where an entry names the set with a letter twice.
func (e Entry) misspelt() []string {
	var out []string
	texts := []string{e.Type, e.TypeName, e.Facet, e.Title, e.Content}
	for _, f := range e.More {
		texts = append(texts, f.Value)
	}
	for _, s := range texts {
		if m := overspelt().FindString(s); m != "" {
			say := fmt.Sprintf("%q: the letter is in the name already; write %s", m, m[:strings.IndexByte(m, '+')])
			if !slices.Contains(out, say) {
				out = append(out, say)
			}
		}
	}
	return out
}

// quality checks only that the numbers agree with each other.
func (p *parser) quality(e Entry) {
	for _, s := range []string{e.Score, e.Max} {
		if s != "" && !whole(s) {
			p.bad(e.Line, false, "quality %q is not a whole number", s)
			return
		}
	}
	score, _ := strconv.Atoi(e.Score)
	if most, err := strconv.Atoi(e.Max); err == nil && score > most {
		p.bad(e.Line, false, "quality %s of %s is more than there is", e.Score, e.Max)
	}
}

// Fix repairs the extra-tab defect and nothing else: every other byte stays. rows are the lines it repaired. Only files
// of shape A have the defect; others come back as they are.
func Fix(b []byte) (fixed []byte, rows []int, err error) {
	if _, _, err := Parse(b); err != nil {
		return nil, nil, err
	}
	if shapeOf(b) != shapeA {
		return b, nil, nil
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	for i, line := range lines {
		if isDoubled(strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")) {
			lines[i] = bytes.Replace(line, []byte("\t\t\t"), []byte("\t\t"), 1)
			rows = append(rows, i+1)
		}
	}
	return bytes.Join(lines, nil), rows, nil
}
