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

// section is a heading with the lines below it, up to the next heading of its
// level or above. The lines of a sub-section are lines of its parent too.
type section struct {
	level int
	line  int
	title string
	lines []mdLine
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`) })

// lines splits a document, the first line of which is number first.
func mdLines(doc string, first int) []mdLine {
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

// fenceMark is the run of marks a line opens or closes a block of code with.
func fenceMark(text string) string {
	t := strings.TrimLeft(text, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(t) - len(strings.TrimLeft(t, c)); n >= 3 && len(text)-len(t) <= 3 {
			return t[:n]
		}
	}
	return ""
}

// sections are the headings of a document in order.
func sections(lines []mdLine) []section {
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

// tableRow is a row of a table: its cells without the markup around them.
type tableRow struct {
	n     int
	cells []string
}

var ruler = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s|:-]*-[\s|:-]*$`) })

// table is the first table among the lines: its header and its rows.
func table(lines []mdLine) (head tableRow, rows []tableRow) {
	for _, l := range lines {
		t := strings.TrimSpace(l.text)
		if l.code || !strings.HasPrefix(t, "|") {
			if head.cells != nil {
				return head, rows
			}
			continue
		}
		if ruler().MatchString(t) {
			continue
		}
		r := tableRow{l.n, tableCells(t)}
		if head.cells == nil {
			head = r
		} else {
			rows = append(rows, r)
		}
	}
	return head, rows
}

// tableCells splits a row at its bars; a bar behind a backslash is text.
func tableCells(t string) []string {
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

// bare is a cell without the markup around it.
func bare(s string) string { return strings.Trim(strings.TrimSpace(s), "`*_\"“” ") }
