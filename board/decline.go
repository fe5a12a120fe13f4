package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Decline records that a person does not want one atom, for the source text it came from.
// They left it out of an approval or rejected its proposal, which its task records. Or they
// deleted the atom, which git history records. Deleting the line from the task's file, or
// reverting the commit, lifts the decline.
type Decline struct {
	ID             okf.ID
	Text           string // okf.Grounds of the atom
	By, At, Reason string
}

// Endorsement is a person's approval of a proposal that more people must approve. The
// proposal stays in review until they have.
type Endorsement struct{ By, At, Proposal string }

// Endorsers returns the addresses of those who endorsed the proposal that t waits with.
func (t Task) Endorsers() (out []string) {
	for _, e := range t.Endorsed {
		if e.Proposal == t.Result.Commit && e.Proposal != "" {
			out = append(out, strings.TrimPrefix(e.By, "human:"))
		}
	}
	return out
}

// String says who declined it, when and why.
func (d Decline) String() string {
	day, _, _ := strings.Cut(d.At, "T")
	s := fmt.Sprintf("declined by %s on %s", d.By, day)
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// Declines returns what people declined, newest first. It leaves out
// declines of the task with the id again: whoever makes that task ready asks for its atoms once
// more.
func Declines(tasks []Task, again okf.ID) (out []Decline) {
	for _, t := range tasks {
		if t.ID != again {
			out = append(out, t.Declined...)
		}
	}
	slices.SortStableFunc(out, func(a, b Decline) int { return strings.Compare(b.At, a.At) })
	return out
}

// DeclinedBefore returns a function that describes the newest decline of an atom with its
// grounds, "" for none. declines are newest first.
func DeclinedBefore(declines []Decline) func(id okf.ID, grounds string) string {
	all := map[[2]string]Decline{}
	for _, d := range slices.Backward(declines) {
		all[[2]string{string(d.ID), d.Text}] = d
	}
	return func(id okf.ID, grounds string) string {
		if d, ok := all[[2]string{string(id), grounds}]; ok {
			return d.String()
		}
		return ""
	}
}
