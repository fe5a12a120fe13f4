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
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfExe is odd's own executable, also when its file was replaced since.
const selfExe = "/proc/self/exe"

func (c Cage) hasKeeper() bool { return len(c.Self) > 0 }

// startKept starts a keeper, and by it the program. Where the kernel gives it no network
// of its own it is told so.
func (q *Process) startKept(c Cage, p Program, path string) error {
	read, write := c.listPlaces(p, path)
	s := spec{Path: path, Argv: p.Argv, Dir: p.Dir, Env: p.Env, Enforce: c.Enforce, Network: p.Network, Own: p.OwnSockets, Any: c.AnySockets, Limits: c.Limits, Without: c.Without, Read: read, Write: write, Devices: nullDevices()}
	if c.Enforce != Off && c.Limits.Processes > 0 && os.Geteuid() == 0 {
		err := errLacking
		if !slices.Contains(c.Without, Cgroups) {
			s.Group, err = newCgroup(c.Limits)
		}
		if err != nil {
			s.Ungrouped = err.Error()
		}
		q.ungroup = s.Group.removeGroup
	}
	if c.Enforce == Off {
		return q.keepAs(c, p, s, nil)
	}
	if p.Network != Loopback {
		return hiddenProgram(q.keepAs(c, p, s, nil), path, slices.Concat(read, write))
	}
	err := error(&noKeeper{errLacking})
	if !slices.Contains(c.Without, Namespaces) {
		err = q.keepAs(c, p, s, newNetNS())
	}
	if no := (*noKeeper)(nil); errors.As(err, &no) {
		s.Joined = no.Error()
		err = q.keepAs(c, p, s, nil)
	}
	return hiddenProgram(err, path, slices.Concat(read, write))
}

// hiddenProgram says why a program could not be started that lies in a hidden place: Landlock
// tells no more than that permission was denied.
func hiddenProgram(err error, path string, open []string) error {
	var never *NotStarted
	at := resolveLinks(path)
	if !errors.As(err, &never) || !strings.Contains(never.Error(), unix.EACCES.Error()) || at == "" || slices.ContainsFunc(open, func(dir string) bool { return isWithin(dir, at) }) {
		return err
	}
	return &NotStarted{fmt.Errorf("%w: it lies in a place that is hidden from agents; move the program to another folder, such as ~/bin, and name it there, not a link to it", never.Err)}
}

var errLacking = errors.New("the kernel has no such thing")

// noKeeper is a keeper that the kernel did not start.
type noKeeper struct{ error }

// keepAs starts a keeper with some attributes.
func (q *Process) keepAs(c Cage, p Program, s spec, as *syscall.SysProcAttr) error {
	if len(os.Args) > 1 && os.Args[1] == Verb { // such a program would start itself without end
		return &NotStarted{fmt.Errorf("%s was started as a keeper and is none: its main does not call cage.Main", selfExe)}
	}
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
	q.report = json.NewDecoder(from)
	q.cmd = exec.CommandContext(q.ctx, selfExe)
	q.cmd.Args, q.cmd.Dir, q.cmd.Env = c.Self, "/", []string{}
	q.cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	q.cmd.WaitDelay = keeperWait
	q.cmd.Cancel = to.Close // the keeper ends everything, then itself
	q.cmd.SysProcAttr = as
	if err := q.startCmd(p); err != nil {
		to.Close()
		from.Close()
		return &NotStarted{&noKeeper{err}}
	}
	q.close = append(q.close, to, from)
	fromWrite.Close()
	var first report
	err = json.NewEncoder(to).Encode(s)
	if err == nil {
		err = q.report.Decode(&first)
	}
	return q.readFirstReport(first, err)
}

func (q *Process) readFirstReport(r report, err error) error {
	if err == nil && r.Fault == "" && len(r.Missing) == 0 {
		q.Held, q.program = r.Held, r.Pid
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

// runKeeper keeps the program that its descriptor 3 names, and returns its own exit code.
func runKeeper() int {
	if !closeOnExec() {
		return 2
	}
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
	k := keeper{spec: s, say: json.NewEncoder(out), as: &syscall.SysProcAttr{Setpgid: true}}
	return k.run(over)
}

type keeper struct {
	spec
	say  *json.Encoder
	held Held
	as   *syscall.SysProcAttr // of the program
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
	offLeader(func() { pid, err = k.startProgram() })
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
	closeStreams()
	return k.stayUntilEnd(pid, over)
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

// startProgram confines the thread and starts the program from it. A pid of 0 says that
// something is not held which must be.
func (k *keeper) startProgram() (int, error) {
	if k.Enforce != Off {
		if err := k.confineThread(); err != nil {
			return 0, err
		}
	}
	if k.Enforce == Require && len(k.held.Missing) > 0 {
		return 0, nil
	}
	if k.Enforce == Off || k.Network == Allow {
		k.held.Network = Allow
	}
	pid, err := syscall.ForkExec(k.Path, k.Argv, &syscall.ProcAttr{Dir: k.Dir, Env: k.Env, Files: []uintptr{0, 1, 2}, Sys: k.as})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", k.Path, err)
	}
	return pid, nil
}

// closeOnExec closes for the program all that this process has open but its
// streams: also what odd itself was given by whoever started it, a shell's lock or
// a terminal's file, which odd knows nothing of.
func closeOnExec() bool {
	if unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return true
	}
	open, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err == nil
}

// closeStreams lets go of the program's streams: their other ends must see that the
// program closed them.
func closeStreams() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup3(null, fd, 0) != nil {
			_ = unix.Close(fd)
		}
	}
}
