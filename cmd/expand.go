package cmd

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf/served"
)

func expand(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "expand",
		Usage:        "list every atom reached by links from one atom",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env, ""),
		Description: "odd knowledge expand shore-lead --depth 3\n" +
			"odd knowledge expand open-the-jetty --directed --edge uses --edge governed_by",
		Flags: readFlags(
			&cli.IntFlag{Name: "depth", Value: 2, Usage: "follow at most `N` links in a row; 0 is no limit"},
			&cli.BoolFlag{Name: "directed", Usage: "follow links only forward, from the file that has the link"},
			edgeFlag("follow only"),
		),
		Action: one("the name of an atom", do(env, runExpand)),
	})
}

func runExpand(c *cli.Context, env Env) error {
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	if c.Int("depth") < 0 {
		return usage("knowledge expand: --depth %d; want 0 or more", c.Int("depth"))
	}
	b, a, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	list := served.Expand(b.graph, a.ID, c.Int("depth"), c.Bool("directed"), kinds...)
	return showList(env, c.Bool("json"), list, string(a.ID)+" links to no atom", func(s served.Step) []string {
		return append(append([]string{strconv.Itoa(s.Depth)}, cells(s.Atom)...), trail(a.ID, s.Path))
	})
}
