package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

func why(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "path",
		Usage:        "show the shortest path of links between two atoms",
		ArgsUsage:    "ATOM ATOM",
		BashComplete: completeAtoms(env, ""),
		Description:  "odd knowledge path shore-lead customer-data",
		Flags:        readFlags(edgeFlag("follow only")),
		Action:       do(env, runWhy),
	})
}

func runWhy(c *cli.Context, env Env) error {
	if c.NArg() != 2 {
		return usage("knowledge path: want two arguments, the names of two atoms; see odd help knowledge path")
	}
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	names := [2]string{c.Args().Get(0), c.Args().Get(1)}
	b, from, err := readAtom(c.Context, env, sourceFor(c), names[0])
	if err != nil {
		return err
	}
	to, err := b.find(names[1])
	if err != nil {
		return err
	}
	list := served.Why(b.graph, from.ID, to.ID, kinds...)
	switch {
	case from == to:
		return none(env, c.Bool("json"), []served.Way{}, "both names mean the same atom, %s", from.ID)
	case list == nil:
		return none(env, c.Bool("json"), []served.Way{}, "no links connect %s and %s", from.ID, to.ID)
	}
	var rows [][]string
	for _, w := range list {
		edge := "-" + string(w.Kind) + "->"
		if w.From == w.Far.ID {
			edge = "<-" + string(w.Kind) + "-"
		}
		rows = append(rows, []string{okf.Visible(string(w.Near.ID)), edge, okf.Visible(string(w.Far.ID)), b.place(env, b.graph.ByID(w.From).Path, w.Line)})
	}
	return show(env, c.Bool("json"), list, rows...)
}
