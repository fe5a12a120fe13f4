package okf

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Graph is a loaded bundle: its atoms and the edges between them. It does not change and is
// safe for concurrent readers.
//
// An edge names an atom by id, bundle path (with or without a leading slash and ".md"),
// uri, or a stem that only one atom has. A link leads by path or uri. What an atom derives
// from, complements, or has as a source counts as a link too. Two edges of one kind between
// the same atoms are one. A link next to a typed edge to the same atom is dropped, and so
// is an edge from an atom to itself.
//
// A loaded graph parses an atom when somebody asks for it, so a question costs only what it
// touches. Atoms parses all of them: use OfType to look for atoms of a type, and ByID to
// look one up.
type Graph struct {
	elsewhere []string // authorities of other repositories

	*rows
	now      *changes // what differs from rows; nil for nothing
	atomList func() []*Atom
	words    func() *wordIndex // read at the first search
	store    Store             // stores the words; nil for none
}

// edge is an edge between two rows.
type edge struct {
	from, to int32
	line     int32
	kind     int8 // edgeRank, or linkRank
}

// linkRank is the rank of Link, after the typed edges.
const linkRank = 10

// Hop is one edge of the graph, between two atoms that both exist.
type Hop struct {
	From ID       `json:"from"`
	To   ID       `json:"to"`
	Kind EdgeKind `json:"kind"`
	Line int      `json:"line,omitempty"` // 1-based line in the file of From
}

// Dangling is an edge or link to something that should be in the bundle and is not. A uri
// of another authority is outside the bundle, and so is a link to a file that cannot be an
// atom.
type Dangling struct {
	From      ID       `json:"from"`
	Kind      EdgeKind `json:"kind"`
	Target    string   `json:"target"` // as in the file; for a link its bundle path
	Line      int      `json:"line"`
	Broken    bool     `json:"broken,omitempty"`    // a file is there, but it did not parse
	Ambiguous bool     `json:"ambiguous,omitempty"` // a stem that several atoms have
}

// NewGraph links atoms that are already parsed. If two have the same id, the first by path
// keeps it. The graph keeps pointers into atoms.
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

// Len returns the number of atoms.
func (g *Graph) Len() int {
	n := 0
	for i := range g.rowCount() {
		if g.hasAtom(i) {
			n++
		}
	}
	return n
}

// rowCount returns the number of rows. New files have rows after all others.
func (g *Graph) rowCount() int32 {
	n := int32(g.rows.len())
	if g.now != nil {
		n += int32(len(g.now.paths))
	}
	return n
}

func (g *Graph) hasAtom(i int32) bool {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a != nil
		}
	}
	return g.isKept(i)
}

// atomAt returns the atom of a row, which must have one.
func (g *Graph) atomAt(i int32) *Atom {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a
		}
	}
	return g.atomOf(i)
}

// idAt returns the id of the atom in a row, without parsing the atom.
func (g *Graph) idAt(i int32) ID {
	if g.now != nil {
		if a, ok := g.now.atoms[i]; ok {
			return a.ID
		}
	}
	return g.idOf(i)
}

func (g *Graph) pathAt(i int32) string {
	if n := g.rows.len(); int(i) >= n {
		return g.now.paths[int(i)-n]
	}
	return g.pathOf(i)
}

// Atoms returns the atoms in path order. Callers must not change them.
func (g *Graph) Atoms() []*Atom { return g.atomList() }

func (g *Graph) listAtoms() []*Atom {
	g.makeAll()
	out := make([]*Atom, 0, g.rowCount())
	for i := range g.rowCount() {
		if g.hasAtom(i) {
			out = append(out, g.atomAt(i))
		}
	}
	if g.now != nil && len(g.now.paths) > 0 {
		slices.SortFunc(out, func(a, b *Atom) int { return strings.Compare(a.Path, b.Path) })
	}
	return out
}

// OfType returns the atoms of the types that fits accepts, in path order. It calls fits
// once a type, and costs no more than what it returns.
func (g *Graph) OfType(fits func(typ string) bool) []*Atom {
	list := g.rowsOfType(fits)
	out := make([]*Atom, len(list))
	eachBatch(len(list), func(from, to int) {
		for k := from; k < to; k++ {
			out[k] = g.atomAt(list[k])
		}
	})
	return out
}

// rowsOfType returns the rows of the atoms of the types that fits accepts, in path order.
func (g *Graph) rowsOfType(fits func(typ string) bool) []int32 {
	var out []int32
	d := decoder{s: unsafeString(g.types)}
	for t := 0; d.at < len(d.s); t++ {
		if typ := d.readText(); d.bad || !fits(typ) {
			continue
		}
		from, to := g.typeAt.span(t, g.typeRow.len())
		out = slices.Grow(out, to-from)
		for k := from; k < to; k++ {
			if i := int32(g.typeRow.at(k)); g.isKept(i) && !g.now.isChanged(i) {
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

// rowTypes returns the type of every row; "" for a row without an atom.
func (g *Graph) rowTypes() []string {
	out := make([]string, g.rowCount())
	d := decoder{s: unsafeString(g.types)}
	for t := 0; d.at < len(d.s); t++ {
		typ := d.readText()
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

// Out returns the edges from id: typed edges in canonical order, then links.
func (g *Graph) Out(id ID) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.makeHops(g.edgesFrom(i))
}

// In returns the edges to id, in order of kind, then of the source's id.
func (g *Graph) In(id ID) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.makeHops(g.edgesTo(i))
}

// Dangling returns the unresolved edges and links of id, in file order.
func (g *Graph) Dangling(id ID) []Dangling {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	return g.danglingAt(i)
}

// danglingAt returns the unresolved edges and links of a row.
func (g *Graph) danglingAt(i int32) []Dangling {
	loose := g.danglingOf(i)
	if g.now != nil {
		if l, ok := g.now.leads[i]; ok {
			loose = slices.Clone(l.loose)
		}
	}
	return slices.DeleteFunc(loose, func(d Dangling) bool { return uriScheme(d.Target) != "" && g.External(d.Target) })
}

func (g *Graph) edgesFrom(i int32) []edge {
	if g.now != nil {
		if l, ok := g.now.leads[i]; ok {
			return l.edges
		}
	}
	return g.edgesOut(i)
}

func (g *Graph) edgesTo(i int32) []edge {
	es := g.appendIn(i, nil)
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

func (g *Graph) makeHops(es []edge) []Hop {
	if len(es) == 0 {
		return nil
	}
	out := make([]Hop, len(es))
	for i, e := range es {
		out[i] = Hop{From: g.idAt(e.from), To: g.idAt(e.to), Kind: kindOfRank(e.kind), Line: int(e.line)}
	}
	return out
}

// kindOfRank returns the kind with a rank; "" for an unknown rank.
func kindOfRank(rank int8) EdgeKind {
	switch {
	case rank < 0 || rank > linkRank:
		return ""
	case rank == linkRank:
		return Link
	}
	return [...]EdgeKind{Owner, ReportsTo, Uses, GovernedBy, Produces, Stages, DecidedBy, RelatesTo, Supersedes, SupersededBy}[rank]
}
