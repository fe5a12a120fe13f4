package cmd

import "github.com/urfave/cli/v2"

func opVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "op",
		Usage:       "look after the changes that go through the pipeline: what waits, why, and what it would do",
		Description: "odd op list\nodd op show 7QK2ZP\nodd op watch\nodd op classify cmd/main.go",
		Subcommands: []*cli.Command{
			opList(env), opShow(env), opDiff(env), opTrace(env), opPrompt(env), opWatch(env),
			opCancel(env), opRetry(env), opClassify(env),
		},
	})
}
