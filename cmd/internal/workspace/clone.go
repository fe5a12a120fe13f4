// Package workspace opens what a verb works on:
//
//   - Clone: the git repository, and odd.toml as it lies in the work tree
//   - Board: the tasks and atoms of the board's branch, as one commit has them or as they lie in
//     the work tree
//   - Bundle: the atoms of any folder or commit, for verbs that only read
//
// open.go has the functions by which verbs choose.
package workspace

import (
	"cmp"
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
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// WhyNotLoaded returns the error of a bundle that could not be loaded.
func WhyNotLoaded(root string, err error) error {
	if strings.HasSuffix(err.Error(), syscall.ENOTDIR.Error()) { // package os says it in words of its own
		return fmt.Errorf("%s: this path, or tasks in it, is a file, and odd needs a folder there; move the file away", root)
	}
	return fmt.Errorf("%s: %w", root, err)
}

// FindConfig looks for odd.toml in dir and above, no higher than the top of the
// git work tree. top is "" when there is none.
func FindConfig(dir string) (top string, cfg config.Config, err error) {
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
			return "", cfg, console.AsNamed("odd.toml", err)
		}
		_, gitErr := os.Lstat(filepath.Join(dir, ".git"))
		up := filepath.Dir(dir)
		if gitErr == nil || up == dir {
			return "", cfg, nil
		}
		dir = up
	}
}

// Clone is an open repository with its configuration as it stands in the work tree.
type Clone struct {
	Env    console.Env
	Repo   *repo.Repo
	Config config.Config

	Decided   time.Time // the first moment that a person's act tells of itself, zero for none
	TasksOnly bool      // its boards need no other atoms than tasks
	Looking   bool      // it writes nothing
}

// OpenRepo opens the repository that env.Dir is in.
func OpenRepo(env console.Env) (*repo.Repo, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) {
		err = verb.Refuse("no-repository", "%s: not a git repository; cd to your repository, or run git init, then odd init, to begin one", env.Dir)
	}
	return r, err
}

// OpenWorkTree is OpenRepo for a verb that works on files: it refuses a bare repository.
func OpenWorkTree(env console.Env) (*repo.Repo, error) {
	r, err := OpenRepo(env)
	if err == nil && r.Root() == "" {
		err = bareError(r)
	}
	return r, err
}

func bareError(r *repo.Repo) error {
	return verb.Refuse("bare", "%s: is a bare repository, which has no files to work on; run odd in a clone of it: git clone %[1]s work", r.CommonDir())
}

// Open opens the repository that env.Dir is in, finishes or takes back what a killed odd left
// half done, and reads odd.toml. It refuses a directory without a repository or without odd.toml.
func Open(ctx context.Context, env console.Env) (*Clone, error) {
	r, err := OpenWorkTree(env)
	if err != nil {
		return nil, err
	}
	kept, err := r.Recover(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		console.Talk(env, "%s", k)
	}
	return OpenConfigured(env, r)
}

// Look is Open for a command that must not write. It leaves what a killed odd left, and makes no
// local branch for a board that only the remote has.
func Look(env console.Env) (*Clone, error) {
	r, err := OpenWorkTree(env)
	if err != nil {
		return nil, err
	}
	w, err := OpenConfigured(env, r)
	if err == nil {
		w.Looking = true
	}
	return w, err
}

// SettingsOfTree reads the odd.toml of the work tree.
func SettingsOfTree(r *repo.Repo) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.Root(), "odd.toml"))
	if errors.Is(err, fs.ErrNotExist) {
		way := "so odd is not set up here; run odd init"
		if others := boardBranches(r); others != "" {
			way = "but another branch has one; git switch " + others
		}
		err = verb.Refuse("no-config", "odd.toml: not found in %s, %s", r.Root(), way)
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

// OpenConfigured reads odd.toml for a repository that is open.
func OpenConfigured(env console.Env, r *repo.Repo) (*Clone, error) {
	b, err := SettingsOfTree(r)
	if err != nil {
		return nil, err
	}
	r.Know(b)
	cfg, err := config.Parse("odd.toml", b)
	if err != nil {
		return nil, err
	}
	r.Patience(cfg.RemoteTime)
	return &Clone{Env: env, Repo: r, Config: cfg}, nil
}

// BoardRef returns the ref of the board: the branch that odd.toml names, else the one of HEAD.
func (w *Clone) BoardRef() (string, error) {
	b := w.Config.Branch
	if b == "" {
		head, err := w.Repo.Branch()
		if err != nil {
			return "", err
		}
		if head == "" {
			return "", verb.Refuse("detached-head", "HEAD is detached, so odd does not know which branch holds the tasks; git switch BRANCH, or set branch below [board] in odd.toml")
		}
		if strings.HasPrefix(head, "odd/review/") {
			return "", verb.Refuse("branch", "%s: is a review branch, and the tasks are on another; git switch %s", head, boardBranches(w.Repo))
		}
		b = head
	}
	return "refs/heads/" + b, w.makeLocalBranch(b)
}

// makeLocalBranch makes the board's local branch in a clone that has it only from the
// remote, as git switch does.
func (w *Clone) makeLocalBranch(branch string) error {
	if w.Config.Remote == "" || w.Looking {
		return nil
	}
	local := "refs/heads/" + branch
	if _, err := w.Repo.Ref(local); !errors.Is(err, repo.ErrNoRef) {
		return err
	}
	tip, err := w.Repo.Ref("refs/remotes/" + w.Config.Remote + "/" + branch)
	if errors.Is(err, repo.ErrNoRef) {
		return nil // the verb says that there are no commits
	}
	if err != nil {
		return err
	}
	if err = w.Repo.Update(context.Background(), repo.RefUpdate{Name: local, New: tip}); errors.Is(err, repo.ErrMoved) {
		return nil // another odd was first
	}
	return err
}

// worthKeeping is the least number of atoms a cache is kept for: below it,
// reading the files costs less than keeping what they said.
const worthKeeping = 500

// LoadDir loads the bundle in a folder of the work tree. Files whose size and
// time are as they were are not read.
func LoadDir(env console.Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "dir-", disk.Dir(root))
}

func loadTasksDir(env console.Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "todo-", board.Only(disk.Dir(root)))
}

func loadFiles(env console.Env, r *repo.Repo, root, kind string, files fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.AnnounceSlow("loading " + root)()
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

// AttributesFile is where git reads how files are merged and converted.
const AttributesFile = ".gitattributes"

// OpenHistory opens the repository whose history is to be judged, and refuses where
// there is none, or not all of it.
func OpenHistory(env console.Env) (*repo.Repo, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) {
		return nil, verb.Refuse("no-repository", "%s: not a git repository, so there is no history; odd check without --range and --all checks files alone", env.Dir)
	}
	if err == nil && r.Shallow() {
		return nil, verb.Refuse("shallow", "this clone is shallow, so part of its history is missing; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	return r, err
}

// ResolveRange resolves the two ends of A..B. A missing B is HEAD. An A of zeros, which
// is what a forge calls the state before a branch's first push, is the beginning.
func ResolveRange(ctx context.Context, r *repo.Repo, verbName, spec string) (from, to repo.OID, err error) {
	a, b, ok := strings.Cut(spec, "..")
	if !ok || a == "" || strings.HasPrefix(b, ".") {
		return "", "", verb.Usage("%s: %q; write the range as A..B", verbName, spec)
	}
	if strings.Trim(a, "0") != "" {
		from, err = r.Resolve(ctx, a)
	}
	if err == nil {
		to, err = r.Resolve(ctx, cmp.Or(b, "HEAD"))
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", verbName, err)
	}
	return from, to, nil
}
