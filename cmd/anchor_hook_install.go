package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHookInstall(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "install",
		Usage: "have the harness ask odd before every tool",
		Description: "odd anchor hook install\n" +
			"odd anchor hook install --local\n\n" +
			"One group is added to hooks.PreToolUse of .claude/settings.json, and no other\n" +
			"byte changes; an altered one is replaced. A person's act: refused inside an\n" +
			"agent's session, exit 3.",
		Flags: hookFlags(),
		Action: func(c *cli.Context) error {
			f, err := hookFile(env, c)
			if err != nil {
				return err
			}
			return editHook(env, f, "anchor hook install", anchor.InstallHook, c.Bool("json"))
		},
	})
}
