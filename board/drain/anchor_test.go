package drain

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// While a session runs it has a permit, and after it none, whatever it came to.
func TestAPermitEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() (session.Emission, error){
		"completed": func() (session.Emission, error) { return says(term("tide")), nil },
		"failed":    func() (session.Emission, error) { return session.Fail("tired", ""), nil },
		"a fault":   func() (session.Emission, error) { return session.Emission{}, os.ErrClosed },
	} {
		w := newWorld(t, paid, "a")
		w.answer = func(context.Context, session.Request) (session.Emission, error) { return answer() }
		r := w.must()
		for _, kept := range []string{"anchor", "anchor.key"} {
			if _, err := os.Stat(filepath.Join(w.repo.CommonDir(), "odd", kept)); err == nil {
				t.Errorf("%s: %s is on disk", name, kept)
			}
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
