package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorIdentity(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "identity",
		Usage:     "open a session for a role: its constitution to read, and a template of BIND to fill in",
		ArgsUsage: "ROLE",
		Description: "odd anchor identity editor\nodd anchor identity editor --mode express --paths 'docs/**'\n" +
			"odd anchor identity editor --mode untracked",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "mode", Value: string(anchor.Full), Usage: "full, express, lite, or untracked: to read only"},
			&cli.StringFlag{Name: "strictness", Usage: "quick, default or deep: how much must be proven (default: default, under lite quick)"},
			&cli.StringFlag{Name: "topic", Usage: "what the session is about (default: what the branch says)"},
			&cli.StringSliceFlag{Name: "paths", Usage: "write only below `GLOB`, inside what the constitution allows; repeatable"},
			&cli.StringFlag{Name: "parent", Usage: "the `TOKEN` of the session that delegates"},
			&cli.StringFlag{Name: "session", Usage: "the harness's own `ID` of the session, by which its hook finds the permit"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			role, err := oneArg(c, "ROLE")
			if err != nil {
				return err
			}
			q := anchor.IdentityRequest{
				Role: role, Mode: anchor.Mode(c.String("mode")), Strictness: anchor.Strictness(c.String("strictness")), Topic: c.String("topic"),
				Paths: c.StringSlice("paths"), Parent: c.String("parent"), HarnessSession: c.String("session"),
			}
			return runAnchorIdentity(c.Context, env, q, c.Bool("json"))
		},
	})
}

func runAnchorIdentity(ctx context.Context, env Env, q anchor.IdentityRequest, asJSON bool) error {
	a, err := openAnchor(ctx, env)
	if err != nil {
		return err
	}
	defer a.Close()
	return printAnchor(env, "anchor identity", a.desk.Identity(q), asJSON)
}
