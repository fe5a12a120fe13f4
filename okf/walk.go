package okf

import (
	"bytes"
	"cmp"
	"slices"
)

// Step is an atom that a walk reached. Path leads to it from the start, each
// hop as it is written: walked backwards, From is the far end.
type Step struct {
	ID    ID    `json:"id"`
	Depth int   `json:"depth"`
	Path  []Hop `json:"path"`
}

// Related returns the hops at id, of the given kinds or of all, in the order of
// kind; within a kind those that leave before those that arrive, and then by
// the id at the far end. Where no kind is given, a link to or from an atom that
// a typed edge joins already is left out: it only says so in the text.
func (g *Graph) Related(id ID, kinds ...EdgeKind) []Hop {
	i, ok := g.byID(id)
	if !ok {
		return nil
	}
	es := g.around(i, false, kinds)
	if len(kinds) == 0 {
		es = withoutMirrors(es)
	}
	return g.hops(es)
}

// withoutMirrors drops the links between atoms that a typed edge joins, either way.
func withoutMirrors(es []edge) []edge {
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

// Expand walks from id along the given kinds of edge, or all, and returns what
// it reached in at most depth steps: nearest first, then in the order in which
// the atoms before were reached, then as Related orders. Each atom is reached
// once, by the first of its shortest paths. Edges are walked both ways unless
// directed. A negative depth has no end.
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

// Why returns the shortest path between two atoms along the given kinds of
// edge, or all, walked both ways; the first in Expand's order where there are
// several. It is nil where nothing joins them, and where they are one.
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

// Backlink is a hop that arrives at an atom, and the line that makes it.
type Backlink struct {
	Hop
	Path string `json:"path"`
	Text string `json:"text"` // the line, trimmed
}

// Backlinks returns what points at id, in the order of In.
func (g *Graph) Backlinks(id ID) []Backlink {
	var out []Backlink
	for _, h := range g.In(id) {
		if from := g.ByID(h.From); from != nil {
			out = append(out, Backlink{Hop: h, Path: from.Path, Text: lineOf(from.Bytes(), h.Line)})
		}
	}
	return out
}

// lineOf is line n of src, trimmed.
func lineOf(src []byte, n int) string {
	for line := range bytes.Lines(src) {
		if n--; n == 0 {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}

// walk visits what can be reached from start, breadth first, until visit says
// no. start itself is not visited.
func (g *Graph) walk(start int32, depth int, directed bool, kinds []EdgeKind, visit func(to int32, path func() []Hop) bool) {
	came := map[int32]edge{start: {}}
	near := []int32{start}
	for d := 1; len(near) > 0 && (depth < 0 || d <= depth); d++ {
		var next []int32
		for _, i := range near {
			for _, e := range g.around(i, directed, kinds) {
				to := e.other(i)
				if _, seen := came[to]; seen {
					continue
				}
				came[to] = e
				next = append(next, to)
				if !visit(to, func() []Hop { return g.hops(trail(came, start, to)) }) {
					return
				}
			}
		}
		near = next
	}
}

// trail is the edges by which a walk came from start to end.
func trail(came map[int32]edge, start, end int32) []edge {
	var out []edge
	for at := end; at != start; {
		e := came[at]
		out = append(out, e)
		at = e.other(at)
	}
	slices.Reverse(out)
	return out
}

// other is the end of e that is not i.
func (e edge) other(i int32) int32 {
	if e.from == i {
		return e.to
	}
	return e.from
}

// around returns the edges at atom i, its own loops left out.
func (g *Graph) around(i int32, directed bool, kinds []EdgeKind) []edge {
	es := slices.Clone(g.outOf(i))
	if !directed {
		es = append(es, g.inTo(i)...)
	}
	es = slices.DeleteFunc(es, func(e edge) bool {
		return e.from == e.to || len(kinds) > 0 && !slices.Contains(kinds, kindOf(e.kind))
	})
	arrives := func(e edge) int {
		if e.to == i {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(es, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(arrives(a), arrives(b)),
			cmp.Compare(g.idAt(a.other(i)), g.idAt(b.other(i))))
	})
	return es
}
