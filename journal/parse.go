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

// shape is how a file arranges its rows.
type shape int

const (
	shapeA        shape = iota + 1 // eight columns under their header
	shapeHeadless                  // B and C: the letter and the number of cells say what a cell is
	shapeUnknown                   // an unknown header
)

var columnsA = strings.Split(strings.TrimSuffix(header, "\n"), "\t")

// row is one line, without its line end.
type row struct {
	line  int
	cells []string
}

// Parse reads a file with the types of r. A row that cannot be read is a problem and is left out. A row with a
// smaller defect (an unknown type, a doubled tab) is a problem but is read. The problems are in the order of lines.
// The error is for a file that is not a journal: not UTF-8, binary, or with an unknown header.
func (r Registry) Parse(b []byte) ([]Entry, []Problem, error) {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil, nil, fmt.Errorf("line %d: not UTF-8 text; save the file as UTF-8", findBadLine(b))
	}
	kind := shapeOf(b)
	if kind == shapeUnknown {
		return nil, nil, fmt.Errorf("line 1: unknown header; odd writes %s", strings.Join(columnsA, ", "))
	}
	p := parser{Registry: r, shape: kind}
	p.checkFile(b)
	for i, row := range splitRows(b) {
		if i == 0 && kind != shapeHeadless {
			continue
		}
		p.parseRow(row)
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
	return p.entries, p.problems, nil
}

// findBadLine returns the first line that is not text.
func findBadLine(b []byte) int {
	for i, line := range bytes.Split(b, []byte("\n")) {
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return i + 1
		}
	}
	return 1
}

// splitRows returns the rows that are not empty.
func splitRows(b []byte) []row {
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

// shapeOf returns a file's shape, by its first row.
func shapeOf(b []byte) shape {
	all := splitRows(b)
	if len(all) == 0 {
		return shapeA
	}
	cells := all[0].cells
	switch {
	case slices.EqualFunc(cells, columnsA, strings.EqualFold):
		return shapeA
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

func (p *parser) addProblem(line int, fixable bool, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...), Fixable: fixable})
}

// checkFile checks byte order mark, line ends and the last newline.
func (p *parser) checkFile(b []byte) {
	if bytes.HasPrefix(b, bom) {
		p.addProblem(1, false, "begins with a byte order mark; save the file without it")
	}
	if i := bytes.Index(b, []byte("\r\n")); i >= 0 {
		p.addProblem(1+bytes.Count(b[:i], []byte("\n")), false, "CRLF line ends; save the file with LF")
	}
	if n := len(b); n > 0 && b[n-1] != '\n' {
		p.addProblem(1+bytes.Count(b, []byte("\n")), false, "no newline at the end; the row may be torn")
	}
}

func (p *parser) parseRow(r row) {
	parse := p.parseHeadless
	if p.shape == shapeA {
		parse = p.parseShapeA
	}
	e, ok := parse(r)
	if !ok {
		return
	}
	e.Line = r.line
	e.normalise(p.Registry)
	p.checkEntry(e)
	p.entries = append(p.entries, e)
}

func (p *parser) parseShapeA(r row) (Entry, bool) {
	c := r.cells
	if hasDoubledTab(c) {
		p.addProblem(r.line, true, "a doubled tab behind the facet shifts the columns; odd journal lint --fix removes it")
		c = slices.Delete(slices.Clone(c), 3, 4)
	}
	if len(c) != len(columnsA) {
		p.addProblem(r.line, false, "%d columns, want %d; is a tab missing, or inside a text?", len(c), len(columnsA))
		return Entry{}, false
	}
	e := Entry{Type: c[0], TypeName: c[1], Facet: c[2], Score: c[3], Max: c[4], Level: c[5], Title: c[6]}
	e.Content, e.More = p.decompose(c[7])
	return e, true
}

// hasDoubledTab recognises the defect that Fix repairs: nine cells, the third and fourth empty, whole numbers in
// the fifth and sixth.
func hasDoubledTab(c []string) bool {
	return len(c) == len(columnsA)+1 && c[2] == "" && c[3] == "" && isWholeNumber(c[4]) && isWholeNumber(c[5])
}

func isWholeNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil
}

// parseHeadless reads shapes B and C: three cells are letter, title and body; more cells are the fields of the
// letter's type.
func (p *parser) parseHeadless(r row) (Entry, bool) {
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
		p.addProblem(r.line, false, "%d columns, which no entry of type %q has", len(c), c[0])
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

// misspeltSet matches the name DOLCHEO with a letter added that it already has.
var misspeltSet = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bDOLCHEOT?\+[A-Z]\b`) })

// checkEntry reports what is wrong with an entry that could be read.
func (p *parser) checkEntry(e Entry) {
	t, known := p.find(e.Type, e.Facet)
	if !known {
		p.addProblem(e.Line, false, "unknown type %q; known are %s", e.Type, p.Letters())
	} else if !strings.EqualFold(e.TypeName, t.Name) && !(e.Type == "O" && strings.HasPrefix(e.TypeName, "Observation")) {
		p.addProblem(e.Line, false, "type %s is %s, not %q", t.ID(), t.Name, e.TypeName)
	}
	if strings.TrimSpace(e.Title) == "" {
		p.addProblem(e.Line, false, "no title")
	}
	p.checkQuality(e)
	for _, f := range e.More {
		if f.Name == "priority" && !priority().MatchString(f.Value) {
			p.addProblem(e.Line, false, "priority %q is not like P1 or P2.1", f.Value)
		}
	}
	for _, m := range e.findMisspelt() {
		p.addProblem(e.Line, false, "%s", m)
	}
}

// findMisspelt lists the places where an entry misspells DOLCHEO.
func (e Entry) findMisspelt() []string {
	var out []string
	texts := []string{e.Type, e.TypeName, e.Facet, e.Title, e.Content}
	for _, f := range e.More {
		texts = append(texts, f.Value)
	}
	for _, s := range texts {
		if m := misspeltSet().FindString(s); m != "" {
			say := fmt.Sprintf("%q: the letter is in the name already; write %s", m, m[:strings.IndexByte(m, '+')])
			if !slices.Contains(out, say) {
				out = append(out, say)
			}
		}
	}
	return out
}

func (p *parser) checkQuality(e Entry) {
	for _, s := range []string{e.Score, e.Max} {
		if s != "" && !isWholeNumber(s) {
			p.addProblem(e.Line, false, "quality %q is not a whole number", s)
			return
		}
	}
	score, _ := strconv.Atoi(e.Score)
	if most, err := strconv.Atoi(e.Max); err == nil && score > most {
		p.addProblem(e.Line, false, "quality %s of %s is more than there is", e.Score, e.Max)
	}
}

// Fix removes doubled tabs and changes no other byte; rows are the lines it repaired. Only files of shape A have
// the defect; others are returned unchanged.
func Fix(b []byte) (fixed []byte, rows []int, err error) {
	if _, _, err := Parse(b); err != nil {
		return nil, nil, err
	}
	if shapeOf(b) != shapeA {
		return b, nil, nil
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	for i, line := range lines {
		if hasDoubledTab(strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")) {
			lines[i] = bytes.Replace(line, []byte("\t\t\t"), []byte("\t\t"), 1)
			rows = append(rows, i+1)
		}
	}
	return bytes.Join(lines, nil), rows, nil
}
