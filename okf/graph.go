package okf

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Graph is a loaded bundle: its atoms and the edges between them. It is
// immutable once made and safe for concurrent readers.
//
// An edge leads to an atom by id, by bundle path (with or without a leading
// slash and ".md"), by uri, or by an unambiguous stem. A link leads by path, or
// by uri; what an atom derives from, complements, or has as a source is a link
// too. Two edges of one kind between the same atoms are one, a link beside a
// typed edge to the same atom only mirrors it, and one from an atom to itself
// is none.
type Graph struct {
	atoms []*Atom // by path
	names names

	// edges[out[i]:out[i+1]] leave atom i; edges[in[k]] for k from inFrom[i] to
	// inFrom[i+1] arrive at it; loose[looseFrom[i]:looseFrom[i+1]] lead nowhere.
	edges     []edge
	out       []int32
	in        []int32
	inFrom    []int32
	loose     []Dangling
	looseFrom []int32

	postings func() *postings // read at the first search
}

// edge is a hop between two places in Graph.atoms.
type edge struct {
	from, to int32
	line     int32
	kind     int8 // edgeRank, or linkRank
}

// linkRank is the place of Link after the typed edges.
const linkRank = 10

// Hop is one edge in the graph, between atoms that both exist.
type Hop struct {
	From ID       `json:"from"`
	To   ID       `json:"to"`
	Kind EdgeKind `json:"kind"`
	Line int      `json:"line,omitempty"` // 1-based line in the file of From
}

// Dangling is an edge or link whose target is in the bundle's namespace and is
// not there. A uri of another authority is outside that namespace, and so is a
// link to a file that is no concept.
type Dangling struct {
	From      ID       `json:"from"`
	Kind      EdgeKind `json:"kind"`
	Target    string   `json:"target"` // as written; a link's bundle path
	Line      int      `json:"line"`
	Broken    bool     `json:"broken,omitempty"`    // a file is there, but it did not parse
	Ambiguous bool     `json:"ambiguous,omitempty"` // a stem that several atoms have
}

// NewGraph links atoms that are already parsed. Where two share an id the
// first by path keeps it. The graph keeps pointers into atoms.
func NewGraph(atoms []Atom) *Graph { return newGraph(atoms, nil) }

// newGraph also knows the paths of files that are there and gave no atom.
func newGraph(atoms []Atom, broken []string) *Graph {
	order := make([]*Atom, len(atoms))
	for i := range atoms {
		order[i] = &atoms[i]
	}
	byPath := func(a, b *Atom) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(order, byPath) {
		slices.SortStableFunc(order, byPath)
	}
	g := &Graph{}
	g.names.fill(order, broken)
	g.atoms = g.names.atoms
	g.postings = sync.OnceValue(func() *postings { return newPostings(g.atoms) })
	g.link()
	return g
}

// Atoms returns the atoms in path order. Callers must not change them.
func (g *Graph) Atoms() []*Atom { return g.atoms }

// Out returns the hops that leave id, typed edges first in canonical order, then links.
func (g *Graph) Out(id ID) []Hop {
	i, ok := g.names.byID[id]
	if !ok {
		return nil
	}
	return g.hops(g.outOf(i))
}

// In returns the hops that arrive at id, in the order of kind, then source id.
func (g *Graph) In(id ID) []Hop {
	i, ok := g.names.byID[id]
	if !ok {
		return nil
	}
	return g.hops(g.into(i))
}

// Dangling returns the unresolved edges of id (Link included), in file order.
func (g *Graph) Dangling(id ID) []Dangling {
	i, ok := g.names.byID[id]
	if !ok || g.looseFrom[i] == g.looseFrom[i+1] {
		return nil
	}
	return g.loose[g.looseFrom[i]:g.looseFrom[i+1]]
}

func (g *Graph) outOf(i int32) []edge { return g.edges[g.out[i]:g.out[i+1]] }

