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

// cgroup is the control group of one program. RLIMIT_NPROC does not bind the machine's
// root (setrlimit(2)), and RLIMIT_DATA counts each process for itself; a control group
// counts the program and all that descends from it. odd makes and removes it, since a
// keeper may lack the right to. The zero cgroup is none.
type cgroup struct {
	Dir string `json:"dir,omitempty"`
	V2  bool   `json:"v2,omitempty"`
}

// newCgroup makes a control group below this process's own, or the nearest above it
// that can hold one, and sets its limits.
func newCgroup(l Limits) (cgroup, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(own)) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		g, top := cgroup{V2: number == "0"}, controlGroups
		if !g.V2 {
			top = filepath.Join(controlGroups, "pids")
		}
		if !g.V2 && !slices.Contains(strings.Split(controllers, ","), "pids") {
			continue
		}
		for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
			if err = g.makeGroup(filepath.Join(top, path), l); err == nil {
				return g, nil
			}
			if path == "/" {
				break
			}
		}
	}
	return cgroup{}, err
}

// makeGroup makes the group below a parent whose groups have a limit on processes, and
// takes away what was left there by an odd that was killed.
func (g *cgroup) makeGroup(parent string, l Limits) error {
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
	g.Dir = dir
	err = g.writeLimit("pids.max", int64(l.Processes))
	if err == nil && g.V2 && l.Memory > 0 {
		err = g.writeLimit("memory.max", l.Memory)
		_ = g.writeLimit("memory.swap.max", 0) // a kernel without swap has no such file
	}
	if err != nil {
		g.removeGroup()
	}
	return err
}

// removeGroup takes an empty group away.
func (g cgroup) removeGroup() {
	if g.Dir != "" {
		_ = unix.Rmdir(g.Dir)
	}
}

func (g cgroup) writeLimit(file string, n int64) error {
	f, err := os.OpenFile(filepath.Join(g.Dir, file), os.O_WRONLY, 0) // never made: on another file system it would be an ordinary file
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(n, 10))
	return errors.Join(err, f.Close())
}

// joinGroup lets what this thread starts next be born into the group, as the attributes say
// where it is version 2. The thread itself may be in it afterwards.
func (g cgroup) joinGroup() (*syscall.SysProcAttr, error) {
	as := &syscall.SysProcAttr{Setpgid: true}
	if !g.V2 {
		return as, g.writeLimit("tasks", int64(unix.Gettid()))
	}
	var err error
	as.CgroupFD, err = unix.Open(g.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	as.UseCgroupFD = err == nil
	return as, err
}

// hasRefused reports that the group has refused to start a process.
func (g cgroup) hasRefused() bool {
	b, err := os.ReadFile(filepath.Join(g.Dir, "pids.events"))
	times, ok := strings.CutPrefix(string(b), "max ")
	return g.Dir != "" && err == nil && ok && !strings.HasPrefix(times, "0")
}

// watchRefusals returns a channel that is closed when the group has refused to start a process.
func (g cgroup) watchRefusals() <-chan struct{} {
	full := make(chan struct{})
	fd, err := unix.Open(filepath.Join(g.Dir, "pids.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if g.Dir == "" || err != nil {
		return full
	}
	go func() {
		defer unix.Close(fd)
		for b := make([]byte, 128); !g.hasRefused(); {
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

// enterGroup lets the program be born into its control group, where the limit on
// processes does not bind its user.
func (k *keeper) enterGroup() {
	if k.Limits.Processes <= 0 || os.Geteuid() != 0 || bindsRoot() {
		return
	}
	err := errors.New(k.Ungrouped)
	if k.Group.Dir != "" {
		k.as, err = k.Group.joinGroup()
	}
	if err != nil {
		k.held.Missing = append(k.held.Missing, "processes: not limited, since odd runs as root and no control group (cgroup v2) can be made: "+err.Error())
	}
}

// bindsRoot reports that the limit on processes binds this user, as it does root in a
// container whose root is somebody else outside: one process more than one cannot start.
func bindsRoot() bool {
	var was unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &was) != nil {
		return false
	}
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: 1, Max: was.Max})
	_, err := syscall.ForkExec("/proc/nothing", nil, &syscall.ProcAttr{})
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &was)
	return err == syscall.EAGAIN
}
