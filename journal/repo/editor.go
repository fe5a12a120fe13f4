package repo

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Terminal is where an interactive program runs: its directory, environment and streams.
type Terminal struct {
	Dir      string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// Editor returns the editor that git takes for a person with this environment, "" where it has none for their terminal.
func (r *Repo) Editor(ctx context.Context, environ []string) (string, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"var", "GIT_EDITOR"}, Env: gitcmd.PickEnv(environ, []string{"GIT_EDITOR", "VISUAL", "EDITOR", "TERM"}), Read: true})
	if gitcmd.ExitCode(err) > 0 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Edit runs the person's editor and waits until it ends. argv is run without a shell. An editor that is missing or
// fails is an error.
func Edit(ctx context.Context, argv []string, at Terminal) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = at.Dir, at.Env, at.In, at.Out, at.Err
	if err := c.Run(); err != nil {
		return fmt.Errorf("the editor, %s: %w; nothing was done", argv[0], err)
	}
	return nil
}
