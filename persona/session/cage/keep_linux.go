package cage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfExe is odd's own executable, also when its file was replaced since.
const selfExe = "/proc/self/exe"

func (c Cage) kept() bool { return len(c.Self) > 0 }

// keep starts a keeper, and by it the program.
func (q *Process) keep(c Cage, p Program, path string) error {
	toRead, to, err := os.Pipe()
	if err != nil {
		return &NotStarted{err}
	}
	defer toRead.Close()
	from, fromWrite, err := os.Pipe()
	if err != nil {
		to.Close()
		return &NotStarted{err}
	}
	defer fromWrite.Close()
	q.close, q.report = append(q.close, to, from), json.NewDecoder(from)
	q.cmd = exec.CommandContext(q.ctx, selfExe)
	q.cmd.Args, q.cmd.Dir, q.cmd.Env = c.Self, "/", []string{}
	q.cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	q.cmd.WaitDelay = keeperWait
	q.cmd.Cancel = to.Close // the keeper ends everything, then itself
	if err := q.begin(p); err != nil {
		return err
	}
	fromWrite.Close()
	read, write := c.places(p, path)
	s := spec{Path: path, Argv: p.Argv, Dir: p.Dir, Env: p.Env, Enforce: c.Enforce, Network: p.Network, Limits: c.Limits, Read: read, Write: write, Devices: devices()}
	var first report
	err = json.NewEncoder(to).Encode(s)
	if err == nil {
		err = q.report.Decode(&first)
	}
	return q.begun(first, err)
}

// begun reads the first report.
func (q *Process) begun(r report, err error) error {
	if err == nil && r.Fault == "" && len(r.Missing) == 0 {
		q.Held = r.Held
		return nil
	}
	why := context.Cause(q.ctx)
	switch {
	case len(r.Missing) > 0:
		err = &Unheld{r.Missing}
	case r.Fault != "":
		err = &NotStarted{errors.New(r.Fault)}
	case why != nil:
		err = &NotStarted{why}
	default:
		err = &NotStarted{fmt.Errorf("the keeper did not answer: %w", err)}
	}
	q.cancel(err)
	_ = q.cmd.Wait()
	if q.Stdout != nil {
		q.Stdout.Close()
	}
	return err
}

// keep keeps the program that its descriptor 3 names, and returns its own exit code.
func keep() int {
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	in, out := os.NewFile(3, "spec"), os.NewFile(4, "report")
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	var s spec
	if err != nil || json.Unmarshal(line, &s) != nil {
		return 2 // typed by hand
	}
	over := make(chan struct{})
	go func() {
		_, _ = r.ReadByte() // odd's end is closed: it says so, or it is dead
		close(over)
	}()
	k := keeper{spec: s, say: json.NewEncoder(out)}
	return k.run(over)
}

type keeper struct {
	spec
	say  *json.Encoder
	held Held
}

// run starts the program and stays until nothing of it is left.
func (k *keeper) run(over <-chan struct{}) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err == nil {
		k.held.Reaper = true
	} else {
		k.held.Missing = append(k.held.Missing, "children that daemonise can outlive their session: "+err.Error())
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	var pid int
	var err error
	offLeader(func() { pid, err = k.start() })
	if err != nil {
		_ = k.say.Encode(report{Fault: err.Error()})
		return 1
	}
	if pid == 0 {
		_ = k.say.Encode(report{Missing: k.held.Missing})
		return 1
	}
	if k.say.Encode(report{Held: k.held, Pid: pid}) != nil {
		endAll()
		return 1
	}
	unstream()
	return k.stay(pid, over)
}

// offLeader runs f on a thread that is not the first of the process, and lets
// that thread end with it. What f does to its thread's rights a program that it
// starts inherits; the process, which others see by its first thread, keeps its own.
func offLeader(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			offLeader(f)
			return
		}
		f()
	}()
	<-done
}

// start confines the thread and starts the program from it. A pid of 0 says that
// something is not held which must be.
func (k *keeper) start() (int, error) {
	if k.Enforce != Off {
		if err := k.confine(); err != nil {
			return 0, err
		}
	}
	if k.Enforce == Require && len(k.held.Missing) > 0 {
		return 0, nil
	}
	if k.Enforce == Off || k.Network == Allow {
		k.held.Network = Allow
	}
	pid, err := syscall.ForkExec(k.Path, k.Argv, &syscall.ProcAttr{Dir: k.Dir, Env: k.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", k.Path, err)
	}
	return pid, nil
}

// unstream lets go of the program's streams: their other ends must see that the
// program closed them.
func unstream() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup3(null, fd, 0) != nil {
			_ = unix.Close(fd)
		}
	}
}
