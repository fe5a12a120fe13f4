package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

const outsideTree = "path_outside_repo"

// tree is where the session reads and writes: its desk, or the pinned base alone,
// which nobody can write. The zero value holds nothing.
type tree struct {
	root  *os.Root // nil without a desk
	files fs.FS
	desk  session.Desk
	tops  []string // where the desk's tree lies, by its name and without symbolic links
}

// openTree opens the session's desk, or its base where it has none.
func openTree(ctx context.Context, r session.Request) (tree, error) {
	if r.Desk == nil {
		return tree{files: r.Files}, nil
	}
	d, err := r.Desk(ctx)
	if err != nil {
		return tree{}, err
	}
	root, err := os.OpenRoot(d.Tree)
	if err != nil {
		return tree{}, fmt.Errorf("the session's desk: %w", err)
	}
	t := tree{root: root, files: r.Files, desk: d, tops: []string{d.Tree}}
	if real, err := filepath.EvalSymlinks(d.Tree); err == nil {
		t.tops = append(t.tops, real)
	}
	return t, nil
}

func (t tree) close() error {
	if t.root == nil {
		return nil
	}
	return t.root.Close()
}

// trimRoot is a path as the tools have it: from the top of the tree, which is "". A path
// may begin with "./" and with the scratch clone's own place.
func (t tree) trimRoot(p string) string {
	if t.desk.Tree != "" && path.IsAbs(p) {
		for _, top := range t.tops {
			if rest, ok := strings.CutPrefix(p, top); ok && (rest == "" || rest[0] == '/') {
				p = "." + rest
				break
			}
		}
	}
	for p != strings.TrimPrefix(p, "./") {
		p = strings.TrimPrefix(p, "./")
	}
	if p == "." {
		return ""
	}
	return p
}

// checkContained walks to a path and says why it is not one of the tree's: a symbolic
// link stands in the way, or something that is no folder. What is not there yet is
// contained.
func (t tree) checkContained(p string) error {
	if t.root == nil {
		return nil
	}
	dir, err := t.openFolder(path.Dir(p), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Lstat(path.Base(p))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return failWith(outsideTree, "%s is a symbolic link, which is not followed", p)
	}
	return nil
}

// openFolder opens a folder of the desk, name by name, and follows no link: each is
// opened and then compared with what stands under its name, so that one that is
// put in its place in between is found. With make it makes what is not there. The
// caller closes it.
func (t tree) openFolder(p string, make bool) (*os.Root, error) {
	at, err := t.root.OpenRoot(".")
	if err != nil || p == "." || p == "" {
		return at, err
	}
	for _, name := range strings.Split(p, "/") {
		if make {
			if err := at.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				at.Close()
				return nil, err
			}
		}
		next, err := openStep(at, name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openStep opens the folder name of at, which must be one and no link.
func openStep(at *os.Root, name string) (*os.Root, error) {
	is, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case is.Mode()&fs.ModeSymlink != 0:
		return nil, failWith(outsideTree, "%s is a symbolic link, which is not followed", name)
	case !is.IsDir():
		return nil, failWith("not_a_folder", "%s is no folder", name)
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(is, opened) {
		err = failWith(outsideTree, "%s was changed while it was opened", name)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// readFile reads a regular file of at most limit bytes. Its mode says whether it may be run.
func (t tree) readFile(p string, limit int) ([]byte, fs.FileMode, error) {
	if t.root == nil {
		return loadFrom(t.files, p, limit)
	}
	dir, err := t.openFolder(path.Dir(p), false)
	if err != nil {
		return nil, 0, asMissing(p, err)
	}
	defer dir.Close()
	name := path.Base(p)
	is, err := dir.Lstat(name)
	if err != nil {
		return nil, 0, asMissing(p, err)
	}
	if !is.Mode().IsRegular() {
		return nil, 0, failWith("not_a_file", "%s is no regular file", p)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, asMissing(p, err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(is, opened) {
		return nil, 0, failWith(outsideTree, "%s was changed while it was opened", p)
	}
	b, err := readLimited(f, p, limit)
	return b, is.Mode(), err
}

// loadFrom is load without a desk.
func loadFrom(files fs.FS, p string, limit int) ([]byte, fs.FileMode, error) {
	if files == nil {
		return nil, 0, failWith("missing", "this session has no files")
	}
	is, err := fs.Lstat(files, p)
	if err != nil {
		return nil, 0, asMissing(p, err)
	}
	if !is.Mode().IsRegular() {
		return nil, 0, failWith("not_a_file", "%s is no regular file", p)
	}
	f, err := files.Open(p)
	if err != nil {
		return nil, 0, asMissing(p, err)
	}
	defer f.Close()
	b, err := readLimited(f, p, limit)
	return b, is.Mode(), err
}

func readLimited(r io.Reader, p string, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(b) > limit {
		err = failWith("too_large", "%s is over %d bytes", p, limit)
	}
	return b, err
}

// asMissing tells what is not there without telling where the desk is.
func asMissing(p string, err error) error {
	var f *failure
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return failWith("missing", "%s is not there", p)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return failWith("unreadable", "%s: %v", p, pe.Err)
	}
	return failWith("unreadable", "%s cannot be read", p)
}

// mostFiles is how many files one call looks at.
const mostFiles = 50_000

// file is one regular file that a walk met.
type file struct {
	path string
	size int64
	load func(limit int) ([]byte, error)
}

// walkFiles visits the regular files below dir in the order of their paths: those of
// git, and what lies behind symbolic links, are not visited. full says that there
// were more than one call looks at. A visit that returns false ends it.
func (t tree) walkFiles(ctx context.Context, dir string, visit func(file) bool) (full bool, err error) {
	view := t.openView()
	if view == nil {
		return false, failWith("missing", "this session has no files")
	}
	n := 0
	err = fs.WalkDir(view, dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == dir:
			return asMissing(dir, err)
		case err != nil: // it was taken away, or replaced, in between
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && p != "." && policy.InGit(e.Name()):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		if n++; n > mostFiles {
			full = true
			return fs.SkipAll
		}
		size := int64(0)
		if info, err := e.Info(); err == nil {
			size = info.Size()
		}
		if !visit(file{p, size, func(limit int) ([]byte, error) { b, _, err := t.readFile(p, limit); return b, err }}) {
			return fs.SkipAll
		}
		return nil
	})
	return full, err
}

// openView is the tree as it is read name by name; nil where there is none.
func (t tree) openView() fs.FS {
	if t.root != nil {
		return t.root.FS()
	}
	return t.files
}
