package drain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// addRemarks appends the session's notes to the run's journal. One of a type that
// the bundle's canon does not have is left out.
func (rec recorder) addRemarks(p *draft, c *claim, w *work) {
	types := rec.at.entryTypes()
	for _, n := range w.emission.Notes {
		err := types.Known(journal.Entry{Type: n.Type, Facet: n.Facet})
		if err == nil {
			err = p.tell(n.Type, n.Facet, quoteText(n.Title), quoteText(n.Content))
		}
		if err != nil {
			rec.say(fmt.Sprintf("%s: a note of the session is not in the journal: %v", c.task.ID, err))
		}
	}
}

// The notes that a person is shown with a proposal: so many, of so many bytes each. The
// journal has all of them, whole.
const (
	mostNotes = 6
	noteSize  = 300
)

// openNotes are the titles of a session's open notes as a person is shown them.
func openNotes(notes []session.Note) (out []string) {
	more := 0
	for _, n := range notes {
		switch {
		case n.Facet != "open":
		case len(out) == mostNotes:
			more++
		default:
			title := oneLine(clean(n.Title))
			if len(title) > noteSize {
				title = strings.ToValidUTF8(title[:noteSize], "") + "…"
			}
			out = append(out, title)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more; odd journal list --type O-open shows them", more))
	}
	return out
}

// leftOut is the line of a proposal's message that counts what the session found and does
// not propose, "" for nothing.
func leftOut(notes []session.Note) string {
	for _, n := range notes {
		if n.Facet == "" && strings.HasPrefix(n.Title, session.LeftOut) {
			return "\n\n" + oneLine(clean(n.Title))
		}
	}
	return ""
}

// quoteText returns a session's text in an entry. What begins as the entries do that odd
// itself writes of transitions and overrides, and finds again by it, is marked as
// the session's, so that no note can pass for one.
func quoteText(s string) string {
	if own().MatchString(strings.TrimSpace(okf.Visible(s))) {
		return "noted: " + s
	}
	return s
}

// own is how those begin.
var own = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:exploration|planning|execution|validation|resolution)\s*→|^(?i:override|override ended):|^(?:REVERSION|SKIP|CLARIFICATION|INSUFFICIENT):`)
})

// entryTypes returns the types of journal entry that the board's canon has.
func (s *snapshot) entryTypes() journal.Registry {
	var docs []journal.Document
	for _, a := range s.graph.Atoms() {
		if slices.Contains(a.Tags, "encoding-type") && !slices.Contains([]string{"deprecated", "superseded", "archived"}, a.Status) {
			docs = append(docs, journal.Document{Name: s.file(a.Path), Body: a.Body(), Line: a.BodyLine})
		}
	}
	r, _ := journal.RegistryOf(docs)
	return r
}
