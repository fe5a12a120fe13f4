package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/odd-cli/odd/journal/repo/local"
)

// Write writes files of the work tree, each atomically, in the order of their paths, and stops at the first error.
// It refuses a path that leaves the work tree or ends in a symbolic link. Deleting a missing file is no error;
// folders left empty are removed.
//
// It writes and syncs each file under a temporary name and renames it. Disks sync many files in little more time
// than one, so several goroutines write a run of files; the renames keep the order.
func (r *Repo) Write(ch Changes) error {
	if r.root == "" {
		return errBare
	}
	if err := ch.CheckPaths(); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer root.Close()
	paths := slices.Sorted(maps.Keys(ch))
	for len(paths) > 0 {
		p, n := paths[0], 1
		if ch[p] == nil {
			if err := removeFile(root, p); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		} else {
			for n < min(len(paths), runSize) && ch[paths[n]] != nil {
				n++
			}
			if err := writeRun(root, paths[:n], ch); err != nil {
				return err
			}
		}
		paths = paths[n:]
	}
	return nil
}

// runSize is how many files are written before the first of them is renamed, and
// runWorkers how many goroutines write them. Larger values were not faster on any disk
// that was tried.
const runSize, runWorkers = 256, 8

// removeFile deletes a file and the folders it leaves empty.
func removeFile(root *os.Root, p string) error {
	st, err := root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return errNotFile
	}
	if err := root.Remove(p); err != nil {
		return err
	}
	removeEmptyParents(root, path.Dir(p))
	return nil
}

var errNotFile = errors.New("is not a regular file; odd does not write through links or over folders")

func removeEmptyParents(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// asideFile is a file written under a temporary name beside its place.
type asideFile struct {
	dir  *os.Root // its folder
	temp string   // its temporary name, "" if it could not be written
	err  error
}

// writeRun writes a run of files and renames them, up to the first that fails.
func writeRun(root *os.Root, paths []string, ch Changes) error {
	dirs := map[string]*os.Root{}
	defer func() {
		for _, d := range dirs {
			d.Close()
		}
	}()
	files := make([]asideFile, len(paths))
	for i, p := range paths {
		dir := path.Dir(p)
		if dirs[dir] == nil {
			d, err := openDirToWrite(root, dir)
			if err != nil {
				files[i].err = err
				files = files[:i+1]
				break
			}
			dirs[dir] = d
		}
		files[i].dir = dirs[dir]
	}
	var wg sync.WaitGroup
	for w := range min(runWorkers, len(files)) {
		wg.Go(func() {
			for i := w; i < len(files); i += runWorkers {
				if f := &files[i]; f.dir != nil {
					f.temp, f.err = writeAside(f.dir, path.Base(paths[i]), ch[paths[i]])
				}
			}
		})
	}
	wg.Wait()
	var failed error
	for i, f := range files {
		if failed == nil && f.err == nil {
			f.err = f.dir.Rename(f.temp, path.Base(paths[i]))
		}
		if failed == nil && f.err != nil {
			failed = fmt.Errorf("%s: %w", paths[i], f.err)
		}
		if failed != nil && f.temp != "" {
			f.dir.Remove(f.temp)
		}
	}
	return failed
}

// openDirToWrite opens a folder of the work tree, and makes it if it is missing.
func openDirToWrite(root *os.Root, dir string) (*os.Root, error) {
	d, err := root.OpenRoot(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if err := root.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return root.OpenRoot(dir)
}

// writeAside writes a file that will be called name under a temporary name, with the permissions of the existing
// file.
func writeAside(dir *os.Root, name string, b []byte) (temp string, err error) {
	perm, chmod := fs.FileMode(0o666), false
	switch st, err := dir.Lstat(name); {
	case err == nil && !st.Mode().IsRegular():
		return "", errNotFile
	case err == nil:
		perm, chmod = st.Mode().Perm(), true
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	temp = ".odd-" + local.Nonce()
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	if chmod { // the umask may have changed them
		err = f.Chmod(perm)
	}
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Sync()
	}
	return temp, errors.Join(err, f.Close())
}
