package okf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Drawing is a part of the graph to make a picture of. Its atoms are in order
// of path, and its edges, which join two of them, in order of their near ends
// and then as Out orders. A link that only mirrors a typed edge is not drawn.
type Drawing struct {
	Focus ID // the atom in the middle, "" for a whole bundle
	Atoms []*Atom
	Edges []Hop

	OmittedAtoms int // left out because of a limit
	OmittedEdges int
}

// View says what part of a graph to draw.
type View struct {
	Focus ID         // "" for the whole bundle
	Depth int        // steps from the focus; negative has no end
	Kinds []EdgeKind // of edge to walk and to draw; none means all
	Limit int        // most atoms; 0 is no limit
}

// Subgraph cuts a drawing out of the graph. Over the limit, the atoms nearest
// to the focus stay; without a focus, those with the most edges.
func (g *Graph) Subgraph(v View) Drawing {
	picked := g.pick(v)
	d := Drawing{Focus: v.Focus}
	if v.Limit > 0 && len(picked) > v.Limit {
		d.OmittedAtoms = len(picked) - v.Limit
		picked = picked[:v.Limit]
	}
	g.inOrder(picked)
	in := make(map[int32]bool, len(picked))
	for _, i := range picked {
		in[i] = true
		d.Atoms = append(d.Atoms, g.at(i))
	}
	var es []edge
	for _, i := range picked {
		for _, e := range g.outOf(i) {
			if in[e.to] && (len(v.Kinds) == 0 || slices.Contains(v.Kinds, kindOf(e.kind))) {
				es = append(es, e)
			}
		}
	}
	d.Edges = g.hops(withoutMirrors(es))
	return d
}

// pick lists the atoms of a view, the most important first.
func (g *Graph) pick(v View) []int32 {
	if v.Focus != "" {
		i, ok := g.byID(v.Focus)
		if !ok {
			return nil
		}
		out := []int32{i}
		g.walk(i, v.Depth, false, v.Kinds, func(to int32, _ func() []Hop) bool {
			out = append(out, to)
			return true
		})
		return out
	}
	var out []int32
	for i := range g.places() {
		if g.here(i) {
			out = append(out, i)
		}
	}
	g.inOrder(out)
	if v.Limit > 0 && len(out) > v.Limit {
		edges := make(map[int32]int, len(out))
		for _, i := range out {
			edges[i] = len(g.outOf(i)) + len(g.inTo(i))
		}
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(edges[b], edges[a]) })
	}
	return out
}

// inOrder sorts rows by path.
func (g *Graph) inOrder(list []int32) {
	slices.SortFunc(list, func(a, b int32) int { return strings.Compare(g.pathAt(a), g.pathAt(b)) })
}

// FitMermaid drops edges until mermaid draws the picture: it refuses more than
// 500. Links go first, then the typed edges from the end of the vocabulary.
func (d Drawing) FitMermaid() Drawing {
	const most = 500
	if len(d.Edges) <= most {
		return d
	}
	order := make([]int, len(d.Edges))
	for i := range order {
		order[i] = i
	}
	rank := func(k EdgeKind) int {
		if k == Link {
			return linkRank
		}
		return edgeRank(k)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(d.Edges[i].Kind), rank(d.Edges[j].Kind)) })
	order = order[:most]
	slices.Sort(order)
	kept := make([]Hop, 0, most)
	for _, i := range order {
		kept = append(kept, d.Edges[i])
	}
	d.OmittedEdges = len(d.Edges) - most
	d.Edges = kept
	return d
}

// describeOmitted tells what a limit left out, "" when nothing.
func (d Drawing) describeOmitted() string {
	var what []string
	if n := d.OmittedAtoms; n > 0 {
		what = append(what, fmt.Sprintf("%d of %d atoms", n, n+len(d.Atoms)))
	}
	if n := d.OmittedEdges; n > 0 {
		what = append(what, fmt.Sprintf("%d of %d edges", n, n+len(d.Edges)))
	}
	if what == nil {
		return ""
	}
	return "left out: " + strings.Join(what, ", ")
}

// Mermaid draws a flowchart: a shape for each well-known type, typed edges with
// their name, links dotted. What a limit left out is told in a comment.
func (d Drawing) Mermaid() []byte {
	var b bytes.Buffer
	b.WriteString("flowchart LR\n")
	if s := d.describeOmitted(); s != "" {
		fmt.Fprintf(&b, "  %%%% %s\n", s)
	}
	name := make(map[ID]string, len(d.Atoms))
	for i, a := range d.Atoms {
		name[a.ID] = fmt.Sprintf("n%d", i)
		left, right := mermaidShape(a.Type)
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, left, MermaidText(label(a)), right)
	}
	for _, e := range d.Edges {
		if e.Kind == Link {
			fmt.Fprintf(&b, "  %s -.-> %s\n", name[e.From], name[e.To])
			continue
		}
		fmt.Fprintf(&b, "  %s -->|%s| %s\n", name[e.From], e.Kind, name[e.To])
	}
	if f, ok := name[d.Focus]; ok {
		fmt.Fprintf(&b, "  style %s stroke-width:4px\n", f)
	}
	return b.Bytes()
}

