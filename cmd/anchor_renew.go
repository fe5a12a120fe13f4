package cmd

import (
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
		Flags:  []cli.Flag{jsonFlag()},
		Action: one("TOKEN", on(env, openAnchor, runAnchorRenew)),
	})
}

func runAnchorRenew(c *cli.Context, env Env, a *anchorage) error {
	return printAnchor(env, "anchor renew", a.desk.Renew(c.Args().First()), c.Bool("json"))
}
