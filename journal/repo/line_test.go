package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// The board's branch moves behind all that it tells of, and the caller's slice is
// left alone. HEAD is on it.
func TestTheBranchMovesLast(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "k/task.md", "x\n")
	next := claim(t, r, base)
	log := filepath.Join(t.TempDir(), "order")
	hook := "#!/bin/sh\n[ $1 = prepared ] || exit 0\ncut -d' ' -f3 >>" + log + "\n"
	if err := os.WriteFile(filepath.Join(r.CommonDir(), "hooks", "reference-transaction"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	also := make([]RefUpdate, 2, 8)
	also[0], also[1] = RefUpdate{Name: "refs/odd/run/a", Old: "", New: base}, RefUpdate{Name: "refs/heads/odd/review/a.1", Old: "", New: next}
	l := &Line{Repo: r, Ref: "refs/heads/main"}
	if err := l.Land(context.Background(), base, next, also...); err != nil {
		t.Fatal(err)
	}
	order, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "order", string(order), "refs/odd/run/a\nrefs/heads/odd/review/a.1\nrefs/heads/main\nHEAD\n")
	repotest.Eq(t, "the caller's slice", also[:3][2], RefUpdate{})
}

// What the check has something against moves nothing.
func TestACheckedLanding(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "k/task.md", "x\n")
	next := claim(t, r, base)
	no := errors.New("no")
	l := &Line{Repo: r, Ref: "refs/heads/main", Check: func(_ context.Context, l *Line, old, to OID, also []RefUpdate) error {
		if l.Ref != "refs/heads/main" || old != base || to != next || len(also) != 1 {
			t.Errorf("asked about %s from %s to %s with %v", l.Ref, old, to, also)
		}
		return no
	}}
	if err := l.Land(context.Background(), base, next, RefUpdate{Name: "refs/odd/run/a", New: next}); !errors.Is(err, no) {
		t.Errorf("%v, want %v", err, no)
	}
	if at, err := r.Ref("refs/heads/main"); at != base || err != nil {
		t.Errorf("main is at %s, %v", at, err)
	}
	if _, err := r.Ref("refs/odd/run/a"); !errors.Is(err, ErrNoRef) {
		t.Errorf("the run's ref: %v", err)
	}
}
