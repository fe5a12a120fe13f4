package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

func opRetry(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "retry",
		Usage:     "mark the task of a failed change ready again; only a person can",
		ArgsUsage: "OP",
		Description: "odd op retry 7QK2ZP\n\n" +
			"The next attempt is told how this one ended.\n\n" +
			personNote,
		Flags:  []cli.Flag{yesFlag(), jsonFlag()},
		Action: one("an op", on(env, openShared, runOpRetry)),
	})
}

func runOpRetry(c *cli.Context, env Env, v *view) error {
	s, err := v.op(c.Args().First())
	if err != nil {
		return err
	}
	o := s.Op()
	if err := v.retryable(o); err != nil {
		return err
	}
	t, err := v.task(o.Task)
	if err != nil {
		return err
	}
	if err := review.Readyable(t); err != nil {
		return err
	}
	h, err := v.human(c.Context, asksFor(t, v.cfg.Contract.Roles), "op retry "+o.ID, string(t.ID), c.Bool("yes"))
	if err != nil {
		return err
	}
	b, err := review.Again(t, ending(o), h)
	if err != nil {
		return err
	}
	msg := trailers(fmt.Sprintf("board: %s is ready again", t.ID), "", "Odd-Task", string(t.ID), "Odd-Op", o.ID, "Odd-Ready-By", h.By())
	oid, err := v.amend(c.Context, repo.Changes{v.file(t.Path): b}, msg)
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]string{"op": o.ID, "task": string(t.ID), "state": string(board.Ready), "by": h.By(), "commit": string(oid)}, []string{string(t.ID), string(board.Ready), h.By(), short(oid)})
}

// retryable refuses an op that has no ending to learn from, or whose task went on.
func (v *view) retryable(o pipeline.Op) error {
	switch {
	case o.Phase == pipeline.Waiting:
		return refuse("state", "op retry %s: the change waits for your review; odd reject %s --retry --reason \"why\" turns it down and tries again", o.ID, o.Task)
	case !o.Ended():
		return refuse("state", "op retry %s: the change has not ended (%s): %s", o.ID, o.Phase, v.atWork(o.Run, o.Task))
	case o.Phase == pipeline.Complete:
		return refuse("state", "op retry %s: the change is complete (%s); file a new task with odd task add", o.ID, o.Reason)
	}
	ops, err := v.state.Ops()
	if err != nil {
		return err
	}
	for _, later := range ops {
		if later.Task == o.Task && later.Began.After(o.Began) {
			return refuse("state", "op retry %s: the task %s has a later change; run odd op retry %s", o.ID, o.Task, later.ID)
		}
	}
	return nil
}

// ending is what the next attempt is told of an op. A person's own no is among
// the task's rejections already.
func ending(o pipeline.Op) string {
	if o.Reason == pipeline.Rejected || o.Reason == pipeline.CancelledByPerson {
		return ""
	}
	text := fmt.Sprintf("%s ended as %s, %s: %s", o.ID, o.Phase, o.Reason, pipeline.Explain(o.Reason))
	if note := o.Last().Note; note != "" {
		text += ". " + note
	}
	return text
}
