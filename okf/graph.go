package okf

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Graph is a loaded bundle: its atoms and the edges between them. It is
// immutable once made and safe for concurrent readers.
type Graph struct {
	atoms  []*Atom // by path
	byID   map[ID]int32
	byPath map[string]int32
	byURI  map[string]int32
	twice  []DuplicateURI
	broken map[string]bool // paths that are there and gave no atom

	out, in adjacency
	stems   func() map[string][]int32
}

// Hop is one edge in the graph, between atoms that both exist.
type Hop struct {
	From ID       `json:"from"`
	To   ID       `json:"to"`
	Kind EdgeKind `json:"kind"`
	Line int      `json:"line,omitempty"` // in the file of From
}

// Dangling is an edge or link whose target is in the bundle's namespace and is not there.
type Dangling struct {
	From   ID
	Kind   EdgeKind
	Target string // as written for an edge, the bundle path for a link
	Line   int
	Broken bool // a file is there, but it did not parse
}

// DuplicateURI is one uri that two atoms claim; First keeps it.
type DuplicateURI struct {
	URI           string
	First, Second *Atom
}

// ErrNotFound is what Find wraps when nothing has the name.
var ErrNotFound = errors.New("no such atom")

// ErrAmbiguous is what Find wraps when a stem names several atoms.
var ErrAmbiguous = errors.New("ambiguous name")

// NewGraph links atoms that are already parsed. Where two share an id the
// first by path keeps it.
func NewGraph(atoms []Atom) *Graph { return newGraph(atoms, nil) }

func newGraph(atoms []Atom, broken []string) *Graph {
	g := &Graph{byID: make(map[ID]int32, len(atoms)), byPath: make(map[string]int32, len(atoms)), byURI: map[string]int32{}, broken: map[string]bool{}}
	for _, p := range broken {
		g.broken[p] = true
	}
	order := make([]*Atom, len(atoms))
	for i := range atoms {
		order[i] = &atoms[i]
	}
	slices.SortStableFunc(order, func(a, b *Atom) int { return strings.Compare(a.Path, b.Path) })
	for _, a := range order {
		g.add(a)
	}
	g.stems = sync.OnceValue(g.readStems)
	g.link()
	return g
}

func (g *Graph) add(a *Atom) {
	if _, taken := g.byID[a.ID]; taken {
		g.broken[a.Path] = true
		return
	}
	i := int32(len(g.atoms))
	g.atoms = append(g.atoms, a)
	g.byID[a.ID], g.byPath[a.Path] = i, i
	if a.URI == "" {
		return
	}
	if first, taken := g.byURI[a.URI]; taken {
		g.twice = append(g.twice, DuplicateURI{a.URI, g.atoms[first], a})
		return
	}
	g.byURI[a.URI] = i
}

// Atoms returns the atoms in path order. Callers must not change them.
func (g *Graph) Atoms() []*Atom { return g.atoms }

// DuplicateURIs lists the uris that several atoms claim, in order of path.
func (g *Graph) DuplicateURIs() []DuplicateURI { return g.twice }

// Broken reports whether a file is at the bundle path and gave no atom.
func (g *Graph) Broken(path string) bool { return g.broken[path] }

// Find resolves an id, a bundle path with or without a leading slash and ".md",
// a uri, or an unambiguous stem (the last path element). It wraps ErrNotFound,
// with the nearest names, or ErrAmbiguous, with the candidates.
func (g *Graph) Find(name string) (*Atom, error) {
	if i := g.exact(name); i >= 0 {
		return g.atoms[i], nil
	}
	stem := strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".md")
	switch at := g.stems()[stem]; {
	case len(at) == 1:
		return g.atoms[at[0]], nil
	case len(at) > 1:
		var names []string
		for _, i := range at {
			names = append(names, string(g.atoms[i].ID))
		}
		return nil, fmt.Errorf("%q: %w: it is the stem of %s", name, ErrAmbiguous, strings.Join(names, ", "))
	}
	if near := g.nearest(stem); len(near) > 0 {
		return nil, fmt.Errorf("%q: %w; did you mean %s?", name, ErrNotFound, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("%q: %w", name, ErrNotFound)
}

// exact is the index of the atom whose id, path or uri is name, or -1.
func (g *Graph) exact(name string) int32 {
	if i, ok := g.byID[ID(name)]; ok {
		return i
	}
	if i, ok := g.byURI[name]; ok {
		return i
	}
	p := path.Clean(strings.TrimPrefix(name, "/"))
	if i, ok := g.byPath[p]; ok {
		return i
	}
	if i, ok := g.byPath[p+".md"]; ok {
		return i
	}
	return -1
}

func (g *Graph) readStems() map[string][]int32 {
	m := make(map[string][]int32, len(g.atoms))
	for i, a := range g.atoms {
		file := strings.TrimSuffix(path.Base(a.Path), ".md")
		m[file] = append(m[file], int32(i))
		if id := path.Base(string(a.ID)); id != file {
			m[id] = append(m[id], int32(i))
		}
	}
	return m
}

// nearNames is how many suggestions an unknown name gets, nearDistance how many
// edits away they may be.
const (
	nearNames    = 3
	nearDistance = 3
)

// nearest lists the ids most like name, nearest first.
func (g *Graph) nearest(name string) []string {
	type near struct {
		id   string
		away int
	}
	var found []near
	base := path.Base(name)
	for _, a := range g.atoms {
		away := distance(base, path.Base(string(a.ID)), nearDistance)
		if limit := min(nearDistance, 1+len(base)/3); away <= limit {
			found = append(found, near{string(a.ID), away})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(a.away-b.away, strings.Compare(a.id, b.id)) })
	var out []string
	for _, n := range found[:min(nearNames, len(found))] {
		out = append(out, n.id)
	}
	return out
}

// distance is the number of single-byte edits between a and b, or anything
// above limit when it is more than limit.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, best := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			step := diagonal
			if a[i] != b[j] {
				step = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], step
			best = min(best, step)
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
