package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// moveInChild is the test binary as a process that moves main in dir to refs/odd/next, telling every step on standard output.
// With ODD_TEST_FSIZE no file may grow past that many bytes, as if the disk were full.
func moveInChild(dir string) int {
	r, err := Open(dir, os.Environ())
	if err != nil {
		fmt.Println(err)
		return 2
	}
	var limit uint64
	if _, err := fmt.Sscan(os.Getenv("ODD_TEST_FSIZE"), &limit); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	r.step = func(s string) error {
		fmt.Println("step", s)
		return nil
	}
	base, _ := r.Ref("refs/heads/main")
	next, _ := r.Ref("refs/odd/next")
	if err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// child starts moveInChild.
func child(t testing.TB, dir string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "ODD_TEST_MOVE="+dir), env...)
	return cmd
}

// TestSIGKILL kills a process, not a function: at each step in turn, plus however far it gets until the signal arrives.
func TestSIGKILL(t *testing.T) {
	t.Parallel()
	for k := range len(steps) {
		ctx := context.Background()
		r, base := board(t)
		before := person(t, r.Root())
		next := claim(t, r, base)
		repotest.Git(t, r.Root(), "update-ref", "refs/odd/next", string(next))
		cmd := child(t, r.Root())
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(out)
		for i := 0; i <= k && sc.Scan(); i++ {
		}
		cmd.Process.Kill()
		cmd.Wait()
		kept := repotest.Must[[]string](t)(r.Recover(ctx))
		repotest.Eq(t, "kept", len(kept), 0)
		repotest.Eq(t, fmt.Sprintf("the person's own work after step %d", k), person(t, r.Root()), before)
		repotest.Git(t, r.Root(), "fsck", "--strict")
		if now := repotest.Must[OID](t)(r.Ref("HEAD")); now != base && now != next {
			t.Errorf("head at %s", now)
		}
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	before := person(t, r.Root())
	big := strings.Repeat("a line that is written\n", 20_000)
	next := repotest.Must[OID](t)(r.Make(context.Background(), []OID{base}, Changes{"k/a.md": []byte(big), "k/task.md": []byte("new\n")}, agent, "m"))
	repotest.Git(t, r.Root(), "update-ref", "refs/odd/next", string(next))
	out, err := child(t, r.Root(), "ODD_TEST_FSIZE=100000").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "k/a.md") {
		t.Errorf("no room for a file: %v\n%s", err, out)
	}
	repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref("refs/heads/main")), base)
	repotest.Eq(t, "work", person(t, r.Root()), before)
	quiet(t, r)
}

func TestMoveRace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	before := person(t, r.Root())
	var mu sync.Mutex
	var wg sync.WaitGroup
	won := 0
	for i := range 8 {
		wg.Go(func() {
			mine := open(t, r.Root())
			next, err := mine.Make(ctx, []OID{base}, changes("k/task.md", fmt.Sprint(i)), agent, "m")
			if err == nil {
				err = mine.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next})
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, ErrMoved) && !errors.Is(err, ErrInTheWay) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	repotest.Eq(t, "winners", won, 1)
	repotest.Eq(t, "work", person(t, r.Root()), before)
	quiet(t, r)
}

func TestCancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "f", "x")
	hook(t, r.Root()+"/.git/hooks", "pre-commit", "sleep 100\n")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := r.PersonCommit(ctx, []OID{base}, base, changes("f", "y"), "m")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	quiet(t, r)
	noWorktreeLeft(t, r)
}
