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
	"syscall"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Active lists the signs that a person is working on one of the paths in a checkout of ref, one a line, sorted. A
// sign is a staged, unstaged or untracked edit, a file open in an editor, or a file written after since. A write
// time ahead of the clock counts as after since. A checkout that cannot be read is an error.
func (r *Repo) Active(ctx context.Context, ref string, paths []string, since time.Time) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	all, err := r.listWorkTrees(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range all {
		if w.head != ref || w.missing && !w.locked {
			continue
		}
		signs, err := r.findActiveIn(ctx, w, paths, since)
		if err != nil {
			return nil, err
		}
		out = append(out, signs...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (r *Repo) findActiveIn(ctx context.Context, w workTree, paths []string, since time.Time) (out []string, err error) {
	args := []string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+p)
	}
	dirty, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: w.root, Read: true})
	if err != nil {
		return nil, err
	}
	for _, f := range gitcmd.SplitNUL(dirty) {
		if len(f) > 3 {
			out = append(out, f[3:]+" is edited and not committed")
		}
	}
	for _, p := range paths {
		signs, err := findSigns(w.root, p, since)
		if err != nil {
			return nil, err
		}
		out = append(out, signs...)
	}
	return out, nil
}

// findSigns returns the signs on disk that somebody is working on a file: it was written after since, or an editor
// keeps a file beside it. A missing file has none.
func findSigns(root, p string, since time.Time) (out []string, err error) {
	there := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return err
	}
	full := filepath.Join(root, filepath.FromSlash(p))
	st, err := os.Lstat(full)
	if err == nil && st.ModTime().After(since) {
		out = append(out, fmt.Sprintf("%s was written at %s", p, st.ModTime().UTC().Format("15:04:05Z")))
	}
	if err := there(err); err != nil {
		return nil, err
	}
	names, err := os.ReadDir(filepath.Dir(full))
	if err := there(err); err != nil {
		return nil, err
	}
	for _, n := range names {
		if isEditorFile(filepath.Base(full), n.Name()) {
			out = append(out, fmt.Sprintf("%s is open in an editor, which keeps %s", p, n.Name()))
		}
	}
	return out, nil
}

// isEditorFile reports whether name is a file that an editor keeps beside the open file: a swap file of vi, a lock
// or autosave of Emacs, or a lock of an office program.
func isEditorFile(file, name string) bool {
	swap, isSwap := strings.CutPrefix(name, "."+file+".")
	return isSwap && (len(swap) == 3 && strings.HasPrefix(swap, "sw") || swap == "kate-swp") ||
		slices.Contains([]string{".#" + file, "#" + file + "#", ".~lock." + file + "#", "~$" + file}, name)
}
