package repo

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// A drain that was killed is dead also while its parent has not waited for it.
func TestDrainingZombie(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	unlock := repotest.Must[func() error](t)(r.LockDrain())
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }()
	if err := os.WriteFile(r.OddPath("drain.lock"), []byte("pid "+strconv.Itoa(c.Process.Pid)+" run-1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "alive", r.Draining(), true)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "killed", r.Draining(), false)
}
