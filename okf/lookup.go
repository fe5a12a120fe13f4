package okf

import "strings"

// ByID returns the atom with exactly this id, nil when there is none. Unlike
// Find it makes no suggestions, so that many misses cost nothing.
func (g *Graph) ByID(id ID) *Atom {
	if i, ok := g.byID(id); ok {
		return g.at(i)
	}
	return nil
}

// ByPath returns the atom at exactly this bundle path, nil when there is none.
func (g *Graph) ByPath(path string) *Atom {
	if i, ok := g.file(path); ok && strings.HasSuffix(path, ".md") {
		return g.at(i)
	}
	return nil
}

// Target returns the atom that a typed edge of the atom at from means by name:
// an id, a bundle path, a path from there, a uri or an unambiguous stem. It is
// nil when the edge leads nowhere.
func (g *Graph) Target(name, from string) *Atom {
	if i, ok := g.find(name, from); ok {
		return g.at(i)
	}
	return nil
}
