package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// oddDir is odd's own directory in the common git directory.
func (r *Repo) oddDir(elem ...string) string {
	return filepath.Join(append([]string{r.common, "odd"}, elem...)...)
}

// makeOddDir makes a directory of odd's own, as open to others as git's own is.
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

// shareWithGroup lets those write a file or directory of odd's own who may write in git's: of a
// repository that a group shares any member's odd works. Whose it is cannot do more.
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

// globDir lists what a folder holds by the names that match pattern, in order; whatever the
// folder's own path is, it is none of the pattern. A folder that is not there holds nothing.
func globDir(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are well-formed
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

// LockDrain takes the exclusive drain lock of this repository without waiting; ErrBusy, with the holder's process id,
// when another process has it. The kernel frees it at death. The file stays: it is the lock's name, not the lock.
func (r *Repo) LockDrain() (unlock func() error, err error) { return r.LockDrainFor("") }

// LockDrainFor is LockDrain with the run's id left in the file for whoever finds it held.
func (r *Repo) LockDrainFor(run string) (unlock func() error, err error) {
	f, err := r.tryLock("drain.lock")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.Path(), []byte(strings.TrimSpace(fmt.Sprintf("pid %d %s", os.Getpid(), run))+"\n"), 0o666); err != nil {
		f.Unlock()
		return nil, err
	}
	return func() error {
		_ = os.Truncate(f.Path(), 0) // a process that had the lock may live on without it
		return f.Unlock()
	}, nil
}

// LockRun takes the lock that shows that a run lives which works beside others. The kernel
// frees it at death; unlock takes its file away.
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

// RunLives reports that a process holds the lock of a run. The file of one that was killed
// is taken away. Others may ask at the same time.
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

// Draining reports that a drain of this clone lives. It takes the lock only where the
// process that had it is not there any more, so that asking stands in no drain's way.
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

// tryLock takes a flock on a file of odd's directory.
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

// readHolder is " (pid 12 RUN)" from a lock file, "" when it does not tell.
func readHolder(path string) string {
	b, err := os.ReadFile(path)
	line := strings.TrimSpace(string(b))
	pid, _, _ := strings.Cut(strings.TrimPrefix(line, "pid "), " ")
	if _, nerr := strconv.Atoi(pid); err != nil || nerr != nil {
		return ""
	}
	return " (" + line + ")"
}
