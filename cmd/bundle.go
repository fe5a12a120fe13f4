package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// bundle is a loaded bundle and where it lies.
type bundle struct {
	graph    *okf.Graph
	problems []okf.Problem
	root     string // absolute directory
	prefix   string // root relative to odd.toml, slash-separated, "" where none names it
	below    string // root from the top of the repository, or from the person's directory
	named    bool   // by --bundle
	top      string // the folder of odd.toml, "" for none and for a commit
	cfg      config.Config

	repo   *repo.Repo // nil outside of one
	rev    string     // the revision it was read from, as typed; "" for files
	commit repo.OID   // of rev
	files  fs.FS      // of commit
}

// inWorkTree reports a bundle of a repository that has a work tree.
func (b bundle) inWorkTree() bool { return b.repo != nil && b.repo.Root() != "" }

// describeUntyped says, to a person who found nothing, that there are files which are no
// atoms for want of a type; "" when there are none.
func (b bundle) describeUntyped() string {
	n := 0
	for _, p := range b.problems {
		if p.Code == "okf-type" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s without a \"type:\" line, so odd does not read them as atoms: odd check lists them", countNoun(n, "file"))
}

// untypedPersonas returns warnings of the files with a persona that odd does not read,
// because they have no type.
func (b bundle) untypedPersonas() []okf.Problem {
	var out []okf.Problem
	for _, p := range b.problems {
		if p.Hint == okf.AddPersona {
			p.Code, p.Severity, p.Message = "odd-persona", okf.Warn, "the file has a persona and no type"
			out = append(out, p)
		}
	}
	return out
}

func whyNotLoaded(root string, err error) error {
	if strings.HasSuffix(err.Error(), syscall.ENOTDIR.Error()) { // package os says it in words of its own
		return fmt.Errorf("%s: this path, or tasks in it, is a file, and odd needs a folder there; move the file away", root)
	}
	return fmt.Errorf("%s: %w", root, err)
}

// findConfig looks for odd.toml in dir and above, no higher than the top of the
// git work tree. top is "" when there is none.
func findConfig(dir string) (top string, cfg config.Config, err error) {
	for {
		b, err := os.ReadFile(filepath.Join(dir, "odd.toml"))
		if err == nil {
			cfg, err := config.Parse("odd.toml", b)
			if p := okf.Conflict(b); err != nil && p != nil {
				p.Path, err = "odd.toml", p
			}
			return dir, cfg, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", cfg, asNamed("odd.toml", err)
		}
		_, gitErr := os.Lstat(filepath.Join(dir, ".git"))
		up := filepath.Dir(dir)
		if gitErr == nil || up == dir {
			return "", cfg, nil
		}
		dir = up
	}
}

// workspace is an open repository with its configuration as it stands in the work tree.
type workspace struct {
	env  Env
	repo *repo.Repo
	cfg  config.Config

	decided   time.Time // the first moment that a person's act tells of itself, zero for none
	tasksOnly bool      // its views need no other atoms than tasks
	looking   bool      // it writes nothing
}

func openRepo(env Env) (*repo.Repo, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) {
		err = refuse("no-repository", "%s: not a git repository; cd to your repository, or run git init, then odd init, to begin one", env.Dir)
	}
	return r, err
}

// openWorkTree opens a repository as openRepo does, and refuses one in which odd does not work.
func openWorkTree(env Env) (*repo.Repo, error) {
	r, err := openRepo(env)
	if err == nil {
		err = checkObjectFormat(r)
	}
	if err == nil && r.Root() == "" {
		err = bareError(r)
	}
	return r, err
}

// checkObjectFormat refuses a repository whose files have other versions than odd's records
// name: those are the ids that git gives them by SHA-1.
func checkObjectFormat(r *repo.Repo) error {
	if f := r.ObjectFormat(); f != "sha1" {
		return refuse("object-format", "%s: this repository uses %s object names, and odd works with sha1 only; make a new one with git init --object-format=sha1 DIR", r.CommonDir(), f)
	}
	return nil
}

func bareError(r *repo.Repo) error {
	return refuse("bare", "%s: is a bare repository, which has no files to work on; run odd in a clone of it: git clone %[1]s work", r.CommonDir())
}

// openWorkspace opens the repository env.Dir is in, finishes what a killed odd
// left behind, and reads odd.toml. It refuses a directory without either.
func openWorkspace(ctx context.Context, env Env) (*workspace, error) {
	return workspaceOf(ctx, env, false)
}

