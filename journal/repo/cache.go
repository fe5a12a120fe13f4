package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// cacheFiles is how many files the cache keeps: enough for the board, a target,
// a work tree or two and what they were a moment ago.
const cacheFiles = 16

// abandonedAfter is how old a file that is being written aside may be; its writer
// is dead by then.
const abandonedAfter = 10 * time.Minute

// Cached returns the bytes last kept under name, nil when there are none, or
// when they were kept under another name. What it returns is disposable: it may
// be missing, old or damaged, and its reader checks. Nobody writes to it: it may
// be the file itself, which stays as it is because no odd writes in place.
func (r *Repo) Cached(name string) []byte {
	b, err := r.mapped.readFile(r.oddDir("cache", name))
	if err != nil {
		return nil
	}
	b, ok := bytes.CutPrefix(b, []byte(name+"\n"))
	if !ok {
		return nil
	}
	return b
}

// CachedNames are the names below which something is kept that begin with a
// prefix, the latest kept first.
func (r *Repo) CachedNames(prefix string) []string {
	files, err := listCache(r.oddDir("cache"))
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		if strings.HasPrefix(f.name, prefix) && f.name[0] != '.' {
			names = append(names, f.name)
		}
	}
	return names
}

// Keep stores b under name below $GIT_COMMON_DIR/odd/cache, with the name,
// written aside and renamed, and drops the oldest files beyond the few that are
// worth keeping, and what dead writers left.
func (r *Repo) Keep(name string, b []byte) error {
	if name == "" || strings.ContainsAny(name, "/\\\n") || name[0] == '.' {
		return fmt.Errorf("cache file %q: not a plain name", name)
	}
	dir := r.oddDir("cache")
	if err := r.makeOddDir("cache"); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(dir, name), []byte(name+"\n"), b); err != nil {
		return err
	}
	return dropOldest(dir, cacheFiles)
}

// replaceFile puts a file of some parts in place at once, without joining them
// in memory: a cache may be half as large as its bundle.
func replaceFile(file string, parts ...[]byte) error {
	t, err := renameio.NewPendingFile(file, renameio.WithTempDir(filepath.Dir(file)), renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer t.Cleanup()
	for _, b := range parts {
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	return t.CloseAtomicallyReplace()
}

// Room is a directory below $GIT_COMMON_DIR/odd for what somebody else keeps, made
// if it is missing and the user's alone: another user of the repository has another. Like the cache it is always safe to delete.
func (r *Repo) Room(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\\") || name[0] == '.' {
		return "", fmt.Errorf("room %q: not a plain name", name)
	}
	if err := r.makeOddDir(); err != nil {
		return "", err
	}
	dir := r.oddDir(name)
	if _, err := os.Lstat(dir); err == nil && checkPrivate(dir) != nil {
		dir = fmt.Sprintf("%s-%d", dir, os.Getuid())
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// ClearRoom removes a room whose files are larger than most together, or were all last
// written before oldest, and says why, "" for one that stays.
func (r *Repo) ClearRoom(name string, most int64, oldest time.Time) (why string, err error) {
	if _, err := os.Lstat(r.oddDir(name)); err != nil {
		return "", nil
	}
	dir, err := r.Room(name)
	if err != nil {
		return "", err
	}
	size, newest := int64(0), time.Time{}
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // a file that somebody removes meanwhile takes no room
		}
		if st, err := e.Info(); err == nil {
			size += st.Size()
			if st.ModTime().After(newest) {
				newest = st.ModTime()
			}
		}
		return nil
	})
	switch {
	case size > most:
		why = fmt.Sprintf("it has %d MB, over the limit of %d MB", size>>20, most>>20)
	case !newest.IsZero() && newest.Before(oldest):
		why = "nothing was written to it since " + newest.UTC().Format(time.DateOnly)
	default:
		return "", nil
	}
	return why, removeAll(dir)
}

// PermitKey says which file has the key that signs the permits in this clone. It is one
// user's alone; where another user of the repository has that of the usual name, this
// one has another.
func (r *Repo) PermitKey() string {
	name := "anchor.key"
	if isOtherUsers(r.oddDir(name)) {
		name = fmt.Sprintf("anchor-%d.key", os.Geteuid())
	}
	return r.oddDir(name)
}

// isOtherUsers reports that something is there and another user's.
func isOtherUsers(name string) bool {
	st, err := os.Lstat(name)
	if err != nil {
		return false
	}
	own, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(own.Uid) != os.Geteuid()
}

type cacheFile struct {
	name string
	at   time.Time
}

// listCache lists the files of the cache, the newest first.
func listCache(dir string) ([]cacheFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []cacheFile
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, cacheFile{e.Name(), info.ModTime()})
	}
	slices.SortStableFunc(files, func(a, b cacheFile) int { return b.at.Compare(a.at) })
	return files, nil
}

// dropOldest leaves the newest files, and of those that are being written aside
// the ones that are younger than abandoned beside the newest file.
func dropOldest(dir string, keep int) error {
	files, err := listCache(dir)
	if err != nil {
		return err
	}
	kept := 0
	for _, f := range files {
		aside := f.name[0] == '.'
		if aside && files[0].at.Sub(f.at) < abandonedAfter {
			continue
		}
		if !aside {
			kept++
		}
		if !aside && kept <= keep {
			continue
		}
		if err := removeIfExists(filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}
