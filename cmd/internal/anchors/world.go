package anchors

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Anchorage is where the sessions of one work tree are bound. It is closed after use.
type Anchorage struct {
	env  console.Env
	Repo *repo.Repo
	cfg  config.Config
	tree *os.Root
	Desk anchor.Desk
}

// Open opens the work tree env.Dir is in. It writes nothing and does not
// ask git. Without an odd.toml the defaults hold.
func Open(ctx context.Context, env console.Env) (*Anchorage, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) || err == nil && r.Root() == "" {
		return nil, verb.Refuse("no-repository", "%s: not in the work tree of a git repository", env.Dir)
	}
	if err != nil {
		return nil, err
	}
	a := &Anchorage{env: env, Repo: r, cfg: config.Default()}
	if a.tree, err = os.OpenRoot(r.Root()); err != nil {
		return nil, err
	}
	b, err := a.tree.ReadFile("odd.toml")
	if err == nil {
		a.cfg, err = config.Parse("odd.toml", b)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		a.Desk.Store, err = anchor.Open(anchor.Place{Root: r.Root(), Dir: a.cfg.Anchor.State, Key: r.PermitKey()})
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.Desk.World = a.newWorld(ctx)
	return a, nil
}

// Close lets go of the work tree.
func (a *Anchorage) Close() error { return a.tree.Close() }

func (a *Anchorage) newWorld(ctx context.Context) anchor.World {
	return anchor.World{
		Now:          a.env.Now().UTC(),
		Random:       a.env.ReadRandom,
		WorkTree:     a.Repo.Root(),
		Files:        a.tree.FS(),
		Facts:        func() (anchor.Facts, error) { return a.readFacts(ctx) },
		Descends:     func(head, from string) (bool, error) { return a.Repo.Descends(ctx, head, from) },
		Constitution: a.findConstitution,
		Committed:    a.isCommitted,
		Protected:    a.newProtector(),
		Phase:        func() (string, string) { return anchor.Phase(a.tree.FS()) },
		TTL:          a.cfg.Anchor.TTL,
	}
}

// readFacts returns the state of the work tree, but for the state directory: a session's
// own record is no change.
func (a *Anchorage) readFacts(ctx context.Context) (anchor.Facts, error) {
	f, err := a.Repo.Facts(ctx, a.cfg.Anchor.State)
	if err == nil && !f.OK {
		err = errors.New("there is no work tree")
	}
	out := anchor.Facts{Head: f.Head, Branch: f.Branch, Upstream: f.Upstream, Ahead: f.Ahead, Behind: f.Behind}
	for _, c := range f.Files {
		out.Files = append(out.Files, anchor.Change{XY: c.XY, Path: c.Path, From: c.From})
	}
	return out, err
}

// isCommitted says whether HEAD holds a file as it stands. What git may do to the
// ends of lines when it writes a file out is no difference.
func (a *Anchorage) isCommitted(path string) (why string, ok bool) {
	old, now, err := a.readVersions(path)
	lines := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
	switch {
	case errors.Is(err, repo.ErrNoRef):
		return "nothing is committed here yet", false
	case errors.Is(err, fs.ErrNotExist):
		return "it is not committed", false
	case err != nil:
		return "whether it is committed cannot be told: " + err.Error(), false
	}
	return "it was changed since it was committed", bytes.Equal(lines(old), lines(now))
}

func (a *Anchorage) readVersions(path string) (old, now []byte, err error) {
	head, err := a.Repo.Ref("HEAD")
	if err != nil {
		return nil, nil, err
	}
	tree, err := a.Repo.Tree(head)
	if err != nil {
		return nil, nil, err
	}
	if old, err = fs.ReadFile(tree, path); err != nil {
		return nil, nil, err
	}
	now, err = a.tree.ReadFile(filepath.FromSlash(path))
	return old, now, err
}

// findConstitution reads the bundle only where no agent file speaks for the role.
func (a *Anchorage) findConstitution(role string) (anchor.Constitution, error) {
	where := anchor.Charters{Files: a.tree.FS(), Places: a.cfg.Anchor.Constitutions, Bundle: a.cfg.Root}
	c, err := where.Find(role)
	var refused anchor.Refusal
	if !errors.As(err, &refused) || refused.Refused() != string(anchor.ConstMissing) {
		return c, err
	}
	root := filepath.Join(a.Repo.Root(), filepath.FromSlash(a.cfg.Root))
	if st, err := os.Lstat(root); err != nil || !st.IsDir() {
		return c, refused
	}
	g, _, err := workspace.LoadDir(a.env, a.Repo, root)
	if err != nil {
		return c, err
	}
	where.Atoms = g.Atoms()
	return where.Find(role)
}

// newProtector returns a function that reports a path which no session may write, and why:
// protected files, the records of sessions, and the files that constitutions are read from.
func (a *Anchorage) newProtector() func(path string) (string, bool) {
	extra := sync.OnceValue(func() []string {
		globs := []string{a.cfg.Anchor.State + "/**"}
		for _, p := range a.cfg.Anchor.Constitutions {
			globs = append(globs, p+"/**")
		}
		mod, _ := a.tree.ReadFile("go.mod") // none is of no gate package
		return append(globs, policy.GatePackages(mod)...)
	})
	return func(path string) (string, bool) {
		for _, f := range policy.CheckProtected(path, extra()) {
			return f.Text, true
		}
		if a.isRole(path) {
			return "it is the constitution of a role, and only a person changes it", true
		}
		return "", false
	}
}

func (a *Anchorage) isRole(path string) bool {
	in, ok := strings.CutPrefix(path, a.cfg.Root+"/")
	if !ok || !strings.HasSuffix(in, ".md") {
		return false
	}
	b, err := a.tree.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return false
	}
	atom, err := okf.Parse(in, b)
	return err == nil && atom.Type == "role"
}
