package cmd

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
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// view is the board as committed: what people's acts decide from.
type view struct {
	*workspace
	line     *repo.Line
	tip      repo.OID
	files    fs.FS // the whole commit
	bundle   fs.FS
	graph    *okf.Graph // with workspace.tasksOnly that of the tasks alone
	problems []okf.Problem
	state    *state.State                         // of the commit
	listed   func() ([]*board.Row, []okf.Problem) // rows and unread, made when one is asked for
	whole    func() []board.Task
}

// taskRows returns the tasks on the board in id order, as far as a list shows them.
func (v *view) taskRows() []*board.Row {
	rows, _ := v.listed()
	return rows
}

func (v *view) inReview() []*board.Row {
	return slices.DeleteFunc(slices.Clone(v.taskRows()), func(t *board.Row) bool { return t.State != board.Review })
}

func (v *view) countStates() map[board.State]int {
	n := map[board.State]int{}
	for _, t := range v.taskRows() {
		n[t.State]++
	}
	return n
}

// allTasks returns all of the tasks on the board, in id order.
func (v *view) allTasks() []board.Task { return v.whole() }

func (v *view) taskOf(id okf.ID) (board.Task, error) {
	return board.ReadTask(v.graph, v.graph.ByID(id))
}

func (v *view) unreadProblems() []okf.Problem {
	_, ps := v.listed()
	return ps
}

// opening is what a verb reads of the board.
type opening struct {
	fetch   bool // from the remote first, as every act that commits must
	current bool // as a person sees it: the work tree where the board is checked out
	tasks   bool // no atoms but tasks, so that what else the bundle holds costs nothing
}

func (o opening) open(ctx context.Context, env Env) (*view, error) {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return nil, err
	}
	w.tasksOnly = o.tasks
	if o.current {
		return w.readCurrent(ctx)
	}
	return w.readBoard(ctx, o.fetch)
}

func (o opening) openTask(ctx context.Context, env Env, name string) (v *view, t board.Task, err error) {
	if v, err = o.open(ctx, env); err == nil {
		t, err = v.findTask(name)
	}
	return v, t, err
}

func (o opening) openProposal(ctx context.Context, env Env, name string) (v *view, t board.Task, p review.Proposal, err error) {
	if v, t, err = o.openTask(ctx, env, name); err == nil {
		p, err = v.readProposal(t)
	}
	return v, t, p, err
}

var (
	openCommitted = opening{}.open
	openShared    = opening{fetch: true}.open
	openCurrent   = opening{current: true}.open
	openTasks     = opening{current: true, tasks: true}.open
)

// openFiles is openCurrent for verbs that look at no atom, not even a task: its
// graph is nil, and it has no tasks.
func openFiles(ctx context.Context, env Env) (*view, error) {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return nil, err
	}
	v, checkedOut, err := w.openSeen(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.readConfig(); err != nil {
		return nil, err
	}
	if checkedOut {
		v.bundle = os.DirFS(v.onDisk())
	}
	if _, err := fs.Stat(v.bundle, "."); err != nil {
		return nil, whyNotLoaded(v.cfg.Root, err)
	}
	return v, nil
}

// readBoard reads the board branch. With fetch it starts from the remote's tip, as
// every act that commits must.
func (w *workspace) readBoard(ctx context.Context, fetch bool) (*view, error) {
	v, err := w.openTip(ctx, fetch)
	if err != nil {
		return nil, err
	}
	return v, v.readTip()
}

// openTip returns a view of the board's tip, of which no file is read yet.
func (w *workspace) openTip(ctx context.Context, fetch bool) (*view, error) {
	ref, err := w.boardRef()
	if err == nil && fetch {
		err = w.repo.CheckWritable()
	}
	if err != nil {
		return nil, err
	}
	v := &view{workspace: w, line: &repo.Line{Repo: w.repo, Ref: ref, Remote: w.cfg.Remote, Check: w.landingCheck(), Note: func(s string) { talk(w.env, "%s", s) }}}
	if fetch {
		v.tip, err = v.line.Tip(ctx)
	} else {
		v.tip, err = w.repo.Ref(ref)
	}
	if err != nil {
		if errors.Is(err, repo.ErrNoRef) || errors.Is(err, repo.ErrNoCommit) {
			return nil, refuse("no-commits", "%s: the branch has no commits yet; git add -A && git commit -m \"odd: begin\"", v.line.Name())
		}
		return nil, err
	}
	return v, nil
}

