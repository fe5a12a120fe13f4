package repo

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
)

// refUpdater runs transactions on refs by a `git update-ref --stdin` that lives on a
// moment for the next one. It needs no Close: between two transactions it holds
// nothing, and it leaves at the end of its input, so with odd.
type refUpdater struct {
	mu   sync.Mutex
	run  *runner
	proc *updateProcess
}

// updateProcess is one running process.
type updateProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said *strings.Builder // its complaints; to be read when it has ended
	gone chan struct{}    // closed when it has ended amid a transaction
}

// updatesLive is how long one process is used: it stamps every line of a reflog
// with the time at which it first looked at the clock.
const updatesLive = time.Second

// errEnded is a process that ended instead of answering.
var errEnded = errors.New("git update-ref ended")

// runTransaction runs one transaction in two breaths: "commit" is sent only after git has said that it holds every lock.
// If odd dies before that, git sees the end of its input and aborts; if it dies later, the lock files prove to
// Recover that the refs may still move. Either way no ref moves behind a recovery's back.
func (u *refUpdater) runTransaction(ctx context.Context, in string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	again := u.proc != nil
	asked, err := u.runOnce(ctx, in)
	if again && !asked && errors.Is(err, errEnded) && ctx.Err() == nil {
		_, err = u.runOnce(ctx, in) // the process that lived on had died of something else
	}
	return err
}

// runOnce runs one transaction; asked is false where git never said that it could be
// committed. An error that is errEnded is all that is known: git did not complain.
func (u *refUpdater) runOnce(ctx context.Context, in string) (asked bool, err error) {
	p, err := u.start()
	if err != nil {
		return false, u.run.explainError(ctx, u.newCall(), err, nil, "")
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
		return true, nil // it was ended when all was done
	case p.said.Len() > 0 && werr != nil, ctx.Err() != nil:
		err = werr
	}
	err = u.run.explainError(ctx, u.newCall(), err, nil, p.said.String())
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signal() == syscall.SIGKILL {
		err = &killedError{err}
	}
	return asked, err
}

// killedError is a git that had no time to take its locks away.
type killedError struct{ error }

func (s *killedError) Unwrap() error { return s.error }

// A line of the reflog says that odd moved the branch, and for whom: whom their git would name.
var updateArgs = []string{"update-ref", "-m", "odd", "-z", "--stdin"}

func (u *refUpdater) newCall() call {
	return call{args: updateArgs, env: pickEnv(u.run.self, []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"})}
}

// start is the process that runs, or another where it is too old.
func (u *refUpdater) start() (*updateProcess, error) {
	if u.proc != nil {
		return u.proc, nil
	}
	p := &updateProcess{cmd: u.run.newCommand(context.Background(), u.newCall()), said: &strings.Builder{}, gone: make(chan struct{})}
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
	time.AfterFunc(updatesLive, func() { u.expire(p) })
	return p, nil
}

// send writes commands and reads answers up to the one that is wanted.
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

// warmUp starts a process for a transaction to come. Where it cannot, the transaction says so.
func (u *refUpdater) warmUp() {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, _ = u.start()
}

// expire ends p when its time is up, after the transaction it is at.
func (u *refUpdater) expire(p *updateProcess) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.proc == p {
		u.proc = nil
		p.in.Close()
		_ = p.cmd.Wait() // nothing is on its way
	}
}

// leaveTime is how long git, and a hook of its, has to leave when it is told to.
const leaveTime = 2 * time.Second

// terminate tells it, and whatever hook it runs, to leave, which takes its locks away,
// and kills them where they do not.
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
