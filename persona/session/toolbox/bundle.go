package toolbox

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

// librarians are the tools that read the bundle.
func librarians() []entry {
	atom := param{name: "atom", kind: isText, must: true, about: "an atom's id, path, uri or stem"}
	edges := param{name: "edges", kind: isWords, about: "only these kinds of edge"}
	tool := func(name, about string, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about}, grant: name, do: do, params: params}
	}
	return []entry{
		tool("search", "Finds atoms of the knowledge base by words.", search,
			param{name: "query", kind: isText, must: true, about: "the words"},
			param{name: "type", kind: isText, about: "only atoms of this type"},
			param{name: "limit", kind: isInt, most: 50, about: "how many; 10 without it"}),
		tool("get", "Shows an atom: its fields, confidence, sources, edges and text.", get, atom),
		tool("related", "Lists what an atom is joined with, both ways.", findRelated, atom, edges),
		tool("expand", "Lists what can be reached from an atom.", expand, atom, edges,
			param{name: "depth", kind: isInt, most: 5, about: "over how many edges; 2 without it"}),
	}
}

// formatValue returns a value as a model reads it, with <, > and & as they are, so that what is
// no text to be shown is seen for what it is.
func formatValue(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func search(_ context.Context, c *call) (string, error) {
	found, total := served.Search(c.b.o.Request.Graph, c.args.text("query"), c.args.text("type"), max(c.args.num("limit", 10), 1))
	return formatValue(map[string]any{"found": found, "total": total})
}

// atom finds the atom that a call names.
func (c *call) atom() (*okf.Atom, error) {
	a, err := c.b.o.Request.Graph.Find(c.args.text("atom"))
	if err != nil {
		return nil, failf("missing", "%s", err.Error())
	}
	return a, nil
}

// edges reads the kinds of edge that a call names.
func (c *call) edges() ([]okf.EdgeKind, error) {
	kinds, err := served.Kinds(c.args.words["edges"])
	if err != nil {
		return nil, failf("bad_arguments", "edges: %s", err.Error())
	}
	return kinds, nil
}

func get(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	return formatValue(served.WholeOf(c.b.o.Request.Graph, a))
}

func findRelated(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	kinds, err := c.edges()
	if err != nil {
		return "", err
	}
	return formatValue(served.Related(c.b.o.Request.Graph, a.ID, kinds...))
}

func expand(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	kinds, err := c.edges()
	if err != nil {
		return "", err
	}
	return formatValue(served.Expand(c.b.o.Request.Graph, a.ID, max(c.args.num("depth", 2), 1), false, kinds...))
}
