package cmd

import "github.com/urfave/cli/v2"

func anchorVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "anchor",
		Usage:       "bind an agent's session before its tools may write",
		Description: "odd anchor hook install",
		Subcommands: []*cli.Command{anchorGate(env), anchorHook(env)},
	})
}
