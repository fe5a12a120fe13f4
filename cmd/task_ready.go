package cmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

func taskReady(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "ready",
		Usage:       "put a task on the board for drain; only a person can",
		ArgsUsage:   "TASK",
		Description: "odd task ready harvest-terms",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "no typed confirmation; only with require_signed, for a signed commit"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			return runTaskReady(c.Context, env, name, c.Bool("yes"), c.Bool("json"))
		},
	})
}

func runTaskReady(ctx context.Context, env Env, name string, yes, asJSON bool) error {
	v, t, err := openTask(ctx, env, name, true)
	if err != nil {
		return err
	}
	if err := review.Readyable(t); err != nil {
		return err
	}
	h, err := v.human(ctx, "", "task ready "+string(t.ID), string(t.ID), yes)
	if err != nil {
		return err
	}
	b, err := review.Ready(t, h)
	if err != nil {
		return err
	}
	msg := trailers(fmt.Sprintf("board: %s is ready", t.ID), "", "Odd-Task", string(t.ID), "Odd-Ready-By", h.By())
	oid, err := v.amend(ctx, repo.Changes{v.file(t.Path): b}, msg)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, map[string]string{"task": string(t.ID), "state": string(board.Ready), "by": h.By(), "commit": string(oid)})
	}
	return printRows(env, [][]string{{string(t.ID), string(board.Ready), h.By(), short(oid)}})
}