func (v *view) readTip() error {
	if err := v.readConfig(); err != nil {
		return err
	}
	g, ps, err := v.loadAtoms(v.tasksOnly)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", v.cfg.Root, v.line.Name(), err)
	}
	v.takeGraph(g, ps)
	return nil
}

// loadAtoms loads the committed bundle, or its tasks alone.
func (v *view) loadAtoms(tasksOnly bool) (*okf.Graph, []okf.Problem, error) {
	defer v.env.announceSlow("loading the board")()
	if tasksOnly {
		return v.state.TaskAtoms()
	}
	return v.state.Atoms()
}

func (v *view) takeGraph(g *okf.Graph, ps []okf.Problem) {
	v.graph, v.problems = g, ps
	v.listed = sync.OnceValues(func() ([]*board.Row, []okf.Problem) { return board.Rows(g) })
	v.whole = sync.OnceValue(func() []board.Task {
		ts, _ := board.Tasks(g)
		return ts
	})
}

func (v *view) readConfig() error {
	var err error
	if v.files, err = v.repo.Tree(v.tip); err != nil {
		return err
	}
	b, err := fs.ReadFile(v.files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("no-config", "odd.toml is not committed on %s; run odd init if it is missing, then git add odd.toml and git commit", v.line.Name())
	}
	if err != nil {
		return err
	}
	if v.cfg, err = config.Parse("odd.toml", b); err != nil {
		return err
	}
	if v.bundle, err = v.cfg.Folder(v.files); errors.Is(err, fs.ErrNotExist) {
		return refuse("no-bundle", "%v", err)
	}
	if err != nil {
		return err
	}
	v.state = state.Of(v.bundle, v.repo)
	return nil
}

// readCurrent returns the board as a person sees it: the work tree where the board is
// checked out, so that hand edits show, and the committed board elsewhere.
func (w *workspace) readCurrent(ctx context.Context) (*view, error) {
	v, checkedOut, err := w.openSeen(ctx)
	if err != nil {
		return nil, err
	}
	if !checkedOut {
		return v, v.readTip()
	}
	return v, v.readFiles()
}

// openSeen returns a view before any file of it is read, and whether a person sees the
// work tree in it.
func (w *workspace) openSeen(ctx context.Context) (v *view, checkedOut bool, err error) {
	if v, err = w.openTip(ctx, false); err != nil {
		return nil, false, err
	}
	head, err := w.repo.Branch()
	return v, head == v.line.Name() && w.repo.Root() != "", err
}

func (v *view) onDisk() string { return filepath.Join(v.repo.Root(), filepath.FromSlash(v.cfg.Root)) }

func (v *view) readFiles() error {
	load := loadDir
	if v.tasksOnly {
		load = loadTasksDir
	}
	root, rules := v.onDisk(), make(chan error, 1)
	go func() { rules <- v.readConfig() }() // which seldom name another bundle than odd.toml as it lies there
	g, ps, err := load(v.env, v.repo, root)
	if bad := <-rules; bad != nil {
		return bad
	}
	if committed := v.onDisk(); committed != root {
		root = committed
		g, ps, err = load(v.env, v.repo, root)
	}
	v.bundle = os.DirFS(root)
	if err != nil {
		return v.whyNotRead(err)
	}
	v.takeGraph(g, ps)
	return nil
}

// whyNotRead says why the folder of the bundle cannot be read in the work tree.
func (v *view) whyNotRead(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return v.cfg.Missing(v.repo.Root())
	}
	return whyNotLoaded(v.cfg.Root, err)
}

