package repo

import (
	"context"
	"io"
	"os/exec"
	"strings"
)

// Pager is a person's pager at work. Once they have left it, a write fails with EPIPE.
type Pager struct {
	io.WriteCloser // its standard input
	c              *exec.Cmd
}

// Page starts a pager, argv as it is and never through a shell. It reads keys from the
// terminal that it opens itself.
func Page(argv []string, at Terminal) (*Pager, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = at.Dir, at.Env, at.Out, at.Err
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Pager{in, c}, c.Start()
}

// Close ends the pager's input and waits until the person leaves it. How it ends says
// nothing about what was shown.
func (p *Pager) Close() error {
	err := p.WriteCloser.Close()
	_ = p.c.Wait()
	return err
}

// GitSettings are the values of git's configuration whose whole keys match a pattern, as
// git reads it in dir, which may be in no repository: none where git cannot read it. Of a
// key with several values it is the last.
func GitSettings(ctx context.Context, dir string, environ []string, pattern string) map[string]string {
	out, _ := newRunner(dir, environ).run(ctx, call{args: []string{"config", "-z", "--get-regexp", "^(" + pattern + ")$"}, read: true})
	all := map[string]string{}
	for _, kv := range splitNUL(out) {
		key, value, ok := strings.Cut(kv, "\n")
		if !ok {
			value = "true" // a key without a value
		}
		all[key] = value
	}
	return all
}
