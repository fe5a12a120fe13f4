package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// scratchScan walks a scratch tree without git and compares it with the base. It follows no link and opens only
// regular files.
type scratchScan struct {
	ctx     context.Context
	db      *object.DB
	lim     Limits
	base    map[string]object.Entry // every file, link and submodule of the base
	seen    map[string]bool         // paths of base that are still there
	found   []foundPath
	folders int // of the base
	entries int
}

// foundPath is a path that differs from the base.
type foundPath struct {
	path  string
	mode  string // "100644" or "100755"; "" if it was deleted or is unfit
	size  int64
	unfit *Unfit
}

// listBase records every file, link and submodule of the base by its path.
func (k *scratchScan) listBase(tree repo.OID, at string) error {
	if err := k.ctx.Err(); err != nil {
		return context.Cause(k.ctx)
	}
	entries, err := k.db.List(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			k.base[at+e.Name] = e
			continue
		}
		k.folders++
		if err := k.listBase(e.OID, at+e.Name+"/"); err != nil {
			return err
		}
	}
	return nil
}

// addUnfit adds a path that cannot be part of a change.
func (k *scratchScan) addUnfit(p, code, format string, args ...any) {
	k.found = append(k.found, foundPath{path: p, unfit: &Unfit{Code: code, Path: p, Text: fmt.Sprintf(format, args...)}})
}

// maxDepth is how deep folders of a scratch tree may be nested.
const maxDepth = 200

// scanDir compares one directory; at is "" or ends in a slash. An error ends the walk.
func (k *scratchScan) scanDir(root *os.Root, at string) error {
	if strings.Count(at, "/") > maxDepth {
		k.addUnfit(at[:len(at)-1], UnfitDepth, "more than %d folders deep; flatten it", maxDepth)
		return nil
	}
	f, err := root.Open(".")
	if err != nil {
		return k.addUnreadable(strings.TrimSuffix(at, "/"), err)
	}
	defer f.Close()
	for {
		if err := k.ctx.Err(); err != nil {
			return context.Cause(k.ctx)
		}
		some, err := f.ReadDir(1000)
		for _, e := range some {
			if err := k.scanEntry(root, at, e.Name()); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return k.addUnreadable(strings.TrimSuffix(at, "/"), err)
		}
	}
}

// addUnreadable adds a path that cannot be read; a path that is gone is ignored.
func (k *scratchScan) addUnreadable(p string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	k.addUnfit(p, UnfitUnreadable, "cannot be read: %v", err)
	return nil
}

func (k *scratchScan) scanEntry(root *os.Root, at, name string) error {
	p := at + name
	if p == ".git" {
		return nil // the agent's own repository, which is never read
	}
	if k.entries++; k.entries > k.lim.Entries+len(k.base)+k.folders {
		return Unfits{{Code: UnfitCount, Text: fmt.Sprintf("more than %d files and folders were added; leave out what is built", k.lim.Entries)}}
	}
	st, err := root.Lstat(name)
	if err != nil {
		return k.addUnreadable(p, err)
	}
	was, kept := k.base[p]
	if low := strings.ToLower(name); low == ".git" || low == "git~1" {
		k.addUnfit(p, UnfitRepository, "a repository inside the scratch repository; remove its .git")
		return nil
	}
	if kept && !object.FileMode(was.Mode).IsRegular() {
		k.seen[p] = true
		return k.compareSpecial(root, p, name, was, st)
	}
	switch {
	case st.IsDir():
		return k.scanSubdir(root, p, name)
	case st.Mode()&fs.ModeSymlink != 0:
		k.addUnfit(p, UnfitLink, "a symbolic link; a change is made of files")
	case !st.Mode().IsRegular():
		k.addUnfit(p, UnfitKind, "a %s; a change is made of files", kindName(st.Mode()))
	default:
		k.seen[p] = kept
		return k.compareFile(root, p, name, st, was)
	}
	k.seen[p] = kept // it is unfit, not deleted
	return nil
}

