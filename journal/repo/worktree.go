package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// errBare is what a repository without a work tree says to what needs one.
var errBare = errors.New("the repository is bare; there is no work tree here")

// Dirty lists paths below the given ones (none = everywhere) with staged, unstaged or untracked edits, sorted.
// Ignored files do not count.
func (r *Repo) Dirty(ctx context.Context, paths ...string) ([]string, error) {
	if r.root == "" {
		return nil, nil
	}
	args := []string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+strings.TrimSuffix(p, "/"))
	}
	out, err := r.read(ctx, args...)
	if err != nil {
		return nil, err
	}
	var dirty []string
	for _, f := range fields(out) {
		if len(f) > 3 {
			dirty = append(dirty, strings.TrimSuffix(f[3:], "/"))
		}
	}
	slices.Sort(dirty)
	return slices.Compact(dirty), nil
}

// Unmerged lists the paths that a merge has left in conflict, sorted, from the
// work tree's top. None where git cannot tell.
func (r *Repo) Unmerged(ctx context.Context) []string {
	if r.root == "" {
		return nil
	}
	out, err := r.read(ctx, "diff", "--name-only", "--diff-filter=U", "-z")
	if err != nil || len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// MergesByUnion reports whether git keeps the lines of both sides where two
// versions of a path differ: what .gitattributes says of it.
func (r *Repo) MergesByUnion(ctx context.Context, p string) (bool, error) {
	out, err := r.read(ctx, "check-attr", "-z", "merge", "--", p)
	return strings.HasSuffix(strings.TrimSuffix(string(out), "\x00"), "\x00union"), err
}

// Shallow reports a shallow clone.
func (r *Repo) Shallow() bool {
	st, err := os.Stat(filepath.Join(r.common, "shallow"))
	return err == nil && st.Size() > 0
}

// Write writes files of the work tree, each whole or not at all, in the order of their paths, and stops at the first
// error. It is confined to the work tree: a path that leaves it, or a symbolic link at its end, is refused. Deleting
// what is not there is no error; directories left empty go.
func (r *Repo) Write(ch Changes) error {
	if r.root == "" {
		return errBare
	}
	if err := ch.check(); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range slices.Sorted(maps.Keys(ch)) {
		if err := writeOne(root, p, ch[p]); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// writeOne writes one file aside and renames it, or deletes it when b is nil.
func writeOne(root *os.Root, p string, b []byte) error {
	st, err := root.Lstat(p)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !st.Mode().IsRegular():
		return errors.New("is not a regular file; odd does not write through links or over folders")
	case err != nil && b == nil:
		return nil
	case b == nil:
		if err := root.Remove(p); err != nil {
			return err
		}
		prune(root, path.Dir(p))
		return nil
	}
	if err := root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return err
	}
	return renameio.WriteFile(p, b, 0o666, renameio.WithRoot(root), renameio.WithExistingPermissions())
}

// prune removes dir and its parents while they are empty.
func prune(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// Stage records the named paths in the index as they are in the work tree, additions, edits and deletions, ignored
// or not (for --no-commit).
func (r *Repo) Stage(ctx context.Context, paths ...string) error {
	if r.root == "" {
		return errBare
	}
	if len(paths) == 0 {
		return nil
	}
	_, err := r.git.run(ctx, call{args: []string{"update-index", "--add", "--remove", "-z", "--stdin"},
		stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	if err != nil && strings.Contains(err.Error(), "index.lock': File exists") {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
