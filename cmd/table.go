package cmd

import (
	"io"
	"strings"
)

// table lays rows out for a terminal: a column is as wide as the widest of its cells
// that another follows, by the columns they take there, so that wide characters and
// marks align too.
//
// A cell with no room where its column begins goes on below, set in a little; the last
// of a row is broken between words instead, where that leaves it room enough.
type table struct {
	width int // of the terminal
	rows  [][]string
	wide  []int // of a column, with what parts it from the next
}

// add takes a row, without the empty cells at its end.
func (t *table) add(row []string) {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	for i, c := range row[:max(0, len(row)-1)] {
		if i == len(t.wide) {
			t.wide = append(t.wide, 0)
		}
		t.wide[i] = max(t.wide[i], columnsOf(c)+2)
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(out io.StringWriter) error {
	for _, row := range t.rows {
		if _, err := out.WriteString(t.line(row) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// line is a row on one line of the terminal, or on several.
func (t *table) line(row []string) string {
	const in = 4
	var out strings.Builder
	at, below := 0, false // how far the line goes, and that it is not the row's first
	begins := 0           // the column of the cell, on the first line
	for i, c := range row {
		last := i == len(row)-1
		from, n := begins, columnsOf(c)
		if below {
			from = at + 2
		}
		switch {
		case c == "":
		case i == 0 || from+n <= t.width:
			out.WriteString(strings.Repeat(" ", from-at) + c)
			at = from + n
		case last && !below && 5*from <= 3*t.width:
			out.WriteString(strings.Repeat(" ", from-at) + wrapped(c, from, from, t.width))
		default:
			out.WriteString("\n" + strings.Repeat(" ", in) + wrapped(c, in, in, t.width))
			at, below = in+n, true
		}
		if !last {
			begins += t.wide[i]
		}
	}
	return out.String()
}

// padded is s with blanks behind it, until it takes n columns of a terminal.
func padded(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-columnsOf(s)))
}

// clipped is s in at most n columns of a terminal, an ellipsis at the end where there
// was more.
func clipped(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	return headOf(s, n-1, false) + "…"
}
