//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// nofollow opens a file itself, not what a link leads to, and waits for nobody.
const nofollow = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// top is the folder that all others lie below, and a handle of it.
type top struct {
	*os.Root
	handle *os.File
	fd     int // that of the handle
}

func openTop(root *os.Root) (top, error) {
	h, err := root.Open(".")
	if err != nil {
		return top{}, err
	}
	return top{root, h, int(h.Fd())}, nil
}

// folder is the descriptor of an open folder.
type folder int

// openFolder opens a folder: by one call where the system confines it as a root
// does, and else, or where that fails, through the root.
func openFolder(root top, dir string) (folder, error) {
	if fd, err := beneath(root.fd, dir); err == nil {
		return folder(fd), nil
	}
	h, err := root.Open(dir)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	// What a root opened looks at every file it lists; a second handle does not.
	d, err := folder(h.Fd()).openat(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	return folder(d), err
}

// Close ends the use of the folder.
func (d folder) Close() { unix.Close(int(d)) }

// open opens a folder, or a regular file that no link leads to.
func open(root top, name string) (*os.File, error) {
	if name == "." {
		return root.Open(name)
	}
	d, err := openFolder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	fd, err := d.openat(path.Base(name), nofollow)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = again(func() error { return unix.Fstat(fd, &st) }); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = errSpecial
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return handle(root, fd, name), nil
}

// handle is a file by its whole name, which what a folder lists is described by.
func handle(root top, fd int, name string) *os.File {
	return os.NewFile(uintptr(fd), filepath.Join(root.Name(), filepath.FromSlash(name)))
}

// list lists a folder in order of name.
func list(root top, dir string) ([]fs.DirEntry, error) {
	d, err := openFolder(root, dir)
	if err != nil {
		return nil, err
	}
	h := handle(root, int(d), dir)
	defer h.Close()
	entries, err := h.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (d folder) openat(base string, flags int) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(int(d), base, flags, 0)
		return err
	})
	return fd, err
}

// read reads a file of the folder into room of s.
func (d folder) read(base string, s *slab) ([]byte, error) {
	fd, err := d.openat(base, nofollow)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errSpecial
	}
	if tooBig(st.Size) {
		return nil, unix.EFBIG
	}
	b := s.room(int(st.Size))
	for at := 0; at < len(b); {
		n, err := unix.Read(fd, b[at:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		}
		if n == 0 && err == nil {
			return b[:at], nil // it was cut short meanwhile
		}
		at += max(n, 0)
	}
	return b, nil
}

// stat looks at a file of the folder; what is no regular file is not ok. The time
// is that of its inode, which no program sets: one that keeps the time of the
// text (touch -r, tar, rsync -t) does not hide that it wrote. The device is left
// out: a file system may have another one each time it is mounted.
func (d folder) stat(base string) (size, changed int64, inode uint64, ok bool) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(int(d), base, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, 0, 0, false
	}
	return st.Size, unix.TimespecToNsec(st.Ctim), uint64(st.Ino), true
}

// again calls do until no signal breaks it off.
func again(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
