package testscripts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Faults are made by the kernel's seccomp notifications (Linux 5.19): a program,
// and whatever it starts, asks the test before each call that writes, and the
// test answers with an error or lets the kernel go on. No program and no file
// system need know.

// asked are the calls that write, with the flags of an open that do.
var asked = []uint32{
	unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT,
	unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RMDIR,
}

const opens = unix.O_CREAT | unix.O_TRUNC

// askFilter asks about the calls above and lets every other one be.
func askFilter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	ask := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF}
	let := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	out := []unix.SockFilter{load(0)}
	for _, call := range asked {
		out = append(out, jump(unix.BPF_JEQ, call, 0, 1), ask)
	}
	for call, flags := range map[uint32]uint32{unix.SYS_OPEN: 24, unix.SYS_OPENAT: 32} { // where seccomp_data has the flags
		out = append(out, jump(unix.BPF_JEQ, call, 0, 4), load(flags), jump(unix.BPF_JSET, opens, 0, 1), ask, let)
	}
	return append(out, let)
}

// askedMain is the program "asked": it runs a command whose every write asks
// whoever holds the other end of file 3.
func askedMain() {
	runtime.LockOSThread() // the filter is this thread's, and so the command's
	filter := askFilter()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	fd, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		err = errors.Join(err, errno)
	}
	if err == nil {
		err = unix.Sendmsg(3, []byte{'.'}, unix.UnixRights(int(fd)), nil, 0)
	}
	if err != nil {
		unix.Sendmsg(3, []byte(err.Error()), nil, nil, 0)
		os.Exit(125)
	}
	unix.CloseOnExec(int(fd))
	unix.CloseOnExec(3)
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		_ = syscall.Exec(path, os.Args[1:], os.Environ()) // it comes back only where it failed
	}
	os.Exit(126)
}

// The kernel's struct seccomp_notif and struct seccomp_notif_resp.
type (
	notice struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	verdict struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

// suffer runs a command under a fault and returns what it wrote, how it ended
// and what was hit.
func (f *fault) suffer(t *testing.T, c *exec.Cmd) (out string, err error) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair[0], os.NewFile(uintptr(pair[1]), "asked")
	defer unix.Close(ours)
	shim, err := exec.LookPath("asked")
	if err != nil {
		t.Fatal(err)
	}
	c.Args = append([]string{"asked"}, c.Args...)
	c.Path, c.Err = shim, nil
	c.ExtraFiles = []*os.File{theirs}
	var b bytes.Buffer
	c.Stdout, c.Stderr = &b, &b
	err = c.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := receive(ours)
	if err != nil {
		c.Wait()
		t.Skipf("this kernel asks nobody before a write: %v", err)
	}
	var done sync.WaitGroup
	done.Go(func() { f.answer(listener) })
	err = c.Wait()
	done.Wait()
	unix.Close(listener)
	return b.String(), err
}

// receive gets the kernel's end from the program that is about to be asked.
func receive(from int) (int, error) {
	said, rights := make([]byte, 256), make([]byte, unix.CmsgSpace(4))
	n, m, _, _, err := unix.Recvmsg(from, said, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	if m == 0 {
		return 0, errors.New(string(said[:n]))
	}
	msgs, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return 0, err
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// answer answers until nobody is left who could ask.
func (f *fault) answer(listener int) {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return // the last of them is gone
		}
		var n notice
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // it died while it asked
		}
		v := verdict{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if what, path := named(n); path != "" {
			if errno := f.judge(what, path); errno != 0 {
				v.flags, v.errno = 0, -int32(errno)
			}
		}
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&v)))
	}
}

// named is what a call does and to which file; "" for what is no file.
func named(n notice) (what, path string) {
	at := func(dir, name uint64) string { return where(n.pid, int32(dir), text(n.pid, name)) }
	here := uint64(0xffffff9c) // AT_FDCWD
	switch n.nr {
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV:
		return "write", where(n.pid, int32(n.args[0]), "")
	case unix.SYS_FTRUNCATE:
		return "truncate", where(n.pid, int32(n.args[0]), "")
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return "sync", where(n.pid, int32(n.args[0]), "")
	case unix.SYS_OPEN:
		return "create", at(here, n.args[0])
	case unix.SYS_OPENAT:
		return "create", at(n.args[0], n.args[1])
	case unix.SYS_RENAME:
		return "rename", at(here, n.args[1])
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return "rename", at(n.args[2], n.args[3])
	case unix.SYS_LINK, unix.SYS_SYMLINK:
		return "link", at(here, n.args[1])
	case unix.SYS_LINKAT:
		return "link", at(n.args[2], n.args[3])
	case unix.SYS_SYMLINKAT:
		return "link", at(n.args[1], n.args[2])
	case unix.SYS_MKDIR:
		return "mkdir", at(here, n.args[0])
	case unix.SYS_MKDIRAT:
		return "mkdir", at(n.args[0], n.args[1])
	case unix.SYS_UNLINK, unix.SYS_RMDIR:
		return "remove", at(here, n.args[0])
	}
	return "remove", at(n.args[0], n.args[1])
}

// where is the path of a file that a process names by a directory it has open.
func where(pid uint32, dir int32, name string) string {
	proc := "/proc/" + strconv.Itoa(int(pid))
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	link := fmt.Sprintf("%s/fd/%d", proc, dir)
	if dir == unix.AT_FDCWD {
		link = proc + "/cwd"
	}
	to, err := os.Readlink(link)
	if err != nil || !strings.HasPrefix(to, "/") {
		return "" // a pipe, a socket
	}
	return filepath.Join(to, name)
}

// text is a string in the memory of a process.
func text(pid uint32, at uint64) string {
	m, err := os.Open("/proc/" + strconv.Itoa(int(pid)) + "/mem")
	if err != nil {
		return ""
	}
	defer m.Close()
	b := make([]byte, 4096)
	n, _ := m.ReadAt(b, int64(at)) // it may end before a page does
	b, _, _ = bytes.Cut(b[:n], []byte{0})
	return string(b)
}
