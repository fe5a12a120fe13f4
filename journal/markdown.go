package journal

import (
	"regexp"
	"strings"
	"sync"
)

// mdLine is one line of a markdown document.
type mdLine struct {
	n    int // 1-based line in the file
	text string
	code bool // inside a fence
}

// section is a heading with the lines up to the next heading of its level or above. The lines of a sub-section are
// also lines of its parent.
type section struct {
	level int
	line  int
	title string
	lines []mdLine
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`) })

// splitLines splits a document whose first line has the number first.
func splitLines(doc string, first int) []mdLine {
	var out []mdLine
	fence := ""
	for i, text := range strings.Split(doc, "\n") {
		text = strings.TrimSuffix(text, "\r")
		mark := fenceMark(text)
		l := mdLine{first + i, text, fence != ""}
		switch {
		case fence == "" && mark != "":
			fence, l.code = mark, true
		case mark != "" && strings.HasPrefix(mark, fence) && strings.Trim(text, " "+mark[:1]) == "":
			fence = ""
		}
		out = append(out, l)
	}
	return out
}

// fenceMark returns the marks with which a line opens or closes a block of code.
func fenceMark(text string) string {
	t := strings.TrimLeft(text, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(t) - len(strings.TrimLeft(t, c)); n >= 3 && len(text)-len(t) <= 3 {
			return t[:n]
		}
	}
	return ""
}

// splitSections returns the sections of a document in order.
func splitSections(lines []mdLine) []section {
	var out []section
	for i, l := range lines {
		m := heading().FindStringSubmatch(l.text)
		if m == nil || l.code {
			continue
		}
		s := section{level: len(m[1]), line: l.n, title: m[2]}
		for _, below := range lines[i+1:] {
			if m := heading().FindStringSubmatch(below.text); m != nil && !below.code && len(m[1]) <= s.level {
				break
			}
			s.lines = append(s.lines, below)
		}
		out = append(out, s)
	}
	return out
}

// tableRow is a row of a table; its cells are without outer spaces.
type tableRow struct {
	n     int
	cells []string
}

var tableRuler = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s|:-]*-[\s|:-]*$`) })

// parseTable returns the header and the rows of the first table among the lines.
func parseTable(lines []mdLine) (head tableRow, rows []tableRow) {
	for _, l := range lines {
		t := strings.TrimSpace(l.text)
		if l.code || !strings.HasPrefix(t, "|") {
			if head.cells != nil {
				return head, rows
			}
			continue
		}
		if tableRuler().MatchString(t) {
			continue
		}
		r := tableRow{l.n, splitCells(t)}
		if head.cells == nil {
			head = r
		} else {
			rows = append(rows, r)
		}
	}
	return head, rows
}

// splitCells splits a row at its bars; a bar after a backslash is text.
func splitCells(t string) []string {
	t = strings.TrimPrefix(t, "|")
	if strings.HasSuffix(t, "|") && !strings.HasSuffix(t, `\|`) {
		t = strings.TrimSuffix(t, "|")
	}
	var out []string
	from := 0
	cut := func(to int) {
		out = append(out, strings.TrimSpace(strings.ReplaceAll(t[from:to], `\|`, "|")))
	}
	for i := range len(t) {
		if t[i] == '|' && (i == 0 || t[i-1] != '\\') {
			cut(i)
			from = i + 1
		}
	}
	cut(len(t))
	return out
}

// stripMarkup returns a cell without the markup around it.
func stripMarkup(s string) string { return strings.Trim(strings.TrimSpace(s), "`*_\"“” ") }
