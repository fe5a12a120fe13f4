// Package local holds the files and locks that odd keeps in one clone of a repository.
//
// odd keeps these files in $GIT_COMMON_DIR/odd. While no odd runs, all can be deleted. Without
// anchor.key the permits of bound sessions no longer hold:
//
//	drain.lock      flock of the one drain; holds "pid N RUN", then a line for each run that was killed with it
//	RUN.lock        flock of a run without a task, which works beside the drain
//	sync.lock       flock of Move and Recover
//	commit.lock     flock of PersonCommit
//	sync/ID.json    a marker for each checkout to update, or one for a move without any
//	cache/, agent-cache/, check-cache/, tally/    what was read or counted before
//	live.jsonl, stop                              what a run shows, and who asked it to end
//	anchor.key                                    signs permits
//	tmp/sync-ID*    a Move's new index and files; tmp/commit-ID/ a PersonCommit's work tree
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo/mmap"
)

// Errors callers branch on.
var (
	ErrBusy  = errors.New("another odd holds the lock")
	ErrStuck = errors.New("it has not let go of it")
)

// Dir is odd's directory in the git directory that all work trees of a repository share. Nothing in it is committed
// or leaves this clone.
type Dir struct {
	common string
	mapped mmap.Files
}

// New returns odd's directory of a repository by its common git directory.
func New(common string) *Dir { return &Dir{common: common} }

// OddPath returns a path in odd's directory in the common git directory.
func (d *Dir) OddPath(elem ...string) string {
	return filepath.Join(append([]string{d.common, "odd"}, elem...)...)
}

// MakeOddDir makes a directory in odd's directory, as accessible to other users as git's own.
func (d *Dir) MakeOddDir(elem ...string) error {
	for i := range len(elem) + 1 {
		err := os.Mkdir(d.OddPath(elem[:i]...), 0o777)
		if err == nil {
			d.ShareWithGroup(d.OddPath(elem[:i]...))
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// ShareWithGroup gives a file or directory of odd's the permissions of the git directory, so that every member of a
// group that shares the repository can use odd. Only its owner can change it, so errors are ignored.
func (d *Dir) ShareWithGroup(name string) {
	git, err := os.Stat(d.common)
	st, err2 := os.Lstat(name)
	if err != nil || err2 != nil || git.Mode()&0o022 == 0 {
		return
	}
	mode := st.Mode().Perm() | git.Mode().Perm()&0o066
	if st.IsDir() {
		mode = git.Mode() & (fs.ModePerm | fs.ModeSetgid)
	}
	_ = os.Chmod(name, mode)
}

// LockDrain takes the exclusive drain lock of this repository without waiting. errBusy names the holder's process
// id. The kernel frees the lock when the process dies. The file stays: only the flock on it counts.
func (d *Dir) LockDrain() (unlock func() error, err error) { return d.LockDrainFor("") }

// LockDrainFor is LockDrain, and writes the run's id into the file for whoever finds it locked. What the file says of
// killed runs stays there until ForgetKilled.
func (d *Dir) LockDrainFor(run string) (unlock func() error, err error) {
	f, err := d.TryLock("drain.lock")
	if errors.Is(err, fs.ErrPermission) {
		err = cmp.Or(d.CheckWritable(), err)
	}
	if err != nil {
		return nil, err
	}
	killed := d.killedDrains(true)
	killed = killed[max(len(killed)-keptKilled, 0):]
	if err := d.writeHolder(strings.TrimSpace(fmt.Sprintf("pid %d %s", os.Getpid(), run)), killed); err != nil {
		f.Unlock()
		return nil, err
	}
	return func() error {
		_, killed := d.readHolder()
		_ = d.writeHolder("", killed) // the process may live on without the lock
		return f.Unlock()
	}, nil
}

// keptKilled is how many killed runs drain.lock names. A remote has the lock of one, the newest that reached it.
const keptKilled = 8

// readHolder returns the line of drain.lock about its holder, and the runs that were killed with it.
func (d *Dir) readHolder() (holder string, killed []string) {
	b, _ := os.ReadFile(d.OddPath("drain.lock"))
	holder, rest, _ := strings.Cut(string(b), "\n")
	return holder, strings.FieldsFunc(rest, func(c rune) bool { return c == '\n' })
}

func (d *Dir) writeHolder(holder string, killed []string) error {
	return os.WriteFile(d.OddPath("drain.lock"), []byte(holder+"\n"+strings.Join(killed, "\n")), 0o666)
}

// ForgetKilled removes what drain.lock says of killed runs. Its caller holds the lock, and that of the remote. If the
// file cannot be written, the names stay, which does no harm.
func (d *Dir) ForgetKilled() {
	if holder, killed := d.readHolder(); len(killed) > 0 {
		_ = d.writeHolder(holder, nil)
	}
}

// KilledDrains returns the runs that were killed while they held the drain lock, since one ended with it.
func (d *Dir) KilledDrains() []string { return d.killedDrains(false) }

// killedDrains is KilledDrains; locked says that the caller holds the lock, so that who wrote the file is gone.
func (d *Dir) killedDrains(locked bool) []string {
	holder, runs := d.readHolder()
	pid, run, _ := strings.Cut(strings.TrimPrefix(holder, "pid "), " ")
	if run != "" && (locked || !ProcessExists(pid)) {
		runs = append(runs, run)
	}
	return runs
}

// LockRun takes the lock of a run that works beside the drain. While it is held, RunLives
// is true. The kernel frees it when the
// process dies; unlock removes its file.
func (d *Dir) LockRun(run string) (unlock func(), err error) {
	f, err := d.TryLock(run + ".lock")
	if err != nil {
		return nil, err
	}
	return func() {
		_ = os.Remove(f.Path())
		_ = f.Unlock()
	}, nil
}

// RunLives reports whether a process holds the lock of a run. It removes the file of a killed run. Several
// processes may ask at once.
func (d *Dir) RunLives(run string) bool {
	f := flock.New(d.OddPath(run + ".lock"))
	if _, err := os.Lstat(f.Path()); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	got, err := f.TryRLock()
	if got {
		_ = os.Remove(f.Path())
		_ = f.Unlock()
	}
	return err != nil || !got
}

// Draining reports whether a drain of this clone is alive. It tries the lock only if the process named in the file
// is gone, so that asking does not block a drain.
func (d *Dir) Draining() bool {
	b, err := os.ReadFile(d.OddPath("drain.lock"))
	if err != nil {
		return false
	}
	pid, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(b)), "pid "), " ")
	if ProcessExists(pid) {
		return true
	}
	f, err := d.TryLock("drain.lock")
	if err != nil {
		return errors.Is(err, ErrBusy)
	}
	_ = f.Unlock()
	return false
}

