// Package repo is the git repository as odd's database: trees as fs.FS,
// commits as change sets, refs moved by compare-and-swap, checkouts kept in
// step, remotes, and the drain lock. It is the only importer of go-git and the
// only caller of the git binary.
package repo

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"
)

// OID is an object id in lower-case hex; "" means absent (in a RefUpdate's Old: create only; in New: delete).
type OID string

// Changes maps a repository path (slash-separated) to its new bytes; nil deletes.
type Changes map[string][]byte

// Signature is who and when, as git stores it.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Commit is one commit as read from history.
type Commit struct {
	OID       OID
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
}

// Trailer returns the values of the named trailer in the message's last paragraph, in order.
func (c Commit) Trailer(name string) []string { return nil }

// Change is one path that differs between two trees. Old or New is "" where the side has no file.
type Change struct {
	Path             string
	Old, New         OID
	OldMode, NewMode string // "100644", "100755", "120000", "160000" or ""
}

// RefUpdate moves Name (a full ref name) from Old to New, or not at all.
type RefUpdate struct {
	Name     string
	Old, New OID
}

// Errors callers branch on.
var (
	ErrNotRepo  = errors.New("not a git repository")
	ErrNoCommit = errors.New("the repository has no commits")
	ErrNoRef    = errors.New("no such ref")
	ErrMoved    = errors.New("the ref moved meanwhile")      // a compare-and-swap lost
	ErrBusy     = errors.New("another odd holds the lock")   // drain.lock or index.lock
	ErrInTheWay = errors.New("a file is in the way")         // a checkout would lose bytes; the error text names path and way out
	ErrRejected = errors.New("the remote rejected the push") // non-fast-forward or stale lease
	ErrConflict = errors.New("merge conflict")
)

// Repo is one repository and the work tree it was opened from. Methods may be
// called from several goroutines.
type Repo struct{ _ struct{} }

// Open finds the repository that dir is in. now is the clock for commits made without an explicit time.
func Open(dir string) (*Repo, error) { return nil, ErrNotRepo }

// Init makes a repository in dir (branch main) unless one is there.
func Init(ctx context.Context, dir string) (*Repo, error) { return nil, ErrNotRepo }

// Root is the top of the work tree; CommonDir is git's common directory (absolute); Prefix is dir relative to Root ("" at the top).
func (r *Repo) Root() string      { return "" }
func (r *Repo) CommonDir() string { return "" }
func (r *Repo) Prefix() string    { return "" }

// Identity is the person's own user.name and user.email; an error names what to set.
func (r *Repo) Identity(ctx context.Context) (Signature, error) { return Signature{}, nil }

// Config reads one git config value, "" when unset.
func (r *Repo) Config(ctx context.Context, key string) (string, error) { return "", nil }

// Branch is the branch HEAD names, "" when detached.
func (r *Repo) Branch() (string, error) { return "", nil }

// Ref resolves a full ref name; ErrNoRef when it does not exist.
func (r *Repo) Ref(name string) (OID, error) { return "", ErrNoRef }

// Refs lists full ref names under a prefix with their ids, sorted by name.
func (r *Repo) Refs(prefix string) ([]RefUpdate, error) { return nil, nil } // New holds the id

// Resolve turns any revision a person may type into a commit id.
func (r *Repo) Resolve(ctx context.Context, rev string) (OID, error) { return "", ErrNoRef }

// Commit reads one commit.
func (r *Repo) Commit(oid OID) (Commit, error) { return Commit{}, nil }

// Log yields the commits reachable from to and not from from ("" = all), children before parents, in topological order.
func (r *Repo) Log(ctx context.Context, from, to OID) iter.Seq2[Commit, error] { return nil }

// MergeBase is the best common ancestor, "" when there is none. Ancestor reports whether a is an ancestor of (or is) b.
func (r *Repo) MergeBase(ctx context.Context, a, b OID) (OID, error) { return "", nil }
func (r *Repo) Ancestor(ctx context.Context, a, b OID) (bool, error) { return false, nil }

// Tree is a commit's (or tree's) files as an fs.FS (ReadFile, ReadDir, Stat, Sub). It is a snapshot. Symlinks and gitlinks show as irregular files.
func (r *Repo) Tree(oid OID) (fs.FS, error) { return nil, nil }

// TreeOID is the id of the tree at path ("" = root) in a commit, "" when absent.
func (r *Repo) TreeOID(commit OID, path string) (OID, error) { return "", nil }