func (g *Graph) into(i int32) []edge {
	found := make([]edge, 0, g.inFrom[i+1]-g.inFrom[i])
	for _, e := range g.in[g.inFrom[i]:g.inFrom[i+1]] {
		found = append(found, g.edges[e])
	}
	return found
}

func (g *Graph) hops(es []edge) []Hop {
	if len(es) == 0 {
		return nil
	}
	out := make([]Hop, len(es))
	for i, e := range es {
		out[i] = g.hop(e)
	}
	return out
}

func (g *Graph) hop(e edge) Hop {
	return Hop{From: g.atoms[e.from].ID, To: g.atoms[e.to].ID, Kind: kindOf(e.kind), Line: int(e.line)}
}

// kindOf is the kind with a rank.
func kindOf(rank int8) EdgeKind {
	if rank == linkRank {
		return Link
	}
	return [...]EdgeKind{Owner, ReportsTo, Uses, GovernedBy, Produces, Stages, DecidedBy, RelatesTo, Supersedes, SupersededBy}[rank]
}

// leads is what one atom's edges come to.
type leads struct {
	edges []edge
	loose []Dangling
}

// link resolves every edge and link, and lays them out in both directions.
func (g *Graph) link() {
	found := make([]leads, len(g.atoms))
	parallel(len(g.atoms), func(i int) { found[i] = g.follow(int32(i)) })
	g.out = make([]int32, len(found)+1)
	g.looseFrom = make([]int32, len(found)+1)
	for i, f := range found {
		g.out[i+1] = g.out[i] + int32(len(f.edges))
		g.looseFrom[i+1] = g.looseFrom[i] + int32(len(f.loose))
	}
	g.edges = make([]edge, 0, g.out[len(found)])
	for _, f := range found {
		g.edges = append(g.edges, f.edges...)
		g.loose = append(g.loose, f.loose...)
	}
	g.arrive()
}

// arrive lays the edges out by where they lead: a counting sort over the far
// ends that takes the near ends in the order of their ids.
func (g *Graph) arrive() {
	g.inFrom = make([]int32, len(g.atoms)+1)
	for _, e := range g.edges {
		g.inFrom[e.to+1]++
	}
	for i := range g.atoms {
		g.inFrom[i+1] += g.inFrom[i]
	}
	next := slices.Clone(g.inFrom)
	g.in = make([]int32, len(g.edges))
	for _, i := range g.names.order() {
		for e := g.out[i]; e < g.out[i+1]; e++ {
			to := g.edges[e].to
			g.in[next[to]] = e
			next[to]++
		}
	}
	byKind := func(a, b int32) int { return int(g.edges[a].kind) - int(g.edges[b].kind) }
	for i := range g.atoms {
		if in := g.in[g.inFrom[i]:g.inFrom[i+1]]; !slices.IsSortedFunc(in, byKind) {
			slices.SortStableFunc(in, byKind)
		}
	}
}

// follow resolves the edges and links of atom i.
func (g *Graph) follow(i int32) leads {
	a := g.atoms[i]
	l := leads{edges: make([]edge, 0, len(a.Edges))}
	for _, e := range a.Edges {
		g.followEdge(i, e, &l)
	}
	g.followKeys(i, &l)
	a.readLinks()
	for _, b := range a.Links() {
		g.followLink(i, b, &l)
	}
	l.edges = once(l.edges)
	slices.SortStableFunc(l.loose, func(a, b Dangling) int { return cmp.Compare(a.Line, b.Line) })
	return l
}

