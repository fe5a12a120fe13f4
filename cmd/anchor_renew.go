package cmd

import (
	"context"

	"github.com/urfave/cli/v2"
)

func anchorRenew(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "renew",
		Usage:     "extend the permit of a session",
		ArgsUsage: "TOKEN",
		Description: "odd anchor renew TOKEN\n\n" +
			"The permit then ends [anchor] ttl from now. odd renews a permit at most three\n" +
			"times, and at the latest 15 minutes after it ended.",
		Flags: []cli.Flag{jsonFlag()},
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
