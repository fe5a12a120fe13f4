// Package repo uses a git repository as odd's database. It reads trees as fs.FS, writes
// commits from sets of changes, and moves refs by compare-and-swap. It updates the
// checkouts of a moved branch, talks to remotes and holds the drain lock. Only this
// package and those below it import go-git or run git.
//
// A change takes three calls; nobody sees it before the last:
//
//	r, err := repo.Open(".", os.Environ())
//	next, err := r.Make(ctx, []repo.OID{tip}, repo.Changes{"knowledge/tasks/t.md": b}, agent, "claim t")
//	err = r.Move(ctx, repo.RefUpdate{Name: "refs/heads/main", Old: tip, New: next})
//
// odd reads objects and refs, and writes its own commits, in process. The git binary does
// what must agree with the person's own git: status, ref transactions, checkouts, merges,
// remotes, hooks, signing. odd sets git's environment; a person's keys and identity reach
// only the calls made in their name.
//
// The packages below this one each need less than the whole repository: gitcmd runs git, object reads and writes objects
// and reads history, and local keeps odd's own files and locks in $GIT_COMMON_DIR/odd. A session works in a clone of
// package scratch, which reads what it left; MakeEdits makes a commit of it. What is left here is one type with more than
// 40 methods, because promises 2 to 4 tie the refs, the index, the files and the marker of a move together.
//
// Promises:
//
//  1. A ref moves only from the id the caller names, and several move together or not at all.
//  2. A ref that is checked out moves only together with its checkout: index.lock is held from before the ref moves
//     until the new index is in place, so nobody can commit an old index on a new commit.
//  3. No byte that is not in a commit is overwritten or deleted. A file in the way is an error before a ref moves; after
//     a crash it is kept and reported.
//  4. A process killed at any instant leaves a state that Recover completes or undoes. Only locks that a marker proves
//     to be odd's are removed.
//  5. Paths from outside cannot leave the work tree or reach .git, and links are not followed.
//  6. Nothing that a session leaves in its scratch repository is run or followed. Git never runs there after the session
//     began.
//  7. A file that git would store with other bytes, because of its attributes, is never committed; see Converted.
package repo

import (
	"errors"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// The types of packages object and ref, which callers of this package name too.
type (
	OID       = object.OID
	Changes   = object.Changes
	Signature = object.Signature
	Commit    = object.Commit
	Change    = object.Change
	FileEdit  = object.FileEdit
	Lines     = object.Lines
	Deletion  = object.Deletion
	TreeFS    = object.TreeFS
	RefUpdate = ref.Update
)

// Errors callers branch on.
var (
	ErrNotRepo   = errors.New("not a git repository")
	ErrNoCommit  = ref.ErrNoCommit
	ErrNoRef     = ref.ErrNoRef
	ErrMoved     = ref.ErrMoved                                 // a compare-and-swap lost
	ErrBusy      = local.ErrBusy                                // drain.lock or index.lock
	ErrStuck     = local.ErrStuck                               // with ErrBusy: odd has already waited for seconds
	ErrInTheWay  = errors.New("a file is in the way")           // a checkout would lose bytes; the error text names path and way out
	ErrRejected  = errors.New("the remote rejected the push")   // non-fast-forward or stale lease
	ErrForbidden = errors.New("a rule of odd check forbids it") // Line.Check refuses the commits
	ErrDeclined  = errors.New("the remote does not take it")    // a hook or a protected branch refuses it
	ErrConflict  = object.ErrConflict
)

// Faulty reports whether err is the fault of a disk that is full, read-only or failing, so that the same operation
// would succeed with a working disk.
func Faulty(err error) bool { return gitcmd.Faulty(err) }

// Repo is one repository and the work tree it was opened from. Methods may be
// called from several goroutines.
type Repo struct {
	*object.DB
	*local.Dir
	*ref.Store
	root     string // top of the work tree, "" when bare
	gitDir   string // this work tree's own git directory
	common   string // the directory all work trees share
	prefix   string // the directory Open was given, relative to root and slash-separated; "" at the top
	extended bool   // it has extensions of the repository format
	git      *gitcmd.Runner
	settings settingsCache
	step     func(string) error // tests stop a Move between two steps with it; nil otherwise

	patience time.Duration // of one exchange with a remote; 0 is RemoteTime
}

// Root returns the top of the work tree, absolute and free of symbolic links; "" in a bare repository.
func (r *Repo) Root() string { return r.root }

// CommonDir returns the absolute path of git's common directory, which all work trees share.
func (r *Repo) CommonDir() string { return r.common }
