package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// ShortID returns the first ten digits of an object's name.
func ShortID(oid repo.OID) string { return string(oid[:min(10, len(oid))]) }

// CountNoun returns a number with its noun: 1 file, 2 files.
func CountNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// FormatTime writes a moment as a person reads it, "" for none.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// JoinWords returns a list with commas.
func JoinWords[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// Cell returns s as one cell of a row. A tab or a line break becomes a space. Control characters
// and credentials are left out, because titles and reasons come from files and agents, and a
// terminal obeys escapes.
func Cell(s string) string {
	if layout.IsPlain(s) {
		return secrets.RedactText(s)
	}
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
	}
	return secrets.RedactText(okf.Visible(s))
}

// TitleCell returns a title cut to 100 columns, for lists. --json and the file have all of it.
func TitleCell(s string) string {
	if len(s) <= titleWidth {
		return s
	}
	return layout.Clip(Cell(s), titleWidth)
}

const titleWidth = 100 // columns

// QuoteWords returns words as a shell takes them.
func QuoteWords(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`&|;<>()*?[]#~!{}…") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

// OrEmpty returns s, which JSON shows as [] where it is nil.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// FirstOf names the first path and counts the others.
func FirstOf(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// OneLine returns s without hidden characters and with every run of space as one.
func OneLine(s string) string { return okf.OneLine(okf.Legible(s)) }

// ReasonSuffix returns a reason behind a colon, and nothing where none was given.
func ReasonSuffix(reason string) string {
	if reason = strings.TrimSpace(reason); reason == "" {
		return ""
	}
	return ": " + reason
}

// HowLong returns a duration as a person says it: two units at most.
func HowLong(d time.Duration) string {
	days, hours, minutes := d/(24*time.Hour), d/time.Hour%24, d/time.Minute%60
	switch {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%dd %dh", days, hours)
	case days > 0:
		return fmt.Sprintf("%dd", days)
	case hours > 0:
		return fmt.Sprintf("%dh %dm", hours, minutes)
	}
	return fmt.Sprintf("%dm", max(minutes, 1))
}
