package okf

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Reload is Load for a bundle of which only the changed paths differ from the
// one that g and its problems prior came from: atoms of other paths are taken
// over, files that could not be read are read again. A changed path may be new,
// different or gone. It costs what changed, and what mentions it.
func Reload(f fs.FS, g *Graph, prior []Problem, changed map[string]bool) (*Graph, []Problem) {
	files := map[string]reading{}
	var walk []Problem
	for _, p := range prior {
		switch {
		case ofWalk(p) && !changed[p.Path]:
			walk = append(walk, p)
		case p.Code == codeUnreadable:
			files[p.Path] = reading{}
		}
	}
	for p := range changed {
		files[p] = reading{}
	}
	for p := range files {
		r, special := readAgain(f, p)
		files[p] = r
		walk = append(walk, special...)
	}
	out, ps := g.change(files)
	return out, inOrder(ps, walk)
}

// readAgain reads one path as Load would have. A path that is gone, or that no
// Load looks at, is gone; one that is no file is, and has a problem.
func readAgain(f fs.FS, file string) (reading, []Problem) {
	gone := reading{path: file, gone: true}
	hidden := strings.HasPrefix(file, ".") || strings.Contains(file, "/.")
	atom := strings.HasSuffix(file, ".md")
	if hidden || !atom && path.Ext(file) != "" {
		return gone, nil
	}
	info, err := fs.Lstat(f, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone, nil
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return gone, []Problem{special(file)}
	case err == nil && info.IsDir(), !atom:
		return gone, nil
	}
	return read(f, file), nil
}
