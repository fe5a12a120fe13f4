package cmd

import "github.com/urfave/cli/v2"

// agentVerb holds the verbs for agent sessions outside the board.
func agentVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "agent",
		Usage: "run one agent now, outside the board; handoffs, personas, audits",
		Description: "odd agent run --role explorer --task \"What stops the ferry?\"\n" +
			"odd agent audit origin/main..HEAD\n" +
			"odd agent handoff list",
		Subcommands: []*cli.Command{
			invokeVerb(env), auditVerb(env), observeVerb(env), contextVerb(env), handoffVerb(env), personaVerb(env),
		},
	})
}
