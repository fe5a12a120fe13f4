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

// nofollow opens the file itself, not the target of a link, and does not block.
const nofollow = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// rootDir is the folder of an FS, with a handle on it.
type rootDir struct {
	*os.Root
	handle *os.File
	fd     int // of the handle
}

func openTop(root *os.Root) (rootDir, error) {
	h, err := root.Open(".")
	if err != nil {
		return rootDir{}, err
	}
	return rootDir{root, h, int(h.Fd())}, nil
}

// folder is the descriptor of an open folder.
type folder int

// openFolder opens a folder: in one system call if the system can confine it as os.Root
// does, and else through the root.
func openFolder(root rootDir, dir string) (folder, error) {
	if fd, err := openBeneath(root.fd, dir); err == nil {
		return folder(fd), nil
	}
	h, err := root.Open(dir)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	// A folder that os.Root opened stats every file it lists; a second handle does not.
	d, err := folder(h.Fd()).openat(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	return folder(d), err
}

func (d folder) Close() { unix.Close(int(d)) }

// open opens a folder or a regular file, but not through a link.
func open(root rootDir, name string) (*os.File, error) {
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
	if err = retryEINTR(func() error { return unix.Fstat(fd, &st) }); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = errSpecial
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return newFile(root, fd, name), nil
}

// newFile returns a file with its full name, which the descriptions of a folder's files
// need.
func newFile(root rootDir, fd int, name string) *os.File {
	return os.NewFile(uintptr(fd), filepath.Join(root.Name(), filepath.FromSlash(name)))
}

// listFolder lists a folder in order of name.
func listFolder(root rootDir, dir string) ([]fs.DirEntry, error) {
	d, err := openFolder(root, dir)
	if err != nil {
		return nil, err
	}
	h := newFile(root, int(d), dir)
	defer h.Close()
	entries, err := h.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (d folder) openat(base string, flags int) (fd int, err error) {
	err = retryEINTR(func() error {
		fd, err = unix.Openat(int(d), base, flags, 0)
		return err
	})
	return fd, err
}

// readFile reads a file of the folder into memory of s.
func (d folder) readFile(base string, s *slab) ([]byte, error) {
	fd, err := d.openat(base, nofollow)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errSpecial
	}
	if isTooBig(st.Size) {
		return nil, unix.EFBIG
	}
	b := s.alloc(int(st.Size))
	for at := 0; at < len(b); {
		n, err := unix.Read(fd, b[at:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		}
		if n == 0 && err == nil {
			return b[:at], nil // the file was truncated meanwhile
		}
		at += max(n, 0)
	}
	return b, nil
}

// statFile stats a file of the folder; it is not ok for anything but a regular file. The
// time is that of the inode, which no program can set. A program that restores the time of
// modification (touch -r, tar, rsync -t) cannot hide its change. The device is left out,
// because a file system may have another one after each mount.
func (d folder) statFile(base string) (size, changed int64, inode uint64, ok bool) {
	var st unix.Stat_t
	err := retryEINTR(func() error { return unix.Fstatat(int(d), base, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, 0, 0, false
	}
	return st.Size, unix.TimespecToNsec(st.Ctim), uint64(st.Ino), true
}

// retryEINTR calls do until no signal interrupts it.
func retryEINTR(do func() error) error {
	for {
		if err := do(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
