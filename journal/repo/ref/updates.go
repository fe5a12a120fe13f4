package ref

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// updater runs ref transactions with a `git update-ref --stdin`, which it keeps running briefly for the next
// one. It needs no Close: between transactions the process holds no lock, and it exits at the end of its input,
// with odd.
type updater struct {
	mu   sync.Mutex
	run  *gitcmd.Runner
	proc *updateProcess
}

type updateProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said *strings.Builder // its error output; read it only after the process ended
	gone chan struct{}    // closed when it ended during a transaction
}

// updatesLive is how long one process is used: it writes the time of its first look at the clock into every line of
// a reflog.
const updatesLive = time.Second

// errEnded means that the process ended instead of answering.
var errEnded = errors.New("git update-ref ended")

// runTransaction runs one transaction in two steps: it sends "commit" only after git has said that it holds every
// lock. If odd dies before that, git reads the end of its input and aborts. If odd dies later, the lock files show
// Recover that the refs may still move. Either way no ref moves behind a recovery's back.
func (u *updater) runTransaction(ctx context.Context, in string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	again := u.proc != nil
	asked, err := u.runOnce(ctx, in)
	if again && !asked && errors.Is(err, errEnded) && ctx.Err() == nil {
		_, err = u.runOnce(ctx, in) // the kept process had died in the meantime
	}
	return err
}

// runOnce runs one transaction; asked is false if git never said that it is prepared. errEnded means that the
// process ended without a message.
func (u *updater) runOnce(ctx context.Context, in string) (asked bool, err error) {
	p, err := u.start()
	if err != nil {
		return false, gitcmd.Explain(ctx, u.newCall(), err, "")
	}
	stop := context.AfterFunc(ctx, p.terminate)
	if err = p.send(in, "prepare: ok"); err == nil {
		asked = true
		err = p.send("commit\x00", "commit: ok")
	}
	if stop() && err == nil {
		return true, nil
	}
	u.proc = nil
	p.in.Close()
	werr := p.cmd.Wait()
	close(p.gone)
	switch {
	case err == nil:
		return true, nil // it was ended after the commit
	case p.said.Len() > 0 && werr != nil, ctx.Err() != nil:
		err = werr
	}
	err = gitcmd.Explain(ctx, u.newCall(), err, p.said.String())
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signal() == syscall.SIGKILL {
		err = &KilledError{err}
	}
	return asked, err
}

// KilledError means that git was killed and may have left lock files.
type KilledError struct{ error }

func (s *KilledError) Unwrap() error { return s.error }

// updateArgs makes the reflog say that odd moved the branch; the person's git identity is on the line too.
var updateArgs = []string{"update-ref", "-m", "odd", "-z", "--stdin"}

func (u *updater) newCall() gitcmd.Call {
	return gitcmd.Call{Args: updateArgs, Env: gitcmd.PickEnv(u.run.Self, []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"})}
}

// start returns the running process, or starts one.
func (u *updater) start() (*updateProcess, error) {
	if u.proc != nil {
		return u.proc, nil
	}
	p := &updateProcess{cmd: u.run.Command(context.Background(), u.newCall()), said: &strings.Builder{}, gone: make(chan struct{})}
	p.cmd.Stderr = p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	u.proc = p
	time.AfterFunc(updatesLive, func() { u.endAfterUse(p) })
	return p, nil
}

// send writes commands and reads answers until the wanted one.
func (p *updateProcess) send(in, want string) error {
	if _, err := io.WriteString(p.in, in); err != nil {
		return errEnded
	}
	for {
		line, err := p.out.ReadString('\n')
		switch {
		case err != nil:
			return errEnded
		case strings.TrimSuffix(line, "\n") == want:
			return nil
		}
	}
}

// endAfterUse ends p when its time is up, after its current transaction.
func (u *updater) endAfterUse(p *updateProcess) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.proc == p {
		u.proc = nil
		p.in.Close()
		_ = p.cmd.Wait() // no transaction is running
	}
}

// leaveTime is how long git and its hook have to exit after SIGTERM.
const leaveTime = 2 * time.Second

// terminate tells git and its hook to exit, which removes their locks, and kills them if they do not.
func (p *updateProcess) terminate() {
	group := -p.cmd.Process.Pid
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(group, signal)
		select {
		case <-p.gone:
			return
		case <-time.After(leaveTime):
		}
	}
}
