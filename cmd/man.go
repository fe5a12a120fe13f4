package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Man is the manual page odd(1): every command with its flags, examples and notes.
func Man() (string, error) {
	a := app(OS())
	describeInUsage(a.Commands)
	return a.ToManWithSection(1)
}

// describeInUsage puts the description of each command behind its usage, since the page
// shows no description by itself.
func describeInUsage(commands []*cli.Command) {
	for _, c := range commands {
		c.UsageText = ""
		if c.Description != "" {
			c.Usage += "\n\n```\n" + strings.TrimSpace(c.Description) + "\n```"
		}
		describeInUsage(c.Subcommands)
	}
}
