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
		Usage:        "mark tasks ready to run; only a person can",
		ArgsUsage:    "[TASK...]",
		BashComplete: completeTasks(env, board.Backlog, board.Blocked),
		Description: "odd task ready read-the-handbook\n" +
			"odd task ready count-crates paint-hull\n\n" +
			"Several tasks become ready by one commit; you type their number and the first\n" +
			"id. Without TASK, odd lists at a terminal what you can choose from.\n\n" +
			personNote,
		Flags:  []cli.Flag{yesFlag(), jsonFlag()},
		Action: do(env, runTaskReady),
	})
}

// asksFor says what a person lets happen by making t ready: who filed it, what
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

func runTaskReady(c *cli.Context, env Env) error {
	names := c.Args().Slice()
	if len(names) < 2 {
		name, err := taskArg(c, env, board.Backlog, board.Blocked)
		if err != nil {
			return err
		}
		names = []string{name}
	}
	v, tasks, freed, err := openReadyable(c.Context, env, names)
	if err != nil {
		return err
	}
	list, rows := []map[string]string{}, [][]string{}
	for _, id := range freed {
		list = append(list, map[string]string{"task": id, "state": string(board.Ready)})
		rows = append(rows, []string{id, string(board.Ready)})
	}
	if len(tasks) > 0 {
		by, commit, err := v.makeReady(c.Context, tasks, c.Bool("yes"))
		if err != nil {
			return err
		}
		for _, t := range tasks {
			list = append(list, map[string]string{"task": string(t.ID), "state": string(board.Ready), "by": by, "commit": string(commit)})
			rows = append(rows, []string{string(t.ID), string(board.Ready), by, shortID(commit)})
		}
	}
	if len(list) == 1 {
		return show(env, c.Bool("json"), list[0], rows...)
	}
	return show(env, c.Bool("json"), list, rows...)
}

// makeReady asks the person about the tasks, and makes all of them ready by one commit.
func (v *view) makeReady(ctx context.Context, tasks []board.Task, signed bool) (by string, commit repo.OID, err error) {
	ids := make([]string, len(tasks))
	var says strings.Builder
	for i, t := range tasks {
		ids[i] = string(t.ID)
		says.WriteString(asksFor(t, v.cfg.Contract.Roles))
		for _, m := range v.preflightTask(ctx, t) {
			says.WriteString("  warning: odd drain would refuse it: " + oneLine(okf.Visible(m)) + "\n")
		}
	}
	want, subject := ids[0], fmt.Sprintf("board: %s is ready", ids[0])
	if len(ids) > 1 {
		want = fmt.Sprintf("%d %s", len(ids), ids[0])
		subject = fmt.Sprintf("board: %d tasks are ready, %s first", len(ids), ids[0])
	}
	h, err := v.confirmHuman(ctx, says.String(), "task ready "+strings.Join(ids, " "), want, signed)
	if err != nil {
		return "", "", err
	}
	ch, pairs := repo.Changes{}, []string{}
	for _, t := range tasks {
		if ch[v.repoPath(t.Path)], err = review.Ready(t, h); err != nil {
			return "", "", err
		}
		pairs = append(pairs, "Odd-Task", string(t.ID))
	}
	commit, err = v.commitFiles(ctx, ch, commitMessage(subject, "", append(pairs, "Odd-Ready-By", h.By())...))
	return h.By(), commit, err
}

// openReadyable returns the named tasks that a person can make ready, each once. A task that a
// killed drain held is freed first, and is ready by that: a person had allowed it before.
func openReadyable(ctx context.Context, env Env, names []string) (v *view, tasks []board.Task, freed []string, err error) {
	for i, name := range names {
		var t board.Task
		if v, t, err = openTaskOnly(ctx, env, name, i == 0); err != nil {
			return nil, nil, nil, err
		}
		if t.State == board.InProgress && slices.Contains(v.freeKilled(ctx), t.ID) {
			if v, t, err = openTaskOnly(ctx, env, name, true); err != nil {
				return nil, nil, nil, err
			}
			if t.State == board.Ready {
				freed = append(freed, string(t.ID))
				continue
			}
		}
		if slices.ContainsFunc(tasks, func(other board.Task) bool { return other.ID == t.ID }) {
			return nil, nil, nil, usage("task ready: %s is named twice", t.ID)
		}
		if err = review.Readyable(t); err != nil {
			return nil, nil, nil, err
		}
		tasks = append(tasks, t)
	}
	return v, tasks, freed, nil
}
