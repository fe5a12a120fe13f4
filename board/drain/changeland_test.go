package drain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// landsAlone is a world whose sessions are seen, with a file that was written long
// ago, and a change of it that may land by itself.
func landsAlone(t *testing.T, toml, text string) *world {
	t.Helper()
	w := newWorld(t, paid+"[pipeline]\nauto_apply = true\n"+toml, forDocs)
	w.commit(repo.Changes{"docs/a.md": []byte("# A\n")}, "the docs")
	w.aged()
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := delivers(1, text)
		e.Seen, e.Exploration = true, looked()
		return e, nil
	}
	return w
}

// looked is enough for any change.
func looked() *session.Exploration {
	return &session.Exploration{Milli: 1_000_000, Categories: []string{"call_graph", "comprehension", "discovery", "history", "structure"}, Unique: 99}
}

// aged lets the files of the work tree be from before anybody looks.
func (w *world) aged() {
	w.t.Helper()
	p := filepath.Join(w.repo.Root(), "docs", "a.md")
	if err := os.Chtimes(p, w.now.Add(-time.Hour), w.now.Add(-time.Hour)); err != nil {
		w.t.Fatal(err)
	}
}

func TestLandsByItself(t *testing.T) {
	t.Parallel()
	notify := "min_tier = \"NOTIFY_APPLY\"\n"
	yes := func(context.Context, Preview) (string, error) { return "human:ann@example.org", nil }
	for name, c := range map[string]struct {
		toml   string
		set    func(*world)
		held   pipeline.Held // "" for landed
		waits  bool          // for no reason of its own
		landed bool
	}{
		"SAFE_AUTO":            {landed: true},
		"NOTIFY_APPLY, seen":   {toml: notify, set: func(w *world) { w.o.Preview = yes }, landed: true},
		"NOTIFY_APPLY, unseen": {toml: notify, held: pipeline.HeldUnseen},
		"NOTIFY_APPLY, declined": {toml: notify, held: pipeline.HeldDeclined, set: func(w *world) {
			w.o.Preview = func(_ context.Context, p Preview) (string, error) {
				if !strings.Contains(string(p.Diff), "+# B") || p.Target != "main" || p.Task != "a" {
					w.t.Errorf("%+v", p)
				}
				return "", nil
			}
		}},
		"APPROVAL_REQUIRED": {toml: "min_tier = \"APPROVAL_REQUIRED\"\n", waits: true},
		"a session that odd does not see into": {waits: true, set: func(w *world) {
			w.answer = func(context.Context, session.Request) (session.Emission, error) { return delivers(1, "# B\n"), nil }
		}},
		"atoms beside it": {held: pipeline.HeldAtoms, set: func(w *world) {
			w.answer = func(context.Context, session.Request) (session.Emission, error) {
				e := delivers(1, "# B\n")
				e.Seen, e.Exploration, e.Atoms = true, looked(), []session.Atom{term("x")}
				return e, nil
			}
		}},
		"the target moved": {held: pipeline.HeldMoved, set: func(w *world) {
			answer := w.answer
			w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
				w.commit(repo.Changes{"docs/other.md": []byte("# O\n")}, "a person's")
				return answer(ctx, r)
			}
		}},
		"the target moves as it lands": {held: pipeline.HeldMoved, set: func(w *world) {
			checked := 0
			w.o.Check = func(context.Context, *repo.Line, repo.OID, repo.OID, []repo.RefUpdate) error {
				if checked++; checked == 2 { // after the claim
					w.commit(repo.Changes{"docs/other.md": []byte("# O\n")}, "a person's")
				}
				return nil
			}
		}},
		"the target refuses it": {held: pipeline.HeldRefused, set: func(w *world) {
			w.o.Check = func(_ context.Context, _ *repo.Line, old, next repo.OID, _ []repo.RefUpdate) error {
				was, _, _ := w.repo.Find(old, "docs/a.md")
				if is, _, err := w.repo.Find(next, "docs/a.md"); err != nil || is != was {
					return errors.New("main is protected")
				}
				return nil
			}
		}},
		"a person edits it": {held: pipeline.HeldActive, set: func(w *world) {
			if err := os.WriteFile(filepath.Join(w.repo.Root(), "docs", "a.md"), []byte("# Mine\n"), 0o644); err != nil {
				w.t.Fatal(err)
			}
		}},
		"a person saved it": {held: pipeline.HeldActive, set: func(w *world) { w.now = begin.Add(-time.Hour + 2*time.Minute) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := landsAlone(t, c.toml, "# B\n")
			if c.set != nil {
				c.set(w)
			}
			r := w.must()
			if len(r.Tasks) != 1 || r.Tasks[0].State != board.Review || (r.Tasks[0].Landed == "main") != c.landed {
				t.Fatalf("%+v", r.Tasks)
			}
			stories, all := w.ops()
			o := stories[0].Op()
			if noted := slices.ContainsFunc(all, func(r event.Record) bool { return strings.HasPrefix(r.Op().Note, "it is merged without approval") }); (c.landed || c.waits) && noted != c.landed {
				t.Errorf("the record says that it is merged without approval: %v", noted)
			}
			if p, err := w.repo.Commit(r.Tasks[0].Proposal); err != nil || !strings.Contains(p.Message, "docs/a.md") {
				t.Errorf("the proposal does not name its file: %q, %v", p.Message, err)
			}
			if c.landed != (o.Reason == pipeline.Landed) || o.Fact(pipeline.FactHeld) != string(c.held) || !c.landed && o.Phase != pipeline.Waiting {
				t.Errorf("%s %s, held %q", o.Phase, o.Reason, o.Fact(pipeline.FactHeld))
			}
			tip, err := w.repo.Ref("refs/heads/main")
			if err != nil {
				t.Fatal(err)
			}
			in, err := w.repo.Ancestor(t.Context(), r.Tasks[0].Proposal, tip)
			if err != nil || in != c.landed {
				t.Errorf("the target has the proposal: %v, %v", in, err)
			}
			if c.landed {
				b, err := os.ReadFile(filepath.Join(w.repo.Root(), "docs", "a.md"))
				if dirty, bad := w.repo.Dirty(t.Context()); err != nil || string(b) != "# B\n" || bad != nil || len(dirty) > 0 {
					t.Errorf("the checkout: %q, %v, %v, %v", b, err, dirty, bad)
				}
			}
		})
	}
}

