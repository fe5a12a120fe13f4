package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

func why(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "why",
		Usage:        "show the shortest way of edges between two atoms",
		ArgsUsage:    "ATOM ATOM",
		BashComplete: completeAtoms(env),
		Description:  "odd why editor style-policy",
		Flags:        readFlags(edgeFlag("walk only")),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return usage("why: want two arguments, the names of two atoms; see odd help why")
			}
			kinds, err := edgeKinds(c)
			if err != nil {
				return err
			}
			return runWhy(c.Context, env, [2]string{c.Args().Get(0), c.Args().Get(1)}, sourceFor(c), kinds, c.Bool("json"))
		},
	})
}

// whyJSON is one hop as it is written, between the atoms of the way.
type whyJSON struct {
	okf.Hop
	Near atomLine `json:"near"`
	Far  atomLine `json:"far"`
}

func runWhy(ctx context.Context, env Env, names [2]string, src source, kinds []okf.EdgeKind, asJSON bool) error {
	b, from, err := readAtom(ctx, env, src, names[0])
	if err != nil {
		return err
	}
	to, err := b.find(names[1])
	if err != nil {
		return err
	}
	path := b.graph.Why(from.ID, to.ID, kinds...)
	switch {
	case from == to:
		return none(env, asJSON, []whyJSON{}, "%s is one atom by both names", from.ID)
	case path == nil:
		return none(env, asJSON, []whyJSON{}, "nothing joins %s and %s", from.ID, to.ID)
	}
	list := []whyJSON{}
	var rows [][]string
	at := from.ID
	for _, h := range path {
		way, far := arrow(h, at)
		edge := "-" + string(h.Kind) + "->"
		if way == "<-" {
			edge = "<-" + string(h.Kind) + "-"
		}
		rows = append(rows, []string{okf.Visible(string(at)), edge, okf.Visible(string(far)), b.place(env, b.graph.ByID(h.From).Path, h.Line)})
		list = append(list, whyJSON{h, lineOf(b.graph.ByID(at)), lineOf(b.graph.ByID(far))})
		at = far
	}
	if asJSON {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}
