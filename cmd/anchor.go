package cmd

import "github.com/urfave/cli/v2"

func anchorVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "anchor",
		Usage:       "bind an agent's session before its tools may write",
		Description: "odd anchor identity editor\nodd anchor hook install",
		Subcommands: []*cli.Command{
			anchorIdentity(env), anchorContext(env), anchorProof(env), anchorExpress(env), anchorVerify(env), anchorRenew(env),
			anchorRelease(env), anchorLs(env), anchorGC(env), anchorGate(env), anchorHook(env), octaveVerb(env),
		},
	})
}
