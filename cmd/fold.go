package cmd

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// folder is a terminal that pages are written to: a line that is longer than it is
// wide is broken between words, and goes on below where its text began.
type folder struct {
	to    io.Writer
	width int
	rows  bool   // of a table: only a last column that begins within width is broken
	rest  []byte // of a line that has not ended
}

// folded is where a page goes: to a terminal folded, to a pipe as it is.
func folded(env Env) io.Writer {
	if !env.Terminal {
		return env.Stdout
	}
	return &folder{to: env.Stdout, width: env.columns()}
}

// foldedLines is a text of whole lines as the terminal takes it, where its width is known.
func (e Env) foldedLines(text string) string {
	var b strings.Builder
	if e.Width == 0 {
		return text
	}
	_, _ = (&folder{to: &b, width: e.Width}).Write([]byte(text))
	return b.String()
}

// talkFolded is talk of several lines where a terminal is too narrow for one.
func talkFolded(env Env, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if env.Live {
		text = fold("odd: "+text, env.columns())[len("odd: "):]
	}
	for line := range strings.Lines(text) {
		talk(env, "%s", strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "     "))
	}
}

func (f *folder) Write(b []byte) (int, error) {
	f.rest = append(f.rest, b...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	var out strings.Builder
	for line := range strings.Lines(string(f.rest[:end])) {
		if line = strings.TrimSuffix(line, "\n"); !f.rows || roomFor(line, f.width) {
			line = fold(line, f.width)
		}
		out.WriteString(line + "\n")
	}
	f.rest = f.rest[end:]
	_, err := io.WriteString(f.to, out.String())
	return len(b), err
}

// roomFor reports a row whose last column begins within width.
func roomFor(row string, width int) bool {
	return columnsOf(row[:strings.LastIndex(row, "  ")+1])+1 < width
}

// fold breaks a line that is longer than width between words. The parts after the
// first are set in to where the text begins: behind the last column that leaves room
// for it, a little where none does.
func fold(line string, width int) string {
	if columnsOf(line) <= width {
		return line
	}
	if text := strings.TrimLeft(line, " "); len(line)-len(text) > max(8, 3*width/5) {
		return fold("    "+text, width) // it is set in for a wider terminal
	}
	text, deep := column(line, width)
	in := strings.Repeat(" ", deep)
	out, at := line[:text], columnsOf(line[:text])
	for i, word := range strings.Split(line[text:], " ") {
		n := columnsOf(word)
		switch {
		case i == 0:
		case n > 0 && at+1+n > width:
			out, at = strings.TrimRight(out, " ")+"\n"+in, deep
		default:
			out, at = out+" ", at+1
		}
		out, at = out+word, at+n
	}
	return out
}

// columnsOf is how many columns of a terminal a text takes: two for a wide character,
// none for a mark on another and for what colours it.
func columnsOf(s string) (n int) {
	for more := true; more; {
		var text string
		text, s, more = strings.Cut(s, "\x1b[")
		n += uniseg.StringWidth(text)
		if more {
			_, s, _ = strings.Cut(s, "m")
		}
	}
	return n
}

// column is where the text of a line begins, in bytes, and how far the lines that go
// on with it are set in. Two blanks end a column.
func column(line string, width int) (text, in int) {
	bare := func(at int) int { return len(line) - len(strings.TrimLeft(line[at:], " ")) }
	lead := bare(0)
	text, in = lead, lead
	for at := lead; ; {
		gap := strings.Index(line[at:], "  ")
		if gap < 0 {
			return text, in
		}
		at = bare(at + gap)
		switch n := columnsOf(line[:at]); {
		case 5*n <= 3*width:
			text, in = at, n
		case text == lead && n < width:
			return at, lead + 4
		default:
			return text, in
		}
	}
}
