package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// Board is the board as committed, or as a person sees it: what verbs print and people decide from.
type Board struct {
	*Clone
	Line     *repo.Line
	Tip      repo.OID
	Files    fs.FS // the whole commit
	Bundle   fs.FS
	Graph    *okf.Graph // with TasksOnly that of the tasks alone
	Problems []okf.Problem
	State    *state.State                         // of the commit
	listed   func() ([]*board.Row, []okf.Problem) // rows and unread, made when one is asked for
	whole    func() []board.Task
}

// TaskRows returns the tasks on the board in id order, as far as a list shows them.
func (v *Board) TaskRows() []*board.Row {
	rows, _ := v.listed()
	return rows
}

// InReview returns the tasks that wait for a review.
func (v *Board) InReview() []*board.Row {
	return slices.DeleteFunc(slices.Clone(v.TaskRows()), func(t *board.Row) bool { return t.State != board.Review })
}

// CountStates counts the tasks by state.
func (v *Board) CountStates() map[board.State]int {
	n := map[board.State]int{}
	for _, t := range v.TaskRows() {
		n[t.State]++
	}
	return n
}

// AllTasks returns all of the tasks on the board, in id order.
func (v *Board) AllTasks() []board.Task { return v.whole() }

// TaskOf returns the whole of a task in TaskRows.
func (v *Board) TaskOf(id okf.ID) (board.Task, error) {
	return board.ReadTask(v.Graph, v.Graph.ByID(id))
}

// UnreadProblems says which tasks are not in TaskRows and why.
func (v *Board) UnreadProblems() []okf.Problem {
	_, ps := v.listed()
	return ps
}

// ReadBoard reads the board branch. With fetch it starts from the remote's tip, as
// every act that commits must.
func (w *Clone) ReadBoard(ctx context.Context, fetch bool) (*Board, error) {
	v, err := w.OpenTip(ctx, fetch)
	if err != nil {
		return nil, err
	}
	return v, v.ReadTip()
}

// OpenTip returns the board at its tip, of which no file is read yet.
func (w *Clone) OpenTip(ctx context.Context, fetch bool) (*Board, error) {
	ref, err := w.BoardRef()
	if err == nil && fetch {
		err = w.Repo.CheckWritable()
	}
	if err != nil {
		return nil, err
	}
	v := &Board{Clone: w, Line: &repo.Line{Repo: w.Repo, Ref: ref, Remote: w.Config.Remote, Check: w.LandingCheck(), Note: func(s string) { console.Talk(w.Env, "%s", s) }}}
	if fetch {
		v.Tip, err = v.Line.Tip(ctx)
	} else {
		v.Tip, err = w.Repo.Ref(ref)
	}
	if err != nil {
		if errors.Is(err, repo.ErrNoRef) || errors.Is(err, repo.ErrNoCommit) {
			return nil, verb.Refuse("no-commits", "%s: the branch has no commits yet; git add -A && git commit -m \"odd: begin\"", v.Line.Name())
		}
		return nil, err
	}
	return v, nil
}

// ReadTip reads the files of the tip of OpenTip.
func (v *Board) ReadTip() error {
	if err := v.readConfig(); err != nil {
		return err
	}
	g, ps, err := v.loadAtoms(v.TasksOnly)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", v.Config.Root, v.Line.Name(), err)
	}
	v.takeGraph(g, ps)
	return nil
}

// loadAtoms loads the committed bundle, or its tasks alone.
func (v *Board) loadAtoms(tasksOnly bool) (*okf.Graph, []okf.Problem, error) {
	defer v.Env.AnnounceSlow("loading the board")()
	if tasksOnly {
		return v.State.TaskAtoms()
	}
	return v.State.Atoms()
}

func (v *Board) takeGraph(g *okf.Graph, ps []okf.Problem) {
	v.Graph, v.Problems = g, ps
	v.listed = sync.OnceValues(func() ([]*board.Row, []okf.Problem) { return board.Rows(g) })
	v.whole = sync.OnceValue(func() []board.Task {
		ts, _ := board.Tasks(g)
		return ts
	})
}

