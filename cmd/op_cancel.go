package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func opCancel(env Env) *cli.Command {
	return verb("cancel OP", "cancel a change that waits or is at work; only a person can",
		"odd op cancel 7QK2ZP --reason \"we keep the old format\"\n\n"+
			"The task of a change that waits goes back to backlog, and its next attempt is\n"+
			"told the reason. Where an agent of this clone still works on it, its odd drain\n"+
			"ends the session, charges what it cost, blocks the task with the reason, and\n"+
			"goes on.\n\n"+
			personNote,
		do(env, runOpCancel),
		reasonFlag(),
		yesFlag(),
		jsonFlag())
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
	s, err := v.findOp(name)
	if err != nil || s.Op().Phase != pipeline.Waiting && !s.Op().Ended() {
		if freed := v.freeKilled(c.Context); len(freed) > 0 {
			if v, err = openBoard(c.Context, env, true); err != nil {
				return err
			}
			if s, err = v.findOp(name); err == nil && s.Op().Ended() && slices.Contains(freed, okf.ID(s.Op().Task)) {
				op := s.Op()
				answer := map[string]string{"op": op.ID, "task": op.Task, "state": string(op.Phase), "reason": string(op.Reason)}
				return show(env, o.json, answer, []string{op.ID, string(op.Phase), op.Task, "its run was killed"})
			}
		}
	}
	if b, ok := v.findBeat(name); ok && v.isDraining() {
		h, err := v.confirmHuman(c.Context, "", "op cancel "+b.Op, b.Task, o.yes)
		if err != nil {
			return err
		}
		why := strings.Join(strings.Fields(string(secrets.Redact([]byte(o.reason)))), " ")
		if err := v.repo.AskStop(b.Op, "cancelled by "+h.By()+": "+why); err != nil {
			return err
		}
		return show(v.env, o.json, map[string]string{"op": b.Op, "task": b.Task, "state": "stopping", "by": h.By()}, []string{b.Op, "stopping", b.Task, "its odd drain ends the session; odd op watch shows when"})
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
	t, err := v.findTask(op.Task)
	if err != nil {
		return err
	}
	return v.rejectProposal(c.Context, t, o)
}
