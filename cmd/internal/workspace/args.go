package workspace

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

// OnTask is verb.Do for a verb that takes a task, whose name it returns to run.
func OnTask(env console.Env, run func(c *cli.Context, env console.Env, name string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := TaskArg(c, env)
		if err != nil {
			return err
		}
		return run(c, env, name)
	}
}

// TakesTask reports whether a verb works on tasks in a state.
func TakesTask(verbName string, s board.State) bool {
	switch verbName {
	case "approve", "reject", "review":
		return s == board.Review
	case "ready":
		return s == board.Backlog || s == board.Blocked
	}
	return true
}

// PickArg returns the single argument of a verb. Where it is missing, a person at a terminal picks
// one of the rows, named by their first cells; without any, none says why.
func PickArg(c *cli.Context, env console.Env, what, none string, rows func() ([][]string, error)) (string, error) {
	if c.NArg() > 0 || !env.CanAsk() || c.Bool("json") {
		return c.Args().First(), verb.OneArg(c)
	}
	list, err := rows()
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", verb.Usage("%s: want one argument, %s", verb.Name(c), none)
	}
	return env.NewQuestions().PickRow(c.Context, what, list)
}

// TaskArg returns the argument of a verb that takes a task; a person picks one of those that it works on.
func TaskArg(c *cli.Context, env console.Env) (string, error) {
	return PickArg(c, env, "task", "a task, and none is in a state for it; odd task list shows the tasks", func() (rows [][]string, err error) {
		v, err := OpenTasks(c.Context, env)
		if err != nil {
			return nil, err
		}
		for _, t := range v.TaskRows() {
			if t.State != board.Done && TakesTask(c.Command.Name, t.State) {
				rows = append(rows, []string{string(t.ID), string(t.State), t.Title})
			}
		}
		return rows, nil
	})
}