// readEdits puts the edited files of the work tree over the committed board.
func (v *view) readEdits(dirty []string) error {
	v.bundle = os.DirFS(v.onDisk())
	if _, err := fs.Stat(v.bundle, "."); err != nil {
		return v.whyNotRead(err)
	}
	edited := map[string]bool{}
	for _, p := range dirty {
		if name, ours := strings.CutPrefix(p, v.cfg.Root+"/"); ours {
			edited[name] = true
		}
	}
	if len(edited) > 0 {
		v.takeGraph(okf.Reload(disk.Dir(v.onDisk()), v.graph, v.problems, edited))
	}
	return nil
}

// repoPath returns the path from the top of the repository of a path below the bundle's root.
func (v *view) repoPath(name string) string { return path.Join(v.cfg.Root, name) }

// fromTop returns a problem that names its file from the top of the repository.
func (v *view) fromTop(p okf.Problem) okf.Problem {
	p.Path = v.repoPath(p.Path)
	return p
}

func (v *view) findTask(name string) (board.Task, error) {
	a, err := v.graph.Find(name)
	if err != nil && v.tasksOnly {
		if g, _, whole := v.loadAtoms(false); whole == nil { // to say what it is instead
			if a := g.Target(name, ""); a != nil {
				return board.Task{}, fmt.Errorf("%s is a %s, not a task; odd task list shows the tasks", a.ID, a.Type)
			}
		}
	}
	if err != nil {
		if n := len(board.Unread(v.problems)); n > 0 {
			return board.Task{}, fmt.Errorf("%s; %s in the task files, odd task list shows them", board.NoTask(err), countNoun(n, "error"))
		}
		return board.Task{}, fmt.Errorf("%s; odd task list shows the tasks", board.NoTask(err))
	}
	if twin := board.Twin(v.problems, a.Path); twin != nil {
		return board.Task{}, v.fromTop(*twin)
	}
	if board.IsTask(a) {
		return board.ReadTask(v.graph, a)
	}
	if a.Type == board.Type {
		return board.Task{}, fmt.Errorf("%s: the file %s is not in the folder of tasks; move it with git mv into %s/", a.ID, v.repoPath(a.Path), v.repoPath(board.Folder))
	}
	return board.Task{}, fmt.Errorf("%s is a %s, not a task; odd task list shows the tasks", a.ID, a.Type)
}

func (v *view) readRecords(run string) ([]event.Record, error) {
	f, ok := v.state.RunFile(run)
	if !ok {
		return nil, refuse("state", "run %s: its record is missing on %s; git log -- knowledge/ledger shows which commit removed it", run, v.line.Name())
	}
	if f.Err != nil {
		return nil, fmt.Errorf("%s/%w", v.cfg.Root, f.Err)
	}
	return f.Records, nil
}

func (v *view) readProposal(t board.Task) (review.Proposal, error) {
	run := t.Result.Run
	if run == "" && t.State == board.Review {
		return review.Proposal{}, refuse("state", "%s: the task is in review, but names no run that proposed something; set \"state: backlog\" in its file and commit that", t.ID)
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
func (v *view) contractOf(t board.Task, rs []event.Record) (*review.Contract, error) {
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

// targetBranch returns the branch reviews merge into, and whether it is not the board.
func (v *view) targetBranch() (string, bool) {
	if v.cfg.Target == "" || v.cfg.Target == v.line.Name() {
		return v.line.Name(), false
	}
	return v.cfg.Target, true
}

// blobReader tells the blob of a path in a commit, "" where it has none.
func (v *view) blobReader(oid repo.OID) (func(string) string, error) {
	f, err := v.repo.Tree(oid)
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

// commitMessage returns a commit message with its trailers; empty values are left out.
// The subject is one line, so that no title can bring a trailer of its own.
func commitMessage(subject, body string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(oneLine(subject) + "\n\n")
	if body != "" {
		b.WriteString(strings.TrimSpace(okf.Visible(body)) + "\n\n")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(pairs[i] + ": " + pairs[i+1] + "\n")
		}
	}
	return b.String()
}

// oneLine returns s without hidden characters and with every run of space as one.
func oneLine(s string) string { return okf.OneLine(okf.Legible(s)) }

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
