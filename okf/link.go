package okf

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// resolvedEdges are the edges of one atom after resolving: those that lead to a row, and
// those that do not.
type resolvedEdges struct {
	edges []edge
	loose []Dangling
}

// resolveEdges resolves the references of the atom in row i. It uses the memory of es.
func (g *Graph) resolveEdges(i int32, m references, es []edge) resolvedEdges {
	l := resolvedEdges{edges: es}
	for _, r := range m.refs {
		switch r.rank {
		case refRank, sourceRank:
			g.followKey(i, m.file, r, &l)
		default:
			g.followEdge(i, m.file, r, &l)
		}
	}
	for _, b := range m.links {
		g.followLink(i, b, &l)
	}
	l.edges = dedupeEdges(l.edges)
	slices.SortStableFunc(l.loose, func(a, b Dangling) int { return cmp.Compare(a.Line, b.Line) })
	return l
}

// dedupeEdges drops edges that repeat an earlier one, and sorts the rest by kind. Edges of
// one kind stay in the order of the file.
func dedupeEdges(es []edge) []edge {
	byKind := func(a, b edge) int { return int(a.kind) - int(b.kind) }
	if !slices.IsSortedFunc(es, byKind) {
		slices.SortStableFunc(es, byKind)
	}
	if len(es) > 16 {
		return dedupeManyEdges(es)
	}
	kept := es[:0]
	for _, e := range es {
		if !slices.ContainsFunc(kept, func(k edge) bool { return makesRedundant(k, e) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// dedupeManyEdges sorts and compares neighbours, where comparing each with each would take
// too long.
func dedupeManyEdges(es []edge) []edge {
	order := make([]int, len(es))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(es[i].to, es[j].to), cmp.Compare(i, j)) })
	order = slices.CompactFunc(order, func(i, before int) bool { return makesRedundant(es[before], es[i]) })
	slices.Sort(order)
	kept := make([]edge, 0, len(order))
	for _, i := range order {
		kept = append(kept, es[i])
	}
	return kept
}

// makesRedundant reports whether k makes e redundant. e is not of an earlier kind than k.
func makesRedundant(k, e edge) bool { return k.to == e.to && (k.kind == e.kind || e.kind == linkRank) }

// followEdge resolves one typed edge. A supersession may list several names with commas, or
// describe in words something that has no file; neither is a dead end.
func (g *Graph) followEdge(from int32, file string, r ref, l *resolvedEdges) {
	if to, ok := g.find(r.text, file); ok {
		l.edges = append(l.edges, edge{from: from, to: to, line: r.line, kind: r.rank})
		return
	}
	kind := kindOfRank(r.rank)
	if kind == Supersedes || kind == SupersededBy {
		if parts := SplitList(r.text); len(parts) > 1 {
			for _, p := range parts {
				g.followEdge(from, file, ref{p, r.line, r.rank}, l)
			}
			return
		}
		if isProse(r.text) {
			return
		}
	}
	if g.External(r.text) {
		return
	}
	l.loose = append(l.loose, g.newDangling(from, kind, r.text, int(r.line)))
}

// followKey makes a link of what an atom derives from or complements, and of a source that
// is an atom (OKF v0.2 §5.1). Such a key may hold anything, so an unresolved value is no
// problem.
func (g *Graph) followKey(from int32, file string, r ref, l *resolvedEdges) {
	to, ok := int32(0), false
	if r.rank == refRank {
		to, ok = g.find(r.text, file)
	} else if target, _ := resolveURL(file, r.text); strings.HasSuffix(target, ".md") {
		to, ok = g.findPath(target)
	}
	if ok && to != from {
		l.edges = append(l.edges, edge{from: from, to: to, line: r.line, kind: linkRank})
	}
}

func (g *Graph) followLink(from int32, b Linked, l *resolvedEdges) {
	to, ok := int32(0), false
	if b.Target == "" {
		to, ok = g.findURI(b.URL)
	} else {
		to, ok = g.findPath(b.Target)
	}
	switch {
	case ok && to != from:
		l.edges = append(l.edges, edge{from: from, to: to, line: int32(b.Line), kind: linkRank})
	case ok:
	case b.Target == "" && g.isOwnURI(b.URL):
		l.loose = append(l.loose, g.newDangling(from, Link, b.URL, b.Line))
	case b.Target != "" && isConcept(b.Target):
		l.loose = append(l.loose, g.newDangling(from, Link, b.Target, b.Line))
	}
}

func (g *Graph) newDangling(from int32, kind EdgeKind, target string, line int) Dangling {
	broken, ambiguous := g.whyUnresolved(target)
	return Dangling{From: g.idAt(from), Kind: kind, Target: target, Line: line, Broken: broken, Ambiguous: ambiguous}
}

// isConcept reports whether file may be an atom: a markdown file whose name is not
// reserved.
func isConcept(file string) bool { return strings.HasSuffix(file, ".md") && !isReserved(file) }

// hashName hashes a name that the atom at from uses, without a leading slash, ".md" and a
// fragment. The id, path, uri or stem that the name resolves to has the same hash. So if an
// atom appears or disappears, only the atoms that mention such a hash must be resolved
// again.
func hashName(name, from string) uint32 {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(path.Dir(from), name)
	}
	name, _, _ = strings.Cut(strings.TrimLeft(name, "/"), "#")
	for strings.HasSuffix(name, ".md") {
		name = strings.TrimSuffix(name, ".md")
	}
	return hashText(name)
}
