package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

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
	b, from, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	to, err := b.find(c.Args().Get(1))
	if err != nil {
		return err
	}
	nothing := fmt.Sprintf("no links connect %s and %s", from.ID, to.ID)
	if from == to {
		nothing = fmt.Sprintf("both names mean the same atom, %s", from.ID)
	}
	return showList(env, c.Bool("json"), served.Why(b.graph, from.ID, to.ID, kinds...), nothing, func(w served.Way) []string {
		edge := "-" + string(w.Kind) + "->"
		if w.From == w.Far.ID {
			edge = "<-" + string(w.Kind) + "-"
		}
		return []string{string(w.Near.ID), edge, string(w.Far.ID), b.place(env, b.graph.ByID(w.From).Path, w.Line)}
	})
}