// Blob reads one blob. WriteBlobs stores blobs and returns their ids.
func (r *Repo) Blob(oid OID) ([]byte, error) { return nil, nil }

// Diff lists the paths that differ between two commits or trees ("" = the empty tree), sorted by path, renames not detected.
func (r *Repo) Diff(ctx context.Context, a, b OID) ([]Change, error) { return nil, nil }

// Patch is the human diff between two commits or trees, limited to paths when given, coloured when asked.
func (r *Repo) Patch(ctx context.Context, a, b OID, color bool, paths ...string) ([]byte, error) {
	return nil, nil
}

// Make writes a commit object whose tree is parents[0]'s tree with the changes applied, and moves nothing.
// who is author and committer (the agent). It runs no hook and signs nothing.
func (r *Repo) Make(ctx context.Context, parents []OID, ch Changes, who Signature, message string) (OID, error) {
	return "", nil
}

// WriteTree stores files as a bare tree object (for refs/odd/run/RUN).
func (r *Repo) WriteTree(ctx context.Context, files Changes) (OID, error) { return "", nil }

// Update moves refs in one transaction, all or nothing, without touching any checkout. ErrMoved when an Old did not hold.
// A branch that is checked out anywhere must go through Move.
func (r *Repo) Update(ctx context.Context, us ...RefUpdate) error { return nil }

// Move is Update for refs of which some may be checked out: every worktree whose HEAD is a moved ref is brought along
// under its own index.lock, pre-checked before any ref moves, with a marker that Recover finishes. Staged, unstaged and
// untracked edits of other paths are as they were.
func (r *Repo) Move(ctx context.Context, us ...RefUpdate) error { return nil }

// Recover finishes what a killed Move left: it removes only locks its markers prove ours, completes the checkouts and
// returns one line per kept file it would not overwrite. It is cheap when there is nothing to do; every command calls it.
func (r *Repo) Recover(ctx context.Context) ([]string, error) { return nil, nil }

// Dirty lists paths below the given ones with staged, unstaged or (untracked too) uncommitted edits.
func (r *Repo) Dirty(ctx context.Context, paths ...string) ([]string, error) { return nil, nil }

// Shallow reports a shallow clone.
func (r *Repo) Shallow() bool { return false }

// LockDrain takes the exclusive drain lock of this repository without waiting; ErrBusy when held. The kernel frees it at death.
func (r *Repo) LockDrain() (unlock func() error, err error) { return nil, ErrBusy }

// MergeTree merges theirs into ours without touching anything and returns the merged tree; ErrConflict with the paths.
func (r *Repo) MergeTree(ctx context.Context, ours, theirs OID) (tree OID, conflicts []string, err error) {
	return "", nil, nil
}

// PersonCommit makes a commit by the person with real `git commit`: their identity, signing, pre-commit and commit-msg
// hooks, in a temporary no-checkout worktree. The tree is tree with the changes applied; parents[0] is the base,
// parents[1:] are recorded as merge parents. No ref of the person moves.
func (r *Repo) PersonCommit(ctx context.Context, parents []OID, tree OID, ch Changes, message string) (OID, error) {
	return "", nil
}

// Write writes files of the work tree, each whole or not at all, confined to it (os.Root).
func (r *Repo) Write(ch Changes) error { return nil }

// Stage records the changes in the index of the work tree (for --no-commit).
func (r *Repo) Stage(ctx context.Context, paths ...string) error { return nil }

// Fetch updates refs/remotes/REMOTE/* and returns nothing else.
func (r *Repo) Fetch(ctx context.Context, remote string, refspecs ...string) error { return nil }

// Push moves refs of the remote atomically with a lease each: Old is what the remote must have ("" = must not exist).
// ErrRejected when it has not.
func (r *Repo) Push(ctx context.Context, remote string, us ...RefUpdate) error { return nil }

// RemoteRef asks the remote for one ref; "" when absent.
func (r *Repo) RemoteRef(ctx context.Context, remote, name string) (OID, error) { return "", nil }

// Verify reports whether a commit carries a good signature, and by whom.
func (r *Repo) Verify(ctx context.Context, oid OID) (ok bool, signer string, err error) {
	return false, "", nil
}

// PruneRuns deletes refs/odd/run/* older than before (the ULID tells). Maintain runs git's own auto maintenance.
func (r *Repo) PruneRuns(ctx context.Context, before time.Time) (int, error) { return 0, nil }
func (r *Repo) Maintain(ctx context.Context) error                           { return nil }
