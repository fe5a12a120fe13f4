package cmd

import (
	"context"

	"github.com/urfave/cli/v2"
)

func anchorRenew(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "renew",
		Usage:       "give a bound session's permit a later end",
		ArgsUsage:   "TOKEN",
		Description: "odd anchor renew TOKEN",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			token, err := oneArg(c, "TOKEN")
			if err != nil {
				return err
			}
			return runAnchorRenew(c.Context, env, token, c.Bool("json"))
		},
	})
}

func runAnchorRenew(ctx context.Context, env Env, token string, asJSON bool) error {
	a, err := openAnchor(ctx, env)
	if err != nil {
		return err
	}
	defer a.Close()
	return printAnchor(env, "anchor renew", a.desk.Renew(token), asJSON)
}
