package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/irongate"
)

func opCancel(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "cancel",
		Usage:     "cancel a change that waits or is at work; only a person can",
		ArgsUsage: "OP",
		Description: "odd op cancel 7QK2ZP --reason \"we keep the old format\"\n\n" +
			"The task of a change that waits goes back to backlog, and its next attempt is\n" +
			"told the reason. Where an agent of this clone still works on it, its odd drain\n" +
			"ends the session, charges what it cost, blocks the task with the reason, and\n" +
			"goes on.\n\n" +
			personNote,
		Flags: []cli.Flag{
			reasonFlag(),
			yesFlag(),
			jsonFlag(),
		},
		Action: one("an op", do(env, runOpCancel)),
	})
}

func runOpCancel(c *cli.Context, env Env) error {
	name := c.Args().First()
	if c.String("reason") == "" {
		return usage("op cancel: say why with --reason, because the next attempt reads it: odd op cancel %s --reason \"why\"", name)
	}
	o := rejection{reason: c.String("reason"), yes: c.Bool("yes"), json: c.Bool("json"), ends: pipeline.CancelledByPerson}
	v, err := openBoard(c.Context, env, true)
	if err != nil {
		return err
	}
	s, err := v.op(name)
	if err != nil || s.Op().Phase != pipeline.Waiting && !s.Op().Ended() {
		if freed := v.freeKilled(c.Context); len(freed) > 0 {
			if v, err = openBoard(c.Context, env, true); err != nil {
				return err
			}
			if s, err = v.op(name); err == nil && s.Op().Ended() && slices.Contains(freed, okf.ID(s.Op().Task)) {
				op := s.Op()
				if o.json {
					return printJSON(env, map[string]string{"op": op.ID, "task": op.Task, "state": string(op.Phase), "reason": string(op.Reason)})
				}
				return printRows(env, [][]string{{op.ID, string(op.Phase), op.Task, "its run was killed"}})
			}
		}
	}
	if b, ok := v.beat(name); ok && v.drains() {
		return v.stop(c.Context, b, o)
	}
	if err != nil {
		return err
	}
	op := s.Op()
	switch {
	case op.Ended():
		return refuse("state", "op cancel %s: the change has already ended (%s: %s); odd op show %[1]s says more", op.ID, op.Phase, op.Reason)
	case op.Phase != pipeline.Waiting:
		return refuse("state", "op cancel %s: %s", op.ID, v.atWork(op.Run, op.Task))
	}
	t, err := v.task(op.Task)
	if err != nil {
		return err
	}
	return v.reject(c.Context, t, o)
}

// stop asks the drain of this clone that is at work on an op to end it.
func (v *view) stop(ctx context.Context, b pipeline.Beat, o rejection) error {
	h, err := v.human(ctx, "", "op cancel "+b.Op, b.Task, o.yes)
	if err != nil {
		return err
	}
	why := strings.Join(strings.Fields(string(irongate.Redact([]byte(o.reason)))), " ")
	if err := v.repo.AskStop(b.Op, "cancelled by "+h.By()+": "+why); err != nil {
		return err
	}
	return show(v.env, o.json, map[string]string{"op": b.Op, "task": b.Task, "state": "stopping", "by": h.By()}, []string{b.Op, "stopping", b.Task, "its odd drain ends the session; odd op watch shows when"})
}
