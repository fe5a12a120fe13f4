package toolbox

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

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
	w := &walker{ctx: ctx, visit: visit}
	if t.root == nil {
		err = w.base(t.files, dir)
		return w.full, err
	}
	at, err := t.folder(dir)
	if err != nil {
		return false, missing(dir, err)
	}
	defer at.Close()
	err = w.desk(at, dir)
	return w.full, err
}

type walker struct {
	ctx   context.Context
	visit func(file) bool
	n     int
	full  bool
	ended bool
}

// meet counts a file and shows it.
func (w *walker) meet(f file) {
	if w.n++; w.n > mostFiles {
		w.full, w.ended = true, true
		return
	}
	w.ended = !w.visit(f)
}

// desk walks a folder of the desk.
func (w *walker) desk(at *os.Root, dir string) error {
	entries, err := entriesIn(at)
	if err != nil {
		return missing(dir, err)
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil || w.ended {
			return err
		}
		p := path.Join(dir, e.Name())
		switch {
		case policy.InGit(e.Name()):
		case e.IsDir():
			sub, err := step(at, e.Name())
			if err != nil {
				continue // it was taken away, or replaced, in between
			}
			err = w.desk(sub, p)
			sub.Close()
			if err != nil {
				return err
			}
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				continue
			}
			w.meet(file{p, info.Size(), func(limit int) ([]byte, error) { b, _, err := loadIn(at, e.Name(), p, limit); return b, err }})
		}
	}
	return nil
}

// entriesIn are the entries of an opened folder, by name.
func entriesIn(at *os.Root) ([]fs.DirEntry, error) {
	d, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// base walks the pinned base, where there is no desk.
func (w *walker) base(files fs.FS, dir string) error {
	if files == nil {
		return failf("missing", "this session has no files")
	}
	err := fs.WalkDir(files, dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == dir:
			return missing(dir, err)
		case err != nil:
			return nil
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case w.ended:
			return fs.SkipAll
		case e.IsDir() && p != "." && policy.InGit(e.Name()):
			return fs.SkipDir
		case e.Type().IsRegular():
			size := int64(0)
			if info, err := e.Info(); err == nil {
				size = info.Size()
			}
			w.meet(file{p, size, func(limit int) ([]byte, error) { b, _, err := loadFrom(files, p, limit); return b, err }})
		}
		return nil
	})
	return err
}
