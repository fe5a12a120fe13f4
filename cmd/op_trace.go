package cmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func opTrace(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "trace",
		Usage:     "print a change as a tree: task, run, phases and commits",
		ArgsUsage: "OP",
		Description: "odd op trace 7QK2ZP\n\n" +
			"OP is the id that odd op list prints, or the end of it.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runOpTrace),
	})
}

func runOpTrace(c *cli.Context, env Env) error {
	name, err := opArg(c, env)
	if err != nil {
		return err
	}
	v, s, err := opOpen(c.Context, env, name)
	if err != nil {
		return err
	}
	tree := pipeline.Trace(s)
	v.filed(tree, s.Op())
	if err := v.landed(c.Context, tree, s.Op()); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env, tree)
	}
	_, err = fmt.Fprint(env.Stdout, pipeline.Render(tree, func(n int64) string { return budget.MicroUSD(n).String() }))
	return err
}

// filed notes who filed the op's task, and when.
func (v *view) filed(tree []pipeline.Node, o pipeline.Op) {
	for _, t := range v.tasks() {
		if t.ID != okf.ID(o.Task) || len(tree) == 0 || len(tree[0].Below) == 0 || t.Atom == nil || t.Atom.Generated.By == "" {
			continue
		}
		tree[0].Below[0].Note = "filed by " + t.Atom.Generated.By
		tree[0].Below[0].At = t.Atom.Generated.At
	}
}

// landed hangs the person's commit that merged what the op proposed below the
// ref that the op moved.
func (v *view) landed(ctx context.Context, tree []pipeline.Node, o pipeline.Op) error {
	if o.Reason != pipeline.Merged || len(o.Moved) == 0 {
		return nil
	}
	for c, err := range v.repo.Log(ctx, repo.OID(o.Fact(pipeline.FactBase)), v.tip) {
		if err != nil {
			return err
		}
		if named := c.Trailer("Odd-Proposal"); len(named) == 1 && named[0] == o.Moved[0].New && (len(c.Trailer("Odd-Approved-By")) == 1 || len(c.Trailer("Odd-Approval")) == 1) {
			hang(tree, o.Moved[0].New, pipeline.Node{Kind: "commit", Name: string(c.OID), At: stamp(c.Author.When), Note: "merged by " + or(c.Author.Name, c.Author.Email)})
			return nil
		}
	}
	return nil
}

// hang puts a node below the one that is the commit named.
func hang(nodes []pipeline.Node, commit string, below pipeline.Node) {
	for i := range nodes {
		if nodes[i].Kind == "commit" && nodes[i].Name == commit {
			nodes[i].Below = append(nodes[i].Below, below)
			return
		}
		hang(nodes[i].Below, commit, below)
	}
}
