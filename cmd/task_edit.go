package cmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func taskEdit(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "edit",
		Usage:        "change a task's keys; its state moves by other verbs",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env),
		Description:  "odd task edit harvest-terms --priority p0 --input docs --input README.md",
		Flags:        append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "its `TITLE`"}}, taskFlags()...),
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			sets, err := taskSets(c)
			switch {
			case err != nil:
				return err
			case len(sets) == 0:
				return usage("task edit: nothing to change; see odd help task edit")
			case env.Getenv("ODD_RUN") != "":
				return refuse("not-a-person", "task edit %s: refused inside an agent's session; file a task of your own with odd task add", name)
			}
			return runTaskEdit(c.Context, env, name, sets, c.Bool("no-commit"), c.Bool("json"))
		},
	})
}

func runTaskEdit(ctx context.Context, env Env, name string, sets []okf.Set, noCommit, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	w.tasksOnly = true
	var t board.Task
	build := func(v *view) (repo.Changes, string, error) {
		var err error
		if t, err = v.task(name); err != nil {
			return nil, "", err
		}
		if t.State == board.InProgress || t.State == board.Done {
			return nil, "", refuse("state", "task edit %s: task is in %s; wait for it, or file a new task", t.ID, t.State)
		}
		b, err := okf.Edit(t.Atom.Bytes(), sets...)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", v.file(t.Path), err)
		}
		a, err := okf.Parse(t.Path, b)
		if err != nil {
			return nil, "", err
		}
		if _, err := board.Parse(&a); err != nil {
			return nil, "", usage("task edit: %v", err)
		}
		return repo.Changes{v.file(t.Path): b}, trailers("board: edit "+string(t.ID), "", "Odd-Task", string(t.ID)), nil
	}
	return w.apply(ctx, build, noCommit, asJSON, &t)
}
