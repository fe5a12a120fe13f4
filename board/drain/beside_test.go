package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// beside runs act once, in midst of the session of an invocation of w.
func (w *world) beside(act func()) (Report, error) {
	w.t.Helper()
	answer := w.answer
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		w.answer = answer
		act()
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		return finds("x"), nil
	}
	return w.invoke(1)
}

// abandoned are the runs that the ledger of the last run swept, and whether as killed.
func (w *world) abandoned() (out []string) {
	for _, r := range w.records(w.last()) {
		if r.Kind == event.Abandoned {
			out = append(out, fmt.Sprint(r.DeadRun, r.Abandoned().Killed))
		}
	}
	return out
}

// A drain and another session run while one reads, and take nothing of it.
func TestSessionsRunBesideADrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	r, err := w.beside(func() {
		w.now = w.now.Add(50 * time.Minute)
		r := w.must()
		if len(r.Tasks) != 1 || r.Tasks[0].State != board.Review || r.Spent != 120_000 || len(w.abandoned()) > 0 {
			t.Errorf("the drain beside it: %+v, abandoned %q", r, w.abandoned())
		}
		w.answer = answers(finds("y"))
		if r := w.mustInvoke(1); r.Said[0].Outcome != "completed" {
			t.Errorf("the session beside it: %+v", r.Said)
		}
	})
	if err != nil || r.Said[0].Outcome != "completed" || w.read("refs/heads/main", r.Said[0].Handoff) == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if kind := w.records(r.Run)[0].Kind; kind != event.Engage {
		t.Errorf("it recorded %s", kind)
	}
}

// A change that a drain works on stays in sight, for odd op list and odd op cancel, while a session beside it ends.
func TestASessionBesideLeavesTheChangeInSight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs)
	w.commit(repo.Changes{"docs/a.md": []byte("# A\n")}, "the docs")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		w.answer = answers(finds("x"))
		w.mustInvoke(1)
		if b := pipeline.Beats(w.repo.Live()); len(b) != 1 || b[0].Task != "a" || b[0].Phase != pipeline.Generate {
			t.Errorf("after the session beside it the change is shown as %+v", b)
		}
		return delivers(1, "# A\n\nmore\n"), nil
	}
	if r := w.must(); len(r.Tasks) != 1 || r.Tasks[0].State != board.Review || len(w.repo.Live()) > 0 {
		t.Errorf("%+v, and shown is %q", r, w.repo.Live())
	}
}

// It runs while a drain does, too.
func TestSessionsBeginBesideADrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		w.answer = answers(finds("x"))
		if r := w.mustInvoke(1); r.Said[0].Outcome != "completed" || len(r.Swept) > 0 {
			t.Errorf("%+v", r)
		}
		return says(term("tide")), nil
	}
	if r := w.must(); r.Tasks[0].State != board.Review {
		t.Errorf("%+v", r.Tasks)
	}
}

// One whose time is over is dead, whether its process lives or not.
func TestASessionBesideIsSweptWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	r, err := w.beside(func() {
		w.now = w.now.Add(61 * time.Minute)
		w.must()
		if got := strings.Join(w.abandoned(), " "); got != "run-01KJPWD6M0E8497ANGJ5R0NA01false" {
			t.Errorf("swept %q", got)
		}
	})
	if err != nil || r.Said[0].Outcome != "failed" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A session whose computer slept after its last turn hands nothing over: another clone has
// closed its run meanwhile.
func TestASweptSessionHandsNothingOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[anchor]\nmode = \"untracked\"\n")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		w.answer = answers(finds("y"))
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		w.now = w.now.Add(61 * time.Minute)
		w.must()
		if len(w.abandoned()) != 1 {
			t.Errorf("swept %q", w.abandoned())
		}
		return finds("x"), nil
	}
	r, err := w.invoke(1)
	if err != nil || r.Said[0].Outcome != "failed" || r.Said[0].Handoff != "" || !strings.Contains(r.Said[0].Reason, "another drain ended this session's claim") {
		t.Errorf("%+v, %v", r, err)
	}
}

