package console

import (
	"fmt"
	"strings"
)

// Card is a page of facts, a line each: a name, and what it is. What is empty is left out.
type Card struct {
	strings.Builder
	Wide int // of the names
}

// Line adds a fact, if there is a text for it.
func (b *Card) Line(key, format string, args ...any) {
	if s := Cell(fmt.Sprintf(format, args...)); s != "" {
		fmt.Fprintf(b, "%-*s%s\n", b.Wide, key, s)
	}
}

// List adds at most so many of a list, and how many more there are; the name is on the first.
func (b *Card) List(key string, all []string, most int, more string) {
	for i, s := range all[:min(most, len(all))] {
		b.Line([]string{key, ""}[min(i, 1)], "%s", s)
	}
	if n := len(all) - most; n > 0 {
		b.Line("", "… and %d more%s", n, more)
	}
}
