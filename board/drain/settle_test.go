package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// A result that could not be written for so long that history would not believe
// its records blocks its task, keeps the cost and proposes nothing; one minute
// less is no trouble.
func TestAMachineThatStoodStill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		still time.Duration
		want  string
	}{{stillness - time.Minute, "review"}, {stillness, "blocked"}} {
		w := newWorld(t, paid, "a")
		lock := filepath.Join(w.repo.Root(), ".git", "index.lock")
		w.answer = func(context.Context, session.Request) (session.Emission, error) {
			if err := os.WriteFile(lock, nil, 0o600); err != nil {
				return session.Emission{}, err
			}
			return says(term("tide")), nil
		}
		waited := 0
		w.o.Wait = func(time.Duration) { // somebody's git holds the index until the machine wakes up
			waited++
			w.now = w.now.Add(c.still)
			if err := os.Remove(lock); err != nil {
				t.Error(err)
			}
		}
		r := w.must()
		got := r.Tasks[0]
		if waited != 1 || string(got.State) != c.want || got.Cost != 20_000 {
			t.Errorf("%s: waited %d times, %s, %s: %s", c.still, waited, got.State, got.Cost, got.Reason)
		}
		if c.want == "review" {
			if got.Branch == "" {
				t.Errorf("%s: nothing is proposed", c.still)
			}
			continue
		}
		if !strings.Contains(got.Reason, "the computer slept for 45m0s") || !strings.Contains(w.task("a"), "state: blocked") {
			t.Errorf("%s: %q\n%s", c.still, got.Reason, w.task("a"))
		}
		if _, err := w.repo.Ref("refs/heads/odd/review/a.1"); err == nil {
			t.Errorf("%s: it is proposed all the same", c.still)
		}
	}
}

// A claim that a rule of history forbids is passed over, a result that it forbids blocks its
// task with the reason and proposes nothing, and the other tasks go on.
func TestARuleForbidsACommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b", "c")
	w.o.MaxTasks = 2 // the task that is passed over takes no place
	var asked []string
	w.o.Check = func(_ context.Context, _ *repo.Line, _, next repo.OID, _ []repo.RefUpdate) error {
		c, err := w.repo.Commit(next)
		subject, _, _ := strings.Cut(c.Message, "\n")
		asked = append(asked, subject)
		if subject == "board: claim a" || subject == "board: b to review" {
			err = fmt.Errorf("knowledge/x.md:1: it breaks rule 9: %w", repo.ErrForbidden)
		}
		return err
	}
	r := w.must()
	if want := []string{"board: claim a", "board: claim b", "board: b to review", "board: b to blocked", "board: claim c", "board: c to review"}; !slices.Equal(asked, want) {
		t.Errorf("judged %q, want %q", asked, want)
	}
	if want := "a: not claimed: knowledge/x.md:1: it breaks rule 9"; !strings.Contains(strings.Join(r.Notes, "\n"), want) || !strings.Contains(w.task("a"), "state: ready") {
		t.Errorf("notes %q, want %q\n%s", r.Notes, want, w.task("a"))
	}
	if len(r.Tasks) != 2 || r.Tasks[0].State != board.Blocked || !strings.Contains(r.Tasks[0].Reason, "it breaks rule 9") || r.Tasks[0].Cost == 0 || r.Tasks[1].State != board.Review {
		t.Errorf("%+v", r.Tasks)
	}
	if _, err := w.repo.Ref("refs/heads/odd/review/b.1"); err == nil {
		t.Error("what the rule forbids is proposed all the same")
	}
	w.o.Task = "a"
	if _, err := w.drain(context.Background()); !errors.Is(err, repo.ErrForbidden) {
		t.Errorf("a drain of that task alone ends with %v", err)
	}
}

// The message of a proposal names what was written or kept out, and nothing that stayed.
func TestListItems(t *testing.T) {
	t.Parallel()
	got := listItems([]reconcile.Item{{Effect: reconcile.Added, Path: "terms/keel.md"}, {Effect: reconcile.Unchanged, Path: "terms/mast.md"}, {Effect: reconcile.Guarded, Path: "terms/skeg.md", Reason: "a person verified it"}})
	if want := "added     terms/keel.md\nguarded   terms/skeg.md (a person verified it)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