// mermaidShape is the brackets around a label.
func mermaidShape(typ string) (left, right string) {
	switch strings.ToLower(typ) {
	case "role":
		return "([", "])"
	case "workflow":
		return "[[", "]]"
	case "policy", "constraint", "principle", "canon":
		return "{{", "}}"
	case "system":
		return "[(", ")]"
	case "artifact":
		return "[/", "/]"
	case "capability":
		return "((", "))"
	case "decision":
		return "{", "}"
	case "term", "definition", "concept":
		return "(", ")"
	case "task":
		return ">", "]"
	}
	return "[", "]"
}

// labelWidth is the longest label, in runes.
const labelWidth = 60

// label is what a picture calls an atom: its title, or its id, on one line.
func label(a *Atom) string {
	s := a.Title
	if strings.TrimSpace(s) == "" {
		s = string(a.ID)
	}
	s = oneLine(s)
	if r := []rune(s); len(r) > labelWidth {
		s = strings.TrimRight(string(r[:labelWidth-1]), " ") + "…"
	}
	return s
}

// MermaidText is s, one line of text, as it stands inside double quotes in a
// mermaid picture, where no title can end its quotes or be taken for markup. Mermaid reads entities written "#name;"
// there, takes "%%" for a comment even so, and renders what is left as markdown:
// emphasis, and a list where s begins like an item.
func MermaidText(s string) string {
	var b strings.Builder
	item := marker([]byte(s)) // the end of what would begin an item
	for i, r := range s {
		switch {
		case r == '"':
			b.WriteString("#quot;")
		case strings.ContainsRune("#<>&`\\%*$~", r), i == item-1, r == '_' && !inside(s, i):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inside reports whether both neighbours of byte i of s are of a word.
func inside(s string, i int) bool { return i > 0 && i+1 < len(s) && letter(s[i-1]) && letter(s[i+1]) }

// DOT draws a digraph for Graphviz. A node is named by its id.
func (d Drawing) DOT() []byte {
	var b bytes.Buffer
	b.WriteString("digraph odd {\n")
	if s := d.describeOmitted(); s != "" {
		fmt.Fprintf(&b, "  // %s\n", s)
	}
	b.WriteString("  rankdir=LR;\n  node [shape=box, style=rounded];\n")
	for _, a := range d.Atoms {
		focus := ""
		if a.ID == d.Focus {
			focus = ", penwidth=3"
		}
		fmt.Fprintf(&b, "  %s [label=\"%s\\n%s\"%s];\n", dotID(a.ID), dotText(label(a)), dotText(oneLine(a.Type)), focus)
	}
	for _, e := range d.Edges {
		style := fmt.Sprintf("label=\"%s\"", e.Kind)
		if e.Kind == Link {
			style = "style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [%s];\n", dotID(e.From), dotID(e.To), style)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// oneLine is what can be seen of s, on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// dotID is an id as a quoted name. A backslash escapes nothing there but a
// quote; doubled, it cannot escape the last one.
func dotID(id ID) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(string(id)) + `"`
}

// dotText is s inside a quoted label, where a backslash begins an escape.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// drawnNode and drawnEdge are the stored shape of a drawing as JSON.
type drawnNode struct {
	ID          ID     `json:"id"`
	Path        string `json:"path"`
	Type        string `json:"type"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Confidence  string `json:"confidence"`
	Tier        Tier   `json:"tier"`
	Blob        string `json:"blob"`
}

type drawnEdge struct {
	Source ID       `json:"source"`
	Target ID       `json:"target"`
	Kind   EdgeKind `json:"kind"`
	Line   int      `json:"line,omitempty"`
}

// JSON is the drawing as {version, focus, nodes, edges, omitted}; version is
// that of OKF.
func (d Drawing) JSON() ([]byte, error) {
	nodes, edges := make([]drawnNode, 0, len(d.Atoms)), make([]drawnEdge, 0, len(d.Edges))
	for _, a := range d.Atoms {
		nodes = append(nodes, drawnNode{a.ID, a.Path, a.Type, a.Title, a.Description, a.Confidence().String(), a.Tier(), a.Blob})
	}
	for _, e := range d.Edges {
		edges = append(edges, drawnEdge{e.From, e.To, e.Kind, e.Line})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Version string      `json:"version"`
		Focus   ID          `json:"focus,omitempty"`
		Nodes   []drawnNode `json:"nodes"`
		Edges   []drawnEdge `json:"edges"`
		Omitted int         `json:"omitted,omitempty"`
	}{okfVersion, d.Focus, nodes, edges, d.OmittedAtoms})
	return b.Bytes(), err
}
