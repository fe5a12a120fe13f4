package cmd

import (
	"cmp"
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorLs(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "ls",
		Usage: "list sessions, and those of odd drain that ended",
		Description: "odd anchor ls\n\n" +
			"The columns are token, state, step, role, mode, branch, topic, end of the\n" +
			"permit, run and error code.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: on(env, openAnchor, runAnchorLs),
	})
}

func runAnchorLs(c *cli.Context, env Env, a *anchorage) error {
	all, err := a.desk.List()
	if err != nil {
		return err
	}
	all = append(all, drained(c.Context, env)...)
	return showList(env, c.Bool("json"), all, "no session; odd anchor identity ROLE opens one", func(s anchor.Listed) []string {
		trouble := ""
		if s.Problem != nil {
			trouble = string(s.Problem.Code)
		}
		return []string{s.Token, s.State, string(s.Stage), s.Role, string(s.Mode), s.Branch, s.Focus, stamp(s.Expires), s.By, trouble}
	})
}

// listedFor is how long ended sessions of odd drain are listed.
const listedFor = 30 * 24 * time.Hour

// drained are the sessions that the ledger says a drain has had, none where no board
// is read.
func drained(ctx context.Context, env Env) (out []anchor.Listed) {
	v, err := openFiles(ctx, env)
	if err != nil {
		return nil
	}
	permits, _ := v.state.Permits() // of a damaged ledger odd check tells
	for _, p := range permits {
		if env.Now().Sub(p.At) <= listedFor {
			out = append(out, anchor.Listed{Token: p.Token, State: "archived", Role: p.Role, Expires: p.At, By: cmp.Or(p.Dead, p.Run)})
		}
	}
	return out
}
