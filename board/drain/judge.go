package drain

import (
	"bytes"
	"io/fs"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// weigh judges what a session emitted, where it came to something.
func (d *drain) weigh(w *work, t board.Task, g *okf.Graph) {
	if w.verdict == board.ToReview {
		d.judge(w, t, g, w.anchor.permit())
	}
	if why := d.astray(t, w.items); why != "" && w.verdict == board.ToReview {
		w.void("emission refused: " + why)
	}
}

// judge caps and merges what was emitted, under the live permit of the session
// that emitted it: without one nothing lands, nor with one atom outside of it.
func (d *drain) judge(w *work, t board.Task, g *okf.Graph, p anchor.Live) {
	if w.bound.Tainted != "" {
		var err error
		if w.emission, err = taint(w.emission); err != nil {
			w.block("emission refused: %v", err)
			return
		}
	}
	in := make([]reconcile.Incoming, 0, len(w.emission.Atoms))
	for _, a := range w.emission.Atoms {
		if clean := secrets.Redact(a.Atom.Bytes()); !bytes.Equal(clean, a.Atom.Bytes()) {
			w.block("emission refused: %s contains something that looks like a credential", a.At)
			return
		}
		in = append(in, reconcile.Incoming{Atom: a.Atom, Base: d.emissionBase(w, a.Base), At: a.At})
	}
	o := d.terms()
	o.Declined = board.DeclinedBefore(w.declines)
	o.Drifted = driftFinder(g, d.at.files)
	items, err := reconcile.Merge(g, in, o)
	if err != nil {
		w.block("emission refused: %v", err)
		return
	}
	if why := w.anchor.outside(d, p, items); why != "" {
		w.block("emission refused: %s", why)
		return
	}
	w.items = items
}

// driftFinder looks up the sources of atoms of g that are not as they were read, among files.
func driftFinder(g *okf.Graph, files fs.FS) func(*okf.Atom) []okf.Drift {
	all := sync.OnceValue(func() map[string][]okf.Drift {
		out := map[string][]okf.Drift{}
		for _, d := range okf.Drifted(g, files, files) {
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

// emissionBase returns the base of an emission on the board: what was made against the
// proposal it was given is made against what that proposal was made on.
func (d *drain) emissionBase(w *work, base string) string {
	if w.bound.built == nil || base == "" {
		return base
	}
	for _, p := range w.bound.built.Paths {
		if p[2] == base {
			return p[1]
		}
	}
	return base
}

// terms are what an agent of this repository may emit.
func (d *drain) terms() reconcile.Options {
	limit, ok := okf.ParseConfidence(d.at.cfg.Session.Cap)
	if !ok || limit == okf.Unset || limit > okf.Asserted {
		limit = okf.Inferred
	}
	return reconcile.Options{Cap: limit, By: d.By, Now: d.Now().UTC(), MaxAtoms: d.at.cfg.Session.MaxAtoms}
}
