package okf

import "errors"

// Graph is a loaded bundle: its atoms and the edges between them. It is
// immutable once made and safe for concurrent readers.
type Graph struct {
	atoms []*Atom // by path
}

// Hop is one edge in the graph, between atoms that both exist.
type Hop struct {
	From ID       `json:"from"`
	To   ID       `json:"to"`
	Kind EdgeKind `json:"kind"`
	Line int      `json:"line,omitempty"`
}

// ErrNotFound is what Find wraps when nothing has the name.
var ErrNotFound = errors.New("no such atom")

// ErrAmbiguous is what Find wraps when a stem names several atoms.
var ErrAmbiguous = errors.New("ambiguous name")

// NewGraph links atoms that are already parsed. Where two share an id the
// first by path keeps it.
func NewGraph(atoms []Atom) *Graph { return nil }

// Atoms returns the atoms in path order. Callers must not change them.
func (g *Graph) Atoms() []*Atom { return g.atoms }

// Find resolves an id, a bundle path with or without a leading slash and ".md",
// a uri, or an unambiguous stem (the last path element). It wraps ErrNotFound,
// with the nearest names, or ErrAmbiguous, with the candidates.
func (g *Graph) Find(name string) (*Atom, error) { return nil, ErrNotFound }

// Out returns the hops that leave id, typed edges first in canonical order, then links.
func (g *Graph) Out(id ID) []Hop { return nil }

// In returns the hops that arrive at id, in the order of kind, then source id.
func (g *Graph) In(id ID) []Hop { return nil }

// Dangling is an edge or link whose target is in the bundle's namespace and is not there.
type Dangling struct {
	From   ID
	Kind   EdgeKind
	Target string
	Line   int
	Broken bool // a file is there, but it did not parse
}

// Dangling returns the unresolved edges of id (Link included), in file order.
func (g *Graph) Dangling(id ID) []Dangling { return nil }