// kindName names a file that is not regular.
func kindName(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// scanSubdir compares a sub-directory.
func (k *scratchScan) scanSubdir(root *os.Root, p, name string) error {
	sub, err := local.OpenDir(root, name)
	if err != nil {
		return k.addUnreadable(p, err)
	}
	defer sub.Close()
	if _, was := k.base[p+"/HEAD"]; !was && looksBare(sub) {
		k.addUnfit(p, UnfitRepository, "a repository inside the scratch repository; remove it")
		return nil
	}
	return k.scanDir(sub, p+"/")
}

// looksBare is isGitDir for an open directory.
func looksBare(dir *os.Root) bool {
	for _, n := range []string{"HEAD", "objects", "refs"} {
		if _, err := dir.Lstat(n); err != nil {
			return false
		}
	}
	return true
}

// compareSpecial compares a symbolic link or a submodule of the base.
func (k *scratchScan) compareSpecial(root *os.Root, p, name string, was object.Entry, st fs.FileInfo) error {
	if was.Mode == object.ModeRepo {
		sub, err := local.OpenDir(root, name)
		if err != nil {
			k.addUnfit(p, UnfitSubmodule, "a submodule; a person moves it")
			return nil
		}
		defer sub.Close()
		f, err := sub.Open(".")
		if err != nil {
			return k.addUnreadable(p, err)
		}
		defer f.Close()
		if names, _ := f.Readdirnames(1); len(names) > 0 {
			k.addUnfit(p, UnfitSubmodule, "a submodule, and something was put into it; a person moves it")
		}
		return nil
	}
	to, err := root.Readlink(name)
	if st.Mode()&fs.ModeSymlink == 0 || err != nil || object.BlobID([]byte(to)) != was.OID {
		k.addUnfit(p, UnfitLink, "a symbolic link, and it was changed; a change is made of files")
	}
	return nil
}

// compareFile compares a regular file. was is its base entry, zero for a new file.
func (k *scratchScan) compareFile(root *os.Root, p, name string, st fs.FileInfo, was object.Entry) error {
	mode := object.ModeFile
	if st.Mode()&0o100 != 0 {
		mode = object.ModeExec
	}
	if was.OID == "" || mode != was.Mode {
		k.found = append(k.found, foundPath{path: p, mode: mode, size: st.Size()})
		return nil
	}
	if same, err := k.isSameBlob(root, name, st, was.OID); same || err != nil {
		return err
	}
	k.found = append(k.found, foundPath{path: p, mode: mode, size: st.Size()})
	return nil
}

// askSize is the size in bytes from which sizes are compared before bytes: a program may leave a file of any size that
// takes no room on the disk.
const askSize = 1 << 20

// isSameBlob reports whether a file's bytes are the blob's; false if it cannot be read.
func (k *scratchScan) isSameBlob(root *os.Root, name string, st fs.FileInfo, oid repo.OID) (bool, error) {
	if st.Size() > askSize {
		if b, err := k.db.Blob(oid); err != nil || int64(len(b)) != st.Size() {
			return false, err
		}
	}
	f, err := openFile(root, name, st)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	id, n, err := object.BlobIDFrom(&stoppable{k.ctx, io.LimitReader(f, st.Size()+1)}, st.Size())
	if k.ctx.Err() != nil {
		return false, context.Cause(k.ctx)
	}
	return err == nil && n == st.Size() && id == oid, nil
}

// openFile opens the regular file that st describes. It does not block if a pipe has taken the file's place.
func openFile(root *os.Root, name string, st fs.FileInfo) (*os.File, error) {
	if own, ok := st.Sys().(*syscall.Stat_t); ok && own.Nlink == 1 && st.Mode().Perm()&0o400 == 0 { // with more links, chmod would change a file elsewhere
		if err := root.Chmod(name, st.Mode().Perm()|0o600); err != nil {
			return nil, err
		}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(st, now) {
		err = &fs.PathError{Op: "open", Path: path.Base(name), Err: errors.New("changed while it was opened")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// stoppable is a reader that stops when its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(b)
}
