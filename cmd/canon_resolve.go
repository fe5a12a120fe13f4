package cmd

import (
	"cmp"
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
	t.Steps = orEmpty(t.Steps)
	var rows [][]string
	for _, s := range t.Steps {
		rows = append(rows, []string{s.Try, s.Name, or(okf.Visible(s.Found), "-"), s.Note})
	}
	rows = append(rows, []string{string(t.Outcome), t.Ref, or(okf.Visible(or(strings.Join(t.InForce, ", "), t.Path)), "-"), t.Message})
	err = show(env, c.Bool("json"), t, rows...)
	if t.Outcome == canon.Invalid {
		return cmp.Or(err, error(exitCode(exitUsage)))
	}
	return orFault(err, t.Outcome != canon.Found)
}
