package cmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board"
)

// nextStep says, for the end of odd help, which command comes next in the folder of
// env. It writes nothing, never fails and takes a second at most: odd status tells what
// it could not read.
func nextStep(env Env) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	next := make(chan string, 1)
	go func() { next <- findNextStep(ctx, env) }() // a file that cannot be read in time is not waited for
	select {
	case s := <-next:
		return s
	case <-ctx.Done():
		return "odd status shows what is wrong here"
	}
}

func findNextStep(ctx context.Context, env Env) string {
	env.Stderr = io.Discard
	w, err := workspaceOf(ctx, env, true)
	var r refusal
	switch {
	case errors.As(err, &r) && r.code == "no-repository":
		return "odd demo makes a sample repository to try; or, in a git repository of yours, odd init"
	case errors.As(err, &r) && r.code == "no-config":
		return "odd init sets odd up in this repository"
	case err != nil:
		return "odd status shows what is wrong here"
	}
	w.tasksOnly = true
	next, err := w.nextCommand(ctx)
	if err != nil {
		return "odd status shows what is wrong here"
	}
	return next
}

// nextCommand is what a person does next on this board; where nothing waits for one,
// what odd can do.
func (w *workspace) nextCommand(ctx context.Context) (string, error) {
	v, err := w.current(ctx)
	if err != nil {
		return "", err
	}
	loop, err := v.slowLoopOf(nil)
	if err != nil {
		return "", err
	}
	_, err = fs.Stat(v.bundle, "pause.toml")
	if next := v.nextAct(v.lease(loop), loop, err == nil); next != "" {
		return next, nil
	}
	for _, t := range v.rows() {
		if t.State == board.Ready {
			return "odd drain works on the ready tasks", nil
		}
	}
	return `odd task add "TITLE" adds a task`, nil
}
