package cmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

func taskReady(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "ready",
		Usage:        "mark a task ready to run; only a person can",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env, board.Backlog, board.Blocked),
		Description: "odd task ready read-the-handbook\n\n" +
			personNote,
		Flags: []cli.Flag{yesFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			return runTaskReady(c.Context, env, name, c.Bool("yes"), c.Bool("json"))
		},
	})
}

// asksFor is what a person lets happen by making t ready: who filed it, what
// session it asks for and what that may cost. An agent may have filed the task,
// and have chosen all of it.
func asksFor(t board.Task, roles map[string]contract.Role) string {
	var b strings.Builder
	say := func(name, value string) {
		if value != "" && value != "0" {
			fmt.Fprintf(&b, "  %s: %s\n", name, oneLine(okf.Visible(value)))
		}
	}
	fmt.Fprintf(&b, "%s\n", oneLine(okf.Visible(or(t.Title, string(t.ID)))))
	if t.Atom != nil {
		say("filed by", t.Atom.Generated.By)
	}
	say("role", t.Role)
	say("session role", string(t.Contracted(roles)))
	say("profile", t.Persona)
	say("kind of output", string(t.Surface))
	say("engagement", string(t.Engagement))
	say("works on", t.Artifact)
	say("uses handoffs", strings.Join(t.Handoffs, ", "))
	say("reads", strings.Join(t.Inputs, ", "))
	say("may change", strings.Join(t.Paths, ", "))
	for _, argv := range t.Commands {
		say("runs", strings.Join(argv, " "))
	}
	if t.Budget > 0 {
		say("may cost", "$"+t.Budget.String())
	}
	say("turns at most", strconv.Itoa(t.MaxTurns))
	return b.String()
}

func runTaskReady(ctx context.Context, env Env, name string, yes, asJSON bool) error {
	v, t, err := openTaskOnly(ctx, env, name, true)
	if err != nil {
		return err
	}
	if t.State == board.InProgress && slices.Contains(v.freeKilled(ctx), t.ID) {
		if v, t, err = openTaskOnly(ctx, env, name, true); err != nil {
			return err
		}
		if t.State == board.Ready { // the sweep made it so, which a person had allowed before
			if asJSON {
				return printJSON(env, map[string]string{"task": string(t.ID), "state": string(t.State)})
			}
			return printRows(env, [][]string{{string(t.ID), string(t.State)}})
		}
	}
	if err := review.Readyable(t); err != nil {
		return err
	}
	says := asksFor(t, v.cfg.Contract.Roles)
	for _, m := range v.preflight(ctx, t) {
		says += "  warning: odd drain would refuse it: " + oneLine(okf.Visible(m)) + "\n"
	}
	h, err := v.human(ctx, says, "task ready "+string(t.ID), string(t.ID), yes)
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
