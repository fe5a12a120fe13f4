package cmd

import "github.com/urfave/cli/v2"

func anchorVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "anchor",
		Usage: "give an agent's session a role and the right to write files",
		Description: "odd anchor hook install\n" +
			"odd anchor identity shore-lead\n" +
			"odd anchor ls\n\n" +
			"An agent in a harness such as Claude Code can write any file. With the hook,\n" +
			"its tools may write only after it has opened a session for a role, shown that\n" +
			"it has read the rules of the role, and said what it will do. It then gets a\n" +
			"permit: the paths it may write, and until when. odd drain does this for its\n" +
			"own agents.\n\n" +
			"A person runs odd anchor hook install once. Then, in each session, the agent\n" +
			"runs:\n" +
			"  1. identity ROLE  prints the rules of the role, and the template BIND\n" +
			"  2. context TOKEN  takes BIND, filled in; prints the next template\n" +
			"  3. proof TOKEN    takes TENSIONS and COMMIT; prints the permit\n\n" +
			"A tension names a rule, the line it applies to, and what the agent will do\n" +
			"about it. COMMIT names the output, and the command that checks it. After\n" +
			"identity --mode express, express TOKEN with COMMIT replaces steps 2 and 3. The\n" +
			"templates are in OCTAVE, a text format; odd anchor octave edits such files.",
		Subcommands: []*cli.Command{
			anchorIdentity(env), anchorContext(env), anchorProof(env), anchorExpress(env), anchorVerify(env), anchorRenew(env),
			anchorRelease(env), anchorLs(env), anchorGC(env), anchorGate(env), anchorHook(env), octaveVerb(env),
		},
	})
}
