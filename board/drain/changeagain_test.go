package drain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// waits is a world in which a change of docs/a.md waits for a person, made from what docs has.
func waits(t *testing.T, toml string) *world {
	t.Helper()
	w := newWorld(t, paid+toml, forDocs)
	w.commit(repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nthree\n"), "docs/b.md": []byte("# B\n")}, "the docs")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := delivers(1, "# A\n\none\n\ntwo\n\nfour\n")
		e.Raw = session.Print(e)
		return e, nil
	}
	if o := w.must().Tasks[0]; o.State != board.Review {
		t.Fatalf("%+v", o)
	}
	return w
}

// copied is a world as it was, in a repository of its own.
func (w *world) copied(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(w.repo.Root())); err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	again := worldIn(t, r)
	again.answer, again.runs, again.now, again.drawn = w.answer, w.runs, w.now, w.drawn
	return again
}

// Where the result of a refresh cannot be saved, nothing has changed, and no claim has to end first.
func TestRefreshThatIsNotSaved(t *testing.T) {
	t.Parallel()
	w := waits(t, "")
	w.o.Check = func(context.Context, *repo.Line, repo.OID, repo.OID, []repo.RefUpdate) error {
		return errors.New("main is protected")
	}
	w.o.Task, w.o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
	_, err := Refresh(t.Context(), w.repo, w.o)
	if want := "review --refresh a: the result was not saved, and the task is in review as before: main is protected"; err == nil || err.Error() != want || w.branches() != 1 {
		t.Errorf("%v, want %s; %d branches", err, want, w.branches())
	}
}

