package persona

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// findRole resolves name to a role. Where name is a stem that several atoms share,
// or that another type holds, the one role with that stem is meant.
func findRole(g *okf.Graph, name string) (*okf.Atom, error) {
	a, err := g.Find(name)
	if err == nil && atomKind(a) == "role" {
		return a, nil
	}
	var roles []string
	var same []*okf.Atom
	for _, b := range g.OfType(isRole) {
		roles = append(roles, string(b.ID))
		if path.Base(string(b.ID)) == name {
			same = append(same, b)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case err == nil:
		return nil, &NotRole{ID: string(a.ID), Path: a.Path, Type: a.Type}
	case errors.Is(err, okf.ErrNotFound) && len(roles) == 0:
		return nil, fmt.Errorf("%w; there are no roles yet, write one as roles/NAME.md with type: role", err)
	case errors.Is(err, okf.ErrNotFound):
		slices.Sort(roles)
		return nil, fmt.Errorf("%s: %w; %s", name, okf.ErrNotFound, didYouMean(name, roles))
	}
	return nil, err
}

// didYouMean returns the roles that a person who wrote name may have meant: those near it, or all.
func didYouMean(name string, roles []string) string {
	near := slices.DeleteFunc(slices.Clone(roles), func(r string) bool {
		return min(okf.Distance(name, r), okf.Distance(path.Base(name), path.Base(r))) == okf.Far
	})
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return "the roles are " + strings.Join(roles, ", ")
}

// atomKind is an atom's type as the tables of this package spell it.
func atomKind(a *okf.Atom) string { return plainKind(a.Type) }

func plainKind(typ string) string { return strings.ToLower(strings.TrimSpace(typ)) }

// walk is one compilation: what was reached, and by which path. It looks at the
// role's neighbourhood only, however large the graph.
type walk struct {
	g       *okf.Graph
	role    *okf.Atom
	byID    map[okf.ID]*okf.Atom // of what was met
	via     map[okf.ID][]okf.Hop
	retired map[okf.ID][]okf.Hop
	missing map[string]okf.Dangling // by target
	gaps    []string
}

func newWalk(g *okf.Graph, role *okf.Atom) *walk {
	return &walk{
		g: g, role: role, byID: map[okf.ID]*okf.Atom{role.ID: role},
		via: map[okf.ID][]okf.Hop{}, retired: map[okf.ID][]okf.Hop{}, missing: map[string]okf.Dangling{},
	}
}

// atomByID returns the atom with exactly this id, nil when there is none.
func (w *walk) atomByID(id okf.ID) *okf.Atom {
	a, met := w.byID[id]
	if !met {
		a = w.g.ByID(id)
		w.byID[id] = a
	}
	return a
}

// findSuccessor returns the atom in whose favour a steps back, "" when there is none. A
// draft supersedes nothing. Of several successors the least id is named.
func (w *walk) findSuccessor(a *okf.Atom) okf.ID {
	var by []okf.ID
	for _, h := range w.g.Out(a.ID) {
		if h.Kind == okf.SupersededBy && h.To != a.ID {
			by = append(by, h.To)
		}
	}
	for _, h := range w.g.In(a.ID) {
		if next := w.atomByID(h.From); h.Kind == okf.Supersedes && h.From != a.ID && next != nil && !isDraft(next) {
			by = append(by, h.From)
		}
	}
	if len(by) == 0 {
		return ""
	}
	return slices.Min(by)
}

func isDraft(a *okf.Atom) bool { return strings.EqualFold(a.Status, "draft") }

// whyRetired says why a is out of force, "" when it is in force.
func (w *walk) whyRetired(a *okf.Atom) string {
	if by := w.findSuccessor(a); by != "" {
		return fmt.Sprintf("superseded by %s", by)
	}
	if strings.EqualFold(a.Status, "deprecated") {
		return "deprecated"
	}
	return ""
}

func (w *walk) takeSteps() {
	w.followEdges(w.role, nil, firstStep)
	reached := make([]okf.ID, 0, len(w.via))
	for id := range w.via {
		if isRunbook(w.byID[id]) {
			reached = append(reached, id)
		}
	}
	slices.Sort(reached)
	for _, id := range reached {
		w.followEdges(w.byID[id], w.via[id], secondStep)
	}
}

func isRunbook(a *okf.Atom) bool { return atomKind(a) == "process" || atomKind(a) == "workflow" }

// firstStep walks every typed edge but a supersession.
func firstStep(k okf.EdgeKind, _ *okf.Atom) bool {
	return k != okf.Supersedes && k != okf.SupersededBy && k != okf.Link
}

// secondStep walks from a runbook to what it uses, what advises it and what it makes.
// to is nil when the far end is not there.
func secondStep(k okf.EdgeKind, to *okf.Atom) bool {
	switch k {
	case okf.Uses, okf.GovernedBy, okf.Produces:
		return to == nil || !slices.Contains([]string{"role", "process", "workflow", "capability", "task"}, atomKind(to))
	case okf.RelatesTo:
		return to != nil && slices.Contains([]string{"system", "policy", "artifact"}, atomKind(to))
	}
	return false
}

// isWork reports the types that are no knowledge of a role.
func isWork(a *okf.Atom) bool {
	return slices.Contains([]string{"task", "handoff", "persona", "index"}, atomKind(a))
}

// Overlooks reports that every role has the same persona whichever of two versions of an atom its file has. So it is with
// work whose names, edges and status stay: tasks change all the time, and a persona need not be compiled again for them.
func Overlooks(was, is *okf.Atom) bool {
	return isWork(was) && was.Type == is.Type && was.ID == is.ID && was.URI == is.URI && was.Status == is.Status &&
		slices.EqualFunc(was.Edges, is.Edges, func(a, b okf.Edge) bool { return a.Kind == b.Kind && a.Target == b.Target })
}

// followEdges follows the edges at a that may be walked. prefix is the path to a.
func (w *walk) followEdges(a *okf.Atom, prefix []okf.Hop, may func(okf.EdgeKind, *okf.Atom) bool) {
	for _, h := range append(slices.Clone(w.g.Out(a.ID)), w.g.In(a.ID)...) {
		far := h.To
		if far == a.ID {
			far = h.From
		}
		to := w.atomByID(far)
		if to == nil || far == a.ID || far == w.role.ID || isWork(to) || !may(h.Kind, to) {
			continue
		}
		w.noteReached(to, append(slices.Clone(prefix), h))
	}
	for _, d := range w.g.Dangling(a.ID) {
		if may(d.Kind, nil) {
			w.noteDangling(d)
		}
	}
}

// noteReached notes one way to a, and keeps the shortest and then the first in order.
func (w *walk) noteReached(a *okf.Atom, via []okf.Hop) {
	in := w.via
	if w.whyRetired(a) != "" {
		in = w.retired
	}
	if cur, ok := in[a.ID]; !ok || comparePaths(via, cur) < 0 {
		in[a.ID] = via
	}
}

func (w *walk) noteDangling(d okf.Dangling) {
	key := strings.TrimSuffix(strings.TrimPrefix(d.Target, "/"), ".md")
	what := "no such atom; write it or drop the edge"
	if d.Broken {
		what = "the file does not parse; run odd check"
	}
	w.gaps = append(w.gaps, fmt.Sprintf("%s:%d: %s %s: %s", w.byID[d.From].Path, d.Line, d.Kind, d.Target, what))
	if cur, ok := w.missing[key]; !ok || d.Broken && !cur.Broken {
		w.missing[key] = d
	}
}

func comparePaths(a, b []okf.Hop) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return slices.CompareFunc(a, b, func(x, y okf.Hop) int {
		return cmp.Or(cmp.Compare(edgeRank(x.Kind), edgeRank(y.Kind)), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Line, y.Line))
	})
}

// edgeRank is the place of an edge kind in canonical order.
func edgeRank(k okf.EdgeKind) int { return slices.Index(okf.EdgeKinds(), k) }
