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
//
// A graph that was loaded makes an atom when somebody asks for it, so that a
// question costs what it touches. Atoms makes them all: to look for atoms of a
// type, or to look one up, use OfType and ByID.
type Graph struct {
	elsewhere []string // authorities of other repositories

	*rows
	now      *changes // what is different from rows; nil for nothing
	atomList func() []*Atom
	words    func() *index // read at the first search
	store    Store         // where words are kept, nil for nowhere
}

// edge is a hop between two rows.
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
func NewGraph(atoms []Atom) *Graph {
	found := make([]reading, len(atoms))
	for i := range atoms {
		atoms[i].readLinks()
		found[i] = reading{path: atoms[i].Path, atom: &atoms[i]}
	}
	slices.SortStableFunc(found, func(a, b reading) int { return strings.Compare(a.path, b.path) })
	return newGraph(newRows(found), nil)
}

func newGraph(r *rows, now *changes) *Graph {
	g := &Graph{rows: r, now: now}
	g.atomList = sync.OnceValue(g.listAtoms)
	g.words = sync.OnceValue(g.readIndex)
	return g
}

// Len is the number of atoms.
func (g *Graph) Len() int {
	n := 0
	for i := range g.places() {
		if g.here(i) {
			n++
		}
	}
	return n
}

// places is one more than the last row of the graph. Rows of files that are new
// come after those of files that were there before.
func (g *Graph) places() int32 {
	n := int32(g.rows.len())
	if g.now != nil {
		n += int32(len(g.now.paths))
	}
	return n
}

// here reports whether the graph has an atom in a row.
func (g *Graph) here(i int32) bool {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a != nil
		}
	}
	return g.isKept(i)
}

// at is the atom in a row, which must have one.
func (g *Graph) at(i int32) *Atom {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a
		}
	}
	return g.atom(i)
}

// idAt is the id of the atom in a row; it does not make the atom.
func (g *Graph) idAt(i int32) ID {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a.ID
		}
	}
	return g.id(i)
}

// pathAt is the path of a row.
func (g *Graph) pathAt(i int32) string {
	if n := g.rows.len(); int(i) >= n {
		return g.now.paths[int(i)-n]
	}
	return g.path(i)
}

// Atoms returns the atoms in path order. Callers must not change them.
func (g *Graph) Atoms() []*Atom { return g.atomList() }

func (g *Graph) listAtoms() []*Atom {
	g.all()
	out := make([]*Atom, 0, g.places())
	for i := range g.places() {
		if g.here(i) {
			out = append(out, g.at(i))
		}
	}
	if g.now != nil && len(g.now.paths) > 0 {
		slices.SortFunc(out, func(a, b *Atom) int { return strings.Compare(a.Path, b.Path) })
	}
	return out
}

// OfType returns the atoms whose type is one that fits, in path order. It asks
// fits once a type, and costs no more than what it returns.
func (g *Graph) OfType(fits func(typ string) bool) []*Atom {
	var out []*Atom
	for _, i := range g.ofType(fits) {
		out = append(out, g.at(i))
	}
	return out
}

// Gather is what read makes of each atom whose type is one that fits, in path
// order. It is for questions about very many atoms at once: an atom that nobody
// asked for before is made for the one call and not kept, and calls run side by
// side. read may keep the atom's texts, but neither the atom nor a slice of it.
func Gather[T any](g *Graph, fits func(typ string) bool, read func(a *Atom) T) []T {
	list := g.ofType(fits)
	out := make([]T, len(list))
	workers(len(list), func() func(from, to int) {
		room, ar := newRoom(), new(arena)
		return func(from, to int) {
			for k := from; k < to; k++ {
				*ar = room
				out[k] = read(g.glance(list[k], ar))
			}
		}
	})
	return out
}

// newRoom is an arena that each of many atoms is made in, after the other.
func newRoom() arena {
	return arena{
		least: 1, atoms: make([]Atom, 1), disks: make([]original, 1), fields: make([]Field, 32), links: make([][]Linked, 1), linked: make([]Linked, 8),
	}
}