// A change that waits is judged again on the files there are: it is merged with what others
// did, no session runs for it, and where it cannot stand the person is told why.
func TestRefreshAChange(t *testing.T) {
	t.Parallel()
	base := waits(t, "")
	for name, c := range map[string]struct {
		does   repo.Changes
		later  time.Duration
		forget string // a ref
		code   string // "" where it waits again
		says   string
		want   string // docs/a.md on its branch
	}{
		"nothing happened":        {want: "# A\n\none\n\ntwo\n\nfour\n"},
		"another file is changed": {does: repo.Changes{"docs/b.md": []byte("# Mine\n")}, want: "# A\n\none\n\ntwo\n\nfour\n"},
		"other lines are changed": {does: repo.Changes{"docs/a.md": []byte("# Mine\n\none\n\ntwo\n\nthree\n")}, want: "# Mine\n\none\n\ntwo\n\nfour\n"},
		"its lines are changed":   {does: repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nmine\n")}, code: "moved", says: "docs/a.md: the same lines changed"},
		"its file is deleted":     {does: repo.Changes{"docs/a.md": nil}, code: "moved", says: "docs/a.md"},
		"the same is done":        {does: repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nfour\n")}, code: "emission", says: "already"},
		"more than it is done":    {does: repo.Changes{"docs/a.md": []byte("# Mine\n\none\n\ntwo\n\nfour\n")}, code: "emission", says: "already"},
		"its time is over":        {later: 1000 * time.Hour, code: "expired", says: "the time to approve it ended"},
		"what was kept is gone":   {forget: runRefs + base.last(), code: "artifacts", says: "has the agent's output, is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := base.copied(t)
			if c.does != nil {
				w.commit(c.does, "a person's")
			}
			if c.forget != "" {
				at, err := w.repo.Ref(c.forget)
				if err == nil {
					err = w.repo.Move(t.Context(), repo.RefUpdate{Name: c.forget, Old: at})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			w.now = w.now.Add(c.later)
			w.answer = func(context.Context, session.Request) (session.Emission, error) {
				t.Error("a session runs")
				return says(), nil
			}
			w.o.Task, w.o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
			o, err := Refresh(t.Context(), w.repo, w.o)
			if c.code != "" {
				if code(err) != c.code || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %s: %s", err, c.code, c.says)
				}
				if w.branches() != 1 {
					t.Errorf("%d branches", w.branches())
				}
				return
			}
			if err != nil || o.Branch != "odd/review/a.2" || o.Files != 1 || o.Cost != 0 {
				t.Fatalf("%+v, %v", o, err)
			}
			if got := w.read("refs/heads/"+o.Branch, "docs/a.md"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			stories, _ := w.ops()
			if op := stories[len(stories)-1].Op(); len(stories) != 2 || op.Phase != pipeline.Waiting || op.Fact("again") != stories[0].Op().ID || stories[0].Op().Phase == pipeline.Waiting {
				t.Errorf("%d ops, the first in %s, the last %+v", len(stories), stories[0].Op().Phase, op)
			}
			if got := w.read(runRefs+w.o.Run, ArtifactDir(w.mustTask("a"))+"/"+stories[1].Op().ID+"/op.json"); !strings.Contains(got, `"r"`) {
				t.Errorf("its reason is not kept: %s", got)
			}
		})
	}
}

func (w *world) mustTask(id string) board.Task {
	w.t.Helper()
	t, err := w.fresh().findTask(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// landing is the change that waits, and where it would land now.
func (w *world) landing() bench.Landing {
	w.t.Helper()
	s := w.fresh()
	task := w.mustTask("a")
	c, err := w.repo.Commit(repo.OID(task.Result.Commit))
	if err != nil {
		w.t.Fatal(err)
	}
	return bench.Landing{Task: task, Cfg: s.cfg, Bundle: s.graph, Base: c.Parents[0], Tip: s.tip, Board: s.tip, Proposal: c.OID, Now: w.now}
}

// What a person approves was checked on the files there are: again where others changed a file
// that checks may read, by the rules and by the commands of the project.
func TestChecksBeforeAnApproval(t *testing.T) {
	t.Parallel()
	const validate = "[pipeline]\nvalidate = [[\"grep\", \"-q\", \"two\", \"docs/a.md\"]]\n"
	plain, checked := waits(t, ""), waits(t, "")
	checked.commit(repo.Changes{"odd.toml": []byte(checked.read("refs/heads/main", "odd.toml") + validate)}, "a check")
	tier := func(w *world) string {
		stories, _ := w.ops()
		return stories[0].Op().Fact(pipeline.FactTier)
	}
	for name, c := range map[string]struct {
		on    *world
		does  repo.Changes
		tier  string // "" for its own
		ran   string // "" where nothing is checked
		fails string // a check says
		why   string // the rules say
	}{
		"nothing happened":              {on: plain},
		"an atom is changed":            {on: plain, does: repo.Changes{"knowledge/terms/x.md": []byte("---\ntype: term\nid: x\n---\nX.\n")}},
		"a file that nothing checks":    {on: plain, does: repo.Changes{"docs/b.md": []byte("# Mine\n")}, ran: "no check ran"},
		"its tier was a lower one":      {on: plain, does: repo.Changes{"docs/b.md": []byte("# Mine\n")}, tier: "SAFE_AUTO", ran: "no check ran", why: "its risk tier is now"},
		"a file with a check":           {on: checked, does: repo.Changes{"docs/b.md": []byte("# Mine\n")}, ran: "grep"},
		"a check that fails on a merge": {on: checked, does: repo.Changes{"docs/a.md": []byte("# A\n\none\n\n2\n\nthree\n")}, ran: "grep", fails: "grep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.on.copied(t)
			if c.does != nil {
				w.commit(c.does, "a person's")
			}
			l := w.landing()
			was := tier(w)
			if c.tier != "" {
				was = c.tier
			}
			why, err := bench.Rejudge(t.Context(), w.repo, l, was)
			if got := strings.Join(why, "; "); err != nil || (got == "") != (c.why == "") || !strings.Contains(got, c.why) {
				t.Errorf("the rules say %q, %v; want %q", got, err, c.why)
			}
			got, err := bench.Check(t.Context(), w.repo, l, bench.Bench{Host: agent.Host{Temp: t.TempDir(), Environ: os.Environ(), Now: w.time}, Say: func(string) {}})
			if err != nil || (got.Tree == "") != (c.ran == "") || (got.Why == "") != (c.fails == "") || !strings.Contains(got.Why, c.fails) || !strings.Contains(strings.Join(got.Ran, "\n"), c.ran) {
				t.Errorf("the checks say %+v, %v", got, err)
			}
			if c.ran == "" {
				return
			}
			tree, _, err := bench.MergeProposal(t.Context(), w.repo, l.Tip, l.Proposal)
			if err != nil || got.Tree != tree {
				t.Errorf("checked %s; the merge is %s, %v", got.Tree, tree, err)
			}
		})
	}
}

// A proposal that was merged and reverted is merged again; whatever cannot be read or merged on
// the way is an error, and never nothing to check.
func TestMergeAProposal(t *testing.T) {
	t.Parallel()
	base := waits(t, "[pipeline]\nvalidate = [[\"true\"]]\n")
	first := base.landing()
	tree, _, err := bench.MergeProposal(t.Context(), base.repo, first.Tip, first.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	in, err := base.repo.MakeOn(t.Context(), []repo.OID{first.Tip, first.Proposal}, tree, nil, ann, "approve\n")
	if err == nil {
		err = base.repo.Move(t.Context(), repo.RefUpdate{Name: "refs/heads/main", Old: first.Tip, New: in})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := func(w *world, tree repo.OID) string {
		id, _, err := w.repo.Find(tree, "docs/a.md")
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.repo.Blob(id)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct{ now, want string }{
		{"# A\n\none\n\ntwo\n\nfour\n", "# A\n\none\n\ntwo\n\nfour\n"},
		{"# A\n\none\n\ntwo\n\nfive\n", "# A\n\none\n\ntwo\n\nfive\n"},  // changed since, not reverted
		{"# A\n\none\n\ntwo\n\nthree\n", "# A\n\none\n\ntwo\n\nfour\n"}, // reverted
	} {
		w := base.copied(t)
		w.commit(repo.Changes{"docs/a.md": []byte(c.now)}, "a person's")
		tip, err := w.repo.Ref("refs/heads/main")
		if err != nil {
			t.Fatal(err)
		}
		tree, _, err := bench.MergeProposal(t.Context(), w.repo, tip, first.Proposal)
		if err != nil || file(w, tree) != c.want {
			t.Errorf("%q: %q, %v", c.now, file(w, tree), err)
		}
	}

	moved := waits(t, "[pipeline]\nvalidate = [[\"true\"]]\n")
	moved.commit(repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nmine\n")}, "a person's")
	l := moved.landing()
	if got, err := bench.Check(t.Context(), moved.repo, l, bench.Bench{Host: agent.Host{Temp: t.TempDir(), Now: moved.time}, Say: func(string) {}}); err == nil {
		t.Errorf("lines that two changed: %+v", got)
	}
	moved.commit(repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nthree\n"), "docs/c.md": []byte("# C\n")}, "a person's")
	l = moved.landing()
	for _, of := range []repo.OID{l.Base, l.Tip, l.Proposal} {
		for _, path := range []string{"-", "", "docs", "docs/a.md"} {
			object := of
			switch path {
			case "-":
			case "":
				object, err = moved.repo.TreeOID(of, "")
			default:
				object, _, err = moved.repo.Find(of, path)
			}
			if err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(moved.repo.Root(), ".git", "objects", string(object[:2]), string(object[2:]))
			if err := os.Rename(at, at+"-"); err != nil {
				t.Fatal(err)
			}
			r, err := repo.Open(moved.repo.Root(), os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := bench.Check(t.Context(), r, l, bench.Bench{Host: agent.Host{Temp: t.TempDir(), Environ: os.Environ(), Now: moved.time}, Say: func(string) {}}); err == nil {
				t.Errorf("without %s of %s: %+v", path, of, got)
			}
			if got, err := bench.Rejudge(t.Context(), r, l, "SAFE_AUTO"); err == nil {
				t.Errorf("without %s of %s it is judged: %v", path, of, got)
			}
			if err := os.Rename(at+"-", at); err != nil {
				t.Fatal(err)
			}
		}
	}
}
