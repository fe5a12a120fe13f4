package repo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// oddDir returns a path in odd's directory in the common git directory.
func (r *Repo) oddDir(elem ...string) string {
	return filepath.Join(append([]string{r.common, "odd"}, elem...)...)
}

// makeOddDir makes a directory in odd's directory, as accessible to other users as git's own.
func (r *Repo) makeOddDir(elem ...string) error {
	for i := range len(elem) + 1 {
		err := os.Mkdir(r.oddDir(elem[:i]...), 0o777)
		if err == nil {
			r.shareWithGroup(r.oddDir(elem[:i]...))
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// shareWithGroup gives a file or directory of odd's the permissions of the git directory, so that every member of a
// group that shares the repository can use odd. Only its owner can change it, so errors are ignored.
func (r *Repo) shareWithGroup(name string) {
	git, err := os.Stat(r.common)
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

// globDir lists the paths in a folder whose names match pattern, sorted. Unlike filepath.Glob, it takes dir
// literally. A missing folder holds nothing.
func globDir(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are well-formed
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

// LockDrain takes the exclusive drain lock of this repository without waiting. ErrBusy names the holder's process
// id. The kernel frees the lock when the process dies. The file stays: only the flock on it counts.
func (r *Repo) LockDrain() (unlock func() error, err error) { return r.LockDrainFor("") }

// LockDrainFor is LockDrain, and writes the run's id into the file for whoever finds it locked.
func (r *Repo) LockDrainFor(run string) (unlock func() error, err error) {
	f, err := r.tryLock("drain.lock")
	if errors.Is(err, fs.ErrPermission) {
		err = cmp.Or(r.CheckWritable(), err)
	}
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.Path(), []byte(strings.TrimSpace(fmt.Sprintf("pid %d %s", os.Getpid(), run))+"\n"), 0o666); err != nil {
		f.Unlock()
		return nil, err
	}
	return func() error {
		_ = os.Truncate(f.Path(), 0) // the process may live on without the lock
		return f.Unlock()
	}, nil
}

// LockRun takes the lock of a run that works beside the drain. While it is held, RunLives
// is true. The kernel frees it when the
// process dies; unlock removes its file.
func (r *Repo) LockRun(run string) (unlock func(), err error) {
	f, err := r.tryLock(run + ".lock")
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
func (r *Repo) RunLives(run string) bool {
	f := flock.New(r.oddDir(run + ".lock"))
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

// KilledRuns returns the runs of this clone that were killed: a ref keeps the base of their session, and no process
// works on it. While a drain is alive it returns none, since that one frees what they held.
func (r *Repo) KilledRuns() ([]string, error) {
	runs, _, err := r.Orphans()
	if len(runs) == 0 || r.Draining() {
		return nil, err
	}
	still, _, err := r.Orphans() // a drain may just have ended
	return slices.DeleteFunc(runs, func(run string) bool { return !slices.Contains(still, run) }), err
}

// Orphans returns the runs that keep a base and hold no lock of their own, and the updates that delete those
// bases. That of a drain is drain.lock: one that lives looks like an orphan to who does not hold it.
func (r *Repo) Orphans() (runs []string, bases []RefUpdate, err error) {
	refs, err := r.Refs(basePrefix)
	for _, ref := range refs {
		if run := strings.TrimPrefix(ref.Name, basePrefix); !r.RunLives(run) {
			runs, bases = append(runs, run), append(bases, RefUpdate{Name: ref.Name, Old: ref.New})
		}
	}
	return runs, bases, err
}

// Draining reports whether a drain of this clone is alive. It tries the lock only if the process named in the file
// is gone, so that asking does not block a drain.
func (r *Repo) Draining() bool {
	b, err := os.ReadFile(r.oddDir("drain.lock"))
	if err != nil {
		return false
	}
	pid, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(b)), "pid "), " ")
	if processExists(pid) {
		return true
	}
	f, err := r.tryLock("drain.lock")
	if err != nil {
		return errors.Is(err, ErrBusy)
	}
	_ = f.Unlock()
	return false
}

// tryLock takes a flock on a file in odd's directory without waiting.
func (r *Repo) tryLock(name string) (*flock.Flock, error) {
	if err := r.makeOddDir(); err != nil {
		return nil, err
	}
	f := flock.New(r.oddDir(name), flock.SetPermissions(0o666))
	got, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	r.shareWithGroup(f.Path())
	if !got {
		return nil, fmt.Errorf("%s: %w%s", f.Path(), ErrBusy, readHolder(f.Path()))
	}
	return f, nil
}

// readHolder returns " (pid 12 RUN)" from a lock file, "" if it holds no process id.
func readHolder(path string) string {
	b, err := os.ReadFile(path)
	line := strings.TrimSpace(string(b))
	pid, _, _ := strings.Cut(strings.TrimPrefix(line, "pid "), " ")
	if _, nerr := strconv.Atoi(pid); err != nil || nerr != nil {
		return ""
	}
	return " (" + line + ")"
}
