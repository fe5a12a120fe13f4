//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// top is the folder that all others lie below.
type top struct{ *os.Root }

func openTop(root *os.Root) (top, error) { return top{root}, nil }

// folder is a folder of the root; nothing of it is open.
type folder struct {
	root top
	dir  string
}

func openFolder(root top, dir string) (folder, error) { return folder{root, dir}, nil }

// Close ends the use of the folder.
func (d folder) Close() {}

// open opens a folder, or a regular file that no link leads to.
func open(root top, name string) (*os.File, error) {
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
		return nil, errSpecial // something else took its place
	}
	return h, nil
}

// list lists a folder in order of name.
func list(root top, dir string) ([]fs.DirEntry, error) { return fs.ReadDir(root.FS(), dir) }

// read reads a file of the folder into room of s.
func (d folder) read(base string, s *slab) ([]byte, error) {
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
	if tooBig(info.Size()) {
		return nil, syscall.EFBIG
	}
	b := s.room(int(info.Size()))
	n, err := io.ReadFull(h, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // it was cut short meanwhile
	}
	return b[:n], err
}

// stat looks at a file of the folder; what is no regular file is not ok.
func (d folder) stat(base string) (size, changed int64, inode uint64, ok bool) {
	info, err := d.root.Lstat(path.Join(d.dir, base))
	if err != nil || !info.Mode().IsRegular() {
		return 0, 0, 0, false
	}
	return info.Size(), info.ModTime().UnixNano(), 0, true
}
