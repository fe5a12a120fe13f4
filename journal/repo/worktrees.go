package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// workTree is one checkout of the repository, the main one or a linked one.
type workTree struct {
	root    string // its top directory
	gitDir  string // its own git directory, where its HEAD and index are
	head    string // the ref its HEAD names, "" when detached
	locked  bool   // git worktree lock: it may be on a medium that is not mounted
	missing bool   // its directory is gone
}

// readSingleTree returns the checkout of a repository without linked work trees, read without git; ok is false if
// it takes git.
func (r *Repo) readSingleTree() (w workTree, ok bool) {
	if r.root == "" || r.gitDir != r.common || !r.InProcess() {
		return w, false
	}
	if linked, err := os.ReadDir(filepath.Join(r.common, "worktrees")); len(linked) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w, false
	}
	head, err := r.ReadHead()
	return workTree{root: r.root, gitDir: r.common, head: head}, err == nil
}

// listWorkTrees lists every checkout; a bare repository has none.
func (r *Repo) listWorkTrees(ctx context.Context) ([]workTree, error) {
	if w, ok := r.readSingleTree(); ok {
		return []workTree{w}, nil
	}
	out, err := r.runWorktreeList(ctx)
	if err != nil {
		return nil, err
	}
	var all []workTree
	for i, rec := range strings.Split(strings.TrimSuffix(string(out), "\x00\x00"), "\x00\x00") {
		w, bare := parseWorkTree(rec)
		if bare || w.root == "" {
			continue
		}
		if err := r.findGitDir(&w, i == 0); err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// runWorktreeList runs git worktree list. If that fails, it removes what killed commits left half-made, unless a
// commit is under way, and tries again.
func (r *Repo) runWorktreeList(ctx context.Context) ([]byte, error) {
	list := func() ([]byte, error) {
		lock, err := r.lockWorkTrees(ctx)
		if err != nil {
			return nil, err
		}
		defer lock.Unlock()
		return r.git.Read(ctx, "worktree", "list", "--porcelain", "-z")
	}
	out, err := list()
	if err == nil {
		return out, nil
	}
	lock, lockErr := r.TryLock("commit.lock")
	if lockErr != nil {
		return nil, err
	}
	defer lock.Unlock()
	if r.sweepCommits() != nil {
		return nil, err
	}
	return list()
}

// parseWorkTree reads one record of git worktree list: attributes separated by NUL.
func parseWorkTree(rec string) (w workTree, bare bool) {
	for attr := range strings.SplitSeq(rec, "\x00") {
		key, val, _ := strings.Cut(attr, " ")
		switch key {
		case "worktree":
			w.root = val
		case "branch":
			w.head = val
		case "locked":
			w.locked = true
		case "bare":
			bare = true
		}
	}
	return w, bare
}

// findGitDir finds the work tree's own git directory. For the main work tree git only guesses the path, wrongly for
// a submodule or --separate-git-dir, so the one that was opened is used.
func (r *Repo) findGitDir(w *workTree, first bool) error {
	if first {
		w.gitDir = r.common
		if r.gitDir == r.common && r.root != "" {
			w.root = r.root
		}
	}
	if _, err := os.Stat(w.root); err != nil {
		w.missing = true
		return nil
	}
	if w.gitDir != "" {
		return nil
	}
	gd, err := gitDirOf(w.root)
	if err == nil && gd == "" {
		err = fmt.Errorf("%s: no .git there; run git worktree repair", w.root)
	}
	w.gitDir = gd
	return err
}

// findCheckouts returns a checkout for every work tree whose HEAD names an updated ref.
func (r *Repo) findCheckouts(ctx context.Context, us []RefUpdate) ([]*checkout, error) {
	all, err := r.listWorkTrees(ctx)
	if err != nil {
		return nil, err
	}
	var cs []*checkout
	for _, w := range all {
		for _, u := range us {
			if w.head == "" || r.ResolveName(w.head) != r.ResolveName(u.Name) || u.Old == u.New {
				continue
			}
			c, err := r.planCheckout(ctx, w, u)
			if err != nil {
				return nil, err
			}
			if c != nil {
				cs = append(cs, c)
			}
		}
	}
	return cs, nil
}

// planCheckout returns the checkout that u will change, nil if its directory is gone for good.
func (r *Repo) planCheckout(ctx context.Context, w workTree, u RefUpdate) (*checkout, error) {
	switch {
	case u.New == "":
		return nil, fmt.Errorf("%s: %w: it is checked out in %s; check out another branch there first", u.Name, ErrInTheWay, w.root)
	case w.missing && w.locked:
		return nil, fmt.Errorf("%s: %w: it is checked out in %s, which is not there now; mount it, or run git worktree unlock and prune", u.Name, ErrInTheWay, w.root)
	case w.missing:
		return nil, nil
	}
	return r.newCheckout(ctx, marker{Ref: u.Name, Old: u.Old, New: u.New, Root: w.root, GitDir: w.gitDir})
}
