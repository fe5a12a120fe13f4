package cage

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	groupWait  = 300 * time.Millisecond // after the end of a program without a keeper, for pipes others hold open
	keeperWait = 5 * time.Second        // for a keeper to end everything
	deskEvery  = time.Second            // between two looks at the size of a desk
)

// Process is a program that was started.
type Process struct {
	Stdin  io.WriteCloser // nil where Program.Stdin was set
	Stdout io.ReadCloser  // nil where Program.Stdout was set; it can be read to its end after Wait too
	Held   Held

	cmd     *exec.Cmd
	ctx     context.Context
	cancel  context.CancelCauseFunc
	desk    []string
	limit   int64
	program int // its process id, known of a kept one
	left    int // processes that were ended after it
	unlook  func()
	ungroup func()
	report  *json.Decoder
	close   []io.Closer // odd's ends of the pipes to the keeper
	once    sync.Once
	err     error
}

// Run runs a program to its end, or to that of ctx. The error is that of Start or of Wait.
func (c Cage) Run(ctx context.Context, p Program) (Held, error) {
	if p.Stdin == nil {
		p.Stdin = strings.NewReader("")
	}
	if p.Stdout == nil {
		p.Stdout = io.Discard
	}
	q, err := c.Start(ctx, p)
	if err != nil {
		return Held{}, err
	}
	return q.Held, q.Wait()
}

// Start starts a program, which ends at the latest with ctx. The error is a
// *NotStarted or an *Unheld. Whoever starts a program waits for it.
func (c Cage) Start(ctx context.Context, p Program) (*Process, error) {
	path, err := lookUp(p)
	if err != nil {
		return nil, &NotStarted{err}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, &NotStarted{err}
	}
	if missing := c.refusedWithoutKeeper(p); len(missing) > 0 {
		return nil, &Unheld{missing}
	}
	q := &Process{unlook: func() {}, ungroup: func() {}, limit: c.Limits.Desk}
	for _, d := range []string{p.Desk.Tree, p.Desk.Home, p.Desk.Temp} {
		if d != "" {
			q.desk = append(q.desk, d)
		}
	}
	q.ctx, q.cancel = context.WithCancelCause(ctx)
	if c.hasKeeper() {
		err = q.startKept(c, p, path)
	} else {
		err = q.startGroup(c, p, path)
	}
	if err != nil {
		q.releaseAll()
		return nil, err
	}
	q.watchSize(c)
	return q, nil
}

func lookUp(p Program) (string, error) {
	switch {
	case p.path != "":
		return p.path, nil
	case len(p.Argv) == 0 || p.Argv[0] == "":
		return "", errors.New("no argv: which program?")
	case !filepath.IsAbs(p.Dir):
		return "", errors.New("a program starts in an absolute directory, not in \"" + p.Dir + "\"")
	case strings.Contains(p.Argv[0], "/") && !filepath.IsAbs(p.Argv[0]):
		return filepath.Join(p.Dir, p.Argv[0]), nil
	}
	path, err := exec.LookPath(p.Argv[0])
	if err == nil && !filepath.IsAbs(path) {
		path, err = filepath.Abs(path)
	}
	return path, err
}

// Installed says of a program that cannot be started in dir by its name or path what it is not; nil
// where it can. What follows the first start may still fail.
func Installed(program, dir string) error {
	path, err := lookUp(Program{Argv: []string{program}, Dir: dir})
	if err == nil {
		_, err = exec.LookPath(path)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.New("is not executable (chmod +x)")
	case err != nil:
		return errors.New("is not installed on this computer")
	}
	return nil
}

// startGroup starts a program that only its process group holds.
func (q *Process) startGroup(c Cage, p Program, path string) error {
	q.cmd = exec.CommandContext(q.ctx, path, p.Argv[1:]...)
	q.cmd.Args[0], q.cmd.Dir, q.cmd.WaitDelay = p.Argv[0], p.Dir, groupWait
	q.cmd.Env = append([]string{}, p.Env...) // nil would be all of odd's own
	q.cmd.Cancel = func() error { return killGroup(q.cmd.Process) }
	q.Held = Held{Network: Allow, Missing: c.missingWithoutKeeper(p)}
	return q.startCmd(p)
}

// startCmd connects the program's streams and starts cmd.
func (q *Process) startCmd(p Program) (err error) {
	ownSession(q.cmd)
	q.cmd.Stdin, q.cmd.Stdout, q.cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	if p.Stdin == nil {
		if q.Stdin, err = q.cmd.StdinPipe(); err != nil {
			return &NotStarted{err}
		}
	}
	if p.Stdout == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return &NotStarted{err}
		}
		defer w.Close()
		q.Stdout, q.cmd.Stdout = r, w
	}
	if err := q.cmd.Start(); err != nil {
		if q.Stdout != nil {
			q.Stdout.Close()
		}
		return &NotStarted{err}
	}
	return nil
}

