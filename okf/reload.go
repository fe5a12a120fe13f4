package okf

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reload is Load for a bundle of which only the changed paths differ from the one that g
// and prior came from. It keeps the atoms of other paths, and reads files again that could
// not be read. A changed path may be new, different or gone. The cost depends only on what
// changed and what mentions it.
func Reload(f fs.FS, g *Graph, prior []Problem, changed map[string]bool) (*Graph, []Problem) {
	files, again := map[string]reading{}, map[string]bool{}
	for p := range changed {
		if utf8.ValidString(p) {
			files[p] = reading{}
		} else if dir := validParent(p); !isSkipped(dir) {
			again[dir] = true
		}
	}
	var walk []Problem
	for _, p := range prior {
		switch {
		case p.Code == codeName && again[path.Dir(p.Path)]:
		case p.Code == codeName, isWalkProblem(p) && !changed[p.Path]: // a bad name may be shown as the path of another file
			walk = append(walk, p)
		case p.Code == codeUnreadable:
			files[p.Path] = reading{}
		}
	}
	for p := range files {
		r, special := rereadFile(f, p)
		files[p] = r
		walk = append(walk, special...)
	}
	for dir := range again {
		walk = append(walk, listBadNames(f, dir)...)
	}
	out, ps := g.applyChanges(files)
	return out, mergeProblems(ps, walk)
}

// isSkipped reports a path with a name that begins with a dot, which Load skips.
func isSkipped(p string) bool {
	return p != "." && strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

// validParent returns the folder of the first name in p that is not UTF-8.
func validParent(p string) string {
	for !utf8.ValidString(p) {
		p = path.Dir(p)
	}
	return p
}

// listBadNames returns the problems of the names in one folder; none if it is gone.
func listBadNames(f fs.FS, dir string) []Problem {
	if info, err := fs.Lstat(f, dir); err != nil || !info.IsDir() {
		return nil
	}
	d := listedFolder{dir: dir}
	d.listEntries(f)
	return slices.DeleteFunc(d.problems, func(p Problem) bool { return p.Code != codeName })
}

// rereadFile reads one path as Load would. A path that is gone, or that Load skips, is
// gone. So is one that is no regular file, but that is also a problem.
func rereadFile(f fs.FS, file string) (reading, []Problem) {
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
		return gone, []Problem{specialFileProblem(file)}
	case err == nil && info.IsDir(), !atom:
		return gone, nil
	}
	return readOne(f, file), nil
}
