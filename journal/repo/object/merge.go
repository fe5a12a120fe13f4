package object

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// ErrConflict is wrapped by MergeTree.
var ErrConflict = errors.New("merge conflict")

// MergeTree merges theirs into ours without touching refs or files, and returns the merged tree. On a conflict the
// error and conflicts name the paths, and the tree holds conflict markers. It needs git 2.38.
func (db *DB) MergeTree(ctx context.Context, ours, theirs OID) (tree OID, conflicts []string, err error) {
	if err := CheckIDs(ours, theirs); err != nil {
		return "", nil, err
	}
	out, err := db.git.Read(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", string(ours), string(theirs))
	if code := gitcmd.ExitCode(err); err != nil && code != 1 {
		if code == 129 {
			err = errors.New("git merge-tree: this git cannot merge without a work tree; install git 2.38 or newer")
		}
		return "", nil, err
	}
	f := gitcmd.SplitNUL(out)
	if len(f) == 0 {
		return "", nil, errors.New("git merge-tree: no answer")
	}
	tree, conflicts = OID(f[0]), f[1:]
	if err != nil {
		return tree, conflicts, fmt.Errorf("%s: %w between %.12s and %.12s; merge them by hand", strings.Join(conflicts, ", "), ErrConflict, ours, theirs)
	}
	return tree, nil, nil
}
