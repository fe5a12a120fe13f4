package cage

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// lonely skips where the kernel gives no network of one's own.
func lonely(t *testing.T) {
	t.Helper()
	p := sh(desk(t), "exit 0")
	p.Network = Loopback
	if h, err := held().Run(t.Context(), p); err != nil || h.Network != Loopback || len(h.Missing) > 0 {
		t.Skipf("this kernel gives no loopback of its own: %v %q", err, h.Missing)
	}
}

// stranger is the port of a server that is not the program's.
func stranger(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// TestLoopback: a program with a network of its own serves itself, reaches no other
// server of this machine, and is nobody else for it: its files are the user's, it
// has no rights, and it cannot raise or change anything of that network.
func TestLoopback(t *testing.T) {
	t.Parallel()
	lonely(t)
	port := stranger(t)
	d := desk(t)
	var out bytes.Buffer
	p := sh(d, `id -u; id -g; sed -n 's/^Cap[A-Z][a-z]*:[[:space:]]*//p' /proc/self/status | head -3 | sort -u
tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '
touch mine; stat -c %u /proc/self; ls /proc/self/fd | sort -n | tail -1
(exec 3<>/dev/tcp/127.0.0.1/`+port+`) 2>/dev/null && echo through
ip link set lo down 2>/dev/null && echo down
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start && echo set
echo end`)
	p.Argv[0], p.Network, p.Stdout = "bash", Loopback, &out
	h, err := held().Run(t.Context(), p)
	uid, gid := strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid())
	want := strings.Join([]string{uid, gid, "0000000000000000", "lo", uid, "3", "end", ""}, "\n")
	if err != nil || out.String() != want || !strings.Contains(h.String(), "net:loopback") || !h.Sockets {
		t.Errorf("%v, %s:\n%s", err, h, out.String())
	}
	st, err := os.Stat(filepath.Join(d.Tree, "mine"))
	if err != nil || int(st.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		t.Errorf("whose is it? %v, %v", st, err)
	}
	got, err := held().Try(t.Context(), t.TempDir())
	if err != nil || got.Loopback != "" {
		t.Errorf("its own server: %v, %q", err, got.Loopback)
	}
}

// TestInherited: what odd was given open by whoever started it no program has.
func TestInherited(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(at, syscall.O_RDWR, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, name := range []string{"held", "off"} {
		var out bytes.Buffer
		p := sh(desk(t), "readlink /proc/self/fd/"+strconv.Itoa(fd))
		p.Stdout = &out
		if _, err := cages()[name].Run(t.Context(), p); err == nil {
			t.Errorf("%s: the program has %s open", name, out.String())
		}
	}
}

// TestNoLoopback: where the kernel gives no namespaces a program gets no network at
// all, and is told of, or is refused.
func TestNoLoopback(t *testing.T) {
	t.Parallel()
	c := held()
	c.Without = []Feature{Namespaces}
	got, err := c.Try(t.Context(), t.TempDir())
	if err != nil || got.Loopback == "" {
		t.Errorf("%v, %+v", err, got)
	}
	p := sh(desk(t), "exit 0")
	p.Network = Loopback
	h, err := c.Run(t.Context(), p)
	if err != nil || h.Network != None || len(h.Missing) != 1 || !strings.Contains(h.Missing[0], "no loopback of its own") {
		t.Errorf("%v, %+v", err, h)
	}
	c.Enforce = Require
	var no *Unheld
	if _, err := c.Run(t.Context(), p); !errors.As(err, &no) || len(no.Missing) != 1 || no.Refused() != "sandbox-unavailable" {
		t.Errorf("%v", err)
	}
	if err := c.Demand(t.Context(), t.TempDir(), Loopback); !errors.As(err, &no) {
		t.Errorf("%v", err)
	}
}

// TestKeeperKilled: without its keeper a program ends too.
func TestKeeperKilled(t *testing.T) {
	t.Parallel()
	q, err := held().Start(t.Context(), sh(desk(t), "echo up; exec sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Stdout.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	q.cmd.Process.Kill()
	if err := q.Wait(); said(err) != "signal: killed, with its keeper" {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, q.Stdout); err != nil { // ends when the program is gone
		t.Error(err)
	}
}

// TestSize counts files that hold nothing too.
func TestSize(t *testing.T) {
	t.Parallel()
	d := desk(t)
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(d.Tree, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := sumSizes([]string{d.Tree}, 1<<30); n < 20*perFile {
		t.Errorf("%d bytes in 20 files", n)
	}
	_, err := Cage{Limits: Limits{Desk: 10 * perFile}}.Run(t.Context(), sh(d, "exit 0"))
	if full := (*Full)(nil); !errors.As(err, &full) {
		t.Error(err)
	}
}
