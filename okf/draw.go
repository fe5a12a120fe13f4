package okf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Drawing is a part of the graph to draw. Its atoms are in order of path. Its edges join
// two of them and are in order of their near ends, then as Out sorts them. A link between
// atoms that a typed edge joins is left out.
type Drawing struct {
	Focus ID // the atom in the middle, "" for a whole bundle
	Atoms []*Atom
	Edges []Hop

	OmittedAtoms int // left out because of a limit
	OmittedEdges int
}

// View selects the part of a graph to draw.
type View struct {
	Focus ID         // "" for the whole bundle
	Depth int        // most steps from the focus; negative for no limit
	Kinds []EdgeKind // the kinds of edge to follow and draw; none means all
	Limit int        // most atoms; 0 is no limit
}

// Subgraph returns the drawing of a view. If there are more atoms than the limit, it keeps
// those nearest to the focus or, without a focus, those with the most edges.
func (g *Graph) Subgraph(v View) Drawing {
	picked := g.pickRows(v)
	d := Drawing{Focus: v.Focus}
	if v.Limit > 0 && len(picked) > v.Limit {
		d.OmittedAtoms = len(picked) - v.Limit
		picked = picked[:v.Limit]
	}
	g.sortRows(picked)
	in := make(map[int32]bool, len(picked))
	for _, i := range picked {
		in[i] = true
		d.Atoms = append(d.Atoms, g.atomAt(i))
	}
	var es []edge
	for _, i := range picked {
		for _, e := range g.edgesFrom(i) {
			if in[e.to] && (len(v.Kinds) == 0 || slices.Contains(v.Kinds, kindOfRank(e.kind))) {
				es = append(es, e)
			}
		}
	}
	d.Edges = g.makeHops(dropMirrors(es))
	return d
}

// pickRows lists the atoms of a view, the most important first.
func (g *Graph) pickRows(v View) []int32 {
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
	for i := range g.rowCount() {
		if g.hasAtom(i) {
			out = append(out, i)
		}
	}
	g.sortRows(out)
	if v.Limit > 0 && len(out) > v.Limit {
		edges := make(map[int32]int, len(out))
		for _, i := range out {
			edges[i] = len(g.edgesFrom(i)) + len(g.edgesTo(i))
		}
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(edges[b], edges[a]) })
	}
	return out
}

func (g *Graph) sortRows(list []int32) {
	slices.SortFunc(list, func(a, b int32) int { return strings.Compare(g.pathAt(a), g.pathAt(b)) })
}

// FitMermaid drops edges until mermaid draws the picture, which refuses more than 500.
// Links go first, then typed edges from the end of EdgeKinds.
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

// describeOmitted tells what a limit left out; "" if nothing.
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

// Mermaid draws a flowchart: a shape for each known type, typed edges with their names,
// links dotted. A comment tells what a limit left out.
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
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, left, MermaidText(drawLabel(a)), right)
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

// mermaidShape returns the brackets around a label.
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

// drawLabel returns the text for an atom in a picture: its title or else its id, on one
// line.
func drawLabel(a *Atom) string {
	s := a.Title
	if strings.TrimSpace(s) == "" {
		s = string(a.ID)
	}
	s = OneLine(s)
	if r := []rune(s); len(r) > labelWidth {
		s = strings.TrimRight(string(r[:labelWidth-1]), " ") + "…"
	}
	return s
}

// MermaidText escapes s, one line of text, for double quotes in a mermaid picture, so that
// no title can end the quotes or become markup. In there, mermaid reads entities written
// "#name;", takes "%%" for a comment, and renders the rest as markdown.
func MermaidText(s string) string {
	var b strings.Builder
	item := markerLen([]byte(s)) // the end of what would begin an item
	for i, r := range s {
		switch {
		case r == '"':
			b.WriteString("#quot;")
		case strings.ContainsRune("#<>&`\\%*$~", r), i == item-1, r == '_' && !isInsideWord(s, i):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isInsideWord reports whether both neighbours of byte i of s belong to a word.
func isInsideWord(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isWordLetter(s[i-1]) && isWordLetter(s[i+1])
}

// DOT draws a digraph for Graphviz. Nodes are named by id.
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
		fmt.Fprintf(&b, "  %s [label=\"%s\\n%s\"%s];\n", quoteDotID(a.ID), escapeDotText(drawLabel(a)), escapeDotText(OneLine(a.Type)), focus)
	}
	for _, e := range d.Edges {
		style := fmt.Sprintf("label=\"%s\"", e.Kind)
		if e.Kind == Link {
			style = "style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [%s];\n", quoteDotID(e.From), quoteDotID(e.To), style)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// quoteDotID quotes an id as a name. A backslash escapes only a quote there; doubled, it
// cannot escape the closing quote.
func quoteDotID(id ID) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(string(id)) + `"`
}

// escapeDotText escapes s for a quoted label, where a backslash begins an escape.
func escapeDotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// drawnNode and drawnEdge are the JSON form of a drawing.
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

// JSON encodes the drawing as {version, focus, nodes, edges, omitted}; version is that of
// OKF.
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
