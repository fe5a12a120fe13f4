package drain

import (
	"bytes"
	"io/fs"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// judgeEmission merges what a session emitted, if it is to go to review. It voids the work if
// the lease does not allow what was emitted. by is who emitted it, "odd/VERSION".
func (a authority) judgeEmission(w *work, g *okf.Graph, by string) {
	if w.verdict == board.ToReview {
		a.mergeEmission(w, g, by)
	}
	if why := a.whyAstray(w); why != "" && w.verdict == board.ToReview {
		w.voidWork("emission refused: " + why)
	}
}

// mergeEmission caps and merges the emitted atoms under the session's permit. One atom
// outside the permit refuses all of them.
func (a authority) mergeEmission(w *work, g *okf.Graph, by string) {
	if w.bound.Tainted != "" {
		var err error
		if w.emission, err = tagOverride(w.emission); err != nil {
			w.blockWork("emission refused: %v", err)
			return
		}
	}
	in := make([]reconcile.Incoming, 0, len(w.emission.Atoms))
	for _, made := range w.emission.Atoms {
		if clean := secrets.Redact(made.Atom.Bytes()); !bytes.Equal(clean, made.Atom.Bytes()) {
			w.blockWork("emission refused: %s contains something that looks like a credential", made.At)
			return
		}
		in = append(in, reconcile.Incoming{Atom: made.Atom, Base: emissionBase(w, made.Base), At: made.At})
	}
	o := a.mergeOptions(by)
	o.Declined = board.DeclinedBefore(w.declines)
	o.Drifted = driftFinder(g, a.files)
	items, err := reconcile.Merge(g, in, o)
	if err != nil {
		w.blockWork("emission refused: %v", err)
		return
	}
	if why := w.whyRefused(policy.Emit, a.itemPaths(items)); why != "" && len(items) > 0 {
		w.blockWork("emission refused: %s", why)
		return
	}
	w.items = items
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
func emissionBase(w *work, base string) string {
	if w.bound.built == nil || base == "" {
		return base
	}
	for _, p := range w.bound.built.Paths {
		if p.Result == base {
			return p.Base
		}
	}
	return base
}

func (a authority) mergeOptions(by string) reconcile.Options {
	limit, ok := okf.ParseConfidence(a.cfg.Session.Cap)
	if !ok || limit == okf.Unset || limit > okf.Asserted {
		limit = okf.Inferred
	}
	return reconcile.Options{Cap: limit, By: by, Now: a.now.UTC(), MaxAtoms: a.cfg.Session.MaxAtoms}
}
