package cage

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the filter reads of a call, by its offset in struct seccomp_data. The
// machines here are little-endian: the low half of an argument comes first.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16
)

const x32 = 0x40000000 // calls of amd64's other door begin here

// socketFilter is a program for the kernel that refuses sockets but those of some families.
func socketFilter(arch uint32, families []uint32) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(atArch),
		jump(unix.BPF_JEQ, arch, 1, 0),
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(atCall),
		jump(unix.BPF_JGE, x32, 3, 0),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 2, 0),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 2, 0),
		answer(unix.SECCOMP_RET_ALLOW),
		answer(unix.SECCOMP_RET_ERRNO | uint32(syscall.EACCES)),
		load(atArg0),
	}
	for _, f := range families {
		filter = append(filter, jump(unix.BPF_JEQ, f, 0, 1), answer(unix.SECCOMP_RET_ALLOW))
	}
	return append(filter, answer(unix.SECCOMP_RET_ERRNO|uint32(syscall.EACCES)))
}

// seccomp filters the calls of this thread, for good.
func seccomp(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(syscall.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return errno
	}
	return nil
}