// glance is the atom in a row, which must have one: made in ar where it was not
// made before.
func (g *Graph) glance(i int32, ar *arena) *Atom {
	if g.now.over(i) {
		return g.at(i)
	}
	if a := g.atoms[i].Load(); a != nil || g.decode == nil {
		return a
	}
	return g.decode(i, ar)
}

// ofType are the rows of the atoms whose type is one that fits, in path order.
func (g *Graph) ofType(fits func(typ string) bool) []int32 {
	var out []int32
	d := decoder{s: view(g.types)}
	for t := 0; d.at < len(d.s); t++ {
		if typ := d.text(); d.bad || !fits(typ) {
			continue
		}
		from, to := g.typeAt.span(t, g.typeRow.len())
		out = slices.Grow(out, to-from)
		for k := from; k < to; k++ {
			if i := int32(g.typeRow.at(k)); g.isKept(i) && !g.now.over(i) {
				out = append(out, i)
			}
		}
	}
	if g.now != nil {
		for i, a := range g.now.atoms {
			if a != nil && fits(a.Type) {
				out = append(out, i)
			}
		}
	}
	slices.SortFunc(out, func(a, b int32) int { return strings.Compare(g.pathAt(a), g.pathAt(b)) })
	return out
}

// typesOf is the type of every row's atom, "" where there is none.
func (g *Graph) typesOf() []string {
	out := make([]string, g.places())
	d := decoder{s: view(g.types)}
	for t := 0; d.at < len(d.s); t++ {
		typ := d.text()
		from, to := g.typeAt.span(t, g.typeRow.len())
		for k := from; k < to && !d.bad; k++ {
			if i := int32(g.typeRow.at(k)); g.isKept(i) {
				out[i] = typ
			}
		}
	}
	if g.now != nil {
		for i, a := range g.now.atoms {
			out[i] = ""
			if a != nil {
				out[i] = a.Type
			}
		}
	}
	return out
}

// Out returns the hops that leave id, typed edges first in canonical order, then links.
func (g *Graph) Out(id ID) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.hops(g.outOf(i))
}

// In returns the hops that arrive at id, in the order of kind, then source id.
func (g *Graph) In(id ID) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.hops(g.inTo(i))
}

// Dangling returns the unresolved edges of id (Link included), in file order.
func (g *Graph) Dangling(id ID) []Dangling {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.loosely(i)
}

// loosely are the unresolved edges of a row.
func (g *Graph) loosely(i int32) []Dangling {
	loose := g.dangling(i)
	if g.now != nil {
		if l, ok := g.now.leads[i]; ok {
			loose = slices.Clone(l.loose)
		}
	}
	return slices.DeleteFunc(loose, func(d Dangling) bool { return scheme(d.Target) != "" && g.External(d.Target) })
}

func (g *Graph) outOf(i int32) []edge {
	if g.now != nil {
		if l, ok := g.now.leads[i]; ok {
			return l.edges
		}
	}
	return g.leaving(i, nil)
}

func (g *Graph) inTo(i int32) []edge {
	es := g.into(i, nil)
	if g.now == nil {
		return es
	}
	es = slices.DeleteFunc(es, func(e edge) bool { _, ok := g.now.leads[e.from]; return ok })
	es = append(es, g.now.arrivals[i]...)
	slices.SortStableFunc(es, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(g.idAt(a.from), g.idAt(b.from)))
	})
	return es
}

func (g *Graph) hops(es []edge) []Hop {
	if len(es) == 0 {
		return nil
	}
	out := make([]Hop, len(es))
	for i, e := range es {
		out[i] = Hop{From: g.idAt(e.from), To: g.idAt(e.to), Kind: kindOf(e.kind), Line: int(e.line)}
	}
	return out
}

// kindOf is the kind with a rank.
func kindOf(rank int8) EdgeKind {
	switch {
	case rank < 0 || rank > linkRank:
		return ""
	case rank == linkRank:
		return Link
	}
	return [...]EdgeKind{Owner, ReportsTo, Uses, GovernedBy, Produces, Stages, DecidedBy, RelatesTo, Supersedes, SupersededBy}[rank]
}
