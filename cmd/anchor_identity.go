package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorIdentity(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "identity",
		Usage:     "open a session for a role, and print the rules and a template",
		ArgsUsage: "ROLE",
		Description: "odd anchor identity shore-lead\n" +
			"odd anchor identity shore-lead --mode express --paths 'docs/**'\n" +
			"odd anchor identity shore-lead --mode untracked\n\n" +
			"ROLE is a role atom or a file ROLE.oct.md in [anchor] constitutions. The first\n" +
			"line of the answer has the TOKEN for the next step.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "mode", Value: string(anchor.Full), Usage: "full (3 steps), lite (full, but less to prove), express (2 steps) or untracked (may only read)"},
			&cli.StringFlag{Name: "strictness", Usage: "how many tensions to state: quick (1), default (2) or deep (3) (default: default; with lite: quick)"},
			&cli.StringFlag{Name: "topic", Usage: "describe the work in `TEXT` (default: from the branch name)"},
			&cli.StringSliceFlag{Name: "paths", Usage: "allow writes only to files that match `GLOB`, within what the role allows; repeatable"},
			&cli.StringFlag{Name: "parent", Usage: "name the session that delegates the work by its `TOKEN`"},
			&cli.StringFlag{Name: "session", Usage: "the `ID` that the harness gives its session; the hook finds the permit by it"},
			jsonFlag(),
		},
		Action: one("ROLE", do(env, runAnchorIdentity)),
	})
}

func runAnchorIdentity(c *cli.Context, env Env) error {
	role := c.Args().First()
	q := anchor.IdentityRequest{
		Role: role, Mode: anchor.Mode(c.String("mode")), Strictness: anchor.Strictness(c.String("strictness")), Topic: c.String("topic"),
		Paths: c.StringSlice("paths"), Parent: c.String("parent"), HarnessSession: c.String("session"),
	}
	a, err := openAnchor(c.Context, env)
	if err != nil {
		return err
	}
	defer a.Close()
	return printAnchor(env, "anchor identity", a.desk.Identity(q), c.Bool("json"))
}
