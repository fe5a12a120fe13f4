package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHookUninstall(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "uninstall",
		Usage: "remove the hook from the settings of Claude Code",
		Description: "odd anchor hook uninstall\n" +
			"odd anchor hook uninstall --local\n\n" +
			"The file is then, byte for byte, what it was before install; if there was\n" +
			"none, it is deleted. Only a person can run this: inside an agent's session it\n" +
			"is refused (exit 3).",
		Flags:  hookFlags(),
		Action: func(c *cli.Context) error { return editHook(c, env, anchor.RemoveHook) },
	})
}