// TryLock takes a flock on a file in odd's directory without waiting.
func (d *Dir) TryLock(name string) (*flock.Flock, error) {
	if err := d.MakeOddDir(); err != nil {
		return nil, err
	}
	f := flock.New(d.OddPath(name), flock.SetPermissions(0o666))
	got, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	d.ShareWithGroup(f.Path())
	if !got {
		return nil, fmt.Errorf("%s: %w%s", f.Path(), ErrBusy, describeHolder(f.Path()))
	}
	return f, nil
}

// WaitLock takes a flock on a file in odd's directory and waits for it; errBusy if that takes longer than patience.
func (d *Dir) WaitLock(ctx context.Context, name string, patience time.Duration) (*flock.Flock, error) {
	if err := d.MakeOddDir("tmp"); err != nil {
		return nil, err
	}
	f := flock.New(d.OddPath(name), flock.SetPermissions(0o666))
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := f.TryLockContext(wait, 10*time.Millisecond); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, fmt.Errorf("%s: %w, and in %s %w; see whether one is stopped or hangs", f.Path(), ErrBusy, patience, ErrStuck)
		}
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	d.ShareWithGroup(f.Path())
	return f, nil
}

// describeHolder returns " (pid 12 RUN)" from a lock file, "" if it holds no process id.
func describeHolder(path string) string {
	b, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	pid, _, _ := strings.Cut(strings.TrimPrefix(line, "pid "), " ")
	if _, nerr := strconv.Atoi(pid); err != nil || nerr != nil {
		return ""
	}
	return " (" + line + ")"
}

// CheckWritable returns an error where this user may not write into git's own directory.
func (d *Dir) CheckWritable() error {
	objects := filepath.Join(d.common, "objects")
	if syscall.Access(objects, 2) != nil { // W_OK
		return fmt.Errorf("%s: your user may not write there, so odd can commit nothing; run odd as the owner of the repository, or change who may write", objects)
	}
	return nil
}
