package drain

import (
	"bytes"
	"io/fs"
	"slices"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// judgeEmission is s with what it emitted merged, if it may go to review. It is voided if the lease does
// not allow what was emitted.
func (a attempt) judgeEmission(s lastSession, g *okf.Graph) lastSession {
	if s.reason != "" {
		return s
	}
	if made := s.emission.Atoms; isOffBoard(a.c.task) && len(made) > 0 {
		return s.asBlocked("emission refused: %s is an atom, and atoms are merged only through a task; add one with odd task add", made[0].At)
	}
	s = a.mergeEmission(s, g)
	if why := a.whyAstray(s.items); why != "" {
		return s.asVoid("emission refused: " + why)
	}
	return s
}

// whyAstray says what of a session's atoms may not land: a path that the lease does not hold, or a
// type that its stance does not make. "" is nothing.
func (a attempt) whyAstray(items []reconcile.Item) string {
	now, lands := a.d.authority(), slices.DeleteFunc(slices.Clone(items), func(it reconcile.Item) bool { return !it.Effect.Lands() })
	if len(lands) == 0 {
		return ""
	}
	if why := a.whyRefused(policy.Land, now.itemPaths(lands)); why != "" || !now.requiresLease() {
		return why
	}
	l, _ := now.readGovernance() // which the grant has read
	for _, it := range lands {
		made, _ := okf.Parse(it.Path, it.Bytes) // as reconcile has printed it
		if why := whyUnmade(l.File.Stance, made); why != "" {
			return why
		}
	}
	return ""
}

// noCredential is what a person does about a text that only looks like a credential.
const noCredential = "; revoke it if it is real; if it is none, a person writes that text and commits it with git"

// mergeEmission is s with the emitted atoms capped and merged under the session's permit. One atom
// outside the permit refuses all of them.
func (a attempt) mergeEmission(s lastSession, g *okf.Graph) lastSession {
	if a.bound.Tainted != "" {
		var err error
		if s.emission, err = tagOverride(s.emission); err != nil {
			return s.asBlocked("emission refused: %v", err)
		}
	}
	in := make([]reconcile.Incoming, 0, len(s.emission.Atoms))
	for _, made := range s.emission.Atoms {
		if clean := secrets.Redact(made.Atom.Bytes()); !bytes.Equal(clean, made.Atom.Bytes()) {
			return s.asBlocked("emission refused: %s contains something that looks like a credential%s", made.At, noCredential)
		}
		in = append(in, reconcile.Incoming{Atom: made.Atom, Base: a.bound.emissionBase(made.Base), At: made.At})
	}
	o := a.d.authority().mergeOptions(a.d.By)
	o.Declined = board.DeclinedBefore(a.declines)
	o.Drifted = driftFinder(g, a.d.at.files)
	items, err := reconcile.Merge(g, in, o)
	if err != nil {
		return s.asBlocked("emission refused: %v", err)
	}
	if why := a.whyRefused(policy.Emit, a.d.at.itemPaths(items)); why != "" && len(items) > 0 {
		return s.asBlocked("emission refused: %s", why)
	}
	s.items = items
	return s
}

// driftFinder returns a lookup of an atom's sources that changed since they were read.
func driftFinder(g *okf.Graph, files fs.FS) func(*okf.Atom) []okf.Drift {
	all := sync.OnceValue(func() map[string][]okf.Drift {
		out := map[string][]okf.Drift{}
		for _, d := range okf.Drifted(g, files, nil) {
			out[d.Path] = append(out[d.Path], d)
		}
		return out
	})
	return func(a *okf.Atom) []okf.Drift {
		if len(a.Sources) == 0 {
			return nil
		}
		return all()[a.Path]
	}
}

// emissionBase returns the blob on the board that an emitted atom is based on. A session
// that was given a proposal names the proposal's blob; its base is the proposal's.
func (b bound) emissionBase(base string) string {
	if b.built == nil || base == "" {
		return base
	}
	for _, p := range b.built.Paths {
		if p.Result == base {
			return p.Base
		}
	}
	return base
}

func (a authority) mergeOptions(by string) reconcile.Options {
	limit, _ := okf.ParseConfidence(a.cfg.Session.Cap) // inferred or asserted
	return reconcile.Options{Cap: limit, By: by, Now: a.now.UTC(), MaxAtoms: a.cfg.Session.MaxAtoms}
}
