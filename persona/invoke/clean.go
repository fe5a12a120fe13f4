package invoke

import (
	"slices"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/surface"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// cleanEmission takes a persona's marks out of what the surface does not see: an atom's
// frontmatter, the titles of notes and the words of the outcome, which end in
// frontmatter, journal titles and commit messages, and outside a persona's voice
// the contents of notes too. An atom's body is knowledge, not voice, and stays.
// The error is an atom that is none without its marks.
func cleanEmission(c contract.Contract, e session.Emission) (session.Emission, []surface.Change, error) {
	w := washer{c: c}
	e.Notes = slices.Clone(e.Notes)
	for i := range e.Notes {
		n := &e.Notes[i]
		w.cleanText("note "+n.Title, &n.Title)
		if c.Voice != contract.VoicePersona || c.Surface.Machine {
			w.cleanText("note "+n.Title, &n.Content)
		}
	}
	w.cleanText("failure", &e.Failure)
	w.cleanText("detail", &e.Detail)
	e.Missing = slices.Clone(e.Missing)
	for i := range e.Missing {
		w.cleanText("missing", &e.Missing[i])
	}
	e.Atoms = slices.Clone(e.Atoms)
	for i := range e.Atoms {
		if err := w.cleanAtom(&e.Atoms[i]); err != nil {
			return session.Emission{}, nil, err
		}
	}
	return e, w.changes, nil
}

type washer struct {
	c       contract.Contract
	changes []surface.Change
}

func (w *washer) cleanText(at string, s *string) {
	if t := surface.Machine(w.c, *s); t != *s {
		*s = t
		w.changes = append(w.changes, surface.Change{At: at, Why: "a machine field"})
	}
}

func (w *washer) cleanAtom(a *session.Atom) error {
	whole := a.Atom.Bytes()
	head := string(whole[:len(whole)-len(a.Atom.Body())])
	before := len(w.changes)
	if w.cleanText(a.At+" frontmatter", &head); len(w.changes) == before {
		return nil
	}
	next, err := okf.Parse(a.Atom.Path, append([]byte(head), a.Atom.Body()...))
	if err == nil {
		a.Atom = next
	}
	return err
}

// redactEmission is e without credentials in anything that is told of it. Atoms, changes
// and the deliverable stay as they are: one with a credential in it is refused,
// not mended.
func redactEmission(e session.Emission) session.Emission {
	for _, s := range e.Words() {
		*s = secrets.RedactText(*s)
	}
	return e
}
