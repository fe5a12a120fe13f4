package cmd

import "github.com/urfave/cli/v2"

// agentVerb holds the verbs for agent sessions outside the board.
func agentVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "agent",
		Usage: "run one agent now, outside odd drain; audits, handoffs, personas",
		Description: "odd agent run --role explorer --task \"What stops the ferry?\"\n" +
			"odd agent audit HEAD~1..HEAD\n" +
			"odd agent handoff list\n\n" +
			"odd drain runs agents for the tasks on the board. The commands here run an\n" +
			"agent by hand, or show the files that agents work from: its context, handoffs\n" +
			"(files in which one role passes work to the next) and personas (who an agent\n" +
			"speaks as).",
		Subcommands: []*cli.Command{
			invokeVerb(env), auditVerb(env), observeVerb(env), contextVerb(env), handoffVerb(env), personaVerb(env),
		},
	})
}
