package okf

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// leads is what one atom's edges come to.
type leads struct {
	edges []edge
	loose []Dangling
}

// follow resolves the edges and links of the atom in row i, into the room of es.
func (g *Graph) follow(i int32, m matter, es []edge) leads {
	l := leads{edges: es}
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
func (g *Graph) followEdge(from int32, file string, r ref, l *leads) {
	if to, ok := g.find(r.text, file); ok {
		l.edges = append(l.edges, edge{from: from, to: to, line: r.line, kind: r.rank})
		return
	}
	kind := kindOf(r.rank)
	if kind == Supersedes || kind == SupersededBy {
		if parts := SplitList(r.text); len(parts) > 1 {
			for _, p := range parts {
				g.followEdge(from, file, ref{p, r.line, r.rank}, l)
			}
			return
		}
		if prose(r.text) {
			return
		}
	}
	if g.External(r.text) {
		return
	}
	l.loose = append(l.loose, g.misses(from, kind, r.text, int(r.line)))
}

// followKey makes a link of what an atom derives from or complements, and of a
// source that is an atom (OKF v0.2 §5.1). Such a key may hold anything, so what
// it does not lead to is not missed.
func (g *Graph) followKey(from int32, file string, r ref, l *leads) {
	to, ok := int32(0), false
	if r.rank == refRank {
		to, ok = g.find(r.text, file)
	} else if target, _ := resolveURL(file, r.text); strings.HasSuffix(target, ".md") {
		to, ok = g.file(target)
	}
	if ok && to != from {
		l.edges = append(l.edges, edge{from: from, to: to, line: r.line, kind: linkRank})
	}
}

func (g *Graph) followLink(from int32, b Linked, l *leads) {
	to, ok := int32(0), false
	if b.Target == "" {
		to, ok = g.uri(b.URL)
	} else {
		to, ok = g.file(b.Target)
	}
	switch {
	case ok && to != from:
		l.edges = append(l.edges, edge{from: from, to: to, line: int32(b.Line), kind: linkRank})
	case ok:
	case b.Target == "" && g.ours(b.URL):
		l.loose = append(l.loose, g.misses(from, Link, b.URL, b.Line))
	case b.Target != "" && concept(b.Target):
		l.loose = append(l.loose, g.misses(from, Link, b.Target, b.Line))
	}
}

func (g *Graph) misses(from int32, kind EdgeKind, target string, line int) Dangling {
	broken, ambiguous := g.whyUnresolved(target)
	return Dangling{From: g.idAt(from), Kind: kind, Target: target, Line: line, Broken: broken, Ambiguous: ambiguous}
}

// concept reports whether file may be an atom: a markdown file that is not
// reserved.
func concept(file string) bool { return strings.HasSuffix(file, ".md") && !isReserved(file) }

// spelt is the hash of a name that the atom at from uses, without what follows
// "#" and without ".md" and a slash before it: whatever a name leads to has an
// id, a path, a uri or a stem with the same, so that only the atoms that mention
// it have to be followed anew when it comes or goes.
func spelt(name, from string) uint32 {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(path.Dir(from), name)
	}
	name, _, _ = strings.Cut(strings.TrimLeft(name, "/"), "#")
	for strings.HasSuffix(name, ".md") {
		name = strings.TrimSuffix(name, ".md")
	}
	return hashOf(name)
}
