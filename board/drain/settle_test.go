package drain

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/persona/session"
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
