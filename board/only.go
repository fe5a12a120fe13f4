package board

import (
	"errors"
	"io/fs"
	"strings"
)

// Folder is where the tasks lie below the bundle's root. An atom of type task
// elsewhere is not on the board, so that to look at the board is to look at this
// folder, however much else the bundle holds.
const Folder = "tasks"

// onBoard reports whether a bundle path is that of a task.
func onBoard(path string) bool { return strings.HasPrefix(path, Folder+"/") }

// Only is the bundle f without all that lies outside Folder: what okf.Load and
// okf.LoadCached make a graph of tasks alone of. The paths stay as they are.
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

// tasksOnly lists one folder at its root, and is f otherwise.
type tasksOnly struct{ fs.FS }

// tasksOnlyTree is only for a file system that reads many files in one go.
type tasksOnlyTree struct {
	tasksOnly
	manyReader
}

// tasksOnlyDisk is only for one that also looks at many files in one go.
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

// ReadDir lists the root without looking at it: it may hold any number of files.
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

// Lstat is that of f.
func (o tasksOnly) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(o.FS, name) }

// ReadLink is that of f.
func (o tasksOnly) ReadLink(name string) (string, error) { return fs.ReadLink(o.FS, name) }
