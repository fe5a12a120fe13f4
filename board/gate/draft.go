package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Plan is what the board contributes to a prefilled draft.
type Plan struct {
	ID     string   // of the lease; "" lets the gate give it
	Ready  []Work   // in the order they would be drained
	Paths  []string // what may be written; knowledge/** when empty
	Budget int64    // micro-USD; 0 is no limit of its own
}

// Work is one ready task.
type Work struct{ ID, Title, Kind string }

// DraftOf returns a lease that needs no edit: three days, twenty tasks, and the kinds that
// are ready now beside those of exploration, which a draft permits already. now is the time
// of the draft.
func DraftOf(now time.Time, p Plan) File {
	l := Lease{
		ID: p.ID, State: Draft, Horizon: "short", ExpiresAt: now.UTC().Truncate(time.Second).Add(Limit("short")), MaxTasks: 20, Budget: p.Budget,
		Frame:         "Find out what is worth doing next and file it as tasks.",
		Success:       []string{"The next tasks are on the board, each with what would show that it is done."},
		NonGoals:      []string{"Work that is not on the board.", "Changes outside the paths of this lease."},
		RenewalPrompt: "What was reached since the last time, and is this still the most important thing to work on?",
		Scope:         Scope{Paths: slices.Clone(p.Paths)},
	}
	if len(l.Scope.Paths) == 0 {
		l.Scope.Paths = []string{"knowledge/**"}
	}
	if len(p.Ready) > 0 {
		l.Frame = draftFrame(p.Ready)
		l.Success = []string{"Every task that is ready today is done, or is blocked with a reason that a person has read."}
	}
	for _, w := range p.Ready {
		if knownKind(w.Kind) && !slices.Contains(l.Scope.Kinds, w.Kind) {
			l.Scope.Kinds = append(l.Scope.Kinds, w.Kind)
		}
	}
	if len(l.Scope.Kinds) > 0 {
		l.Scope.Kinds = append(l.Scope.Kinds, Kinds(Discovery)...)
	}
	slices.Sort(l.Scope.Kinds)
	l.Scope.Kinds = slices.Compact(l.Scope.Kinds)
	return File{Version: 1, Stance: Sensemaking, Lease: l}
}

// draftFrame names the first three tasks and counts the others.
func draftFrame(ready []Work) string {
	var names []string
	for _, w := range ready[:min(len(ready), 3)] {
		names = append(names, cmp.Or(cleanTitle(w.Title), cleanTitle(w.ID), "a task"))
	}
	text := "Finish what is ready: " + strings.Join(names, "; ")
	if more := len(ready) - len(names); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// cleanTitle returns a title as a lease may hold it, at most 80 bytes.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return cleanLine(placeholder().ReplaceAllString(s, ""), 80)
}
