package local

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

// cacheFiles is how many files the cache keeps: enough for the board, a target, a work tree or two, their words
// and rows, and their previous states.
const cacheFiles = 20

// abandonedAfter is the age at which an unfinished cache file is deleted: its writer is dead by then.
const abandonedAfter = 10 * time.Minute

// Cached returns the bytes last stored with Keep under name, nil if there are none. The result may be missing, old
// or damaged, so its reader must check it. Callers must not change the bytes: they may be mapped from the file,
// which stays as it is because odd never writes a cache file in place.
func (d *Dir) Cached(name string) []byte {
	b, err := d.mapped.Read(d.OddPath("cache", name))
	if err != nil {
		return nil
	}
	b, ok := bytes.CutPrefix(b, []byte(name+"\n"))
	if !ok {
		return nil
	}
	return b
}

// CachedNames lists the names in the cache that begin with prefix, the newest first.
func (d *Dir) CachedNames(prefix string) []string {
	files, err := listCache(d.OddPath("cache"))
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

// Keep stores b under name in $GIT_COMMON_DIR/odd/cache. It writes a temporary file and renames it, then deletes
// the oldest files beyond the limit and what dead writers left.
func (d *Dir) Keep(name string, b []byte) error {
	if name == "" || strings.ContainsAny(name, "/\\\n") || name[0] == '.' {
		return fmt.Errorf("cache file %q: not a plain name", name)
	}
	dir := d.OddPath("cache")
	if err := d.MakeOddDir("cache"); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(dir, name), []byte(name+"\n"), b); err != nil {
		return err
	}
	return dropOldest(dir, cacheFiles)
}

// replaceFile atomically replaces a file with the given parts. It does not join them in memory, because a cache may
// be half as large as its bundle.
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

// Room returns a directory below $GIT_COMMON_DIR/odd for another package's cache, and creates it if it is missing.
// Only this user can read it; another user of the repository gets a different one. It is always safe to delete.
func (d *Dir) Room(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\\") || name[0] == '.' {
		return "", fmt.Errorf("room %q: not a plain name", name)
	}
	if err := d.MakeOddDir(); err != nil {
		return "", err
	}
	dir := d.OddPath(name)
	if _, err := os.Lstat(dir); err == nil && CheckPrivate(dir) != nil {
		dir = fmt.Sprintf("%s-%d", dir, os.Getuid())
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// ClearRoom removes a room if its files are larger than most in total, or if none was written since oldest. why
// says which; it is "" if the room stays.
func (d *Dir) ClearRoom(name string, most int64, oldest time.Time) (why string, err error) {
	if _, err := os.Lstat(d.OddPath(name)); err != nil {
		return "", nil
	}
	dir, err := d.Room(name)
	if err != nil {
		return "", err
	}
	size, newest := int64(0), time.Time{}
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // a file that was just removed takes no space
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
	return why, RemoveAll(dir)
}

// PermitKey returns the path of the key that signs permits in this clone. If the file of the usual name belongs to
// another user, this user's key has a name of its own.
func (d *Dir) PermitKey() string {
	name := "anchor.key"
	if isOtherUsers(d.OddPath(name)) {
		name = fmt.Sprintf("anchor-%d.key", os.Geteuid())
	}
	return d.OddPath(name)
}

// isOtherUsers reports whether a file exists and belongs to another user.
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

// dropOldest deletes all but the newest files, and the unfinished files that are older than abandonedAfter.
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
		if err := RemoveIfExists(filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}