// workspaceOf is openWorkspace; with looking it only reads: what a killed command left stays,
// with what it has to say, and no branch is made.
func workspaceOf(ctx context.Context, env Env, looking bool) (*workspace, error) {
	r, err := openWorkTree(env)
	if err != nil {
		return nil, err
	}
	if looking {
		w, err := openConfigured(env, r)
		if err == nil {
			w.looking = true
		}
		return w, err
	}
	kept, err := r.Recover(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		talk(env, "%s", k)
	}
	return openConfigured(env, r)
}

func settingsOfTree(r *repo.Repo) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.Root(), "odd.toml"))
	if errors.Is(err, fs.ErrNotExist) {
		way := "so odd is not set up here; run odd init"
		if others := boardBranches(r); others != "" {
			way = "but another branch has one; git switch " + others
		}
		err = refuse("no-config", "odd.toml: not found in %s, %s", r.Root(), way)
	}
	return b, err
}

// boardBranches names the other local branches with an odd.toml that are no reviews, as arguments of git switch.
func boardBranches(r *repo.Repo) string {
	var names []string
	refs, _ := r.Refs("refs/heads/") // an error here would only hide the one that is told
	here, _ := r.Branch()
	for _, u := range refs {
		name := strings.TrimPrefix(u.Name, "refs/heads/")
		if files, err := r.Tree(u.New); err == nil && name != here && !strings.HasPrefix(name, "odd/review/") {
			if _, err := fs.Stat(files, "odd.toml"); err == nil {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " or git switch ")
}

func openConfigured(env Env, r *repo.Repo) (*workspace, error) {
	b, err := settingsOfTree(r)
	if err != nil {
		return nil, err
	}
	r.Know(b)
	cfg, err := config.Parse("odd.toml", b)
	if err != nil {
		return nil, err
	}
	r.Patience(cfg.RemoteTime)
	return &workspace{env: env, repo: r, cfg: cfg}, nil
}

func (w *workspace) boardRef() (string, error) {
	b := w.cfg.Branch
	if b == "" {
		head, err := w.repo.Branch()
		if err != nil {
			return "", err
		}
		if head == "" {
			return "", refuse("detached-head", "HEAD is detached, so odd does not know which branch holds the tasks; git switch BRANCH, or set branch below [board] in odd.toml")
		}
		if strings.HasPrefix(head, "odd/review/") {
			return "", refuse("branch", "%s: is a review branch, and the tasks are on another; git switch %s", head, boardBranches(w.repo))
		}
		b = head
	}
	return "refs/heads/" + b, w.makeLocalBranch(b)
}

// makeLocalBranch makes the board's local branch in a clone that has it only from the
// remote, as git switch does.
func (w *workspace) makeLocalBranch(branch string) error {
	if w.cfg.Remote == "" || w.looking {
		return nil
	}
	local := "refs/heads/" + branch
	if _, err := w.repo.Ref(local); !errors.Is(err, repo.ErrNoRef) {
		return err
	}
	tip, err := w.repo.Ref("refs/remotes/" + w.cfg.Remote + "/" + branch)
	if errors.Is(err, repo.ErrNoRef) {
		return nil // the verb says that there are no commits
	}
	if err != nil {
		return err
	}
	if err = w.repo.Update(context.Background(), repo.RefUpdate{Name: local, New: tip}); errors.Is(err, repo.ErrMoved) {
		return nil // another odd was first
	}
	return err
}

// worthKeeping is the least number of atoms a cache is kept for: below it,
// reading the files costs less than keeping what they said.
const worthKeeping = 500

func loadTree(env Env, r *repo.Repo, bundle fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.announceSlow("loading the board")()
	return state.Of(bundle, r).Atoms()
}

// loadDir loads the bundle in a folder of the work tree. Files whose size and
// time are as they were are not read.
func loadDir(env Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "dir-", disk.Dir(root))
}

func loadTasksDir(env Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "todo-", board.Only(disk.Dir(root)))
}

func loadFiles(env Env, r *repo.Repo, root, kind string, files fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.announceSlow("loading " + root)()
	if r == nil {
		return okf.Load(files)
	}
	sum := sha256.Sum256([]byte(root))
	name := kind + hex.EncodeToString(sum[:8])
	g, ps, fresh, err := okf.LoadCached(files, r.Cached(name), env.Now())
	if err == nil && g.Len() >= worthKeeping {
		g.KeepWords(r)
		if fresh != nil {
			_ = r.Keep(name, fresh) // the cache is disposable, and the disk may be read-only
		}
	}
	return g, ps, err
}
