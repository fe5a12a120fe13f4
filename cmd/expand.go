package cmd

import (
	"context"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
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
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "the name of an atom")
			if err != nil {
				return err
			}
			kinds, err := edgeKinds(c)
			if err != nil {
				return err
			}
			o := expandOptions{src: sourceFor(c), depth: c.Int("depth"), directed: c.Bool("directed"), json: c.Bool("json"), kinds: kinds}
			if o.depth < 0 {
				return usage("knowledge expand: --depth %d; want 0 or more", o.depth)
			}
			return runExpand(c.Context, env, name, o)
		},
	})
}

type expandOptions struct {
	src            source
	depth          int
	directed, json bool
	kinds          []okf.EdgeKind
}

func runExpand(ctx context.Context, env Env, name string, o expandOptions) error {
	b, a, err := readAtom(ctx, env, o.src, name)
	if err != nil {
		return err
	}
	list := served.Expand(b.graph, a.ID, o.depth, o.directed, o.kinds...)
	var rows [][]string
	for _, s := range list {
		rows = append(rows, append(append([]string{strconv.Itoa(s.Depth)}, cells(s.Atom)...), trail(a.ID, s.Path)))
	}
	if len(list) == 0 {
		return none(env, o.json, list, "%s links to no atom", a.ID)
	}
	if o.json {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}
