package ref

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

func TestMain(m *testing.M) { os.Exit(repotest.Run(m)) }

// The process that ran one transaction serves the next, and its end, whatever
// brought it, is no reason for the next to fail.
func TestUpdatesLiveOn(t *testing.T) {
	dir := repotest.Fresh(t, nil, "a", "1\n")
	git := filepath.Join(dir, ".git")
	r, base := New(gitcmd.New(dir, os.Environ()), git, git, true), object.OID(repotest.Git(t, dir, "rev-parse", "HEAD"))
	n := 0
	create := func(ctx context.Context) error {
		n++
		return Transact(ctx, r, []Update{{Name: fmt.Sprint("refs/odd/n/", n), New: base}})
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
	if err := Transact(t.Context(), r, []Update{{Name: "refs/odd/n/1", New: base}}); !errors.Is(err, ErrMoved) {
		t.Fatalf("create over: %v", err)
	}
	if err := create(t.Context()); err != nil {
		t.Fatalf("after one that was refused: %v", err)
	}
	repotest.Eq(t, "refs", len(repotest.Must[[]Update](t)(r.Refs("refs/odd/n/"))), n)
}

func FuzzPackedRefs(f *testing.F) {
	f.Add("# pack-refs with: peeled fully-peeled sorted \n1234567890123456789012345678901234567890 refs/tags/v1\n^1234567890123456789012345678901234567890\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, oid := range parsePacked(text) {
			if oid.Check() != nil {
				t.Fatalf("%q: %q", name, oid)
			}
		}
	})
}
