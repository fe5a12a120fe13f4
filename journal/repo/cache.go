package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// cacheFiles is how many files the cache keeps: enough for the board, a target,
// a work tree or two and what they were a moment ago.
const cacheFiles = 8

// Cached returns the bytes last kept under name, nil when there are none. What
// it returns is disposable: it may be missing, old or damaged, and its reader checks.
func (r *Repo) Cached(name string) []byte {
	b, err := os.ReadFile(r.oddDir("cache", name))
	if err != nil {
		return nil
	}
	return b
}

// CachedNames are the names below which something is kept that begin with a
// prefix, the latest kept first.
func (r *Repo) CachedNames(prefix string) []string {
	files, _ := kept(r.oddDir("cache")) // none where it cannot be read
	var out []string
	for _, f := range files {
		if strings.HasPrefix(f.name, prefix) {
			out = append(out, f.name)
		}
	}
	return out
}

// Keep stores b under name below $GIT_COMMON_DIR/odd/cache, written aside and
// renamed, and drops the oldest files beyond the few that are worth keeping.
func (r *Repo) Keep(name string, b []byte) error {
	if name == "" || strings.ContainsAny(name, "/\\") || name[0] == '.' {
		return fmt.Errorf("cache file %q: not a plain name", name)
	}
	dir := r.oddDir("cache")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := renameio.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		return err
	}
	return dropOldest(dir, cacheFiles)
}

// Room is a directory below $GIT_COMMON_DIR/odd for what somebody else keeps, made
// if it is missing and the user's alone. Like the cache it is always safe to delete.
func (r *Repo) Room(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\\") || name[0] == '.' {
		return "", fmt.Errorf("room %q: not a plain name", name)
	}
	dir := r.oddDir(name)
	return dir, os.MkdirAll(dir, 0o700)
}

// keptFile is a file of the cache.
type keptFile struct {
	name string
	at   time.Time
}

// kept lists a folder of the cache, the latest first.
func kept(dir string) ([]keptFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []keptFile
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, keptFile{e.Name(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b keptFile) int { return b.at.Compare(a.at) })
	return files, nil
}

func dropOldest(dir string, keep int) error {
	files, err := kept(dir)
	if err != nil {
		return err
	}
	for _, f := range files[min(keep, len(files)):] {
		if err := os.Remove(filepath.Join(dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
