package toolbox

import (
	"context"
	"io/fs"

	"github.com/odd-cli/odd/reconcile/policy"
)

// mostFiles is how many files one call looks at.
const mostFiles = 50_000

// file is one regular file that a walk met.
type file struct {
	path string
	size int64
	load func(limit int) ([]byte, error)
}

// walk visits the regular files below dir in the order of their paths: those of
// git, and what lies behind symbolic links, are not visited. full says that there
// were more than one call looks at. A visit that returns false ends it.
func (t tree) walk(ctx context.Context, dir string, visit func(file) bool) (full bool, err error) {
	view := t.view()
	if view == nil {
		return false, failf("missing", "this session has no files")
	}
	n := 0
	err = fs.WalkDir(view, dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == dir:
			return missing(dir, err)
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
		if !visit(file{p, size, func(limit int) ([]byte, error) { b, _, err := t.load(p, limit); return b, err }}) {
			return fs.SkipAll
		}
		return nil
	})
	return full, err
}

// view is the tree as it is read name by name; nil where there is none.
func (t tree) view() fs.FS {
	if t.root != nil {
		return t.root.FS()
	}
	return t.files
}
