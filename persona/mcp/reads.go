package mcp

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

// The sizes of a page.
const (
	pageFacts = 50
	pageHits  = 10  // unless more are asked for
	maxEdges  = 100 // in each direction, of one atom that is read
	maxDepth  = 8   // steps from the atom
)

type searchIn struct {
	Query  string `json:"query" jsonschema:"the words to search for; an id, path or uri finds the atom itself"`
	Type   string `json:"type,omitempty" jsonschema:"only atoms of this type: policy, process, role and so on"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most so many hits; 10 if left out"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type searchOut struct {
	Hits  []served.Found `json:"hits"`
	Total int            `json:"total"`
	Meant string         `json:"did_you_mean,omitempty"`
	Next  string         `json:"next,omitempty"`
}

type getIn struct {
	Atom   string `json:"atom" jsonschema:"id, path, uri or stem of the atom"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before: the rest of a long body"`
}

type getOut struct {
	Atom     served.Whole `json:"atom"`
	OutTotal int          `json:"out_total"`
	InTotal  int          `json:"in_total"`
	Next     string       `json:"next,omitempty"`
}

type relatedIn struct {
	Atom   string   `json:"atom" jsonschema:"id, path, uri or stem of the atom"`
	Edges  []string `json:"edges,omitempty" jsonschema:"only edges of these kinds: owner, uses, governed_by, link and so on"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type relatedOut struct {
	Of       served.Fact    `json:"of"`
	Edges    []served.Edge  `json:"edges"`
	Total    int            `json:"total"`
	Dangling []okf.Dangling `json:"dangling,omitempty"`
	Next     string         `json:"next,omitempty"`
}

type expandIn struct {
	Atom     string   `json:"atom" jsonschema:"id, path, uri or stem of the atom to start from"`
	Depth    int      `json:"depth,omitempty" jsonschema:"walk at most so many edges; 2 if left out"`
	Directed bool     `json:"directed,omitempty" jsonschema:"walk edges only the way they are written"`
	Edges    []string `json:"edges,omitempty" jsonschema:"walk only edges of these kinds"`
	Cursor   string   `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type expandOut struct {
	Of    served.Fact   `json:"of"`
	Steps []served.Step `json:"steps"`
	Total int           `json:"total"`
	Next  string        `json:"next,omitempty"`
}

type whyIn struct {
	From  string   `json:"from" jsonschema:"id, path, uri or stem of one atom"`
	To    string   `json:"to" jsonschema:"id, path, uri or stem of the other"`
	Edges []string `json:"edges,omitempty" jsonschema:"walk only edges of these kinds"`
}

type whyOut struct {
	Joined bool         `json:"joined"`
	Way    []served.Way `json:"way"`
}

func limitNumber(p *jsonschema.Schema, lo, hi float64) { p.Minimum, p.Maximum = &lo, &hi }

// limitLength limits a text, and wants one.
func limitLength(p *jsonschema.Schema, least, most int) { p.MinLength, p.MaxLength = &least, &most }

// maxName is the longest name, and maxQuery the longest question, in bytes.
const (
	maxName  = 1024
	maxQuery = 1024
)

func requireFields(fields ...string) func(map[string]*jsonschema.Schema) {
	return func(p map[string]*jsonschema.Schema) {
		for _, f := range fields {
			limitLength(p[f], 1, maxName)
		}
	}
}

func (w World) addReads(s *sdk.Server) {
	addTool(s, spec{name: "search", title: "Search the bundle", use: "Find atoms by words, best first. Start here, then get what you need.",
		limits: func(p map[string]*jsonschema.Schema) {
			limitLength(p["query"], 1, maxQuery)
			limitNumber(p["limit"], 1, pageFacts)
		}}, w.searchAtoms)
	addTool(s, spec{name: "get", title: "Get one atom", use: "Everything about one atom: its keys, its edges, where it is from, who verified it, and its body.", limits: requireFields("atom")}, w.getAtom)
	addTool(s, spec{name: "related", title: "Edges at an atom", use: "The edges at an atom, both ways, with the atoms at their far ends.", limits: requireFields("atom")}, w.findRelated)
	addTool(s, spec{name: "expand", title: "Walk from an atom", use: "What can be reached from an atom, and by which edges.",
		limits: func(p map[string]*jsonschema.Schema) {
			limitLength(p["atom"], 1, maxName)
			limitNumber(p["depth"], 1, maxDepth)
		}}, w.expandAtom)
	addTool(s, spec{name: "why", title: "The way between two atoms", use: "The shortest way of edges between two atoms: why one matters to the other.", limits: requireFields("from", "to")}, w.findPath)
}

func (w World) searchAtoms(ctx context.Context, in searchIn) (out searchOut, err error) {
	if strings.TrimSpace(in.Query) == "" {
		return out, errors.New("query: want words to search for")
	}
	size := in.Limit
	if size == 0 {
		size = pageHits
	}
	question := []string{"search", in.Query, in.Type}
	from, err := readCursor(in.Cursor, question...)
	if err != nil {
		return out, err
	}
	g, err := w.Graph(ctx)
	if err != nil {
		return out, err
	}
	hits, total := served.Search(g, strings.TrimSpace(in.Query), in.Type, from+size)
	out = searchOut{Hits: append([]served.Found{}, hits[min(from, len(hits)):]...), Total: total}
	if from+size < total {
		out.Next = cursorAt(from+size, question...)
	}
	if total == 0 {
		out.Meant = g.Spell(in.Query)
	}
	return out, nil
}

// findAtom finds an atom of the bundle as it stands; field is the argument it was
// named in.
func (w World) findAtom(ctx context.Context, field, name string) (*okf.Graph, *okf.Atom, error) {
	g, err := w.Graph(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := findAtom(g, field, name)
	return g, a, err
}

func findAtom(g *okf.Graph, field, name string) (*okf.Atom, error) {
	a, err := g.Find(name)
	if err != nil {
		return nil, &fieldError{field, err}
	}
	return a, nil
}

// fieldError is an error about one argument.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

// Unwrap is what was wrong with it.
func (e *fieldError) Unwrap() error { return e.err }

func (w World) getAtom(ctx context.Context, in getIn) (out getOut, err error) {
	g, a, err := w.findAtom(ctx, "atom", in.Atom)
	if err != nil {
		return out, err
	}
	if len(a.Bytes()) == 0 {
		return out, errors.New("atom: changed while it was read; try again")
	}
	whole := served.WholeOf(g, a)
	out = getOut{Atom: whole, OutTotal: len(whole.Out), InTotal: len(whole.In)}
	out.Atom.Out, out.Atom.In = whole.Out[:min(maxEdges, len(whole.Out))], whole.In[:min(maxEdges, len(whole.In))]
	body, _ := cleanText(string(a.Body()), true) // as a whole, so that no page ends inside of what is taken out
	out.Atom.Body, out.Next, err = textPage(body, in.Cursor, "get", string(a.ID), a.Blob)
	return out, err
}

func (w World) findRelated(ctx context.Context, in relatedIn) (out relatedOut, err error) {
	g, a, kinds, err := w.findAtomAndKinds(ctx, "atom", in.Atom, in.Edges)
	if err != nil {
		return out, err
	}
	all := served.Related(g, a.ID, kinds...)
	out = relatedOut{Of: served.FactOf(a), Total: len(all), Dangling: g.Dangling(a.ID)}
	out.Edges, out.Next, err = cutPage(all, pageFacts, in.Cursor, append([]string{"related", string(a.ID)}, in.Edges...)...)
	return out, err
}

// findAtomAndKinds is findAtom and the kinds of edge of these names.
func (w World) findAtomAndKinds(ctx context.Context, field, name string, edges []string) (*okf.Graph, *okf.Atom, []okf.EdgeKind, error) {
	kinds, err := served.Kinds(edges)
	if err != nil {
		return nil, nil, nil, &fieldError{"edges", err}
	}
	g, a, err := w.findAtom(ctx, field, name)
	return g, a, kinds, err
}

func (w World) expandAtom(ctx context.Context, in expandIn) (out expandOut, err error) {
	g, a, kinds, err := w.findAtomAndKinds(ctx, "atom", in.Atom, in.Edges)
	if err != nil {
		return out, err
	}
	if in.Depth == 0 {
		in.Depth = 2
	}
	all := served.Expand(g, a.ID, in.Depth, in.Directed, kinds...)
	out = expandOut{Of: served.FactOf(a), Total: len(all)}
	question := append([]string{"expand", string(a.ID), strconv.Itoa(in.Depth), strconv.FormatBool(in.Directed)}, in.Edges...)
	out.Steps, out.Next, err = cutPage(all, pageFacts, in.Cursor, question...)
	return out, err
}

func (w World) findPath(ctx context.Context, in whyIn) (out whyOut, err error) {
	g, from, kinds, err := w.findAtomAndKinds(ctx, "from", in.From, in.Edges)
	if err != nil {
		return out, err
	}
	to, err := findAtom(g, "to", in.To)
	if err != nil {
		return out, err
	}
	out.Way = append([]served.Way{}, served.Why(g, from.ID, to.ID, kinds...)...)
	out.Joined = from == to || len(out.Way) > 0
	return out, nil
}
