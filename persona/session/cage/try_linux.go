package cage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// runAttempts is the program that [Cage.Try] starts: it tries what a program must not
// do, says what came of it, and leaves a daemon behind that sleeps until it is ended.
func runAttempts(args []string) int {
	switch args[0] {
	case "nothing":
		return 0
	case "daemon":
		for {
			_ = unix.Pause()
		}
	}
	var t Tried
	if args[0] == "loopback" {
		t = tryLoopback()
	} else {
		t.Trials = append(append(tryFiles(args[0]), tryMore()...), tryPath(args[0]+".sock")...)
		_, _ = syscall.ForkExec("/proc/self/exe", []string{os.Args[0], Verb, "daemon"}, &syscall.ProcAttr{Files: []uintptr{}, Sys: &syscall.SysProcAttr{Setsid: true}})
	}
	if json.NewEncoder(os.NewFile(1, "out")).Encode(t) != nil {
		return 1
	}
	return 0
}

// tryMore are the trials on the network, on processes and on rights.
func tryMore() []Trial {
	var out []Trial
	for _, s := range []struct {
		what        string
		kind, proto int
	}{{"with network none: make a TCP socket", unix.SOCK_STREAM, 0}, {"with network none: make an MPTCP socket", unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, {"with network none: make a UDP socket", unix.SOCK_DGRAM, 0}} {
		out = append(out, tryConnect(s.what, s.kind, s.proto))
	}
	keeper := os.Getppid()
	_, environ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", keeper))
	_, tty := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	out = append(out,
		trialOf("signal another process", unix.Kill(keeper, 0)),
		trialOf("trace another process", unix.PtraceSeize(keeper)),
		trialOf("read the environment of another process", environ))
	if t := trialOf("open the terminal", tty); tty != nil {
		t.Held = true // whatever the reason
		out = append(out, t)
	} else {
		out = append(out, t)
	}
	var core unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_CORE, &core)
	out = append(out, Trial{"write a core", err == nil && core.Max == 0, fmt.Sprintf("at most %d bytes", core.Max)})
	nnp, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return append(out, Trial{"gain rights by a setuid program", err == nil && nnp == 1, fmt.Sprintf("no_new_privs is %d", nnp)})
}

// tryConnect tries to reach a port of this machine at which nobody listens.
func tryConnect(what string, kind, proto int) Trial {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return trialOf(what, err)
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}})
	if err == unix.ECONNREFUSED {
		err = nil
	}
	return trialOf(what, err)
}

// tryPath are the trials on a unix socket outside, where odd could make one.
func tryPath(at string) []Trial {
	to := &unix.SockaddrUnix{Name: at}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Connect(fd, to)
	}
	pair, no := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if no == nil {
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		no = unix.Sendto(pair[0], []byte("x"), 0, to)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	_, keys := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	return []Trial{trialOf("connect to a unix socket outside", err), trialOf("send to a unix socket outside", no), trialOf("open a keyring", keys)}
}

// tryLoopback reaches a server of its own, and tries to reach more.
func tryLoopback() Tried {
	own := ""
	if err := serveLoopback(); err != nil {
		own = err.Error()
	}
	return Tried{Loopback: own, Trials: []Trial{
		tryAddress("with network loopback: reach another machine", unix.AF_INET, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}),
		tryAddress("with network loopback: reach the hypervisor", unix.AF_VSOCK, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: 9}),
	}}
}

// tryAddress tries to address somebody; no packet is sent.
func tryAddress(what string, family int, to unix.Sockaddr) Trial {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Connect(fd, to)
	}
	t := trialOf(what, err)
	if err == unix.ENETUNREACH {
		t.Held = true // there is nobody
	}
	return t
}

// serveLoopback listens on loopback and connects to itself.
func serveLoopback() error {
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(l)
	if err := errors.Join(unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(l, 1)); err != nil {
		return err
	}
	at, err := unix.Getsockname(l)
	if err != nil {
		return err
	}
	c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(c)
	return unix.Connect(c, at)
}