func (v *Board) readConfig() error {
	var err error
	if v.Files, err = v.Repo.Tree(v.Tip); err != nil {
		return err
	}
	b, err := fs.ReadFile(v.Files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		return verb.Refuse("no-config", "odd.toml is not committed on %s; run odd init if it is missing, then git add odd.toml and git commit", v.Line.Name())
	}
	if err != nil {
		return err
	}
	if v.Config, err = config.Parse("odd.toml", b); err != nil {
		return err
	}
	if v.Bundle, err = v.Config.Folder(v.Files); errors.Is(err, fs.ErrNotExist) {
		return verb.Refuse("no-bundle", "%v", err)
	}
	if err != nil {
		return err
	}
	v.State = state.Of(v.Bundle, v.Repo)
	return nil
}

// ReadCurrent returns the board as a person sees it: the work tree where the board is
// checked out, so that hand edits show, and the committed board elsewhere.
func (w *Clone) ReadCurrent(ctx context.Context) (*Board, error) {
	v, checkedOut, err := w.openSeen(ctx)
	if err != nil {
		return nil, err
	}
	if !checkedOut {
		return v, v.ReadTip()
	}
	return v, v.readFiles()
}

// openSeen returns the board before any file of it is read, and whether a person sees the
// work tree in it.
func (w *Clone) openSeen(ctx context.Context) (v *Board, checkedOut bool, err error) {
	if v, err = w.OpenTip(ctx, false); err != nil {
		return nil, false, err
	}
	head, err := w.Repo.Branch()
	return v, head == v.Line.Name() && w.Repo.Root() != "", err
}

func (v *Board) onDisk() string {
	return filepath.Join(v.Repo.Root(), filepath.FromSlash(v.Config.Root))
}

func (v *Board) readFiles() error {
	load := LoadDir
	if v.TasksOnly {
		load = loadTasksDir
	}
	root, rules := v.onDisk(), make(chan error, 1)
	go func() { rules <- v.readConfig() }() // which seldom name another bundle than odd.toml as it lies there
	g, ps, err := load(v.Env, v.Repo, root)
	if bad := <-rules; bad != nil {
		return bad
	}
	if committed := v.onDisk(); committed != root {
		root = committed
		g, ps, err = load(v.Env, v.Repo, root)
	}
	v.Bundle = os.DirFS(root)
	if err != nil {
		return v.whyNotRead(err)
	}
	v.takeGraph(g, ps)
	return nil
}

// whyNotRead says why the folder of the bundle cannot be read in the work tree.
func (v *Board) whyNotRead(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return v.Config.Missing(v.Repo.Root())
	}
	return WhyNotLoaded(v.Config.Root, err)
}

// ReadEdits puts the edited files of the work tree over the committed board.
func (v *Board) ReadEdits(dirty []string) error {
	v.Bundle = os.DirFS(v.onDisk())
	if _, err := fs.Stat(v.Bundle, "."); err != nil {
		return v.whyNotRead(err)
	}
	edited := map[string]bool{}
	for _, p := range dirty {
		if name, ours := strings.CutPrefix(p, v.Config.Root+"/"); ours {
			edited[name] = true
		}
	}
	if len(edited) > 0 {
		v.takeGraph(okf.Reload(disk.Dir(v.onDisk()), v.Graph, v.Problems, edited))
	}
	return nil
}

// RepoPath returns the path from the top of the repository of a path below the bundle's root.
func (v *Board) RepoPath(name string) string { return path.Join(v.Config.Root, name) }

// FromTop returns a problem that names its file from the top of the repository.
func (v *Board) FromTop(p okf.Problem) okf.Problem {
	p.Path = v.RepoPath(p.Path)
	return p
}

