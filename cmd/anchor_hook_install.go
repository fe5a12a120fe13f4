package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHookInstall(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "install",
		Usage: "let Claude Code ask odd before each tool call",
		Description: "odd anchor hook install\n" +
			"odd anchor hook install --local\n\n" +
			"odd adds one group to hooks.PreToolUse in .claude/settings.json and changes\n" +
			"nothing else in it; it replaces a group of its own that was altered. Only a\n" +
			"person can run this: inside an agent's session it is refused (exit 3).",
		Flags:  hookFlags(),
		Action: func(c *cli.Context) error { return editHook(c, env, anchor.InstallHook) },
	})
}
