package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func taskEdit(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "edit",
		Usage:        "change the fields of a task, but not its state",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env),
		Description: "odd task edit read-the-handbook --priority p0 --input docs/ --input README.md\n\n" +
			"A flag replaces the whole field; give a repeatable one for each value. The\n" +
			"state changes with odd task ready, odd drain, odd approve and odd reject.",
		Flags:  append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`"}}, taskFlags()...),
		Action: do(env, runTaskEdit),
	})
}

func runTaskEdit(c *cli.Context, env Env) error {
	name, err := taskArg(c, env)
	if err != nil {
		return err
	}
	sets, err := taskSets(c)
	switch {
	case err != nil:
		return err
	case len(sets) == 0:
		return usage("task edit %s: name at least one thing to change, like --priority p1; see odd help task edit", name)
	case env.agent() != "":
		return refuse("not-a-person", "task edit %s: refused inside an agent's session (%s); file a new task with odd task add", name, env.agent())
	}
	w, err := openWorkspace(c.Context, env)
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
		switch t.State {
		case board.InProgress:
			return nil, "", refuse("state", "task edit %s: %s; edit it after that", t.ID, t.Held())
		case board.Done:
			return nil, "", refuse("state", "task edit %s: the task is done, and done tasks stay as they are; file a new one with odd task add", t.ID)
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
	return w.apply(c, build, &t)
}
