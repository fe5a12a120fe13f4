package repo

import (
	"context"
	"os"
	"path/filepath"
	"testing"
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
	also[0], also[1] = RefUpdate{"refs/odd/run/a", "", base}, RefUpdate{"refs/heads/odd/review/a.1", "", next}
	l := &Line{Repo: r, Ref: "refs/heads/main"}
	if err := l.Land(context.Background(), base, next, also...); err != nil {
		t.Fatal(err)
	}
	order, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	eq(t, "order", string(order), "refs/odd/run/a\nrefs/heads/odd/review/a.1\nrefs/heads/main\nHEAD\n")
	eq(t, "the caller's slice", also[:3][2], RefUpdate{})
}
