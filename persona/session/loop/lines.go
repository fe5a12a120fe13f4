package loop

import (
	"strings"

	"github.com/odd-cli/odd/persona/session/toolbox"
)

// lines gathers a text that comes in pieces and tells it line by line, so that
// nothing which only its whole shows, a credential, is told in halves.
type lines struct {
	tell func(string)
	part strings.Builder
}

// longest is when a line without an end is told.
const longest = 200

// hear takes a piece.
func (l *lines) hear(piece string) {
	for {
		line, rest, ended := strings.Cut(piece, "\n")
		l.part.WriteString(line)
		if ended || l.part.Len() > longest {
			l.flush()
		}
		if !ended {
			return
		}
		piece = rest
	}
}

// flush tells what is left.
func (l *lines) flush() {
	if line := strings.TrimSpace(l.part.String()); line != "" {
		l.tell(toolbox.Shown(line))
	}
	l.part.Reset()
}
