package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHookUninstall(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "uninstall",
		Usage: "take the gate out of a settings file, to the byte",
		Description: "odd anchor hook uninstall\n\n" +
			"Right after install the file is what it was before, or gone if it was not\n" +
			"there. A person's act: refused inside an agent's session, exit 3.",
		Flags: hookFlags(),
		Action: func(c *cli.Context) error {
			f, err := hookFile(env, c)
			if err != nil {
				return err
			}
			return editHook(env, f, "anchor hook uninstall", anchor.RemoveHook, c.Bool("json"))
		},
	})
}
