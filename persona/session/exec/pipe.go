package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

// Pipe starts a command and returns what it says on its standard output, as it
// says it: a reader that does not read makes the command wait. Reading ends with
// io.EOF where the command ended well, and else with how it ended and the last
// line of its standard error, without credentials. The command and what it
// started end with ctx, and with Close.
//
// Of Command everything counts but Max; its Tree is where it starts, and not
// what it may write.
func Pipe(ctx context.Context, c Command) io.ReadCloser {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) }) // which frees a command that waits to be read
	go func() {
		defer cancel()
		talk := &capped{max: maxTranscript}
		_, err := c.Cage.Run(ctx, cage.Program{Argv: c.Argv, Dir: filepath.Join(c.Tree, filepath.FromSlash(c.Dir)), Env: c.Env,
			Stdout: w, Stderr: talk, Desk: c.Desk, Network: c.Network, Read: []string{c.Tree}, Write: c.Write})
		if err == nil {
			w.Close()
			return
		}
		var exit *cage.Exit
		switch {
		case session.Interruption(ctx) != "":
			err = context.Cause(ctx)
		case errors.As(err, &exit):
			err = fmt.Errorf("%s: %w%s", c.Argv[0], err, talk.lastLine())
		}
		w.CloseWithError(err)
	}()
	return piped{r, cancel}
}

// piped is the reading end of a command that runs.
type piped struct {
	*io.PipeReader
	cancel func()
}

// Close ends the command.
func (p piped) Close() error {
	p.cancel()
	return p.PipeReader.Close()
}
