package repo

import (
	"context"
	"fmt"
	"io"
	"os/exec"
)

// Terminal is where a person's program runs: their directory, their environment and
// the terminal odd was given.
type Terminal struct {
	Dir      string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// Edit runs the person's editor, argv as it is and never through a shell, and
// waits until it ends. An editor that is not there or ends badly is an error.
func Edit(ctx context.Context, argv []string, at Terminal) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = at.Dir, at.Env, at.In, at.Out, at.Err
	if err := c.Run(); err != nil {
		return fmt.Errorf("editor %s: %w; nothing was done", argv[0], err)
	}
	return nil
}
