package workspace

import (
	"context"
	"io/fs"
	"os"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/journal/repo"
)

// Options say how a verb opens the board. The zero value is the board as committed here.
type Options struct {
	Fetch   bool // from the remote first, as every act that commits must
	Current bool // as a person sees it: the work tree where the board is checked out
	Tasks   bool // no atoms but tasks, so that what else the bundle holds costs nothing
}

// OpenBoard opens the clone that env.Dir is in, and its board.
func (o Options) OpenBoard(ctx context.Context, env console.Env) (*Board, error) {
	w, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}
	w.TasksOnly = o.Tasks
	if o.Current {
		return w.ReadCurrent(ctx)
	}
	return w.ReadBoard(ctx, o.Fetch)
}

// OpenTask opens the board and returns a task on it, by what FindTask takes for a name.
func (o Options) OpenTask(ctx context.Context, env console.Env, name string) (v *Board, t board.Task, err error) {
	if v, err = o.OpenBoard(ctx, env); err == nil {
		t, err = v.FindTask(name)
	}
	return v, t, err
}

// OpenProposal opens the board and returns a task and what an agent proposes for it.
func (o Options) OpenProposal(ctx context.Context, env console.Env, name string) (v *Board, t board.Task, p review.Proposal, err error) {
	if v, t, err = o.OpenTask(ctx, env, name); err == nil {
		p, err = v.ReadProposal(t)
	}
	return v, t, p, err
}

// How most verbs open the board: as committed here; as committed on the remote, for an act that
// commits; as a person sees it; and as a person sees it without atoms other than tasks.
var (
	OpenCommitted = Options{}.OpenBoard
	OpenShared    = Options{Fetch: true}.OpenBoard
	OpenCurrent   = Options{Current: true}.OpenBoard
	OpenTasks     = Options{Current: true, Tasks: true}.OpenBoard
)

// OpenFiles is OpenCurrent for verbs that look at no atom, not even a task: its
// graph is nil, and it has no tasks.
func OpenFiles(ctx context.Context, env console.Env) (*Board, error) {
	w, err := Open(ctx, env)
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
		v.Bundle = os.DirFS(v.onDisk())
	}
	if _, err := fs.Stat(v.Bundle, "."); err != nil {
		return nil, WhyNotLoaded(v.Config.Root, err)
	}
	return v, nil
}

// OpenCheckout is OpenCurrent for verbs that only read handoffs: where HEAD is
// detached and odd.toml names no board, as in CI, what is checked out is read.
func OpenCheckout(ctx context.Context, env console.Env) (*Board, error) {
	w, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}
	head, err := w.Repo.Branch()
	if err != nil {
		return nil, err
	}
	if head != "" || w.Config.Branch != "" || w.Repo.Root() == "" {
		return w.ReadCurrent(ctx)
	}
	v := &Board{Clone: w, Line: &repo.Line{Repo: w.Repo, Ref: "HEAD"}}
	if v.Tip, err = w.Repo.Resolve(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return v, v.readFiles()
}
