package board

import (
	"errors"
	"io/fs"
	"strings"
)

// Folder is where tasks are, below the bundle's root. An atom of type task elsewhere is not
// on the board. So reading the board means reading this folder, however large the bundle is.
const Folder = "tasks"

// onBoard reports whether a bundle path is in the folder of tasks.
func onBoard(path string) bool { return strings.HasPrefix(path, Folder+"/") }

// Only returns the bundle f without everything outside Folder. okf.Load and okf.LoadCached
// make a graph of the tasks alone from it. Paths are unchanged.
func Only(f fs.FS) fs.FS {
	o := tasksOnly{f}
	switch m := f.(type) {
	case interface {
		manyReader
		manyStater
	}:
		return tasksOnlyDisk{o, m, m}
	case manyReader:
		return tasksOnlyTree{o, m}
	}
	return o
}

// tasksOnly lists only Folder at its root.
type tasksOnly struct{ fs.FS }

// tasksOnlyTree is tasksOnly for a file system that reads many files at once.
type tasksOnlyTree struct {
	tasksOnly
	manyReader
}

// tasksOnlyDisk is tasksOnly for one that also stats many files at once.
type tasksOnlyDisk struct {
	tasksOnly
	manyReader
	manyStater
}

type manyStater interface {
	StatMany(names []string, fn func(i int, size, changed int64, inode uint64))
}

type manyReader interface {
	ReadMany(names []string, fn func(name string, data []byte) error) error
}

// ReadDir lists the root without reading it, because it may hold any number of files.
func (o tasksOnly) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return fs.ReadDir(o.FS, name)
	}
	info, err := fs.Lstat(o.FS, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = fs.Stat(o.FS, ".")
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

// Lstat is that of the wrapped file system.
func (o tasksOnly) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(o.FS, name) }

// ReadLink is that of the wrapped file system.
func (o tasksOnly) ReadLink(name string) (string, error) { return fs.ReadLink(o.FS, name) }
