// Package served gives every reader of an atom the same JSON: the command line, the
// MCP server and a session's own tools.
//
// Whatever is told of an atom comes with where it is from (path, blob, sources)
// and how far it may be trusted: the confidence is what counts, not what the file
// claims, so that verified is told only where a person verified.
//
// Titles, descriptions and texts are without characters that nobody can see. An
// id, a path and a key of a file stay as they are, because they are names.
package served

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Fact is an atom as lists tell it.
type Fact struct {
	ID          okf.ID       `json:"id"`
	Path        string       `json:"path"` // below the bundle's root
	Type        string       `json:"type"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Confidence  string       `json:"confidence"`
	Tier        okf.Tier     `json:"tier"`
	Status      string       `json:"status,omitempty"`
	URI         string       `json:"uri,omitempty"`
	Blob        string       `json:"blob"`
	Sources     []okf.Source `json:"sources,omitempty"`
}

// FactOf is what is told of an atom.
func FactOf(a *okf.Atom) Fact {
	return Fact{
		ID: a.ID, Path: a.Path, Type: a.Type, Title: okf.Visible(a.Title), Description: okf.Visible(a.Description), Confidence: a.Confidence().String(),
		Tier: a.Tier(), Status: a.Status, URI: a.URI, Blob: a.Blob, Sources: a.Sources,
	}
}

// Whole is everything about one atom. Fields holds every key as written;
// confidence and tier are what count.
type Whole struct {
	Fact
	Tags      []string       `json:"tags,omitempty"`
	Claimed   string         `json:"claimed_confidence,omitempty"`
	Generated *okf.Stamp     `json:"generated,omitempty"`
	Verified  []okf.Stamp    `json:"verified,omitempty"`
	Fields    map[string]any `json:"fields"`
	Out       []okf.Hop      `json:"out"`
	In        []okf.Hop      `json:"in"`
	Dangling  []okf.Dangling `json:"dangling,omitempty"`
	Headings  []okf.Heading  `json:"headings,omitempty"`
	BodyLine  int            `json:"body_line"`
	Body      string         `json:"body"`
}

// WholeOf tells all of an atom of g.
func WholeOf(g *okf.Graph, a *okf.Atom) Whole {
	w := Whole{
		Fact: FactOf(a), Tags: a.Tags, Claimed: a.Claimed.String(), Verified: a.Verified,
		Fields: map[string]any{}, Out: append([]okf.Hop{}, g.Out(a.ID)...), In: append([]okf.Hop{}, g.In(a.ID)...), Dangling: g.Dangling(a.ID),
		Headings: a.Headings(), BodyLine: a.BodyLine, Body: okf.Visible(string(a.Body())),
	}
	if a.Generated != (okf.Stamp{}) {
		w.Generated = &a.Generated
	}
	for _, f := range a.Fields {
		w.Fields[f.Key] = f.Value
	}
	return w
}

// Found is an atom that was found; the score is only good for comparing the
// hits of one search.
type Found struct {
	Fact
	Score float64 `json:"score"`
	Line  int     `json:"line,omitempty"`
	Text  string  `json:"text,omitempty"`
}

// Search is at most limit atoms that have the query's words, best first, and how
// many there are. A typ that is not "" keeps only atoms of that type; a limit
// that is not positive is none.
func Search(g *okf.Graph, query, typ string, limit int) (found []Found, total int) {
	var keep func(*okf.Atom) bool
	if typ != "" {
		keep = func(a *okf.Atom) bool { return strings.EqualFold(a.Type, typ) }
	}
	hits, total := g.SearchWhere(query, keep, limit)
	for _, h := range hits {
		found = append(found, Found{FactOf(g.ByID(h.ID)), h.Score, h.Line, okf.Visible(h.Text)})
	}
	return found, total
}

// Edge is one edge at an atom: direction is out or in, atom the far end.
type Edge struct {
	Direction string       `json:"direction"`
	Kind      okf.EdgeKind `json:"kind"`
	Line      int          `json:"line,omitempty"`
	Atom      Fact         `json:"atom"`
}

// Related are the edges at an atom, both ways; kinds keeps only those.
func Related(g *okf.Graph, id okf.ID, kinds ...okf.EdgeKind) []Edge {
	out := []Edge{}
	for _, h := range g.Related(id, kinds...) {
		if h.From == id {
			out = append(out, Edge{"out", h.Kind, h.Line, FactOf(g.ByID(h.To))})
		} else {
			out = append(out, Edge{"in", h.Kind, h.Line, FactOf(g.ByID(h.From))})
		}
	}
	return out
}

// Step is one atom that was reached, and the path to it.
type Step struct {
	Depth int       `json:"depth"`
	Atom  Fact      `json:"atom"`
	Path  []okf.Hop `json:"path"`
}

// Expand is what can be reached from an atom over at most depth edges, any
// number where depth is 0; directed walks them only as they are written.
func Expand(g *okf.Graph, id okf.ID, depth int, directed bool, kinds ...okf.EdgeKind) []Step {
	if depth == 0 {
		depth = -1
	}
	out := []Step{}
	for _, s := range g.Expand(id, depth, directed, kinds...) {
		out = append(out, Step{s.Depth, FactOf(g.ByID(s.ID)), s.Path})
	}
	return out
}

// Way is one hop as it is written, between the atoms of the way.
type Way struct {
	okf.Hop
	Near Fact `json:"near"`
	Far  Fact `json:"far"`
}

// Why is the shortest way of edges between two atoms; nil where nothing joins
// them or they are one.
func Why(g *okf.Graph, from, to okf.ID, kinds ...okf.EdgeKind) []Way {
	var out []Way
	for _, h := range g.Why(from, to, kinds...) {
		far := h.To
		if h.To == from {
			far = h.From
		}
		out = append(out, Way{h, FactOf(g.ByID(from)), FactOf(g.ByID(far))})
		from = far
	}
	return out
}

// Kinds reads the names of edges; a hyphen is as good as an underscore. The
// error names what is none, and the way out.
func Kinds(names []string) ([]okf.EdgeKind, error) {
	known := append(okf.EdgeKinds(), okf.Link)
	var out []okf.EdgeKind
	for _, name := range names {
		k := okf.EdgeKind(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
		if k == "owns" {
			return nil, fmt.Errorf("there is no edge owns; a process names its owner: owner")
		}
		if !slices.Contains(known, k) {
			return nil, fmt.Errorf("unknown edge %q; want one of %s", k, strings.Trim(fmt.Sprint(known), "[]"))
		}
		out = append(out, k)
	}
	return out, nil
}
