package okf

import (
	"bytes"
	"cmp"
	"slices"
)

// Step is an atom that a walk reached. Path leads to it from the start. Each hop has its
// own direction: one that was walked backwards has From at the far end.
type Step struct {
	ID    ID    `json:"id"`
	Depth int   `json:"depth"`
	Path  []Hop `json:"path"`
}

// Related returns the edges of id of the given kinds, or of all, in order of kind. Within a
// kind, outgoing edges come before incoming ones, each in order of the other atom's id. If
// no kind is given, links between atoms that a typed edge joins are left out, because they
// only repeat it in the text.
func (g *Graph) Related(id ID, kinds ...EdgeKind) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	es := g.edgesAround(i, false, kinds)
	if len(kinds) == 0 {
		es = dropMirrors(es)
	}
	return g.makeHops(es)
}

// dropMirrors drops the links between atoms that a typed edge joins in either direction.
func dropMirrors(es []edge) []edge {
	typed := map[[2]int32]bool{}
	for _, e := range es {
		if e.kind != linkRank {
			typed[[2]int32{min(e.from, e.to), max(e.from, e.to)}] = true
		}
	}
	return slices.DeleteFunc(es, func(e edge) bool {
		return e.kind == linkRank && typed[[2]int32{min(e.from, e.to), max(e.from, e.to)}]
	})
}

// Expand walks from id along edges of the given kinds, or all, and returns the atoms that
// it reaches in at most depth steps; all if depth is negative. It walks edges both ways
// unless directed. Nearest atoms come first, and each is reached once, by its first
// shortest path. At one distance, atoms are in the order of the atoms before them, then in
// the order of Related.
func (g *Graph) Expand(id ID, depth int, directed bool, kinds ...EdgeKind) []Step {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	var out []Step
	g.walk(i, depth, directed, kinds, func(to int32, path func() []Hop) bool {
		p := path()
		out = append(out, Step{ID: g.idAt(to), Depth: len(p), Path: p})
		return true
	})
	return out
}

// Why returns the shortest path between two atoms along edges of the given kinds, or all,
// walked both ways; the first in Expand's order if there are several. It is nil if nothing
// joins them, or if they are the same.
func (g *Graph) Why(from, to ID, kinds ...EdgeKind) []Hop {
	i, ok := g.byID(from)
	want, also := g.byID(to)
	if !ok || !also {
		return nil
	}
	var found []Hop
	g.walk(i, -1, false, kinds, func(at int32, path func() []Hop) bool {
		if at == want {
			found = path()
		}
		return found == nil
	})
	return found
}

// Backlink is an edge that arrives at an atom, and the line that it is written on.
type Backlink struct {
	Hop
	Path string `json:"path"`
	Text string `json:"text"` // the line, trimmed
}

// Backlinks returns the edges that arrive at id, in the order of In.
func (g *Graph) Backlinks(id ID) []Backlink {
	var out []Backlink
	for _, h := range g.In(id) {
		if from := g.ByID(h.From); from != nil {
			out = append(out, Backlink{Hop: h, Path: from.Path, Text: lineText(from.Bytes(), h.Line)})
		}
	}
	return out
}

// lineText returns line n of src, trimmed.
func lineText(src []byte, n int) string {
	for line := range bytes.Lines(src) {
		if n--; n == 0 {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// walk visits what can be reached from start, breadth first, until visit returns false. It
// does not visit start.
func (g *Graph) walk(start int32, depth int, directed bool, kinds []EdgeKind, visit func(to int32, path func() []Hop) bool) {
	came := map[int32]edge{start: {}}
	near := []int32{start}
	for d := 1; len(near) > 0 && (depth < 0 || d <= depth); d++ {
		var next []int32
		for _, i := range near {
			for _, e := range g.edgesAround(i, directed, kinds) {
				to := e.otherEnd(i)
				if _, seen := came[to]; seen {
					continue
				}
				came[to] = e
				next = append(next, to)
				if !visit(to, func() []Hop { return g.makeHops(pathEdges(came, start, to)) }) {
					return
				}
			}
		}
		near = next
	}
}

func pathEdges(came map[int32]edge, start, end int32) []edge {
	var out []edge
	for at := end; at != start; {
		e := came[at]
		out = append(out, e)
		at = e.otherEnd(at)
	}
	slices.Reverse(out)
	return out
}

// otherEnd returns the end of e that is not i.
func (e edge) otherEnd(i int32) int32 {
	if e.from == i {
		return e.to
	}
	return e.from
}

// edgesAround returns the edges of atom i without loops.
func (g *Graph) edgesAround(i int32, directed bool, kinds []EdgeKind) []edge {
	es := slices.Clone(g.edgesFrom(i))
	if !directed {
		es = append(es, g.edgesTo(i)...)
	}
	es = slices.DeleteFunc(es, func(e edge) bool {
		return e.from == e.to || len(kinds) > 0 && !slices.Contains(kinds, kindOfRank(e.kind))
	})
	arrives := func(e edge) int {
		if e.to == i {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(es, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(arrives(a), arrives(b)),
			cmp.Compare(g.idAt(a.otherEnd(i)), g.idAt(b.otherEnd(i))))
	})
	return es
}
