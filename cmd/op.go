package cmd

import "github.com/urfave/cli/v2"

func opVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "op",
		Usage: "list and inspect agents' file changes; cancel or retry one",
		Description: "odd op list\n" +
			"odd op show 7QK2ZP\n" +
			"odd op watch\n" +
			"odd op classify docs/\n\n" +
			"An op is one attempt of an agent to change files that are not atoms: tasks\n" +
			"that set paths (odd task add --path). odd checks the files, runs your commands\n" +
			"on them in a copy, and gives the change a risk tier: SAFE_AUTO, NOTIFY_APPLY,\n" +
			"APPROVAL_REQUIRED or BLOCKED. The tier decides whether a person must see it\n" +
			"first.",
		Subcommands: []*cli.Command{
			opList(env), opShow(env), opDiff(env), opTrace(env), opPrompt(env), opWatch(env),
			opCancel(env), opRetry(env), opClassify(env),
		},
	})
}
