package repo

import (
	"context"
	"io"
	"os/exec"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Pager is a running pager. After the person has left it, a write fails with EPIPE.
type Pager struct {
	io.WriteCloser // its standard input
	c              *exec.Cmd
}

// Page starts a pager. argv is run without a shell. The pager reads keys from the terminal, which it opens itself.
func Page(argv []string, at Terminal) (*Pager, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = at.Dir, at.Env, at.Out, at.Err
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Pager{in, c}, c.Start()
}

// Close closes the pager's input and waits until the person leaves it. Its exit code is ignored.
func (p *Pager) Close() error {
	err := p.WriteCloser.Close()
	_ = p.c.Wait()
	return err
}

// GitSettings returns git's settings whose keys match a pattern as a whole, as git reads them in dir, which need
// not be in a repository. If git cannot read them, there are none. Of a key with several values it returns the
// last.
func GitSettings(ctx context.Context, dir string, environ []string, pattern string) map[string]string {
	out, _ := gitcmd.New(dir, environ).Run(ctx, gitcmd.Call{Args: []string{"config", "-z", "--get-regexp", "^(" + pattern + ")$"}, Read: true})
	all := map[string]string{}
	for _, kv := range gitcmd.SplitNUL(out) {
		key, value, ok := strings.Cut(kv, "\n")
		if !ok {
			value = "true" // a key without a value
		}
		all[key] = value
	}
	return all
}
