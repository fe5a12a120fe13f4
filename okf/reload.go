package okf

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reload is Load for a bundle of which only the changed paths differ from the
// one that g and its problems prior came from: atoms of other paths are taken
// over, files that could not be read are read again. A changed path may be new,
// different or gone. It costs what changed, and what mentions it.
func Reload(f fs.FS, g *Graph, prior []Problem, changed map[string]bool) (*Graph, []Problem) {
	files, again := map[string]reading{}, map[string]bool{}
	for p := range changed {
		if utf8.ValidString(p) {
			files[p] = reading{}
		} else if dir := firstValid(p); !isSkipped(dir) {
			again[dir] = true
		}
	}
	var walk []Problem
	for _, p := range prior {
		switch {
		case p.Code == codeName && again[path.Dir(p.Path)]:
		case p.Code == codeName, ofWalk(p) && !changed[p.Path]: // another file may have the path that a bad name is shown as
			walk = append(walk, p)
		case p.Code == codeUnreadable:
			files[p.Path] = reading{}
		}
	}
	for p := range files {
		r, special := readAgain(f, p)
		files[p] = r
		walk = append(walk, special...)
	}
	for dir := range again {
		walk = append(walk, badNames(f, dir)...)
	}
	out, ps := g.change(files)
	return out, inOrder(ps, walk)
}

// isSkipped reports a path that no Load looks at, for the dot that a name in it
// begins with.
func isSkipped(p string) bool {
	return p != "." && strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

// firstValid is the folder of the first name in p that is not UTF-8, as one is.
func firstValid(p string) string {
	for !utf8.ValidString(p) {
		p = path.Dir(p)
	}
	return p
}

// badNames are the problems of the names in one folder. One that is gone has none.
func badNames(f fs.FS, dir string) []Problem {
	if info, err := fs.Lstat(f, dir); err != nil || !info.IsDir() {
		return nil
	}
	d := listed{dir: dir}
	d.read(f)
	return slices.DeleteFunc(d.problems, func(p Problem) bool { return p.Code != codeName })
}

// readAgain reads one path as Load would have. A path that is gone, or that no
// Load looks at, is gone; one that is no file is, and has a problem.
func readAgain(f fs.FS, file string) (reading, []Problem) {
	gone := reading{path: file, gone: true}
	atom := strings.HasSuffix(file, ".md")
	if isSkipped(file) || !atom && path.Ext(file) != "" || !fs.ValidPath(file) {
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
