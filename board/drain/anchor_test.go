package drain

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/session"
)

// held are the entries of one folder of the drains' handshakes.
func (w *world) held(state string) []string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.repo.CommonDir(), "odd", "anchor", state))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// While a session runs it has a permit, and after it none, whatever it came to.
func TestAPermitEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() (session.Emission, error){
		"completed": func() (session.Emission, error) { return says(term("tide")), nil },
		"failed":    func() (session.Emission, error) { return session.Fail("tired", ""), nil },
		"a fault":   func() (session.Emission, error) { return session.Emission{}, os.ErrClosed },
	} {
		w := newWorld(t, paid, "a")
		w.answer = func(context.Context, session.Request) (session.Emission, error) {
			if n := len(w.held("active")); n != 1 {
				t.Errorf("%s: %d permits while it runs", name, n)
			}
			return answer()
		}
		r := w.must()
		if a, p := w.held("active"), w.held("pending"); len(a)+len(p) > 0 {
			t.Errorf("%s: left behind %v %v", name, a, p)
		}
		n := 0
		for _, rec := range w.records(r.Run) {
			if rec.Kind == event.Anchor {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d anchor records", name, n)
		}
	}
}

// A drain in a repository that another user has drained leaves that user's permits and
// key as they are, and binds under its own.
func TestPermitsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	t.Parallel()
	w := newWorld(t, paid, "a")
	odd := filepath.Join(w.repo.CommonDir(), "odd")
	theirs := filepath.Join(odd, "anchor", "active", "theirs")
	if err := os.MkdirAll(theirs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(odd, "anchor"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		if own, err := os.ReadDir(filepath.Join(odd, "anchor-0", "active")); err != nil || len(own) != 1 {
			t.Errorf("its own permits are %v, %v", own, err)
		}
		return says(term("tide")), nil
	}
	w.must()
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]bool{"anchor.key": false, "anchor-0.key": true} {
		if _, err := os.Stat(filepath.Join(odd, name)); want != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A permit whose drain was killed is released by the next one, or by a refresh,
// which says so once. What a kill leaves is the state as it was while the session
// ran.
func TestADeadPermitIsReleased(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*world, string) error{
		"drain": func(w *world, run string) error {
			o := w.o
			o.Run = run
			_, err := Run(context.Background(), w.repo, o)
			return err
		},
		"refresh": func(w *world, run string) error {
			o := w.o
			o.Run, o.Task = run, "a"
			_, err := Refresh(context.Background(), w.repo, o)
			return err
		},
	} {
		w := newWorld(t, paid, "a", "b")
		w.answer = func(context.Context, session.Request) (session.Emission, error) {
			e := says(term("tide"))
			e.Raw = session.Print(e)
			return e, nil
		}
		first := w.killed()
		const run = "run-01KJPWD6M0E8497ANGJ5R0NA99"
		if err := next(w, run); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := len(w.held("active")); n != 0 {
			t.Errorf("%s: %d permits are left", name, n)
		}
		var dead []event.Record
		for _, r := range w.records(run) {
			if r.Kind == event.Anchor && r.DeadRun != "" {
				dead = append(dead, r)
			}
		}
		if len(dead) != 1 || dead[0].DeadRun != first || dead[0].Anchor().Reason != "its session died" || dead[0].Role != "shore-lead" {
			t.Errorf("%s: %+v", name, dead)
		}
	}
}

// killed drains one task, leaves its permit as if the drain had been killed while
// the session ran, and returns the run.
func (w *world) killed() string {
	w.t.Helper()
	state, kept := filepath.Join(w.repo.CommonDir(), "odd", "anchor"), w.t.TempDir()
	answer := w.answer
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		if err := os.CopyFS(kept, os.DirFS(state)); err != nil {
			return session.Emission{}, err
		}
		return answer(ctx, r)
	}
	w.o.MaxTasks = 1
	run := w.must().Run
	w.answer = answer
	for _, err := range []error{os.RemoveAll(state), os.CopyFS(state, os.DirFS(kept))} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for _, dir := range []string{state, filepath.Join(state, "active"), filepath.Join(state, "pending"), filepath.Join(state, "archive")} {
		if err := os.Chmod(dir, 0o700); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
	}
	if len(w.held("active")) != 1 {
		w.t.Fatalf("not as a kill leaves it: %v", w.held("active"))
	}
	return run
}

// A role that a person edits while a session works under it is no longer what
// bound it, and a permit that has run out is none.
func TestAPermitMayEndBeforeItsSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, toml, want string
		meanwhile        func(*world)
	}{
		{"edited", "", "anchor void: knowledge/roles/shore-lead.md changed while the session worked", func(w *world) {
			w.commit(repo.Changes{"knowledge/roles/shore-lead.md": []byte(w.read("refs/heads/main", "knowledge/roles/shore-lead.md") + "\nMore.\n")}, "edit")
		}},
		{"expired", "[anchor]\nttl = \"1m\"\n", "anchor expired: the session's write permit ended at 2026-03-02T09:01:00Z", func(w *world) { w.now = w.now.Add(2 * time.Minute) }},
	} {
		w := newWorld(t, paid+c.toml, "a")
		w.answer = func(context.Context, session.Request) (session.Emission, error) {
			c.meanwhile(w)
			return says(term("tide")), nil
		}
		o := w.must().Tasks[0]
		if o.State != board.Blocked || !strings.Contains(o.Reason, c.want) && !strings.Contains(o.Reason, "A_PERMIT_EXPIRED") || o.Proposal != "" {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

// What a drain's permits left is forgotten a month later, and a handshake that a
// killed one never bound is dropped by the next.
func TestOldPermitsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b", "c")
	w.o.MaxTasks = 1
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("tide")), nil }
	w.must()
	first := w.held("archive")
	w.now = w.now.Add(29 * 24 * time.Hour)
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("ebb")), nil }
	w.must()
	if n := len(w.held("archive")); len(first) != 1 || n != 2 {
		t.Fatalf("%v, and later %d", first, n)
	}
	d, err := open(t.Context(), w.repo, w.o)
	if err != nil {
		t.Fatal(err)
	}
	desk, err := d.anchorage()
	if err != nil {
		t.Fatal(err)
	}
	desk.World.Constitution = func(string) (anchor.Constitution, error) {
		return anchor.Constitution{Role: "shore-lead", Path: "odd.toml", SHA256: sum(nil)}, nil
	}
	if res := desk.Identity(anchor.IdentityRequest{Role: "shore-lead", By: "a killed run"}); !res.Success {
		t.Fatal(res.Errors)
	}
	w.now = w.now.Add(2 * 24 * time.Hour)
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("neap")), nil }
	notes := w.must().Notes
	if p, a := w.held("pending"), w.held("archive"); len(p) != 0 || len(a) != 2 || slices.Contains(a, first[0]) {
		t.Errorf("pending %v, archive %v: %v", p, a, notes)
	}
}
