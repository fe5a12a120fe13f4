package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// The names of scratch directories and of their locks.
const (
	scratchName = "scratch-"
	lockSuffix  = ".lock"
)

// SweepScratch removes the scratch repositories of killed processes below parent, and returns how many. One whose
// lock is held is in use. One without a lock is left alone while a process with its number exists.
func SweepScratch(parent string) (int, error) {
	home := filepath.Join(parent, fmt.Sprintf("odd-%d", os.Getuid()))
	if _, err := os.Lstat(home); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err := checkPrivate(home); err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return 0, err
	}
	swept, seen := 0, map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), lockSuffix)
		if seen[name] || !strings.HasPrefix(name, scratchName) {
			continue
		}
		seen[name] = true
		did, bad := sweepDir(filepath.Join(home, name))
		if err = errors.Join(err, bad); did {
			swept++
		}
	}
	return swept, err
}

// sweepDir removes one scratch directory unless its owner is alive.
func sweepDir(dir string) (bool, error) {
	if _, err := os.Lstat(dir + lockSuffix); err != nil && ownerLives(filepath.Base(dir)) {
		return false, nil
	}
	lock := flock.New(dir+lockSuffix, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil || !got {
		return false, err
	}
	defer lock.Unlock()
	if !isInPlace(lock) {
		return false, nil
	}
	_, err = os.Lstat(dir)
	was := err == nil
	if err := removeAll(dir); err != nil {
		return false, err
	}
	return was, os.Remove(lock.Path())
}

// ownerLives reports whether the process in a scratch directory's name exists.
func ownerLives(name string) bool {
	pid, _, _ := strings.Cut(strings.TrimPrefix(name, scratchName), "-")
	return processExists(pid)
}

// processExists reports whether a process runs. On Linux, one that has ended and that its parent has not waited for
// does not.
func processExists(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return false
	}
	if err := syscall.Kill(n, 0); err != nil {
		return errors.Is(err, syscall.EPERM)
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n)) // PID (NAME) STATE …
	return !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

// removeTries is how often removal is repeated while something still writes there.
const removeTries = 3

// removeAll is os.RemoveAll for a tree whose directories may lack permissions. It follows no links.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	for range removeTries {
		if err == nil {
			return nil
		}
		if st, lerr := os.Lstat(dir); lerr == nil && st.IsDir() {
			if cerr := os.Chmod(dir, 0o700); cerr == nil {
				makeRemovable(dir)
			}
		}
		err = os.RemoveAll(dir)
	}
	return err
}

// makeRemovable lets the owner list and empty every directory below dir, as far as possible.
func makeRemovable(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	makeRemovableBelow(root)
}

func makeRemovableBelow(root *os.Root) {
	f, err := root.Open(".")
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	f.Close()
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if sub, err := openDir(root, e.Name()); err == nil {
			makeRemovableBelow(sub)
			sub.Close()
		}
	}
}

// openDir opens a directory in root, and adds its owner's permissions if they are missing.
func openDir(root *os.Root, name string) (*os.Root, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a directory")}
	}
	if st.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := sub.Lstat("."); err != nil || !os.SameFile(st, now) {
		sub.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("changed while it was opened")}
	}
	return sub, nil
}
