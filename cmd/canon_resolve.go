package cmd

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
)

func canonResolve(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "resolve",
		Usage:     "show every step from a reference to what is in force",
		ArgsUsage: "URI",
		Description: "odd knowledge canon resolve acme://rules/sources\n" +
			"odd knowledge canon resolve canon/sources.md#examples --json\n\n" +
			"A row a step: what was tried, the name, what it led to. The last row is the\n" +
			"outcome: FOUND, NOT_FOUND, EXTERNAL or CIRCULAR_SUPERSESSION, and exit 0 means\n" +
			"FOUND. A reference that climbs out of the folder is INVALID_INPUT, exit 2.",
		Flags: readFlags(),
		Action: func(c *cli.Context) error {
			ref, err := oneArg(c, "a uri or a path")
			if err != nil {
				return err
			}
			return runCanonResolve(c.Context, env, ref, canonOptions{src: sourceFor(c), json: c.Bool("json")})
		},
	})
}

func runCanonResolve(ctx context.Context, env Env, ref string, o canonOptions) error {
	l, _, err := o.src.readCanon(ctx, env)
	if err != nil {
		return err
	}
	t := l.Resolve(ref)
	if o.json {
		t.Steps = orEmpty(t.Steps)
		err = printJSON(env, t)
	} else {
		err = printTrail(env, t)
	}
	switch {
	case err != nil || t.Outcome == canon.Found:
		return err
	case t.Outcome == canon.Invalid:
		return exitCode(exitUsage)
	}
	return exitCode(exitFault)
}

func printTrail(env Env, t canon.Trail) error {
	var rows [][]string
	for _, s := range t.Steps {
		rows = append(rows, []string{s.Try, okf.Visible(s.Name), or(okf.Visible(s.Found), "-"), okf.Visible(s.Note)})
	}
	led := strings.Join(t.InForce, ", ")
	rows = append(rows, []string{string(t.Outcome), okf.Visible(t.Ref), or(okf.Visible(or(led, t.Path)), "-"), okf.Visible(t.Message)})
	return printRows(env, rows)
}
