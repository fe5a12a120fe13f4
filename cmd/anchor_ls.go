package cmd

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorLs(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "ls",
		Usage: "list sessions, also those of odd drain",
		Description: "odd anchor ls\n\n" +
			"The columns are token, state, step, role, mode, branch, topic, end of the\n" +
			"permit, run and error code.",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			return runAnchorLs(c.Context, env, c.Bool("json"))
		},
	})
}

func runAnchorLs(ctx context.Context, env Env, asJSON bool) error {
	a, err := openAnchor(ctx, env)
	if err != nil {
		return err
	}
	defer a.Close()
	all := []anchor.Listed{}
	desks, err := a.desks()
	if err != nil {
		return err
	}
	for _, d := range desks {
		some, err := d.List()
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	if asJSON {
		return printJSON(env, all)
	}
	rows := [][]string{}
	for _, s := range all {
		trouble := ""
		if s.Problem != nil {
			trouble = string(s.Problem.Code)
		}
		expires := ""
		if !s.Expires.IsZero() {
			expires = s.Expires.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{s.Token, s.State, string(s.Stage), s.Role, string(s.Mode), s.Branch, s.Focus, expires, s.By, trouble})
	}
	return printList(env, rows, "no session; odd anchor identity ROLE opens one")
}
