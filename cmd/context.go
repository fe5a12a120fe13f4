package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/okf"
)

func contextVerb(env Env) *cli.Command {
	return verb("context [TASK]", "print the state of the board that an agent is given",
		"odd agent context\n"+
			"odd agent context read-the-handbook\n\n"+
			"The parts are lease, decisions, artifacts, progress and signals (tasks that\n"+
			"wait, failed or changed).",
		on(env, openCurrent, runContext), jsonFlag())
}

func runContext(c *cli.Context, env Env, v *view) error {
	known, err := v.rememberContext(c.Context, c.Args().First())
	if err != nil {
		return err
	}
	return showPage(env, c.Bool("json"), known, known.Markdown())
}

// rememberContext returns what to read before asking, about a task or "" for none.
func (v *view) rememberContext(ctx context.Context, name string) (drain.Context, error) {
	var id okf.ID
	if name != "" {
		t, err := v.findTask(name)
		if err != nil {
			return drain.Context{}, err
		}
		id = t.ID
	}
	m, err := v.newMemory(ctx)
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

func (v *view) newMemory(ctx context.Context) (*drain.Memory, error) {
	s, err := v.slowLoop(ctx)
	if err != nil {
		return nil, err
	}
	return &drain.Memory{Slow: s, State: v.state, Root: v.cfg.Root, Bundle: v.bundle, Files: v.files, Graph: v.graph, Tasks: v.allTasks(), Leases: v.cfg.Lease != "off", LandsAlone: v.cfg.Pipeline.LandsAlone}, nil
}
