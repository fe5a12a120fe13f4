package local

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// CheckPrivate refuses a directory that other users own or can access.
func CheckPrivate(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	own, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || !ok || int(own.Uid) != os.Getuid() {
		return fmt.Errorf("%s: not a directory of yours alone; remove it, or set TMPDIR to another directory", dir)
	}
	return nil
}

// ProcessExists reports whether a process runs. On Linux, one that has ended and that its parent has not waited for
// does not.
func ProcessExists(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return false
	}
	if err := syscall.Kill(n, 0); err != nil {
		return errors.Is(err, syscall.EPERM)
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n)) // PID (NAME) STATE …
	return !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

// removeTries is how often removal is repeated while something still writes there.
const removeTries = 3

// RemoveAll is os.RemoveAll for a tree whose directories may lack permissions. It follows no links.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	for range removeTries {
		if err == nil {
			return nil
		}
		if st, lerr := os.Lstat(dir); lerr == nil && st.IsDir() {
			if cerr := os.Chmod(dir, 0o700); cerr == nil {
				makeRemovable(dir)
			}
		}
		err = os.RemoveAll(dir)
	}
	return err
}

// makeRemovable lets the owner list and empty every directory below dir, as far as possible.
func makeRemovable(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	makeRemovableBelow(root)
}

func makeRemovableBelow(root *os.Root) {
	f, err := root.Open(".")
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	f.Close()
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if sub, err := OpenDir(root, e.Name()); err == nil {
			makeRemovableBelow(sub)
			sub.Close()
		}
	}
}

// OpenDir opens a directory in root, and adds its owner's permissions if they are missing.
func OpenDir(root *os.Root, name string) (*os.Root, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a directory")}
	}
	if st.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := sub.Lstat("."); err != nil || !os.SameFile(st, now) {
		sub.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("changed while it was opened")}
	}
	return sub, nil
}

// RemoveIfExists is os.Remove for a file that may be missing.
func RemoveIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Nonce returns a random name.
func Nonce() string { return strings.ToLower(rand.Text()) }

// Glob lists the paths in a folder whose names match pattern, sorted. Unlike filepath.Glob, it takes dir
// literally. A missing folder holds nothing.
func Glob(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are well-formed
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}
