package okf

import "strings"

// ByID returns the atom with exactly this id; nil if there is none. Unlike Find it suggests
// no names, so many misses cost nothing.
func (g *Graph) ByID(id ID) *Atom {
	if i, ok := g.byID(id); ok {
		return g.atomAt(i)
	}
	return nil
}

// ByPath returns the atom at exactly this bundle path; nil if there is none.
func (g *Graph) ByPath(path string) *Atom {
	if i, ok := g.findPath(path); ok && strings.HasSuffix(path, ".md") {
		return g.atomAt(i)
	}
	return nil
}

// Target resolves the name in a typed edge of the atom at the path from. The name may be an
// id, a bundle path, a relative path, a uri or an unambiguous stem. It returns nil if the
// edge leads nowhere.
func (g *Graph) Target(name, from string) *Atom {
	if i, ok := g.find(name, from); ok {
		return g.atomAt(i)
	}
	return nil
}
