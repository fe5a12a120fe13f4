package okf

import (
	"path"
	"slices"
	"strings"
)

// adjacency is the edges of every atom, one way, in compressed rows: the edges
// of atom i are hops[from[i]:from[i+1]].
type adjacency struct {
	from []int32
	hops []arc
}

// arc is one edge as the rows keep it.
type arc struct {
	other int32 // the atom at the far end
	line  int32
	kind  uint8 // index into kinds
}

// kinds are the typed edges in canonical order, then Link.
var kinds = append(EdgeKinds(), Link)

const linkKind = 10 // of Link in kinds

func (a adjacency) of(i int32) []arc { return a.hops[a.from[i]:a.from[i+1]] }

// link resolves every edge and fills both directions. A link beside a typed
// edge to the same atom only mirrors it, and is dropped; so is its repetition.
func (g *Graph) link() {
	g.out.from = make([]int32, len(g.atoms)+1)
	indegree := make([]int32, len(g.atoms)+1)
	for i, a := range g.atoms {
		g.out.from[i] = int32(len(g.out.hops))
		g.out.hops = g.appendArcs(g.out.hops, int32(i), a)
		for _, h := range g.out.hops[g.out.from[i]:] {
			indegree[h.other]++
		}
	}
	g.out.from[len(g.atoms)] = int32(len(g.out.hops))
	g.in.from = make([]int32, len(g.atoms)+1)
	for i := range g.atoms {
		g.in.from[i+1] = g.in.from[i] + indegree[i]
	}
	g.in.hops = make([]arc, len(g.out.hops))
	next := slices.Clone(g.in.from)
	for i := range g.atoms {
		for _, h := range g.out.of(int32(i)) {
			g.in.hops[next[h.other]] = arc{int32(i), h.line, h.kind}
			next[h.other]++
		}
	}
	for i := range g.atoms {
		slices.SortStableFunc(g.in.of(int32(i)), func(a, b arc) int {
			if a.kind != b.kind {
				return int(a.kind) - int(b.kind)
			}
			return strings.Compare(string(g.atoms[a.other].ID), string(g.atoms[b.other].ID))
		})
	}
}

func (g *Graph) appendArcs(hops []arc, self int32, a *Atom) []arc {
	start := len(hops)
	for _, e := range a.Edges {
		if to := g.target(e.Target); to >= 0 {
			hops = append(hops, arc{to, int32(e.Line), kindIndex(e.Kind)})
		}
	}
	for _, l := range a.Links() {
		to := g.linkTarget(l.Target)
		if to < 0 || to == self || slices.ContainsFunc(hops[start:], func(h arc) bool { return h.other == to }) {
			continue
		}
		hops = append(hops, arc{to, int32(l.Line), linkKind})
	}
	return hops
}

func kindIndex(k EdgeKind) uint8 { return uint8(slices.Index(kinds, k)) }

// target resolves what a typed edge names: an id, a bundle path or an
// unambiguous stem; -1 when nothing has the name.
func (g *Graph) target(name string) int32 {
	if i := g.exact(name); i >= 0 {
		return i
	}
	if at := g.stems()[strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".md")]; len(at) == 1 {
		return at[0]
	}
	return -1
}

// linkTarget resolves a link's bundle path; a path without ".md" is taken as one with it.
func (g *Graph) linkTarget(p string) int32 {
	if p == "" {
		return -1
	}
	if i, ok := g.byPath[p]; ok {
		return i
	}
	if i, ok := g.byPath[p+".md"]; ok && path.Ext(p) == "" {
		return i
	}
	return -1
}

// Out returns the hops that leave id, typed edges first in canonical order, then links.
func (g *Graph) Out(id ID) []Hop {
	i, ok := g.byID[id]
	if !ok {
		return nil
	}
	var out []Hop
	for _, h := range g.out.of(i) {
		out = append(out, Hop{id, g.atoms[h.other].ID, kinds[h.kind], int(h.line)})
	}
	return out
}

// In returns the hops that arrive at id, in the order of kind, then source id.
func (g *Graph) In(id ID) []Hop {
	i, ok := g.byID[id]
	if !ok {
		return nil
	}
	var out []Hop
	for _, h := range g.in.of(i) {
		out = append(out, Hop{g.atoms[h.other].ID, id, kinds[h.kind], int(h.line)})
	}
	return out
}

// Dangling returns the unresolved edges of id (Link included), in file order.
// A uri of an authority that the bundle does not hold is external, not dangling;
// so is a link to a file that is no markdown, or to a folder.
func (g *Graph) Dangling(id ID) []Dangling {
	i, ok := g.byID[id]
	if !ok {
		return nil
	}
	a := g.atoms[i]
	var out []Dangling
	for _, e := range a.Edges {
		if g.target(e.Target) < 0 && !g.External(e.Target) {
			out = append(out, Dangling{id, e.Kind, e.Target, e.Line, g.brokenAt(e.Target)})
		}
	}
	for _, l := range a.Links() {
		if path.Ext(l.Target) == ".md" && !reserved(l.Target) && g.linkTarget(l.Target) < 0 {
			out = append(out, Dangling{id, Link, l.Target, l.Line, g.broken[l.Target]})
		}
	}
	slices.SortStableFunc(out, func(a, b Dangling) int { return a.Line - b.Line })
	return out
}

// brokenAt reports whether an edge's target names a file that gave no atom.
func (g *Graph) brokenAt(target string) bool {
	p := path.Clean(strings.TrimPrefix(target, "/"))
	if g.broken[p] || g.broken[p+".md"] {
		return true
	}
	for b := range g.broken {
		if strings.TrimSuffix(path.Base(b), ".md") == p {
			return true
		}
	}
	return false
}

// External reports whether name is a uri of an authority that no atom of the
// bundle has a uri of: somebody else's, and never dead.
func (g *Graph) External(name string) bool {
	authority, ok := authorityOf(name)
	if !ok {
		return false
	}
	for uri := range g.byURI {
		if own, _ := authorityOf(uri); own == authority {
			return false
		}
	}
	return true
}

// authorityOf is what names a uri's home: the scheme, and on the web the host
// too. The rest of a uri is never taken apart.
func authorityOf(uri string) (string, bool) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if scheme == "http" || scheme == "https" {
		host, _, _ := strings.Cut(rest, "/")
		return host, ok
	}
	return scheme, ok && scheme != ""
}