// What waits, or lands, is the commit with the files that were checked.
func TestTheCommitIsWhatWasChecked(t *testing.T) {
	t.Parallel()
	w := landsAlone(t, "min_tier = \"APPROVAL_REQUIRED\"\n", "# B\n")
	r := w.must()
	stories, _ := w.ops()
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	for commit, want := range map[repo.OID]pipeline.Reason{r.Tasks[0].Proposal: "", tip: pipeline.VerifyFailed} {
		ch := &change{asking: asking{attempt: attempt{d: &drain{boardWriter: boardWriter{repo: w.repo}}}}, proposal: &proposal{ref: repo.RefUpdate{New: commit}}}
		if out, err := ch.verify(t.Context(), stories[0].Op()); err != nil || out.Reason != want {
			t.Errorf("%s: %s, %v, want %q", commit, out.Reason, err, want)
		}
	}
}

// A session has the time of its lane, and where odd.toml says so its own; the op of
// one that takes longer ends for the phase's deadline, and its task says so.
func TestLanesEndSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toml, task string
		takes      time.Duration
		late       bool
	}{
		"in time":                     {"", "", 1199 * time.Second, false},
		"too long for the lane":       {"", "", 1206 * time.Second, true},
		"longer than the lane's own":  {"", "|priority: p0", 426 * time.Second, true},
		"a lane has its own":          {"timeout = \"5m\"\n", "|priority: p0", 6 * time.Minute, false},
		"a person gave it longer":     {"timeout = \"5m\"\n", "", 4 * time.Minute, false},
		"longer than the person gave": {"timeout = \"5m\"\n", "", 6 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid, "a paths: [src/**]"+c.task)
			law := strings.Replace(w.read("refs/heads/main", "odd.toml"), "[session]\n", "[session]\n"+c.toml, 1) + "[route.immediate]\ntimeout = \"7m\"\n"
			w.commit(repo.Changes{"odd.toml": []byte(law)}, "law")
			w.answer = func(context.Context, session.Request) (session.Emission, error) {
				w.now = w.now.Add(c.takes)
				e := delivers(1, "A\n")
				e.Change.Text = []byte(strings.Replace(string(e.Change.Text), "docs/a.md", "src/a.txt", 1))
				return e, nil
			}
			r := w.must()
			stories, _ := w.ops()
			o := stories[0].Op()
			if late := o.Reason == pipeline.PhaseDeadline && o.Phase == pipeline.Expired; late != c.late {
				t.Errorf("%s %s in lane %s: %+v", o.Phase, o.Reason, o.Fact("lane"), r.Tasks)
			}
			if c.late && !strings.Contains(r.Tasks[0].Reason, "generate had until") {
				t.Error(r.Tasks[0].Reason)
			}
		})
	}
}

// A change that a person's commit overtakes as it lands did not land, whatever the first try said.
func TestWhatIsDiscardedDidNotLand(t *testing.T) {
	t.Parallel()
	for file, edit := range map[string]func(was string) string{
		"knowledge/tasks/a.md":          func(was string) string { return strings.Replace(was, "title: a", "title: b", 1) },
		"knowledge/roles/shore-lead.md": func(was string) string { return was + "\nMore.\n" },
	} {
		w := landsAlone(t, "", "# B\n")
		checked := 0
		w.o.Check = func(context.Context, *repo.Line, repo.OID, repo.OID, []repo.RefUpdate) error {
			if checked++; checked == 2 {
				w.commit(repo.Changes{file: []byte(edit(w.read("refs/heads/main", file)))}, "a person's")
			}
			return nil
		}
		r := w.must()
		if out := r.Tasks[0]; out.Landed != "" || out.Branch != "" || strings.Contains(w.journal(r.Run), "landed") {
			t.Errorf("%s: %+v\n%s", file, out, w.journal(r.Run))
		}
	}
}
