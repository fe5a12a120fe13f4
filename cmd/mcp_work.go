package cmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf/served"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/mcp"
)

// view is the board of the served bundle: as a person sees it, or as a commit
// has it.
func (k *knowing) view(ctx context.Context) (*view, error) {
	if k.src.dir != "" {
		return nil, refuse("no-board", "odd mcp --bundle %s serves files without tasks; start odd mcp without --bundle", k.src.dir)
	}
	w, err := openWorkspace(ctx, k.env)
	if err != nil || k.src.rev == "" {
		if err != nil {
			return nil, err
		}
		return w.current(ctx)
	}
	v, err := w.stand(ctx, false)
	if err != nil {
		return nil, err
	}
	v.tip = repo.OID(k.src.rev)
	return v, v.read()
}

func (k *knowing) context(ctx context.Context, task string) (any, string, error) {
	v, err := k.view(ctx)
	if err != nil {
		return nil, "", err
	}
	c, err := v.remembered(ctx, task)
	return c, c.Markdown(), err
}

func (k *knowing) board(ctx context.Context, q mcp.BoardQuery) ([]mcp.BoardTask, error) {
	v, err := k.view(ctx)
	if err != nil {
		return nil, err
	}
	var out []mcp.BoardTask
	list, row := v.shown(q.State, q.Done)
	for _, t := range list {
		r := row(t)
		out = append(out, mcp.BoardTask{Fact: served.FactOf(v.graph.ByID(r.ID)), State: r.State, Priority: r.Priority, Kind: r.Kind, Role: r.Role, Waits: r.Waits})
	}
	return out, nil
}

// propose files a task by the agent's identity, if the server's session holds a
// permit now.
func (k *knowing) propose(ctx context.Context, f board.Filing) (mcp.Proposed, error) {
	f.By, f.At = "odd/"+version(), k.env.Now()
	a, err := board.New(f)
	if err != nil {
		return mcp.Proposed{}, err
	}
	w, err := openWorkspace(ctx, k.env)
	if err != nil {
		return mcp.Proposed{}, err
	}
	file := filepath.ToSlash(filepath.Join(w.cfg.Root, a.Path))
	role, err := k.permitted(ctx, file)
	if err != nil {
		return mcp.Proposed{}, err
	}
	build := func(v *view) (repo.Changes, string, error) {
		return v.adds("task_propose", a, "proposed by a session that is bound as "+role)
	}
	oid, err := w.writeBy(ctx, (*view).byMachine, build)
	return mcp.Proposed{Task: a.ID, Path: file, State: string(board.Backlog), Commit: string(oid)}, err
}

// permitted asks whether the server's session is bound now, and as what. What
// the permit lets it write is about its own edits: a proposal is the board's. But
// a constitution that blocks the place blocks it here too.
func (k *knowing) permitted(ctx context.Context, file string) (role string, err error) {
	if k.session == "" {
		return "", refuse("read-only", "this MCP server is read-only; get write rights with odd anchor identity ROLE, and start odd mcp with --session TOKEN")
	}
	a, err := openAnchor(ctx, k.env)
	if err != nil {
		return "", err
	}
	defer a.Close()
	v := a.desk.HasValid(k.session, "")
	if !v.Valid || v.Permit == nil {
		return "", refuse("read-only", "the session of this MCP server is no longer valid [%s]; odd anchor verify says why", strings.Join(codesOf(v.Errors), ", "))
	}
	p := *v.Permit
	p.Allow = nil
	if why, ok := p.Covers(file); !ok {
		return "", refuse("read-only", "%s", why)
	}
	return p.Role, nil
}

// desk is the anchor's desk of the work tree that is served, and of no other.
func (k *knowing) desk(workingDir string) (anchor.Desk, func() error, error) {
	if !filepath.IsAbs(workingDir) {
		return anchor.Desk{}, nil, usage("working_dir: %s is not an absolute path", workingDir)
	}
	own, err := repo.Open(k.env.Dir, k.env.Environ)
	if err != nil {
		return anchor.Desk{}, nil, refuse("no-repository", "%s: not in the work tree of a git repository", k.env.Dir)
	}
	env := k.env
	env.Dir = workingDir
	a, err := openAnchor(context.Background(), env)
	if err != nil {
		return anchor.Desk{}, nil, err
	}
	if a.repo.Root() != own.Root() {
		_ = a.Close()
		return anchor.Desk{}, nil, refuse("other-tree", "working_dir: %s is not in the work tree that this server is for, %s", workingDir, own.Root())
	}
	return a.desk, a.Close, nil
}
