package cage

import (
	"errors"
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
	atArg1 = 24
)

const ofType = 0xf // the bits of a socket's type that are no flags

const x32 = 0x40000000 // calls of amd64's other door begin here

// filter says which sockets a thread may make. families are those it may, or where
// others is set those it may not.
type filter struct {
	families []uint32
	others   bool
	// pairs closes pairs but those that stay with each other: a datagram socket of
	// a pair still sends to any path.
	pairs bool
}

// installFilter filters this thread, for good. A call by another door, of another
// architecture, ends the program.
func (f filter) installFilter() error {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return errors.New("no seccomp filter for " + runtime.GOARCH)
	}
	return applySeccomp(f.buildProgram(arch))
}

// closedCalls are never a program's: a ring by which the kernel would make the
// sockets that are closed, and the keys that odd's own session holds.
func closedCalls() []uint32 {
	return []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL}
}

func (f filter) buildProgram(arch uint32) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	yes, no := answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_ERRNO|uint32(syscall.EACCES))
	out := []unix.SockFilter{
		load(atArch),
		jump(unix.BPF_JEQ, arch, 1, 0),
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(atCall),
		jump(unix.BPF_JGE, x32, 0, 1),
		no,
	}
	for _, call := range closedCalls() {
		out = append(out, jump(unix.BPF_JEQ, call, 0, 1), no)
	}
	if f.pairs {
		out = append(out, jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 6), load(atArg1), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: ofType},
			jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0), jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0), no, yes)
	}
	out = append(out, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), yes, load(atArg0))
	listed, rest := yes, no
	if f.others {
		listed, rest = no, yes
	}
	for _, family := range f.families {
		out = append(out, jump(unix.BPF_JEQ, family, 0, 1), listed)
	}
	return append(out, rest)
}

// applySeccomp filters the calls of this thread, for good.
func applySeccomp(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(syscall.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return errno
	}
	return nil
}