// once drops the edges that say again what an earlier one says, and puts the
// rest into canonical order of kind; edges of a kind stay as written.
func once(es []edge) []edge {
	byKind := func(a, b edge) int { return int(a.kind) - int(b.kind) }
	if !slices.IsSortedFunc(es, byKind) {
		slices.SortStableFunc(es, byKind)
	}
	if len(es) > 16 {
		return onceOfMany(es)
	}
	kept := es[:0]
	for _, e := range es {
		if !slices.ContainsFunc(kept, func(k edge) bool { return covers(k, e) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// onceOfMany compares neighbours after sorting, not each with each.
func onceOfMany(es []edge) []edge {
	order := make([]int, len(es))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(es[i].to, es[j].to), cmp.Compare(i, j)) })
	order = slices.CompactFunc(order, func(i, before int) bool { return covers(es[before], es[i]) })
	slices.Sort(order)
	kept := make([]edge, 0, len(order))
	for _, i := range order {
		kept = append(kept, es[i])
	}
	return kept
}

// covers reports whether e, which is not of an earlier kind than k, adds nothing.
func covers(k, e edge) bool { return k.to == e.to && (k.kind == e.kind || e.kind == linkRank) }

// followEdge resolves one typed edge. A supersession may name several, with
// commas, or say in words what has no file; neither is a dead end.
func (g *Graph) followEdge(from int32, e Edge, l *leads) {
	kind := edgeRank(e.Kind)
	if to, ok := g.names.find(e.Target, g.atoms[from].Path); ok {
		l.edges = append(l.edges, edge{from: from, to: to, line: int32(e.Line), kind: int8(kind)})
		return
	}
	if e.Kind == Supersedes || e.Kind == SupersededBy {
		if parts := SplitList(e.Target); len(parts) > 1 {
			for _, p := range parts {
				g.followEdge(from, Edge{Kind: e.Kind, Target: p, Line: e.Line}, l)
			}
			return
		}
		if prose(e.Target) {
			return
		}
	}
	if g.External(e.Target) {
		return
	}
	l.loose = append(l.loose, g.dangling(from, e.Kind, e.Target, e.Line))
}

// followKeys makes links of what an atom derives from and complements, and of
// the sources that are atoms (OKF v0.2 §5.1). Such a key may hold anything, so
// what it does not lead to is not missed.
func (g *Graph) followKeys(from int32, l *leads) {
	a := g.atoms[from]
	link := func(to int32, line int) {
		if to != from {
			l.edges = append(l.edges, edge{from: from, to: to, line: int32(line), kind: linkRank})
		}
	}
	for _, f := range a.Fields {
		if f.Key != "derives_from" && f.Key != "complements" {
			continue
		}
		for _, ref := range refs(f.Value) {
			if to, ok := g.names.find(ref, a.Path); ok {
				link(to, f.Line)
			}
		}
	}
	for _, s := range a.Sources {
		if target, _ := resolveURL(a.Path, s.Resource); strings.HasSuffix(target, ".md") {
			if to, ok := g.names.file(target); ok {
				link(to, a.Line("sources"))
			}
		}
	}
}

func (g *Graph) followLink(from int32, b Linked, l *leads) {
	to, ok := int32(0), false
	if b.Target == "" {
		to, ok = g.names.uri(b.URL)
	} else {
		to, ok = g.names.file(b.Target)
	}
	switch {
	case ok && to != from:
		l.edges = append(l.edges, edge{from: from, to: to, line: int32(b.Line), kind: linkRank})
	case ok:
	case b.Target == "" && g.names.own(b.URL):
		l.loose = append(l.loose, g.dangling(from, Link, b.URL, b.Line))
	case b.Target != "" && concept(b.Target):
		l.loose = append(l.loose, g.dangling(from, Link, b.Target, b.Line))
	}
}

func (g *Graph) dangling(from int32, kind EdgeKind, target string, line int) Dangling {
	broken, ambiguous := g.names.unresolved(target)
	return Dangling{From: g.atoms[from].ID, Kind: kind, Target: target, Line: line, Broken: broken, Ambiguous: ambiguous}
}

// concept reports whether file may be an atom: a markdown file that is not
// reserved.
func concept(file string) bool { return strings.HasSuffix(file, ".md") && !reserved(file) }
