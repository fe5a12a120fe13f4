package cmd

import (
	"bytes"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// folder is a terminal that pages are written to: a line that is longer than it is
// wide is broken between words, and goes on below where its text began.
type folder struct {
	to    io.Writer
	width int
	rest  []byte // of a line that has not ended
}

// foldedOutput returns where a page goes: to a terminal folded, to a pipe as it is.
func foldedOutput(env Env) io.Writer {
	if !env.Terminal {
		return env.Stdout
	}
	return &folder{to: env.Stdout, width: env.terminalWidth()}
}

// foldedLines returns a text as the terminal takes it, where its width is known.
func (e Env) foldedLines(text string) string {
	if e.Width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = foldLine(line, e.Width)
	}
	return strings.Join(lines, "\n")
}

func (f *folder) Write(b []byte) (int, error) {
	f.rest = append(f.rest, b...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	var out strings.Builder
	for line := range strings.Lines(string(f.rest[:end])) {
		out.WriteString(foldLine(strings.TrimSuffix(line, "\n"), f.width) + "\n")
	}
	f.rest = f.rest[end:]
	_, err := io.WriteString(f.to, out.String())
	return len(b), err
}

// foldLine breaks a line that is longer than width between words. The parts after the
// first are set in to where the text begins: behind the last column that leaves room
// for it, a little where none does.
func foldLine(line string, width int) string {
	if columnsOf(line) <= width {
		return line
	}
	if text := strings.TrimLeft(line, " "); len(line)-len(text) > max(8, 3*width/5) {
		return foldLine("    "+text, width) // it is set in for a wider terminal
	}
	text, deep := textColumn(line, width)
	return line[:text] + wrapText(line[text:], columnsOf(line[:text]), deep, width)
}

// wrapText returns a text that begins in column at, broken between words. A word that no line
// has room for breaks between wide characters, which stand without blanks. What goes on
// below is set in.
func wrapText(text string, at, in, width int) string {
	var out strings.Builder
	below := "\n" + strings.Repeat(" ", in)
	blanks := ""
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			blanks += " "
		}
		n := columnsOf(word)
		for n > width-in {
			head := headOf(word, width-at-len(blanks), true)
			if head == "" {
				break
			}
			out.WriteString(blanks + head + below)
			at, blanks, word = in, "", word[len(head):]
			n = columnsOf(word)
		}
		if n == 0 {
			continue
		}
		if blanks != "" && at+len(blanks)+n > width {
			out.WriteString(below)
			at, blanks = in, ""
		}
		out.WriteString(blanks + word)
		at, blanks = at+len(blanks)+n, ""
	}
	return out.String()
}

// headOf returns the longest head, in at most n columns, of an s that takes more; wide asks for one that
// ends between two wide characters.
func headOf(s string, n int, wide bool) string {
	end, at, before := 0, 0, 0
	for rest, state := s, -1; rest != ""; {
		here := len(s) - len(rest)
		var takes int
		_, rest, takes, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if !wide || before > 1 && takes > 1 {
			end = here
		}
		if at += takes; at > n {
			break
		}
		before = takes
	}
	return s[:end]
}

// columnsOf returns how many columns of a terminal a text takes: two for a wide character,
// none for a mark on another and for what colours it.
func columnsOf(s string) (n int) {
	if isPlain(s) {
		return len(s)
	}
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

// textColumn returns where the text of a line begins, in bytes, and how far the lines that go
// on with it are set in. Two blanks end a column.
func textColumn(line string, width int) (text, in int) {
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
