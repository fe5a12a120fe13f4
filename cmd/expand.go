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
		Usage:        "list what can be reached from an atom, and by which edges",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env, ""),
		Description:  "odd knowledge expand editor --depth 3\nodd knowledge expand publish --directed --edge uses --edge governed_by",
		Flags: readFlags(
			&cli.IntFlag{Name: "depth", Value: 2, Usage: "walk at most `N` edges; 0 has no end"},
			&cli.BoolFlag{Name: "directed", Usage: "walk edges only the way they are written"},
			edgeFlag("walk only"),
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
