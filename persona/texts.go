package persona

import (
	"bytes"
	"cmp"
	"fmt"
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
		a := w.atomByID(id)
		if a != nil && !slices.Contains(out, a) && w.whyRetired(a) == "" && (len(types) == 0 || slices.Contains(types, atomKind(a))) {
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

// Workflows is a section of the document: the workflows that the role takes part in,
// each with its stages in order. It is empty where there are none.
func (p Persona) Workflows(g *okf.Graph) []byte {
	var b bytes.Buffer
	for _, a := range p.Texts(g) {
		if atomKind(a) != "workflow" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n## Workflows\n\n")
		}
		p.writeItem(&b, newItem(a))
		for i, e := range slices.DeleteFunc(slices.Clone(a.Edges), func(e okf.Edge) bool { return e.Kind != okf.Stages }) {
			name, own := okf.OneLine(e.Target), ""
			if to := g.Target(e.Target, a.Path); to != nil {
				name = fmt.Sprintf("%s, %s", okf.OneLine(newItem(to).Title), codeSpan(p.pathPrefix()+to.Path))
				if slices.ContainsFunc(p.Items, func(it Item) bool { return it.Owned && it.ID == string(to.ID) }) {
					own = ", yours"
				}
			}
			fmt.Fprintf(&b, "  %d. %s%s\n", i+1, name, own)
		}
	}
	return b.Bytes()
}
