//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// rootDir is the folder of an FS.
type rootDir struct{ *os.Root }

func openTop(root *os.Root) (rootDir, error) { return rootDir{root}, nil }

// folder is a folder of the root; it holds nothing open.
type folder struct {
	root rootDir
	dir  string
}

func openFolder(root rootDir, dir string) (folder, error) { return folder{root, dir}, nil }

func (d folder) Close() {}

// open opens a folder or a regular file, but not through a link.
func open(root rootDir, name string) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() && !before.IsDir() {
		return nil, errSpecial
	}
	h, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if now, err := h.Stat(); err != nil || !os.SameFile(before, now) {
		h.Close()
		return nil, errSpecial // something else replaced it
	}
	return h, nil
}

// listFolder lists a folder in order of name.
func listFolder(root rootDir, dir string) ([]fs.DirEntry, error) { return fs.ReadDir(root.FS(), dir) }

// readFile reads a file of the folder into memory of s.
func (d folder) readFile(base string, s *slab) ([]byte, error) {
	h, err := open(d.root, path.Join(d.dir, base))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errSpecial
	}
	if isTooBig(info.Size()) {
		return nil, syscall.EFBIG
	}
	b := s.alloc(int(info.Size()))
	n, err := io.ReadFull(h, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // the file was truncated meanwhile
	}
	return b[:n], err
}

// statFile stats a file of the folder; it is not ok for anything but a regular file.
func (d folder) statFile(base string) (size, changed int64, inode uint64, ok bool) {
	info, err := d.root.Lstat(path.Join(d.dir, base))
	if err != nil || !info.Mode().IsRegular() {
		return 0, 0, 0, false
	}
	return info.Size(), info.ModTime().UnixNano(), 0, true
}
