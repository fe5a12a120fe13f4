package repo

import (
	"errors"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// A branch that is checked out meanwhile is not given the changes of another.
func TestMoveLooksAtHeadUnderTheLock(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	repotest.Git(t, r.root, "branch", "other")
	before := person(t, r.root)
	r.step = func(s string) error {
		if s == "marked" {
			repotest.Git(t, r.root, "checkout", "-q", "other")
		}
		return nil
	}
	err := r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
	repotest.Eq(t, "busy", errors.Is(err, ErrBusy), true)
	repotest.Eq(t, "what is theirs", person(t, r.root), before)
	quiet(t, r)
}

// A branch that is another name of one is checked out with it, also for Recover.
func TestMoveFollowsAnotherName(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"refs/heads/main", "refs/heads/alias"} {
		for _, killed := range []string{"", "moved"} {
			r, base := board(t)
			repotest.Git(t, r.root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			repotest.Git(t, r.root, "checkout", "-q", "alias")
			before := person(t, r.root)
			r.step = func(s string) error {
				if s == killed {
					return errStopped
				}
				return nil
			}
			if err := r.Move(t.Context(), RefUpdate{Name: ref, Old: base, New: claim(t, r, base)}); (err != nil) != (killed != "") {
				t.Fatal(err)
			}
			repotest.Must[[]string](t)(open(t, r.root).Recover(t.Context()))
			repotest.Eq(t, ref+" killed when "+killed, person(t, r.root), before)
			quiet(t, r)
		}
	}
}
