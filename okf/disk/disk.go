// Package disk gives a folder on disk as the file system that okf loads a bundle from.
//
// It keeps the promise of os.Root: nothing outside the folder is ever read, whatever links
// are in it and whoever moves them meanwhile. In addition, no file is opened through a
// symlink, even one that replaced the file after it was listed. Only regular files are
// opened, so a named pipe cannot block a reader.
//
// okf reads and stats thousands of files through ReadMany and StatMany. If the system has
// openat, they open each folder once and need four and one system calls a file.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// FS is a folder on disk. It is safe for concurrent use.
type FS struct {
	root func() (rootDir, error)
}

// Dir returns the folder at dir, which is opened at its first use. If that fails, every use
// returns the error. The folder stays open as long as the FS is used.
func Dir(dir string) FS {
	return FS{sync.OnceValues(func() (rootDir, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return rootDir{}, err
		}
		return openTop(root)
	})}
}

// errSpecial is the error for opening a pipe, a socket or a device.
var errSpecial = errors.New("not a regular file")

// Open opens a folder or a regular file.
func (f FS) Open(name string) (fs.File, error) {
	root, err := f.rootFor("open", name)
	if err != nil {
		return nil, err
	}
	h, err := open(root, name)
	if err != nil {
		return nil, nameError("open", name, err)
	}
	return h, nil
}

// ReadDir lists a folder in order of name.
func (f FS) ReadDir(name string) ([]fs.DirEntry, error) {
	root, err := f.rootFor("open", name)
	if err != nil {
		return nil, err
	}
	entries, err := listFolder(root, name)
	if err != nil {
		return entries, nameError("open", name, err)
	}
	return entries, nil
}

// Lstat describes a file, or the symlink that is there.
func (f FS) Lstat(name string) (fs.FileInfo, error) {
	root, err := f.rootFor("lstat", name)
	if err != nil {
		return nil, err
	}
	return root.Lstat(name)
}

// ReadLink returns the target of a symlink.
func (f FS) ReadLink(name string) (string, error) {
	root, err := f.rootFor("readlink", name)
	if err != nil {
		return "", err
	}
	return root.Readlink(name)
}

// ReadMany reads files and passes each to fn in the order of names. It is fastest if the
// files of a folder follow each other. fn owns data. The error is fn's, or that of the
// first file that does not exist, is not regular, is larger than okf.MaxFileBytes or cannot
// be read. A file that grows meanwhile is read to the size it had when it was opened.
func (f FS) ReadMany(names []string, fn func(name string, data []byte) error) error {
	root, err := f.rootFor("open", ".")
	if err != nil {
		return err
	}
	s := slabs.Get().(*slab)
	defer slabs.Put(s)
	return eachFolder(names, func(dir string, from, to int) error {
		h, err := openFolder(root, dir)
		if err != nil {
			return err
		}
		defer h.Close()
		for _, name := range names[from:to] {
			b, err := h.readFile(path.Base(name), s)
			if err != nil {
				return nameError("read", name, err)
			}
			if err := fn(name, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// StatMany passes fn the index in names, the size in bytes, the time of change in Unix
// nanoseconds, and the inode of each regular file. The inode is 0 on systems without
// inodes.
func (f FS) StatMany(names []string, fn func(i int, size, changed int64, inode uint64)) {
	root, err := f.rootFor("lstat", ".")
	if err != nil {
		return
	}
	_ = eachFolder(names, func(dir string, from, to int) error {
		h, err := openFolder(root, dir)
		if err != nil {
			return nil
		}
		defer h.Close()
		for i := from; i < to; i++ {
			if size, changed, inode, ok := h.statFile(path.Base(names[i])); ok {
				fn(i, size, changed, inode)
			}
		}
		return nil
	})
}

// eachFolder calls do for every run of names that are in one folder, until it fails.
func eachFolder(names []string, do func(dir string, from, to int) error) error {
	for from := 0; from < len(names); {
		dir := path.Dir(names[from])
		to := from + 1
		for to < len(names) && path.Dir(names[to]) == dir {
			to++
		}
		if err := do(dir, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// rootFor returns the root for an operation on name.
func (f FS) rootFor(op, name string) (rootDir, error) {
	if !fs.ValidPath(name) {
		return rootDir{}, nameError(op, name, fs.ErrInvalid)
	}
	root, err := f.root()
	if err != nil {
		return rootDir{}, nameError(op, name, err)
	}
	return root, nil
}

func nameError(op, name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// slab allocates texts in large pieces: one allocation a text would cost the garbage
// collector far more than reading it.
type slab struct{ free []byte }

// slabs are reused, with the memory that is left.
var slabs = sync.Pool{New: func() any { return new(slab) }}

// slabSize is the size of a piece; a text of more than a quarter gets its own.
const slabSize = 1 << 20

// alloc returns n bytes that nobody else uses.
func (s *slab) alloc(n int) []byte {
	if n > slabSize/4 {
		return make([]byte, n)
	}
	if len(s.free) < n {
		s.free = make([]byte, slabSize)
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	return b
}

func isTooBig(size int64) bool { return size > okf.MaxFileBytes }
