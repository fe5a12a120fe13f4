package cage

import (
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
				attr := k.handled(c.abi)
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
