package cmd

import (
	"fmt"

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
		Flags:  readFlags(edgeFlag("list only")),
		Action: one("the name of an atom", do(env, runRelated)),
	})
}

func runRelated(c *cli.Context, env Env) error {
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	b, a, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	b.tellDangling(env, a)
	nothing := fmt.Sprintf("%s has no %s to other atoms", a.ID, map[bool]string{true: "links", false: "such links"}[len(kinds) == 0])
	return showList(env, c.Bool("json"), served.Related(b.graph, a.ID, kinds...), nothing, func(e served.Edge) []string {
		return append([]string{map[string]string{"out": "->", "in": "<-"}[e.Direction], string(e.Kind)}, cells(e.Atom)...)
	})
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
