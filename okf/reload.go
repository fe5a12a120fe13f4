package okf

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// Reload is Load for a bundle of which only the changed paths differ from the
// one that g and its problems prior came from: atoms of other paths are taken
// over, files that gave a problem are read again. A changed path may be new,
// different or gone.
func Reload(f fs.FS, g *Graph, prior []Problem, changed map[string]bool) (*Graph, []Problem) {
	var found []reading
	again := map[string]bool{}
	for p := range changed {
		again[p] = true
	}
	var kept []Problem
	for _, p := range prior {
		switch {
		case changed[p.Path]:
		case p.Code == codeSymlink || !strings.HasSuffix(p.Path, ".md"):
			kept = append(kept, p)
		default:
			again[p.Path] = true
		}
	}
	for _, a := range g.Atoms() {
		if !again[a.Path] {
			found = append(found, reading{path: a.Path, atom: a})
		}
	}
	for p := range again {
		if r, ok := readAgain(f, p); ok {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b reading) int { return strings.Compare(a.path, b.path) })
	out, ps := assemble(found, make([]Atom, len(found)))
	ps = append(ps, kept...)
	sortProblems(ps)
	return out, ps
}

// readAgain reads one path as Load would have; a path that is gone, or that no
// Load looks at, is not ok.
func readAgain(f fs.FS, file string) (reading, bool) {
	hidden := strings.HasPrefix(file, ".") || strings.Contains(file, "/.")
	if hidden || !strings.HasSuffix(file, ".md") {
		return reading{}, false
	}
	info, err := fs.Lstat(f, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reading{}, false
	case err == nil && !info.Mode().IsRegular():
		return reading{path: file, problems: []Problem{special(file)}}, !info.IsDir()
	}
	return read(f, file, new(Atom)), true
}
