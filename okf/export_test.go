package okf

import (
	"slices"
	"strings"
)

// NewGraph links atoms that are already parsed, for tests that have no files.
func NewGraph(atoms []Atom) *Graph {
	found := make([]reading, len(atoms))
	for i := range atoms {
		atoms[i].readLinks()
		found[i] = reading{path: atoms[i].Path, atom: &atoms[i]}
	}
	slices.SortStableFunc(found, func(a, b reading) int { return strings.Compare(a.path, b.path) })
	return newGraph(newRows(found), nil)
}
