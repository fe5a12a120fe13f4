package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

func taskShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "show",
		Usage:        "show one task, and why odd drain would or would not run it",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env),
		Description:  "odd task show read-the-handbook",
		Flags:        []cli.Flag{jsonFlag()},
		Action:       do(env, runTaskShow),
	})
}

func runTaskShow(c *cli.Context, env Env) error {
	name, err := taskArg(c, env)
	if err != nil {
		return err
	}
	v, err := openTasks(c.Context, env)
	if err != nil {
		return err
	}
	t, err := v.task(name)
	if err != nil {
		return err
	}
	waits := string(board.Eligible(&t.Row, board.Behind(v.graph, t), env.Now()))
	if c.Bool("json") {
		fields := map[string]any{}
		for _, f := range t.Atom.Fields {
			fields[f.Key] = f.Value
		}
		return printJSON(env, map[string]any{"id": t.ID, "path": v.file(t.Path), "state": t.State, "eligible": waits == "", "waits": waits, "fields": fields, "body": string(t.Atom.Body())})
	}
	switch {
	case waits == "":
		talk(env, "%s is ready; odd drain can work on it", t.ID)
	case t.State == board.Done:
		talk(env, "%s is done", t.ID)
	case t.State == board.Review:
		talk(env, "%s waits for your review; odd review %s shows the proposal", t.ID, t.ID)
	default:
		talk(env, "%s: odd drain does not work on it: %s", t.ID, waits)
	}
	file := t.Atom.Bytes()
	if env.Terminal {
		file = []byte(okf.Visible(string(file)))
	}
	_, err = env.Stdout.Write(file)
	return err
}
