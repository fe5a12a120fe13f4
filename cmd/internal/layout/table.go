package layout

import (
	"io"
	"strings"
)

// Table lays rows out for a terminal: a column is as wide as the widest of its cells
// that another follows, by the columns they take there, so that wide characters and
// marks align too.
//
// A cell with no room where its column begins goes on below, set in a little; the last
// of a row is broken between words instead, where that leaves it room enough and takes no more lines.
type Table struct {
	Width int // of the terminal
	Rows  [][]string
	wide  []int // of a column, with what parts it from the next
}

// Add takes a row, without the empty cells at its end.
func (t *Table) Add(row []string) {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	for i, c := range row[:max(0, len(row)-1)] {
		if i == len(t.wide) {
			t.wide = append(t.wide, 0)
		}
		t.wide[i] = max(t.wide[i], Width(c)+2)
	}
	t.Rows = append(t.Rows, row)
}

// Print writes the rows, a line each or more.
func (t *Table) Print(out io.StringWriter) error {
	for _, row := range t.Rows {
		if _, err := out.WriteString(t.line(row) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// line returns a row as the terminal shows it, on one line or several.
func (t *Table) line(row []string) string {
	const in = 4
	var out strings.Builder
	at, below := 0, false // how far the line goes, and that it is not the row's first
	begins := 0           // the column of the cell, on the first line
	for i, c := range row {
		last := i == len(row)-1
		from, n := begins, Width(c)
		if below {
			from = at + 2
		}
		switch {
		case c == "":
		case i == 0 || from+n <= t.Width:
			out.WriteString(strings.Repeat(" ", from-at) + c)
			at = from + n
		case last && !below && 5*from <= 3*t.Width && strings.Count(wrap(c, from, from, t.Width), "\n") <= 1+strings.Count(wrap(c, in, in, t.Width), "\n"):
			out.WriteString(strings.Repeat(" ", from-at) + wrap(c, from, from, t.Width))
		default:
			out.WriteString("\n" + strings.Repeat(" ", in) + wrap(c, in, in, t.Width))
			at, below = in+n, true
		}
		if !last {
			begins += t.wide[i]
		}
	}
	return out.String()
}
