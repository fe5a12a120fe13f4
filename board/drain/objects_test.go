package drain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// Whatever object of the repository is missing, a drain says so, or its result is what it is
// with the object: nothing that could not be read passes for something that is not there.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	finds := func(context.Context, session.Request) (session.Emission, error) {
		e := says(term("tide"), term("ebb"))
		e.Raw = session.Print(e)
		return e, nil
	}
	writes := func(context.Context, session.Request) (session.Emission, error) {
		return delivers(0, "# A\n\nSlack water.\n"), nil
	}
	for _, c := range []struct {
		name    string
		task    string
		answer  func(context.Context, session.Request) (session.Emission, error)
		prepare func(*world)
		act     func(*world) (Outcome, error)
	}{
		{"a task to read", "a", finds, func(w *world) {
			tide := term("tide").Atom
			w.commit(repo.Changes{"knowledge/terms/tide.md": tide.Bytes()}, "a term")
			w.commit(repo.Changes{"knowledge/terms/tide.md": nil}, "not a term of ours")
		}, drainOne},
		{"a task to write", forDocs, writes, nil, drainOne},
		{"a proposal to make again", "a", finds, func(w *world) {
			w.must()
			w.commit(repo.Changes{"knowledge/terms/tern.md": []byte("---\ntype: term\nid: tern\n---\nBy hand.\n")}, "a person's")
		}, func(w *world) (Outcome, error) {
			w.o.Task, w.o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
			return Refresh(context.Background(), w.repo, w.o)
		}},
		{"a change to make again", forDocs, func(context.Context, session.Request) (session.Emission, error) {
			e := delivers(0, "# A\n\nSlack water.\n")
			e.Raw = session.Print(e)
			return e, nil
		}, func(w *world) {
			w.must()
			w.commit(repo.Changes{"docs/b.md": []byte("# B\n")}, "a person's")
		}, func(w *world) (Outcome, error) {
			w.o.Task, w.o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
			return Refresh(context.Background(), w.repo, w.o)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid, c.task)
			w.answer = c.answer
			if c.prepare != nil {
				c.prepare(w)
			}
			act := func(without string) string {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(w.repo.Root())); err != nil {
					t.Fatal(err)
				}
				if without != "" {
					if err := os.Remove(filepath.Join(dir, ".git", "objects", without[:2], without[2:])); err != nil {
						t.Fatal(err)
					}
				}
				r, err := repo.Open(dir, os.Environ())
				if err != nil {
					return "error: " + err.Error()
				}
				again := worldIn(t, r)
				again.answer, again.runs, again.now, again.drawn = c.answer, w.runs, w.now, w.drawn
				told := ""
				again.o.Progress = func(s string) { told += "; " + s }
				o, err := c.act(again)
				if err != nil {
					return "error: " + err.Error()
				}
				tree, err := r.TreeOID(o.Proposal, "")
				if o.Proposal != "" && err != nil {
					return "error: " + err.Error()
				}
				if got := fmt.Sprintln(o.State, o.Reason, tree, o.Effects, o.Files); without == "" || !strings.Contains(told, without) {
					return got
				}
				return told
			}
			want := act("")
			if !strings.HasPrefix(want, "review") || c.name == "a task to read" && !strings.Contains(want, "declined:1") {
				t.Fatal(want)
			}
			tip, err := w.repo.Ref("refs/heads/main")
			if err != nil {
				t.Fatal(err)
			}
			at, err := w.repo.Commit(tip)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"", "odd.toml", "docs", "docs/policies", "knowledge", "knowledge/index.md", "knowledge/tasks", "knowledge/tasks/a.md", "knowledge/terms", "knowledge/roles/shore-lead.md", "knowledge/ledger", "knowledge/ledger/2026-03", "knowledge/ledger/2026-03/" + w.o.Run + ".jsonl", "deleted knowledge/terms", "deleted knowledge/terms/tide.md"} {
				from := tip
				if before, ok := strings.CutPrefix(path, "deleted "); ok && len(at.Parents) > 0 {
					from, path = at.Parents[0], before
				}
				object, _, err := w.repo.Find(from, path)
				if err != nil {
					t.Fatal(err)
				}
				if object == "" {
					continue
				}
				if got := act(string(object)); got != want && !strings.Contains(got, string(object)) && !strings.HasPrefix(got, "error") {
					t.Errorf("without %s: %s, want %s", path, got, want)
				}
			}
		})
	}
}

// drainOne drains, and returns what became of the task.
func drainOne(w *world) (Outcome, error) {
	r, err := w.drain(context.Background())
	if err == nil && len(r.Tasks) == 0 {
		return Outcome{Reason: "nothing to do"}, nil
	}
	if len(r.Tasks) == 0 {
		return Outcome{}, err
	}
	return r.Tasks[0], err
}
