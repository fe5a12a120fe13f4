package invoke

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
)

// hidden are the folders of a bundle that tell what went on before: a session
// with a fresh context sees none of them.
var hidden = [...]string{"journal", "ledger", "handoffs", "proposals", "tasks"}

// View is files as a session under c may see them. A strict contract's are
// without the journal, the ledger, proposals, tasks and handoffs of the bundle
// at root; its own handoffs and its artifact stay. Any other's are files.
//
// The view bounds what is reached through it: substrates inside odd. A command
// that runs in the repository is bounded by its sandbox alone.
func View(c contract.Contract, files fs.FS, root string) fs.FS {
	if !c.Strict {
		return files
	}
	v := view{files: files, root: root, own: map[string]bool{}}
	keep := func(p string) {
		v.own[path.Clean(p)] = true
		v.own[path.Join(root, p)] = true
	}
	keep(c.Artifact)
	for _, h := range c.Handoffs {
		keep(h.Path)
	}
	return v
}

// view is an fs.FS in which some folders hold only what is owned.
type view struct {
	files fs.FS
	root  string
	own   map[string]bool
}

// isHidden reports whether name is out of sight. A hidden folder that holds
// something owned shows that alone.
func (v view) isHidden(name string) bool {
	for _, h := range hidden {
		dir := path.Join(v.root, h)
		if name != dir && !strings.HasPrefix(name, dir+"/") {
			continue
		}
		if name == dir {
			return !v.hasOwnedBelow(name)
		}
		return !v.own[name] && !v.hasOwnedBelow(name)
	}
	return false
}

func (v view) hasOwnedBelow(dir string) bool {
	for p := range v.own {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// Open opens what is not hidden; what is, is not there.
func (v view) Open(name string) (fs.File, error) {
	if v.isHidden(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := v.files.Open(name)
	if err != nil {
		return nil, err
	}
	if d, ok := f.(fs.ReadDirFile); ok {
		return listing{d, v, name}, nil
	}
	return f, nil
}

// listing is an open folder that does not list what is hidden.
type listing struct {
	fs.ReadDirFile
	v    view
	name string
}

// ReadDir lists what is not hidden.
func (l listing) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		list, err := l.ReadDirFile.ReadDir(n)
		list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return l.v.isHidden(path.Join(l.name, e.Name())) })
		if n <= 0 || err != nil || len(list) > 0 {
			return list, err
		}
	}
}
