package cage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// TestHandled: each ABI takes away all that it knows, and nothing is called held that
// the kernel of that ABI does not hold. The numbers are those of the kernel's
// documentation: truncate came with 3, TCP with 4, device commands with 5, signals with
// 6, unix sockets by path with 9, UDP with 10.
func TestHandled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		abi          int
		bits         int // rights over files that are known
		tcp, udp     bool
		scoped, unix bool
	}{
		{1, 13, false, false, false, false}, {2, 14, false, false, false, false}, {3, 15, false, false, false, false}, {4, 15, true, false, false, false},
		{5, 16, true, false, false, false}, {6, 16, true, false, true, false}, {8, 16, true, false, true, false}, {9, 17, true, false, true, true}, {10, 17, true, true, true, true},
		{11, 17, true, true, true, true},
	} {
		for _, network := range []Network{None, Allow} {
			for _, open := range []bool{false, true} { // AnySockets
				k := &keeper{spec: spec{Network: network, Any: open}}
				attr := k.handledRights(c.abi)
				files := uint64(1)<<c.bits - 1
				if open && c.abi >= 9 {
					files &^= ll.AccessFSResolveUnix
				}
				closed := network == None && c.tcp
				tcp, udp := uint64(ll.AccessNetBindTCP|ll.AccessNetConnectTCP), uint64(ll.AccessNetBindUDP|ll.AccessNetConnectSendUDP)
				if attr.HandledAccessFS != files || (attr.HandledAccessNet&tcp == tcp) != closed || (attr.HandledAccessNet&udp == udp) != (closed && c.udp) || attr.HandledAccessNet != 0 && !closed ||
					(attr.Scoped == ll.ScopeAbstractUnixSocket|ll.ScopeSignal) != c.scoped {
					t.Errorf("ABI %d, %s, any sockets %v: %+v", c.abi, network, open, attr)
				}
				if h := k.held; (h.Network == None) != closed || h.Signals != c.scoped || h.Unix != (c.unix && !open) {
					t.Errorf("ABI %d, %s, any sockets %v: held %+v", c.abi, network, open, h)
				}
			}
		}
	}
}

// TestKilledTooLate: a program that had ended when it was killed tells how.
func TestKilledTooLate(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"exit 3": "exit status 3", "kill -TERM $$": "ended by odd", "exit 0": ""} {
		q, err := held().Start(t.Context(), sh(desk(t), script))
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, q.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		q.Kill()
		if err := q.Wait(); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

// TestManyProcesses: root's program that multiplies is ended, with all that it started.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("rlimits bound who is not root")
	}
	c := held()
	c.Limits.Processes, c.Limits.Memory, c.Enforce = 50, 256<<20, BestEffort
	if h, err := c.Run(t.Context(), sh(desk(t), "exit 0")); err != nil || slices.ContainsFunc(h.Missing, func(m string) bool { return strings.HasPrefix(m, "processes: ") }) {
		t.Skipf("no control group can be made here: %v, missing %q", err, h.Missing)
	}
	for _, n := range []Network{None, Loopback, Allow} {
		d := desk(t)
		p := sh(d, `i=0; while [ $((i += 1)) -lt 200 ]; do (sleep 600 & sleep 600) & done; wait`)
		p.Network = n
		_, err := c.Run(t.Context(), p)
		if want := "it and what it started were more than 50 processes; raise [sandbox] processes or start fewer"; said(err) != want {
			t.Errorf("%s: %v, want %s", n, err, want)
		}
		if _, err := c.Run(t.Context(), sh(d, `for i in 1 2 3 4 5 6 7 8; do sleep 0.01 & done; wait`)); err != nil {
			t.Errorf("%s: few processes: %v", n, err)
		}
	}
	c.Without = []Feature{Cgroups}
	h, err := c.Run(t.Context(), sh(desk(t), "exit 0"))
	if err != nil || !slices.ContainsFunc(h.Missing, func(m string) bool {
		return strings.HasPrefix(m, "processes: not limited, since odd runs as root and no control group")
	}) {
		t.Errorf("without control groups: %v, missing %q", err, h.Missing)
	}
	c.Enforce = Require
	if _, err := c.Run(t.Context(), sh(desk(t), "exit 0")); !errors.As(err, new(*Unheld)) {
		t.Errorf("without control groups, and they are required: %v", err)
	}
}

// TestMemoryOfMany: under cgroup v2 the memory of root's program is that of all that it
// started together; what is beyond is ended, and the machine keeps the rest.
func TestMemoryOfMany(t *testing.T) {
	t.Parallel()
	c := held()
	c.Limits.Processes, c.Limits.Memory, c.Enforce = 50, 256<<20, BestEffort
	g, err := newCgroup(c.Limits)
	defer g.removeGroup()
	if os.Geteuid() != 0 || err != nil || !g.V2 || bindsRoot() {
		t.Skipf("no control group of version 2 can be made here: %v", err)
	}
	const fill = `head -c 60000000 /dev/zero | tail -c 60000000 >/dev/null` // tail keeps all of it
	if _, err := c.Run(t.Context(), sh(desk(t), fill)); err != nil {
		t.Errorf("one: %v", err)
	}
	all := `for i in 1 2 3 4 5 6; do { head -c 60000000 /dev/zero; sleep 2; } | tail -c 60000000 >/dev/null & all="$all $!"; done; for p in $all; do wait $p || exit 9; done`
	if _, err := c.Run(t.Context(), sh(desk(t), all)); err == nil {
		t.Error("six of them have more memory than the program may")
	}
}

// TestHiddenProgram: a program in a hidden place does not start, and the error says so and what
// to do. One beside the user's home or a secret starts, and cannot read what lies beside it. A link that the agent
// can make starts no program of the user's.
func TestHiddenProgram(t *testing.T) {
	t.Parallel()
	c := held()
	if tried, err := c.Try(t.Context(), t.TempDir()); err != nil || tried.Held.Landlock == 0 {
		t.Skip("the kernel protects no files here")
	}
	top := t.TempDir()
	write := func(name, text string) string {
		at := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	diary, key := write("ann/diary", "mine\n"), write("ann/keys/key", "mine\n")
	c.Home, c.Hidden = filepath.Join(top, "ann"), []string{filepath.Join(top, "ann/keys")}
	for name, want := range map[string]string{"agent": "", "ann/agent": "", "ann/bin/agent": "", "ann/keys/agent": "move the program to another folder"} {
		at := write(name, "#!/bin/sh\n! cat "+diary+" && ! cat "+key+"\n")
		p := sh(desk(t), "")
		p.Argv = []string{at}
		_, err := c.Run(t.Context(), p)
		if got := said(err); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", name, got, want)
		}
	}
	p := sh(desk(t), "")
	p.Argv = []string{"./check"}
	if err := os.Symlink(write("ann/deploy", "#!/bin/sh\ncat $0\n"), filepath.Join(p.Desk.Tree, "check")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), p); !strings.Contains(said(err), "not a link to it") {
		t.Errorf("a link in the agent's own files to a program of the user's: %q", said(err))
	}
}

// A program that was started as a keeper and does not answer as one starts no other.
func TestAMainThatIsNoKeeper(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"odd", Verb}
	var no *NotStarted
	if _, err := held().Run(t.Context(), sh(desk(t), "exit 0")); !errors.As(err, &no) || !strings.Contains(err.Error(), "does not call cage.Main") {
		t.Errorf("%v", err)
	}
}
