package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo/local"
)

// The names of scratch directories and of their locks.
const (
	scratchName = "scratch-"
	lockSuffix  = ".lock"
)

// Sweep removes the scratch repositories of killed processes below parent, and returns how many. One whose
// lock is held is in use. One without a lock is left alone while a process with its number exists.
func Sweep(parent string) (int, error) {
	home := filepath.Join(parent, fmt.Sprintf("odd-%d", os.Getuid()))
	if _, err := os.Lstat(home); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err := local.CheckPrivate(home); err != nil {
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
	pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), scratchName), "-")
	if _, err := os.Lstat(dir + lockSuffix); err != nil && local.ProcessExists(pid) {
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
	if err := local.RemoveAll(dir); err != nil {
		return false, err
	}
	return was, os.Remove(lock.Path())
}
