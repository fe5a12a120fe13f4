// Package disk is a folder of the machine as the file system a bundle is
// loaded from.
//
// It is os.Root in all it promises: nothing outside the folder is ever read,
// whatever links lie in it and whoever moves them meanwhile. Beyond that a file
// is never opened through a symlink, even one that took its place after it was
// listed, and what is no regular file is not opened at all, so that a named pipe
// cannot make a reader wait.
//
// okf reads and looks at files by the thousand through ReadMany and StatMany.
// Where the system has openat they take a handle of each folder once and cost
// four and one system calls a file.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// FS is a folder. It may be used by many goroutines at once.
type FS struct {
	root func() (top, error)
}

// Dir is the folder at dir, which is opened at its first use; where it cannot
// be, every use returns that error. It stays open as long as the FS is used.
func Dir(dir string) FS {
	return FS{sync.OnceValues(func() (top, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return top{}, err
		}
		return openTop(root)
	})}
}

// errSpecial is what opening a pipe, a socket or a device gives.
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
	entries, err := list(root, name)
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

// ReadLink is where a symlink leads.
func (f FS) ReadLink(name string) (string, error) {
	root, err := f.rootFor("readlink", name)
	if err != nil {
		return "", err
	}
	return root.Readlink(name)
}

// ReadMany reads files and hands each to fn in the order of names, which fares
// best when files of a folder stand together. fn owns data. The error is fn's,
// or that of the first file that is not there, is no regular one, is over
// okf.MaxFileBytes or cannot be read. A file that grows meanwhile is read as
// far as it reached when it was opened.
func (f FS) ReadMany(names []string, fn func(name string, data []byte) error) error {
	root, err := f.rootFor("open", ".")
	if err != nil {
		return err
	}
	s := slabs.Get().(*slab)
	defer slabs.Put(s)
	return folders(names, func(dir string, from, to int) error {
		h, err := openFolder(root, dir)
		if err != nil {
			return err
		}
		defer h.Close()
		for _, name := range names[from:to] {
			b, err := h.read(path.Base(name), s)
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

// StatMany looks at files and hands fn the place in names, the size in bytes,
// the time of change, in Unix nanoseconds, and the inode of each that is a
// regular file; where the system names no inodes, that is 0 for all.
func (f FS) StatMany(names []string, fn func(i int, size, changed int64, inode uint64)) {
	root, err := f.rootFor("lstat", ".")
	if err != nil {
		return
	}
	_ = folders(names, func(dir string, from, to int) error {
		h, err := openFolder(root, dir)
		if err != nil {
			return nil
		}
		defer h.Close()
		for i := from; i < to; i++ {
			if size, changed, inode, ok := h.stat(path.Base(names[i])); ok {
				fn(i, size, changed, inode)
			}
		}
		return nil
	})
}

// folders calls do for every run of names[from:to] that are in one folder,
// until it fails.
func folders(names []string, do func(dir string, from, to int) error) error {
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

// rootFor returns the root, for an operation on name.
func (f FS) rootFor(op, name string) (top, error) {
	if !fs.ValidPath(name) {
		return top{}, nameError(op, name, fs.ErrInvalid)
	}
	root, err := f.root()
	if err != nil {
		return top{}, nameError(op, name, err)
	}
	return root, nil
}

// nameError names the file that an error is about.
func nameError(op, name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// slab hands out room for texts from long pieces of memory: a text a piece
// would cost the collector far more than reading it.
type slab struct{ free []byte }

// slabs are kept from one call to the next, with the room that is left.
var slabs = sync.Pool{New: func() any { return new(slab) }}

// slabSize is the length of a piece; a text of over a quarter has its own.
const slabSize = 1 << 20

// room is n bytes that are nobody else's.
func (s *slab) room(n int) []byte {
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

// tooBig reports a size that is not read at once.
func tooBig(size int64) bool { return size > okf.MaxFileBytes }