// FindTask returns a task by its id, its path or what else names one atom.
func (v *Board) FindTask(name string) (board.Task, error) {
	a, err := v.Graph.Find(name)
	if err != nil && v.TasksOnly {
		if g, _, whole := v.loadAtoms(false); whole == nil { // to say what it is instead
			if a := g.Target(name, ""); a != nil {
				return board.Task{}, fmt.Errorf("%s is a %s, not a task; odd task list shows the tasks", a.ID, a.Type)
			}
		}
	}
	if err != nil {
		if n := len(board.Unread(v.Problems)); n > 0 {
			return board.Task{}, fmt.Errorf("%s; %s in the task files, odd task list shows them", board.NoTask(err), console.CountNoun(n, "error"))
		}
		return board.Task{}, fmt.Errorf("%s; odd task list shows the tasks", board.NoTask(err))
	}
	if twin := board.Twin(v.Problems, a.Path); twin != nil {
		return board.Task{}, v.FromTop(*twin)
	}
	if board.IsTask(a) {
		return board.ReadTask(v.Graph, a)
	}
	if a.Type == board.Type {
		return board.Task{}, fmt.Errorf("%s: the file %s is not in the folder of tasks; move it with git mv into %s/", a.ID, v.RepoPath(a.Path), v.RepoPath(board.Folder))
	}
	return board.Task{}, fmt.Errorf("%s is a %s, not a task; odd task list shows the tasks", a.ID, a.Type)
}

func (v *Board) readRecords(run string) ([]event.Record, error) {
	f, ok := v.State.RunFile(run)
	if !ok {
		return nil, verb.Refuse("state", "run %s: its record is missing on %s; git log -- knowledge/ledger shows which commit removed it", run, v.Line.Name())
	}
	if f.Err != nil {
		return nil, fmt.Errorf("%s/%w", v.Config.Root, f.Err)
	}
	return f.Records, nil
}

// ReadProposal returns what waits for review of t, with the contract of its session.
func (v *Board) ReadProposal(t board.Task) (review.Proposal, error) {
	run := t.Result.Run
	if run == "" && t.State == board.Review {
		return review.Proposal{}, verb.Refuse("state", "%s: the task is in review, but names no run that proposed something; set \"state: backlog\" in its file and commit that", t.ID)
	}
	var rs []event.Record
	if run != "" {
		var err error
		if rs, err = v.readRecords(run); err != nil {
			return review.Proposal{}, err
		}
	}
	p, err := review.Read(t, run, rs)
	if err != nil {
		return p, err
	}
	p.Contract, err = v.contractOf(t, rs)
	return p, err
}

// contractOf returns the contract of the session that made t's proposal. A run that
// judged the emission of an earlier one leads back to that.
func (v *Board) contractOf(t board.Task, rs []event.Record) (*review.Contract, error) {
	seen := map[string]bool{}
	for {
		c, judged := review.Contracted(t.ID, rs)
		if c != nil || judged == "" || seen[judged] {
			return c, nil
		}
		seen[judged] = true
		var err error
		if rs, err = v.readRecords(judged); err != nil {
			return nil, err
		}
	}
}

// TargetBranch returns the branch reviews merge into, and whether it is not the board.
func (v *Board) TargetBranch() (string, bool) {
	if v.Config.Target == "" || v.Config.Target == v.Line.Name() {
		return v.Line.Name(), false
	}
	return v.Config.Target, true
}

// BlobReader tells the blob of a path in a commit, "" where it has none.
func (v *Board) BlobReader(oid repo.OID) (func(string) string, error) {
	f, err := v.Repo.Tree(oid)
	if err != nil {
		return nil, err
	}
	return func(name string) string {
		b, err := fs.ReadFile(f, name)
		if err != nil {
			return ""
		}
		return okf.BlobID(b)
	}, nil
}

// LandingCheck returns what is asked before a commit lands: whether this odd may write here,
// by the odd.toml that is there, and whether a rule of odd check forbids the commit.
func (w *Clone) LandingCheck() repo.Check {
	rules := verify.NewLanding(w.Repo)
	return func(ctx context.Context, line *repo.Line, old, next repo.OID, also []repo.RefUpdate) error {
		settings, err := ReadSettings(w.Repo, old)
		if err == nil {
			err = settings.CheckVersion(w.Env.Version)
		}
		if err != nil {
			return err
		}
		return rules.Check(ctx, line, old, next, also)
	}
}

// ReadSettings returns the configuration in a commit; the default where it has none.
func ReadSettings(r *repo.Repo, at repo.OID) (config.Config, error) {
	if at == "" {
		return config.Default(), nil
	}
	oid, mode, err := r.Find(at, "odd.toml")
	if err != nil || !strings.HasPrefix(mode, "100") {
		return config.Default(), err
	}
	b, err := r.Blob(oid)
	if err != nil {
		return config.Default(), err
	}
	return config.Parse("odd.toml", b)
}
