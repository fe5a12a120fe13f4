package cmd

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

func opDiff(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "diff",
		Usage:     "print the patch of a change, also of one that failed",
		ArgsUsage: "OP",
		Description: "odd op diff 7QK2ZP\n\n" +
			"OP is the id that odd op list prints, or the end of it.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runOpDiff),
	})
}

func runOpDiff(c *cli.Context, env Env) error {
	name, err := opArg(c, env)
	if err != nil {
		return err
	}
	v, s, err := opOpen(c.Context, env, name)
	if err != nil {
		return err
	}
	o := s.Op()
	b, err := v.patchOf(c.Context, o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env, map[string]string{"op": o.ID, "base": o.Fact(pipeline.FactBase), "candidate": o.Fact(pipeline.FactCandidate), "patch": string(b)})
	}
	_, err = io.WriteString(env.Stdout, diffText(env, string(b)))
	return err
}

// patchOf is what an op would have changed: its commit against its base, or where
// it made none what the run kept of its candidate.
func (v *view) patchOf(ctx context.Context, o pipeline.Op) ([]byte, error) {
	base, made := repo.OID(o.Fact(pipeline.FactBase)), repo.OID(o.Fact(pipeline.FactCandidate))
	if len(o.Moved) > 0 {
		made = repo.OID(o.Moved[0].New)
	}
	if made == "" {
		return nil, refuse("no-candidate", "op diff %s: it ended before the agent delivered a change; odd op show %[1]s says why", o.ID)
	}
	b, err := v.repo.Patch(ctx, base, made)
	if err == nil {
		return b, nil
	}
	if kept, ok := v.kept(o, "op.patch"); ok {
		return kept, nil
	}
	return nil, refuse("artifacts", "op diff %s: the commit %s is no longer in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*' to look for it in run %s", o.ID, short(made), o.Run)
}
