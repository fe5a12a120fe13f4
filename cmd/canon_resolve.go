package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
)

func canonResolve(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "resolve",
		Usage:     "show each step from a reference to the document in force",
		ArgsUsage: "URI",
		Description: "odd knowledge canon resolve acme://rules/sources\n" +
			"odd knowledge canon resolve policies/weather-limits.md --json\n\n" +
			"Each row is a step: what odd tried, the name, and the result. The last row is\n" +
			"the outcome: FOUND (exit 0), NOT_FOUND, EXTERNAL or CIRCULAR_SUPERSESSION\n" +
			"(exit 1). A reference that leaves the folder is INVALID_INPUT (exit 2).",
		Flags:  readFlags(),
		Action: one("a uri or a path", do(env, runCanonResolve)),
	})
}

func runCanonResolve(c *cli.Context, env Env) error {
	l, _, err := sourceFor(c).readCanon(c.Context, env)
	if err != nil {
		return err
	}
	t := l.Resolve(c.Args().First())
	if c.Bool("json") {
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
