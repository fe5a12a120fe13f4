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

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// Open finds the repository that dir is in, walking up; ErrNotRepo if there is none.
//
// odd reads objects, and go-git refs, in process. If go-git does not support the repository (sparse checkout with its
// own config, partial clone, SHA-256, reftable), git itself reads them, which is slower. environ holds NAME=value pairs;
// git gets those it needs.
func Open(dir string, environ []string) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	r, err := discover(abs, readCeilings(environ))
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
	r.git = newRunner(at, environ)
	r.git.bare = r.root == ""
	if err := r.checkTrusted(); err != nil {
		return nil, err
	}
	r.updates = &refUpdater{run: r.git}
	r.openStore()
	return r, nil
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
	g := newRunner(dir, environ)
	if _, err := g.run(ctx, call{args: []string{"init", "-q", "-b", "main", "--object-format=sha1"}}); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return Open(dir, environ)
}

// readCeilings returns the directories above which git does not look for a repository.
func readCeilings(environ []string) []string {
	dirs := filepath.SplitList(envValue(environ, "GIT_CEILING_DIRECTORIES"))
	for i, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = real
		}
	}
	return dirs
}

// discover finds the git directory of abs or of its nearest parent that has one, below the ceilings.
func discover(abs string, ceilings []string) (*Repo, error) {
	for at := abs; ; at = filepath.Dir(at) {
		r := &Repo{root: at, trees: boundedCache[OID, listing]{most: keptEntries},
			commits: boundedCache[OID, Commit]{most: keptCommits}, blobs: boundedCache[OID, []byte]{most: keptBytes}}
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

// openStore chooses the reader: odd itself with go-git for refs, or git for a repository that canRead refuses.
func (r *Repo) openStore() {
	var dot billy.Filesystem = osfs.New(r.gitDir)
	if r.common != r.gitDir {
		dot = dotgit.NewRepositoryFilesystem(dot, osfs.New(r.common))
	}
	st := filesystem.NewStorageWithOptions(dot, cache.NewObjectLRU(0), filesystem.Options{})
	slow := &gitStore{run: r.git, batch: &batch{run: r.git}}
	if !canRead(st) {
		r.objs, r.refs = slow, refs{run: r.git}
		return
	}
	objects := filepath.Join(r.common, "objects")
	r.objs = &packStore{packs: packs{dir: filepath.Join(objects, "pack"), bases: boundedCache[packPlace, object]{most: baseBytes}},
		slow: slow, loadSettings: r.loadSettings, sync: (*os.File).Sync, dir: objects, last: boundedCache[OID, object]{most: lastBytes}}
	r.refs = refs{st: st, packed: &packedRefs{dir: r.common}}
	if _, err := os.Readlink(filepath.Join(r.gitDir, "HEAD")); err == nil { // core.preferSymlinkRefs
		r.refs = refs{run: r.git, packed: r.refs.packed}
	}
}

// canRead reports whether the repository has a format that odd and go-git read: version 0 or 1, and of git's
// extensions (gitrepository-layout) none that changes anything, such as another hash or another store of refs. The
// root package of go-git says the same, but it links every transport of git, ssh and OpenPGP into odd.
func canRead(st *filesystem.Storage) bool {
	if _, err := st.Reference(plumbing.HEAD); errors.Is(err, plumbing.ErrReferenceNotFound) {
		return false
	}
	cfg, err := st.Config()
	if err != nil {
		return false
	}
	for _, o := range cfg.Raw.Section("extensions").Options {
		if name := strings.ToLower(o.Key); name != "noop" && name != "noop-v1" {
			return false
		}
	}
	return slices.Contains([]string{"", "0", "1"}, string(cfg.Core.RepositoryFormatVersion))
}
