package cmd

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/okf"
)

func contextVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "context",
		Usage:        "print the state of the board that an agent is given",
		ArgsUsage:    "[TASK]",
		BashComplete: completeTasks(env),
		Description: "odd agent context\n" +
			"odd agent context read-the-handbook\n\n" +
			"The parts are lease, decisions, artifacts, progress and signals (tasks that\n" +
			"wait, failed or changed).",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage("agent context: want one task or none; see odd help agent context")
			}
			return runContext(c.Context, env, c.Args().First(), c.Bool("json"))
		},
	})
}

func runContext(ctx context.Context, env Env, name string, asJSON bool) error {
	v, err := openCurrent(ctx, env)
	if err != nil {
		return err
	}
	c, err := v.remembered(ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, c)
	}
	_, err = io.WriteString(folded(env), c.Markdown())
	return err
}

// remembered is what to read before asking, about a task or "" for none.
func (v *view) remembered(ctx context.Context, name string) (drain.Context, error) {
	var id okf.ID
	if name != "" {
		t, err := v.task(name)
		if err != nil {
			return drain.Context{}, err
		}
		id = t.ID
	}
	m, err := v.memory(ctx)
	if err != nil {
		return drain.Context{}, err
	}
	past, err := v.state.Trials(v.env.Now(), v.cfg.ReviewTTL)
	if err != nil {
		return drain.Context{}, err
	}
	m.Lessons = memory.Lessons(past, v.env.Now())
	return m.Context(id)
}
