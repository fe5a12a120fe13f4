package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Command is one program to be run for what it says: a check of a tree.
type Command struct {
	Argv    []string     // never through a shell
	Tree    string       // absolute: the tree it may work in
	Desk    session.Desk // what else it may write, besides Tree
	Cage    cage.Cage    // how it is held; the zero Cage holds it by its process group only
	Network cage.Network // what it reaches
	Write   []string     // more places it may write: its caches
	Dir     string       // below Tree, with slashes, "" is its top
	Env     []string     // all of its environment, "NAME=value", see [Environment]
	Input   []byte       // what it reads
	Max     int          // bytes of output that are kept, of the beginning and the end; 0 is DefaultOutput
}

// DefaultOutput is how much of a command's output is kept without Max.
const DefaultOutput = 256 << 10

// Result is how a command ended. The zero Result did not end well.
type Result struct {
	Done   bool      // it ended by itself, with Exit
	Exit   int       // 0 is well
	Fault  string    // why it did not: one of the Fault words
	Detail string    // more of it
	Held   cage.Held // what the kernel held of it
	Output []byte    // both streams as they came, without credentials; the middle of much is cut
}

// Why a command did not end by itself.
const (
	FaultTimeout   = "timeout"
	FaultCancelled = "cancelled"
	FaultStart     = "not-started"
	FaultKilled    = "killed"    // by a signal that is not ours
	FaultDisk      = "disk-full" // its desk held more than it may
	FaultUnheld    = "sandbox-unavailable"
)

// Run runs a command until it ends or ctx does; a deadline is its timeout. What holds
// it, and what it leaves behind, is the Cage's to say.
func Run(ctx context.Context, c Command) Result {
	dir := filepath.Join(c.Tree, filepath.FromSlash(c.Dir))
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Tree) || c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return Result{Fault: FaultStart, Detail: fmt.Sprintf("%q in %q of %q; want a program, and a folder of an absolute tree", c.Argv, c.Dir, c.Tree)}
	}
	out := newMiddle(c.Max)
	desk := c.Desk
	desk.Tree = c.Tree
	held, err := c.Cage.Run(ctx, cage.Program{Argv: c.Argv, Dir: dir, Env: c.Env, Stdin: bytes.NewReader(c.Input), Stdout: out, Stderr: out, Desk: desk, Network: c.Network, Write: c.Write})
	r := resultOf(ctx, err)
	r.Held, r.Output = held, out.text()
	return r
}

// resultOf says how a program ended.
func resultOf(ctx context.Context, err error) Result {
	var exit *cage.Exit
	var full *cage.Full
	var unheld *cage.Unheld
	why := session.Interruption(ctx)
	switch {
	case why == session.Timeout:
		return Result{Fault: FaultTimeout, Detail: "it was stopped when its time was over"}
	case why != "":
		return Result{Fault: FaultCancelled, Detail: "it was stopped with the run"}
	case errors.As(err, &full):
		return Result{Fault: FaultDisk, Detail: err.Error()}
	case errors.As(err, &unheld):
		return Result{Fault: FaultUnheld, Detail: err.Error()}
	case errors.As(err, &exit) && exit.Signal != "":
		return Result{Fault: FaultKilled, Detail: exit.Error()}
	case errors.As(err, &exit):
		return Result{Done: true, Exit: exit.Code}
	case err == nil:
		return Result{Done: true}
	}
	return Result{Fault: FaultStart, Detail: string(secrets.Redact([]byte(err.Error())))}
}