// What was read after the permit of its session had ended is handed over to nobody.
func TestASessionBesideOutlivesItsPermit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[anchor]\nttl = \"30m\"\n")
	r, err := w.beside(func() { w.now = w.now.Add(31 * time.Minute) })
	if err != nil || r.Said[0].Outcome != "failed" || r.Said[0].Handoff != "" || !strings.Contains(r.Said[0].Reason, "raise [anchor] ttl") {
		t.Errorf("%+v, %v", r, err)
	}
}

// Killed at any moment, an invocation blocks no drain: the next one closes its run and
// releases its money, and nothing of it is left.
func TestKilledBesideADrain(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("ODD_TEST_KILLED"); dir != "" {
		invokeAndDie(t, dir, os.Getenv("ODD_TEST_MOMENT"))
		return
	}
	swept := 0
	for n := 1; ; n++ {
		w := newWorld(t, paid, "a")
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBesideADrain$")
		cmd.Env = append(os.Environ(), "ODD_TEST_KILLED="+w.repo.Root(), fmt.Sprint("ODD_TEST_MOMENT=", n))
		out, err := cmd.CombinedOutput()
		if err == nil {
			if n < 8 || swept == 0 {
				t.Errorf("it ended at moment %d, and %d were swept", n, swept)
			}
			return
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("at moment %d: %v\n%s", n, err, out)
		}
		w.runs++
		w.freeOnlyKilled(n%2 == 0)
		r, err := w.drain(t.Context())
		if err != nil || len(r.Tasks) != 1 || r.Tasks[0].State != board.Review {
			t.Fatalf("the drain after moment %d: %+v, %v", n, r, err)
		}
		if n%2 == 0 && len(w.abandoned()) > 0 {
			t.Errorf("at moment %d: freed, and swept once more: %q", n, w.abandoned())
		}
		for _, dead := range w.abandoned() {
			if swept++; dead != "run-01KJPWD6M0E8497ANGJ5R0NA01true" {
				t.Errorf("at moment %d: swept %s", n, dead)
			}
		}
		tip, _ := w.repo.Ref("refs/heads/main")
		s, err := readSnapshot(w.repo, tip, nil)
		pins, _ := w.repo.Refs(pinned)
		locks, _ := filepath.Glob(filepath.Join(w.repo.CommonDir(), "odd", "run-*"))
		if err != nil || len(s.spend.Open)+len(pins) > 0 || len(locks) > 0 && len(w.abandoned()) > 0 {
			t.Errorf("at moment %d: open %v, pins %v, locks %v, %v", n, s.spend.Open, pins, locks, err)
		}
	}
}

// freeOnlyKilled looks that Free does nothing where no run was killed, is refused while a drain runs, and else
// takes back what a killed run held. It does that only if asked.
func (w *world) freeOnlyKilled(free bool) {
	w.t.Helper()
	o := w.o
	o.Run = "run-01KJPWD6M0E8497ANGJ5R0NAZF"
	killed, _, err := w.repo.Orphans()
	if err != nil {
		w.t.Fatal(err)
	}
	unlock, err := w.repo.LockDrain()
	if err != nil {
		w.t.Fatal(err)
	}
	_, refused := Free(w.t.Context(), w.repo, o)
	_ = unlock()
	if busy := errors.As(refused, new(*Busy)); busy != (len(killed) > 0) || !busy && refused != nil {
		w.t.Errorf("%d were killed, and a drain runs: %v", len(killed), refused)
	}
	if !free {
		return
	}
	if _, err := Free(w.t.Context(), w.repo, o); err != nil {
		w.t.Errorf("%d were killed: %v", len(killed), err)
	}
	if left, pins, err := w.repo.Orphans(); len(left)+len(pins) > 0 || err != nil {
		w.t.Errorf("%v, %v are left, %v", left, pins, err)
	}
}

// invokeAndDie is an invocation whose process is killed when it looks at its clock for the
// n-th time.
func invokeAndDie(t *testing.T, dir, n string) {
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	w := worldIn(t, r)
	calls := 0
	w.o.Now = func() time.Time {
		if calls++; fmt.Sprint(calls) == n {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return w.now
	}
	w.answer = answers(finds("x"))
	w.mustInvoke(1)
}
