package console

import (
	"bytes"
	"io"
	"strings"

	"github.com/odd-cli/odd/cmd/internal/layout"
)

// folder is a terminal that pages are written to: a line that is longer than it is
// wide is broken between words, and goes on below where its text began.
type folder struct {
	to    io.Writer
	width int
	rest  []byte // of a line that has not ended
}

// FoldedOutput returns where a page goes: to a terminal folded, to a pipe as it is.
func FoldedOutput(env Env) io.Writer {
	if !env.Terminal {
		return env.Stdout
	}
	return &folder{to: env.Stdout, width: env.TerminalWidth()}
}

// FoldedLines returns a text as the terminal takes it, where its width is known.
func (e Env) FoldedLines(text string) string {
	if e.Width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = layout.Fold(line, e.Width)
	}
	return strings.Join(lines, "\n")
}

// FoldedProse is FoldedLines for markdown, which leaves the lines of code, tables and diffs whole.
func (e Env) FoldedProse(text string) string {
	lines, code, hunk := strings.SplitAfter(text, "\n"), false, false
	for i, line := range lines {
		begins := strings.TrimLeft(line, " 0123456789>")
		fence := strings.HasPrefix(begins, "```") || strings.HasPrefix(begins, "~~~")
		code = code != fence
		hunk = strings.HasPrefix(line, "@@ ") || hunk && strings.ContainsAny(line[:min(1, len(line))], " +-\\")
		if !code && !fence && !hunk && !strings.HasPrefix(begins, "|") {
			blanks := line[len(strings.TrimRight(line, " \n")):]
			lines[i] = e.FoldedLines(strings.TrimRight(line, " \n")) + blanks
		}
	}
	return strings.Join(lines, "")
}

func (f *folder) Write(b []byte) (int, error) {
	f.rest = append(f.rest, b...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	var out strings.Builder
	for line := range strings.Lines(string(f.rest[:end])) {
		out.WriteString(layout.Fold(strings.TrimSuffix(line, "\n"), f.width) + "\n")
	}
	f.rest = f.rest[end:]
	_, err := io.WriteString(f.to, out.String())
	return len(b), err
}
