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
		Name:        "edit",
		Usage:       "change a task's keys; its state moves by other verbs",
		ArgsUsage:   "TASK",
		Description: "odd task edit harvest-terms --priority p0 --input docs --input README.md",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "its `TITLE`"}}, taskFlags()...),
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
			case c.IsSet("command") && env.Getenv("ODD_RUN") != "":
				return refuse("not-a-person", "task edit %s: only a person says what odd runs; leave --command out", name)
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
	var id, state string
	build := func(v *view) (repo.Changes, string, error) {
		t, err := v.task(name)
		if err != nil {
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
		id, state = string(t.ID), string(t.State)
		return repo.Changes{v.file(t.Path): b}, trailers("board: edit "+id, "", "Odd-Task", id), nil
	}
	var oid repo.OID
	if noCommit {
		err = w.stage(ctx, build)
	} else {
		oid, err = w.write(ctx, build)
	}
	if err != nil {
		return err
	}
	// id and state are known now that build has run
	if asJSON {
		return printJSON(env, map[string]string{"task": id, "state": state, "commit": string(oid)})
	}
	return printRows(env, [][]string{{id, state, short(oid)}})
}
