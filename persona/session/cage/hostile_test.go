package cage

import (
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// victim is a user's home with a repository in it, and a server.
type victim struct{ home, repo, port string }

func newVictim(t *testing.T) victim {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v := victim{home: home, repo: filepath.Join(home, "repo")}
	for _, name := range []string{".ssh/id_ed25519", "repo/odd.toml", "repo/.git/config", "repo/.git/hooks/README", "repo/.git/refs/heads/main", "repo/.git/odd/anchor.key",
		"repo/knowledge/governance/lease.toml", "repo/knowledge/ledger/2026-03/run-1.jsonl"} {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("as it was\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	v.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	return v
}

// state is every file of the victim's, to see that nothing was written.
func (v victim) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(v.home, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(at)
		b.WriteString(at + " " + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostile lets a hostile agent make its attempts, each on a desk of its own:
// under Landlock none goes through; without it some do, and those that odd itself
// refuses still do not.
//
//	go test ./persona/session/cage -run TestHostile -v
func TestHostile(t *testing.T) {
	t.Parallel()
	attempts := []struct {
		name    string
		without string // how it ends without Landlock
	}{
		{"write-absolute", "done"}, {"write-by-symlink", "done"}, {"write-by-hardlink", "done"}, {"swap-a-folder", "done"},
		{"edit-git-config", "done"}, {"plant-a-hook", "done"}, {"move-a-ref", "done"}, {"edit-odd.toml", "done"}, {"edit-governance", "done"}, {"edit-the-ledger", "done"},
		{"read-the-anchor-key", "done"}, {"read-an-ssh-key", "done"}, {"read-the-environment", "refused"}, {"read-odd-environment", "done"}, {"signal-odd", "done"},
		{"reach-the-network", "done"}, {"open-the-terminal", "refused"}, {"one-huge-file", "disk-full"}, {"fill-the-disk", "disk-full"}, {"leave-a-daemon", "ended"},
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a keeper")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the attempt on the network needs bash")
	}
	with := held()
	with.Tick = busy
	with.Limits.Desk, with.Limits.File = 2<<20, 1<<20
	without := with
	without.Enforce = Off
	if h, err := with.Run(t.Context(), sh(desk(t), "exit 0")); err != nil || len(h.Missing) > 0 || !h.Signals {
		t.Skipf("this kernel holds less than is asked for: %v %q", err, h.Missing)
	}
	t.Logf("%-22s %-12s %s", "attempt", "with", "without Landlock")
	for _, a := range attempts {
		got, off := hostile(t, with, a.name, true), hostile(t, without, a.name, false)
		t.Logf("%-22s %-12s %s", a.name, got, off)
		if got == "done" {
			t.Errorf("%s went through", a.name)
		}
		if off != a.without {
			t.Errorf("%s without Landlock: %s, want %s; a trial that cannot go through shows nothing", a.name, off, a.without)
		}
	}
}

// busy looks all the time.
func busy(_ time.Duration, f func()) (stop func()) {
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			default:
				f()
				runtime.Gosched()
			}
		}
	}()
	return func() { close(over) }
}

// hostile is the end of one attempt: done, refused, disk-full or ended, where the
// program ended well and what it left behind is gone.
func hostile(t *testing.T, c Cage, name string, whole bool) string {
	t.Helper()
	v, d := newVictim(t), desk(t)
	c.Home, c.Hidden = v.home, []string{filepath.Join(v.home, ".ssh"), filepath.Join(v.repo, ".git", "odd")}
	script, err := os.ReadFile("testdata/hostile.sh")
	if err != nil {
		t.Fatal(err)
	}
	before := v.state(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err = c.Run(ctx, sh(d, string(script), name, v.home, v.repo, v.port))
	if whole && v.state(t) != before {
		t.Errorf("%s: the user's files changed:\n%s", name, v.state(t))
	}
	switch err := err.(type) {
	case nil:
	case *Full:
		return "disk-full"
	case *Exit:
		if err.Code == 9 {
			t.Fatalf("%s: the agent does not know it", name)
		}
		return "refused"
	default:
		t.Fatal(name, err)
	}
	if pid, err := os.ReadFile(filepath.Join(d.Tree, "pid")); err == nil {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err != nil {
			return "ended"
		}
	}
	return "done"
}
