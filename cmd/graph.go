package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// mermaidAtoms is how many atoms a mermaid picture shows unless told: more of
// them cannot be told apart.
const mermaidAtoms = 100

func graph(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "graph",
		Usage: "print the graph of atoms and links as Mermaid, DOT or JSON",
		Description: "odd knowledge graph --focus shore-lead --depth 2\n" +
			"odd knowledge graph --format dot | dot -Tsvg > graph.svg",
		Flags: readFlags(
			&cli.StringFlag{Name: "format", Value: "mermaid", Usage: "print `FORMAT`: mermaid, dot or json"},
			&cli.StringFlag{Name: "focus", Usage: "print only what is near `ATOM`"},
			&cli.IntFlag{Name: "depth", Value: 2, Usage: "with --focus, go at most `N` links far; 0 is no limit"},
			&cli.IntFlag{Name: "limit", Value: mermaidAtoms, DefaultText: "100 for mermaid, all for dot and json", Usage: "print at most `N` atoms, the nearest or those with most links; 0 is all"},
			edgeFlag("print only"),
		),
		Action: do(env, runGraph),
	})
}

// viewOf reads the flags that say what to draw.
func viewOf(c *cli.Context, format string) (okf.View, error) {
	kinds, err := edgeKinds(c)
	if err != nil {
		return okf.View{}, err
	}
	v := okf.View{Depth: c.Int("depth"), Limit: c.Int("limit"), Kinds: kinds}
	if v.Depth < 0 || v.Limit < 0 {
		return v, usage("knowledge graph: --depth and --limit are 0 or more")
	}
	if v.Depth == 0 {
		v.Depth = -1
	}
	if format != "mermaid" && !c.IsSet("limit") {
		v.Limit = 0
	}
	return v, nil
}

func runGraph(c *cli.Context, env Env) error {
	format, err := formatNamed(c, "mermaid", "dot", "json")
	if err != nil {
		return err
	}
	v, err := viewOf(c, format)
	if err != nil {
		return err
	}
	b, err := sourceFor(c).open(c.Context, env)
	if err != nil {
		return err
	}
	if focus := c.String("focus"); focus != "" {
		a, err := b.find(focus)
		if err != nil {
			return err
		}
		v.Focus = a.ID
	}
	d := b.graph.Subgraph(v)
	var out []byte
	switch format {
	case "dot":
		out = d.DOT()
	case "json":
		out, err = d.JSON()
	default:
		d = d.FitMermaid()
		out = d.Mermaid()
	}
	if err != nil {
		return err
	}
	if d.OmittedAtoms > 0 || d.OmittedEdges > 0 {
		talk(env, "%s and %s left out, because the graph is large; --focus ATOM draws a part, --format dot draws all", count(d.OmittedAtoms, "atom"), count(d.OmittedEdges, "edge"))
	}
	_, err = env.Stdout.Write(out)
	return err
}
