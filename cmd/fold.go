package cmd

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
		lines[i] = layout.Fold(line, e.Width)
	}
	return strings.Join(lines, "\n")
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