// Kill ends the program and all it started. Wait tells when they are gone.
func (q *Process) Kill() { q.cancel(errKilled) }

var errKilled = errors.New("ended by odd")

// Wait waits until the program and what it started are gone; it may be called
// more than once. The error is nil for a program that ended well, an *Exit for
// one that did not, a *Full for one that was ended because of its desk, and
// where ctx or Kill ended it the context's cause. A Kill that found the program
// ended by itself, by its keeper's word, did not end it.
func (q *Process) Wait() error {
	q.once.Do(func() { q.err = q.waitForEnd() })
	return q.err
}

func (q *Process) waitForEnd() error {
	err := q.cmd.Wait()
	if q.report == nil {
		_ = killGroup(q.cmd.Process) // what the program left behind in its group
	}
	cause := context.Cause(q.ctx)
	var last report
	told := q.report != nil && q.report.Decode(&last) == nil
	if q.report != nil && !told {
		q.endOrphans()
	}
	q.left = last.Left
	q.releaseAll()
	switch full := q.checkSize(); {
	case errors.Is(cause, errKilled) && told && last.Signal == "":
		return last.exitError() // it had ended by itself: SIGKILL leaves nobody a choice
	case cause != nil:
		return cause
	case full != nil:
		return full
	case q.report != nil && !told:
		return &Exit{Code: -1, Signal: "killed, with its keeper"}
	case told:
		return last.exitError()
	}
	return exitOf(err)
}

// exitError is how a program ended, by its keeper's last report.
func (r report) exitError() error {
	if r.Code == 0 && r.Signal == "" && r.Why == "" {
		return nil
	}
	return &Exit{Code: r.Code, Signal: r.Signal, Why: r.Why}
}

// endOrphans ends the group of a program whose keeper did not.
func (q *Process) endOrphans() {
	if q.program > 0 {
		_ = killGroup(&os.Process{Pid: q.program})
	}
}

// exitOf is how a program without a keeper ended. One that left its pipes open
// to others ended well.
func exitOf(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return &Exit{Code: -1, Signal: strings.TrimPrefix(exit.String(), "signal: ")}
	case errors.As(err, &exit):
		return &Exit{Code: exit.ExitCode()}
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	return err
}

// watchSize looks at the desk now and then.
func (q *Process) watchSize(c Cage) {
	if c.Tick == nil || q.limit == 0 {
		return
	}
	q.unlook = c.Tick(deskEvery, func() {
		if err := q.checkSize(); err != nil {
			q.cancel(err)
		}
	})
}

// checkSize returns a *Full where the desk holds too much, else nil.
func (q *Process) checkSize() error {
	if q.limit == 0 {
		return nil
	}
	if n := sumSizes(q.desk, q.limit); n > q.limit {
		return &Full{Size: n, Limit: q.limit}
	}
	return nil
}

// perFile is what a file or folder counts besides its content: disks run out of
// them too.
const perFile = 1 << 10

// sumSizes adds up the files below some directories, and stops once it is past enough.
// What cannot be read counts nothing, and no symbolic link is followed.
func sumSizes(dirs []string, enough int64) (n int64) {
	for _, d := range dirs {
		_ = filepath.WalkDir(d, func(_ string, e os.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			n += perFile
			if st, err := e.Info(); err == nil && e.Type().IsRegular() {
				n += diskUse(st)
			}
			if n > enough {
				return filepath.SkipAll
			}
			return nil
		})
	}
	return n
}

func (q *Process) releaseAll() {
	q.unlook()
	q.cancel(nil)
	q.ungroup()
	for _, c := range q.close {
		c.Close()
	}
}

// ownSession starts c as the leader of a session, and so of a process group,
// that has no terminal.
func ownSession(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid = true
}

// killGroup ends the whole group p leads. A group that is gone is no error.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// diskUse returns how much of the disk a file takes; a sparse one takes less than its size.
func diskUse(st fs.FileInfo) int64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return st.Size()
}

// missingWithoutKeeper is what is asked for and cannot be held without a keeper.
func (c Cage) missingWithoutKeeper(p Program) []string {
	if c.Enforce == Off || len(c.Self) == 0 {
		return nil
	}
	missing := []string{"files: no Landlock on this system", "limits: none are set on this system", "children that daemonise can outlive their session"}
	if p.Network != Allow {
		missing = append(missing, "network: it cannot be closed on this system")
	}
	return missing
}

// refusedWithoutKeeper returns what the cage refuses to run without: under Require, what only a keeper holds.
func (c Cage) refusedWithoutKeeper(p Program) []string {
	if c.Enforce != Require || c.hasKeeper() {
		return nil
	}
	if len(c.Self) == 0 {
		return []string{"there is no keeper to hold a program"}
	}
	return c.missingWithoutKeeper(p)
}
