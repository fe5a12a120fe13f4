package invoke

import (
	"slices"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// scrub is e without credentials in anything that is told of it. Atoms, changes
// and the deliverable stay as they are: one with a credential in it is refused,
// not mended.
func scrub(e session.Emission) session.Emission {
	text := func(s *string) { *s = secrets.RedactText(*s) }
	e.Notes, e.Says, e.Proposals, e.Missing = slices.Clone(e.Notes), slices.Clone(e.Says), slices.Clone(e.Proposals), slices.Clone(e.Missing)
	for i := range e.Notes {
		text(&e.Notes[i].Title)
		text(&e.Notes[i].Content)
	}
	for i := range e.Says {
		text(&e.Says[i].Text)
	}
	for i := range e.Proposals {
		text(&e.Proposals[i].Reason)
	}
	for i := range e.Missing {
		text(&e.Missing[i])
	}
	text(&e.Handoff)
	text(&e.Failure)
	text(&e.Detail)
	text(&e.Usage.Model)
	return e
}
