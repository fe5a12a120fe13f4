package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// errBare means that an operation needs a work tree and the repository is bare.
var errBare = errors.New("the repository is bare; there is no work tree here")

// Dirty lists the paths below the given ones (none means everywhere) with staged, unstaged or untracked edits,
// sorted. Ignored files do not count.
func (r *Repo) Dirty(ctx context.Context, paths ...string) ([]string, error) {
	if r.root == "" {
		return nil, nil
	}
	args := []string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+strings.TrimSuffix(p, "/"))
	}
	out, err := r.git.Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	var dirty []string
	for _, f := range gitcmd.SplitNUL(out) {
		if len(f) > 3 {
			dirty = append(dirty, strings.TrimSuffix(f[3:], "/"))
		}
	}
	slices.Sort(dirty)
	return slices.Compact(dirty), nil
}

// WorkFiles lists the files of the work tree that git tracks or would add, relative to its top.
func (r *Repo) WorkFiles(ctx context.Context) ([]string, error) {
	if r.root == "" {
		return nil, nil
	}
	out, err := r.git.Read(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(top)")
	return gitcmd.SplitNUL(out), err
}

// Unmerged lists the paths with merge conflicts, sorted, relative to the work tree's top; none if git cannot tell.
func (r *Repo) Unmerged(ctx context.Context) []string {
	if r.root == "" {
		return nil
	}
	out, _ := r.git.Read(ctx, "ls-files", "--unmerged", "-z", "--", ":(top)")
	var paths []string
	for _, f := range gitcmd.SplitNUL(out) {
		if _, p, ok := strings.Cut(f, "\t"); ok {
			paths = append(paths, p)
		}
	}
	return slices.Compact(paths)
}

// MergesByUnion reports for each path whether .gitattributes gives it merge=union, by which git keeps the lines of
// both sides.
func (r *Repo) MergesByUnion(ctx context.Context, paths ...string) ([]bool, error) {
	out, err := r.git.Read(ctx, append([]string{"check-attr", "-z", "merge", "--"}, paths...)...)
	told := gitcmd.SplitNUL(out) // for each path: path, "merge", value
	if err == nil && len(told) != 3*len(paths) {
		err = fmt.Errorf("git check-attr: %d words of %d paths", len(told), len(paths))
	}
	union := make([]bool, len(paths))
	for i := range union {
		union[i] = err == nil && told[3*i+2] == "union"
	}
	return union, err
}

// Ignored returns those of the paths that git ignores, each with the file, line and pattern
// that says so, as git check-ignore names them. Files that git tracks count too: whoever
// adds another beside them is surprised.
func (r *Repo) Ignored(ctx context.Context, paths ...string) (map[string]string, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"check-ignore", "-z", "-v", "--no-index", "--stdin"}, Read: true,
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	if err != nil && gitcmd.ExitCode(err) != 1 { // 1: none is ignored
		return nil, err
	}
	by := map[string]string{}
	for row := range slices.Chunk(gitcmd.SplitNUL(out), 4) { // source, line, pattern, path
		if len(row) == 4 && !strings.HasPrefix(row[2], "!") {
			by[row[3]] = fmt.Sprintf("%s:%s: %s", row[0], row[1], row[2])
		}
	}
	return by, nil
}

// Shallow reports whether this is a shallow clone.
func (r *Repo) Shallow() bool {
	st, err := os.Stat(filepath.Join(r.common, "shallow"))
	return err == nil && st.Size() > 0
}

// Stage adds the named paths to the index as they are in the work tree: additions, edits and deletions, ignored or
// not (for --no-commit).
func (r *Repo) Stage(ctx context.Context, paths ...string) error {
	if r.root == "" {
		return errBare
	}
	if len(paths) == 0 {
		return nil
	}
	_, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"update-index", "--add", "--remove", "-z", "--stdin"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	if err != nil && strings.Contains(err.Error(), "index.lock': File exists") {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
