package cage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// controlGroups is where the kernel's control groups are mounted: all of version 2
// there, or version 1's pids in a folder of that name (cgroups(7)).
const controlGroups = "/sys/fs/cgroup"

// cgroup is a control group of one program. RLIMIT_NPROC does not bind the machine's
// root (setrlimit(2)), and RLIMIT_DATA counts each process for itself; a control group
// counts the program and all that descends from it. The zero cgroup is none.
type cgroup struct {
	dir string
	v2  bool
}

// rootUnbound reports that the limit on processes does not hold for this user: it
// tries to start one more than one.
func rootUnbound() bool {
	var was unix.Rlimit
	if os.Geteuid() != 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &was) != nil {
		return false
	}
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: 1, Max: was.Max})
	_, err := syscall.ForkExec("/proc/nothing", nil, &syscall.ProcAttr{})
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &was)
	return err != syscall.EAGAIN
}

// newCgroup makes a control group below this process's own, or the nearest above it
// that can hold one, and sets its limits.
func newCgroup(l Limits) (cgroup, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return cgroup{}, err
	}
	for line := range strings.Lines(string(own)) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		g := cgroup{v2: number == "0"}
		top := controlGroups
		if !g.v2 {
			if !slices.Contains(strings.Split(controllers, ","), "pids") {
				continue
			}
			top = filepath.Join(controlGroups, "pids")
		}
		for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
			if err := g.make(filepath.Join(top, path), l); err == nil {
				return g, nil
			}
			if path == "/" {
				break
			}
		}
	}
	return cgroup{}, errors.New("no control group (cgroup v2) can be made")
}

// make makes the group below a parent whose groups have a limit on processes, and
// takes away what keepers that were killed left there.
func (g *cgroup) make(parent string, l Limits) error {
	if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
		return err
	}
	left, _ := filepath.Glob(filepath.Join(parent, "odd-*-*"))
	for _, at := range left {
		if _, err := os.Stat("/proc/" + strings.Split(filepath.Base(at), "-")[1]); err != nil {
			_ = unix.Rmdir(at) // refused while there is somebody in it
		}
	}
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("odd-%d-", os.Getpid()))
	if err != nil {
		return err
	}
	g.dir = dir
	err = g.set("pids.max", int64(l.Processes))
	if err == nil && g.v2 && l.Memory > 0 {
		err = g.set("memory.max", l.Memory)
	}
	if err != nil {
		g.remove()
	}
	return err
}

func (g cgroup) set(file string, n int64) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0) // never made: on another file system it would be an ordinary file
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(n, 10))
	return errors.Join(err, f.Close())
}

// join lets what this thread starts next be born into the group, as the attributes say
// where it is version 2. The thread itself may be in it afterwards.
func (g cgroup) join() (*syscall.SysProcAttr, error) {
	as := &syscall.SysProcAttr{Setpgid: true}
	if !g.v2 {
		return as, g.set("tasks", int64(unix.Gettid()))
	}
	var err error
	as.CgroupFD, err = unix.Open(g.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	as.UseCgroupFD = err == nil
	return as, err
}

// refused reports that the group has refused to start a process.
func (g cgroup) refused() bool {
	b, err := os.ReadFile(filepath.Join(g.dir, "pids.events"))
	times, ok := strings.CutPrefix(string(b), "max ")
	return g.dir != "" && err == nil && ok && !strings.HasPrefix(times, "0")
}

// crowd is closed when the group has refused to start a process.
func (g cgroup) crowd() <-chan struct{} {
	full := make(chan struct{})
	fd, err := unix.Open(filepath.Join(g.dir, "pids.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if g.dir == "" || err != nil {
		return full
	}
	go func() {
		defer unix.Close(fd)
		for b := make([]byte, 128); !g.refused(); {
			if _, err := unix.Pread(fd, b, 0); err != nil { // what Poll tells is news since the last read
				return
			}
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, 1000); err != nil && err != unix.EINTR {
				return
			}
		}
		close(full)
	}()
	return full
}

// remove takes an empty group away.
func (g cgroup) remove() {
	if g.dir != "" {
		_ = unix.Rmdir(g.dir)
	}
}

// gather makes the control group of the program where only that bounds it.
func (k *keeper) gather() {
	if k.Limits.Processes <= 0 || !rootUnbound() {
		return
	}
	err := errLacking
	if !slices.Contains(k.Without, Cgroups) {
		k.group, err = newCgroup(k.Limits)
	}
	if err == nil {
		k.as, err = k.group.join()
	}
	if err != nil {
		k.held.Missing = append(k.held.Missing, fmt.Sprintf("processes: not limited, since odd runs as root: %v; run it as another user", err))
	}
}
