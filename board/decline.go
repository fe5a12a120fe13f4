package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Decline is a person's no to one atom, as the text stood that it came from: they left it
// out of an approval, or rejected its proposal, which the task that proposed it keeps; or
// they deleted the atom, which history keeps. Whoever takes the line out of the task's
// file, or reverts the commit, lifts it.
type Decline struct {
	ID             okf.ID
	Text           string // okf.Grounds of the atom
	By, At, Reason string
}

// Endorsement is a person's yes to a proposal that more people must approve: it stays in
// review until they did.
type Endorsement struct{ By, At, Proposal string }

// Endorsers are the addresses of who endorsed the proposal that t waits in review with.
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

// Declines are what people declined, newest first, but for what is on the task with the id
// again: who makes a task ready once more asks for its atoms.
func Declines(tasks []Task, again okf.ID) (out []Decline) {
	for _, t := range tasks {
		if t.ID != again {
			out = append(out, t.Declined...)
		}
	}
	slices.SortStableFunc(out, func(a, b Decline) int { return strings.Compare(b.At, a.At) })
	return out
}

// DeclinedBefore tells of an atom and its grounds which of the declines it is, which are
// newest first; "" for none.
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
