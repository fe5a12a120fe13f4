package repo

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// The reflog says what moved a branch, and for whom.
func TestReflog(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1\n")
	r.git.Self = append(r.git.Self, "GIT_COMMITTER_NAME=Eve", "GIT_COMMITTER_EMAIL=eve@example.org")
	next := repotest.Must[OID](t)(r.Make(t.Context(), []OID{base}, changes("a", "2\n"), Signature{Name: "a", Email: "a@x", When: time.Unix(1_700_000_000, 0)}, "next"))
	if err := r.Update(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "reflog", repotest.Git(t, r.Root(), "log", "-g", "-1", "--format=%gs %gn <%ge>", "main"), "odd Eve <eve@example.org>")
}
