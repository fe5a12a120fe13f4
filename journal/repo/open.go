package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// Open finds the repository that dir is in, walking up; ErrNotRepo if there is none. It refuses one whose objects are
// named by SHA-256: the records of odd name files by the ids that git gives them by SHA-1.
//
// odd reads objects and refs in process. If the repository has extensions (sparse checkout with its own config, partial
// clone, reftable), git itself reads them, which is slower. environ holds NAME=value pairs;
// git gets those it needs.
func Open(dir string, environ []string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	r, err := discoverRepo(abs, readCeilings(environ))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.applyCoreConfig(abs), r.checkEnvironment(environ)); err != nil {
		return nil, err
	}
	at := r.root
	if at == "" {
		at = r.gitDir
	}
	r.git = gitcmd.New(at, environ)
	r.git.Bare = r.root == ""
	if err := r.checkTrusted(); err != nil {
		return nil, err
	}
	return r, r.openStore()
}

// Init makes a repository in dir (branch main, SHA-1 ids), unless dir is in one already, and opens it.
func Init(ctx context.Context, dir string, environ []string) (*Repo, error) {
	r, err := Open(dir, environ)
	if !errors.Is(err, ErrNotRepo) {
		return r, err
	}
	return Create(ctx, dir, environ)
}

// Create makes a repository in dir, even if dir is inside another, and opens it.
func Create(ctx context.Context, dir string, environ []string) (*Repo, error) {
	g := gitcmd.New(dir, environ)
	if _, err := g.Run(ctx, gitcmd.Call{Args: []string{"init", "-q", "-b", "main", "--object-format=sha1"}}); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return Open(dir, environ)
}

// Contains reports whether git, started in dir, would work in this repository.
func (r *Repo) Contains(dir string) bool {
	in, err := discoverRepo(dir, nil)
	return err == nil && in.common == r.common
}

// Hardened returns git for a directory outside the repository, without any configuration, identity or home.
func (r *Repo) Hardened(dir string) *gitcmd.Runner { return r.git.Hardened(dir) }

// Promisor returns the remote from which a partial clone gets missing objects, "" for a full clone.
func (r *Repo) Promisor(ctx context.Context) string {
	out, _ := r.git.ReadLine(ctx, "config", "--name-only", "--get-regexp", `^remote\..*\.promisor$`)
	name, _, _ := strings.Cut(out, "\n")
	return strings.TrimSuffix(strings.TrimPrefix(name, "remote."), ".promisor")
}

// readCeilings returns the directories above which git does not look for a repository.
func readCeilings(environ []string) []string {
	dirs := filepath.SplitList(gitcmd.Env(environ, "GIT_CEILING_DIRECTORIES"))
	for i, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = real
		}
	}
	return dirs
}

// discoverRepo finds the git directory of abs or of its nearest parent that has one, below the ceilings.
func discoverRepo(abs string, ceilings []string) (*Repo, error) {
	for at := abs; ; at = filepath.Dir(at) {
		r := &Repo{root: at}
		switch gd, err := gitDirOf(at); {
		case err != nil:
			return nil, err
		case gd != "":
			r.gitDir = gd
		case isGitDir(at):
			r.root, r.gitDir = "", at
			if filepath.Base(at) == ".git" {
				r.root = filepath.Dir(at) // inside the git directory of a work tree, as a hook is
			}
		case at == filepath.Dir(at), slices.Contains(ceilings, filepath.Dir(at)):
			return nil, fmt.Errorf("%s: %w; run odd init, or git init", abs, ErrNotRepo)
		default:
			continue
		}
		if rel, err := filepath.Rel(at, abs); err == nil && rel != "." && r.root == at {
			r.prefix = filepath.ToSlash(rel)
		}
		return r, r.findCommon()
	}
}

// gitDirOf returns the git directory of a work tree, "" if it has none. ".git" is that directory or a file that
// points to it.
func gitDirOf(top string) (string, error) {
	dot := filepath.Join(top, ".git")
	st, err := os.Stat(dot)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	if st.IsDir() {
		if !isGitDir(dot) {
			return "", nil
		}
		return dot, nil
	}
	b, err := os.ReadFile(dot)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s: %w: the file names no git directory", dot, ErrNotRepo)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(top, to)
	}
	if _, err := os.Lstat(filepath.Join(to, "HEAD")); err != nil {
		return "", fmt.Errorf("%s: %w: it points to %s, which is gone; run git worktree repair", dot, ErrNotRepo, to)
	}
	return filepath.Clean(to), nil
}

// isGitDir reports whether d looks like a git directory, by git's own test.
func isGitDir(d string) bool {
	for _, n := range []string{"HEAD", "objects", "refs"} { // HEAD may be a link to a branch that is packed
		if _, err := os.Lstat(filepath.Join(d, n)); err != nil {
			return false
		}
	}
	return true
}

// findCommon reads a linked work tree's "commondir" file.
func (r *Repo) findCommon() error {
	r.common = r.gitDir
	b, err := os.ReadFile(filepath.Join(r.gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	to := strings.TrimSpace(string(b))
	if !filepath.IsAbs(to) {
		to = filepath.Join(r.gitDir, to)
	}
	r.common = filepath.Clean(to)
	return nil
}

// openStore chooses the reader of objects and refs: odd itself, or git if the repository has extensions. It refuses a
// HEAD that is a symbolic link, which git wrote in its first years.
func (r *Repo) openStore() error {
	head := filepath.Join(r.gitDir, "HEAD")
	if to, err := os.Readlink(head); err == nil {
		return fmt.Errorf("%s: is a symbolic link, which odd does not follow; run git -c core.preferSymlinkRefs=false symbolic-ref HEAD %s", head, to)
	}
	r.Dir, r.DB, r.Store = local.New(r.common), object.New(r.git, r.gitDir), ref.New(r.git, r.gitDir, r.common, !r.extended)
	if r.extended {
		return nil
	}
	if dirs, err := object.Dirs(r.common); err == nil { // else git tells what is wrong
		r.ReadPacks(dirs, r.mayWriteObjects)
	}
	return nil
}

// mayWriteObjects reports how git would write an object. In a repository that several users share git has to, because
// it knows the file modes.
func (r *Repo) mayWriteObjects() (write, sync bool) {
	s, err := r.loadSettings(context.Background())
	return err == nil && s.hasConfiguration() && !s.isShared(), err == nil && s.syncsObjects()
}
