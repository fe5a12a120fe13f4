package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

func related(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "related",
		Usage:        "list the links from and to an atom",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env, ""),
		Description: "odd knowledge related shore-lead\n" +
			"odd knowledge related open-the-jetty --edge uses --edge governed_by",
		Flags: readFlags(edgeFlag("list only")),
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "the name of an atom")
			if err != nil {
				return err
			}
			kinds, err := edgeKinds(c)
			if err != nil {
				return err
			}
			return runRelated(c.Context, env, name, sourceFor(c), kinds, c.Bool("json"))
		},
	})
}

func runRelated(ctx context.Context, env Env, name string, src source, kinds []okf.EdgeKind, asJSON bool) error {
	b, a, err := readAtom(ctx, env, src, name)
	if err != nil {
		return err
	}
	list := served.Related(b.graph, a.ID, kinds...)
	var rows [][]string
	for _, e := range list {
		way := map[string]string{"out": "->", "in": "<-"}[e.Direction]
		rows = append(rows, append([]string{way, string(e.Kind)}, cells(e.Atom)...))
	}
	b.tellDangling(env, a)
	if len(list) == 0 {
		return none(env, asJSON, list, "%s has no %s to other atoms", a.ID, map[bool]string{true: "links", false: "such links"}[len(kinds) == 0])
	}
	if asJSON {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}

// tellDangling says which edges of an atom lead nowhere: they are no data.
func (b bundle) tellDangling(env Env, a *okf.Atom) {
	for _, d := range b.graph.Dangling(a.ID) {
		what := "no such atom"
		switch {
		case d.Broken:
			what = "that file cannot be read as an atom; odd check says why"
		case d.Ambiguous:
			what = "several atoms have that name; write the whole id"
		}
		talk(env, "%s: %s %s: %s", b.place(env, a.Path, d.Line), d.Kind, okf.Visible(d.Target), what)
	}
}
