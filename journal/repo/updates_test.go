package repo

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// The process that ran one transaction serves the next, and its end, whatever
// brought it, is no reason for the next to fail.
func TestUpdatesLiveOn(t *testing.T) {
	r, base := fresh(t, "a", "1\n")
	n := 0
	create := func(ctx context.Context) error {
		n++
		return r.Update(ctx, RefUpdate{Name: fmt.Sprint("refs/odd/n/", n), New: base})
	}
	for range 3 {
		if err := create(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.updates.mu.Lock()
		if p := r.updates.proc; p != nil { // unless its time was up
			_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL)
		}
		r.updates.mu.Unlock()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := create(gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	n--
	if err := create(t.Context()); err != nil {
		t.Fatalf("after one that was cancelled: %v", err)
	}
	if err := r.Update(t.Context(), RefUpdate{Name: "refs/odd/n/1", New: base}); !errors.Is(err, ErrMoved) {
		t.Fatalf("create over: %v", err)
	}
	if err := create(t.Context()); err != nil {
		t.Fatalf("after one that was refused: %v", err)
	}
	repotest.Eq(t, "refs", len(repotest.Must[[]RefUpdate](t)(r.Refs("refs/odd/n/"))), n)
}

// The reflog says what moved a branch, and for whom.
func TestReflog(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1\n")
	r.git.Self = append(r.git.Self, "GIT_COMMITTER_NAME=Eve", "GIT_COMMITTER_EMAIL=eve@example.org")
	next := repotest.Must[OID](t)(r.Make(t.Context(), []OID{base}, changes("a", "2\n"), Signature{Name: "a", Email: "a@x", When: time.Unix(1_700_000_000, 0)}, "next"))
	if err := r.Update(t.Context(), RefUpdate{"refs/heads/main", base, next}); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "reflog", repotest.Git(t, r.Root(), "log", "-g", "-1", "--format=%gs %gn <%ge>", "main"), "odd Eve <eve@example.org>")
}
