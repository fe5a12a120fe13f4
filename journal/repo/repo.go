// Package repo is the git repository as odd's database: trees as fs.FS,
// commits as change sets, refs moved by compare-and-swap, checkouts kept in
// step, remotes, and the drain lock. It is the only importer of go-git and the
// only caller of the git binary.
//
// A change is three calls, of which only the last can be seen by anybody:
//
//	r, err := repo.Open(".", os.Environ())
//	next, err := r.Make(ctx, []repo.OID{tip}, repo.Changes{"knowledge/tasks/t.md": b}, agent, "claim t")
//	err = r.Move(ctx, repo.RefUpdate{Name: "refs/heads/main", Old: tip, New: next})
//
// Objects and refs are read, and plumbing commits written, in process. The git
// binary does what has to agree with the person's own git: status, transactions
// on refs, checkouts, merges, remotes, hooks, signing. It runs with an
// environment of odd's making; a person's keys and identity reach only the calls
// made in their name.
//
// What odd keeps in $GIT_COMMON_DIR/odd, all of it disposable while no odd runs:
//
//	drain.lock      flock of the one drain; holds "pid N RUN"
//	RUN.lock        flock of a run that changes nothing, and works beside the drain
//	sync.lock       flock of Move and Recover
//	commit.lock     flock of PersonCommit
//	sync/ID.json    one marker for each checkout that is following its ref
//	tmp/sync-ID*    a Move's new index and files; tmp/commit-ID/ a PersonCommit's work tree
//
// A session works in a scratch repository outside the repository (Scratch says
// what it is made of), and what it leaves becomes a commit only by Apply.
//
// Promises:
//
//  1. A ref moves only from the id the caller names, and several move together or not at all.
//  2. A ref that a checkout shows never moves without it: index.lock is held from before the ref moves until the new
//     index is in place, so nobody can commit an old index on a new commit.
//  3. No byte that is not in a commit is overwritten or deleted. What is in the way is an error before a ref moves, and
//     kept and told after a crash.
//  4. A process killed at any instant leaves a state that Recover completes or undoes. Only locks that a marker proves
//     to be odd's are removed.
//  5. Paths from outside cannot leave the work tree or reach .git, and links are not followed.
//  6. Nothing that a session leaves in its scratch repository is run or followed, and git never runs there after it began.
//  7. No commit is made of a file that git, by its attributes, would store as other bytes: Converted.
package repo

import (
	"errors"
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
	Signed    bool // it carries a signature, good or not
}

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
	ErrStuck    = errors.New("it has not let go of it")      // with ErrBusy: it was waited for already, for seconds
	ErrInTheWay = errors.New("a file is in the way")         // a checkout would lose bytes; the error text names path and way out
	ErrRejected = errors.New("the remote rejected the push") // non-fast-forward or stale lease
	ErrDeclined = errors.New("the remote does not take it")  // a hook's word, or a protected branch
	ErrConflict = errors.New("merge conflict")
)

// Repo is one repository and the work tree it was opened from. Methods may be
// called from several goroutines.
type Repo struct {
	root     string // top of the work tree, "" when bare
	gitDir   string // this work tree's own git directory
	common   string // the directory all work trees share
	prefix   string // the directory Open was given, relative to root and slash-separated; "" at the top
	format   string // of object ids
	git      *runner
	objs     store
	refs     refs
	updates  *refUpdater
	recent   boundedCache[OID, listing]
	mapped   mappings
	refFiles refFileCache
	settings settingsCache
	step     func(string) error // tests stop a Move between two steps with it; nil otherwise

	patience time.Duration // of one exchange with a remote; 0 is RemoteTime
}

// Root is the top of the work tree, absolute and free of symbolic links; "" in a bare repository.
func (r *Repo) Root() string { return r.root }

// CommonDir is git's common directory, absolute: the one all linked work trees share.
func (r *Repo) CommonDir() string { return r.common }

// ObjectFormat is how objects are named, "sha1" or "sha256".
func (r *Repo) ObjectFormat() string { return r.format }
