package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// Command is one program to be run for what it says: a check of a tree.
type Command struct {
	Argv []string // never through a shell
	Tree string   // absolute: the tree it may work in
	Dir  string   // below Tree, with slashes, "" is its top
	Env  []string // all of its environment, "NAME=value", see [Environment]
	Max  int      // bytes of output that are kept, of the beginning and the end; 0 is DefaultOutput
}

// DefaultOutput is how much of a command's output is kept without Max.
const DefaultOutput = 256 << 10

// Result is how a command ended. The zero Result did not end well.
type Result struct {
	Done   bool   // it ended by itself, with Exit
	Exit   int    // 0 is well
	Fault  string // why it did not: one of the Fault words
	Detail string // more of it
	Output []byte // both streams as they came, without credentials; the middle of much is cut
}

// Why a command did not end by itself.
const (
	FaultTimeout   = "timeout"
	FaultCancelled = "cancelled"
	FaultStart     = "not-started"
	FaultKilled    = "killed" // by a signal that is not ours
)

// Run runs a command until it ends or ctx does; a deadline is its timeout. It
// has no input. It runs in a process group of its own, and when Run returns the
// group is gone: what a command leaves behind does not outlive it, but for a child
// that moved to another group.
//
// That is all that keeps it in: a command has the rights of the user who runs odd,
// and reaches the network and files outside its tree. Whoever must not trust it
// runs odd itself in a container.
func Run(ctx context.Context, c Command) Result {
	dir := filepath.Join(c.Tree, filepath.FromSlash(c.Dir))
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Tree) || c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return Result{Fault: FaultStart, Detail: fmt.Sprintf("%q in %q of %q; want a program, and a folder of an absolute tree", c.Argv, c.Dir, c.Tree)}
	}
	out := newMiddle(c.Max)
	err := start(ctx, program{argv: local(c.Argv, dir), dir: dir, env: c.Env, out: out, err: out})
	r := ended(ctx, err)
	r.Output = out.text()
	return r
}

// ended says how a program ended.
func ended(ctx context.Context, err error) Result {
	var exit *exec.ExitError
	why := session.Interruption(ctx)
	switch {
	case why == session.Timeout:
		return Result{Fault: FaultTimeout, Detail: "it was stopped when its time was over"}
	case why != "":
		return Result{Fault: FaultCancelled, Detail: "it was stopped with the run"}
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return Result{Fault: FaultKilled, Detail: exit.String()}
	case errors.As(err, &exit):
		return Result{Done: true, Exit: exit.ExitCode()}
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return Result{Done: true}
	}
	return Result{Fault: FaultStart, Detail: string(irongate.Redact([]byte(err.Error())))}
}

// local takes a program named by a path from the folder it starts in.
func local(argv []string, dir string) []string {
	if !strings.Contains(argv[0], "/") || filepath.IsAbs(argv[0]) {
		return argv
	}
	argv = slices.Clone(argv)
	argv[0] = filepath.Join(dir, filepath.FromSlash(argv[0]))
	return argv
}

// program is what start starts.
type program struct {
	argv     []string
	dir      string
	env      []string
	in       io.Reader // nil: nothing to read
	out, err io.Writer
}

// start runs a program to its end, or to that of ctx, in a process group of its
// own, which is then ended whole. The error is that of [os/exec.Cmd.Run], or a
// notStarted.
func start(ctx context.Context, p program) error {
	c := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = p.dir, p.env, p.in, p.out, p.err
	if c.Env == nil {
		c.Env = []string{} // nil would be all of odd's own
	}
	c.WaitDelay = pipeWait
	c.Cancel = func() error { return kill(c.Process) }
	ownGroup(c)
	if err := c.Start(); err != nil {
		return &notStarted{err}
	}
	err := c.Wait()
	_ = kill(c.Process) // what the program left behind in its group
	return err
}

// notStarted is the error of a program that did not begin.
type notStarted struct{ error }

func (n *notStarted) Unwrap() error { return n.error }
