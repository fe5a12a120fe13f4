package persona

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// sectionOf is the section of a type. Types that are not here go by the edge
// that reached them.
var sectionOf = map[string]Section{
	"capability": Teams, "team": Teams, "role": Teams,
	"process": Runbooks, "workflow": Runbooks,
	"policy": Guardrails, "canon": Guardrails, "constraint": Guardrails, "principle": Guardrails, "method": Guardrails,
	"system": Systems, "artifact": Artifacts,
	"term": Terms, "concept": Terms, "definition": Terms,
	"decision": Decisions,
}

func sectionFor(a *okf.Atom, k okf.EdgeKind) Section {
	if s, ok := sectionOf[atomKind(a)]; ok {
		return s
	}
	switch k {
	case okf.GovernedBy:
		return Guardrails
	case okf.Uses:
		return Systems
	case okf.Produces:
		return Artifacts
	case okf.DecidedBy:
		return Decisions
	}
	return Other
}

// buildPersona puts what the walk found in order.
func (w *walk) buildPersona() Persona {
	p := Persona{Role: newItem(w.role), Retirement: w.whyRetired(w.role)}
	p.Role.Section = Mandate
	for id, via := range w.via {
		it := newItem(w.byID[id])
		it.Via = via
		it.Section = sectionFor(w.byID[id], via[len(via)-1].Kind)
		it.Owned = isRunbook(w.byID[id]) && len(via) == 1 && w.isOwned(id)
		p.Items = append(p.Items, it)
	}
	slices.SortFunc(p.Items, compareItems)
	for _, d := range w.missing {
		if d.Broken {
			p.Unloadable++
		} else {
			p.Unresolved++
		}
	}
	p.Resolved, p.Retired = len(p.Items), len(w.retired)
	p.Reached = p.Resolved + p.Retired + p.Unresolved + p.Unloadable
	p.Gaps = w.allGaps(p)
	return p
}

// isOwned reports whether an owner edge leads from id to the role.
func (w *walk) isOwned(id okf.ID) bool {
	return slices.ContainsFunc(w.g.Out(id), func(h okf.Hop) bool { return h.Kind == okf.Owner && h.To == w.role.ID })
}

func newItem(a *okf.Atom) Item {
	return Item{
		ID: string(a.ID), Path: a.Path, Blob: a.Blob, Type: a.Type,
		Title: okf.Visible(cmp.Or(a.Title, string(a.ID))), Description: okf.Visible(a.Description),
		Confidence: a.Confidence().String(), Tier: string(a.Tier()), Draft: isDraft(a),
	}
}

func compareItems(a, b Item) int {
	return cmp.Or(
		cmp.Compare(slices.Index(allSections(), a.Section), slices.Index(allSections(), b.Section)),
		cmp.Compare(edgeRank(a.lastEdge()), edgeRank(b.lastEdge())),
		cmp.Compare(a.ID, b.ID),
	)
}

func (it Item) lastEdge() okf.EdgeKind {
	if len(it.Via) == 0 {
		return ""
	}
	return it.Via[len(it.Via)-1].Kind
}

// allGaps lists what is missing: the role's own state first, then atoms left
// out, edges that lead nowhere, and holes in what was reached.
func (w *walk) allGaps(p Persona) []string {
	var out []string
	if p.Retirement != "" {
		out = append(out, fmt.Sprintf("%s: the role is %s", p.Role.Path, p.Retirement))
	}
	if p.Role.Description == "" {
		out = append(out, p.Role.Path+": the role has no description; say its mandate in one sentence")
	}
	var rest []string
	for id, via := range w.retired {
		last := via[len(via)-1]
		rest = append(rest, fmt.Sprintf("%s: %s, left out; %s:%d still has the %s edge",
			w.byID[id].Path, w.whyRetired(w.byID[id]), w.byID[last.From].Path, last.Line, last.Kind))
	}
	for _, it := range p.Items {
		rest = append(rest, w.findGaps(it)...)
	}
	rest = append(rest, w.gaps...)
	slices.Sort(rest)
	return append(out, slices.Compact(rest)...)
}

func (w *walk) findGaps(it Item) []string {
	var out []string
	if it.Draft {
		out = append(out, it.Path+": is a draft and counts half")
	}
	a := w.byID[okf.ID(it.ID)]
	if !isRunbook(a) || !it.Owned && slices.ContainsFunc(a.Edges, isOwner) {
		return out
	}
	if !it.Owned {
		out = append(out, fmt.Sprintf("%s: has no owner; add owner: %s", it.Path, w.role.ID))
	}
	if !slices.ContainsFunc(a.Edges, func(e okf.Edge) bool { return e.Kind == okf.GovernedBy }) {
		out = append(out, it.Path+": no policy governs it; add governed_by")
	}
	if len(strings.TrimSpace(string(a.Body()))) == 0 {
		out = append(out, it.Path+": the runbook is empty")
	}
	return out
}

func isOwner(e okf.Edge) bool { return e.Kind == okf.Owner }
