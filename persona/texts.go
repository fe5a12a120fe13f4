package persona

import (
	"cmp"
	"slices"

	"github.com/odd-cli/odd/okf"
)

// Texts are the atoms whose text an agent works by, nearest first: the role, the
// processes and workflows it owns, what else of these and of the guardrails was
// reached, then the workflows that its processes are stages of, the stages of its
// workflows, and the policies of those. What is out of force is left out.
func (p Persona) Texts(g *okf.Graph) []*okf.Atom {
	w := newWalk(g, g.ByID(okf.ID(p.Role.ID)))
	var out []*okf.Atom
	add := func(id okf.ID, types ...string) {
		a := w.atom(id)
		if a != nil && !slices.Contains(out, a) && w.retirement(a) == "" && (len(types) == 0 || slices.Contains(types, kind(a))) {
			out = append(out, a)
		}
	}
	add(w.role.ID)
	items := slices.DeleteFunc(slices.Clone(p.Items), func(it Item) bool { return it.Section != Runbooks && it.Section != Guardrails })
	far := func(it Item) int {
		if it.Owned {
			return 0
		}
		return len(it.Via)
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(far(a), far(b)) })
	for _, it := range items {
		add(okf.ID(it.ID))
	}
	own := len(out)
	for _, a := range out[:own] {
		for _, h := range g.In(a.ID) {
			if h.Kind == okf.Stages {
				add(h.From, "workflow")
			}
		}
	}
	reached := len(out)
	for _, a := range out[:reached] {
		for _, h := range g.Out(a.ID) {
			if h.Kind == okf.Stages {
				add(h.To, "process", "workflow")
			}
		}
	}
	for _, a := range out[own:] {
		for _, h := range g.Out(a.ID) {
			if h.Kind == okf.GovernedBy {
				add(h.To)
			}
		}
	}
	return out
}
