package pipeline

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// Graph is who imports whom among the Go packages of a repository. A package is
// its folder, "." at the top. All files count, whatever they are built for.
type Graph struct {
	Files []string // every path of the tree, Go or not

	modules  map[string]string // folder of a go.mod → module path
	packages map[string]*goPackage
	problems []string
}

// goPackage is one folder of Go files.
type goPackage struct {
	imports, testImports map[string]bool // import paths
	tested               bool            // it has a test file
}

// ReadGraph reads the graph of a tree: its go.mod files and the imports of its Go
// files, and no more of them. What cannot be read is in Problems.
func ReadGraph(f fs.FS) (*Graph, error) {
	g := &Graph{modules: map[string]string{}, packages: map[string]*goPackage{}}
	err := fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		g.Files = append(g.Files, p)
		if !d.Type().IsRegular() || !hasImports(p) || isSkipped(path.Dir(p)) {
			return nil
		}
		b, err := fs.ReadFile(f, p)
		if err == nil {
			g.addFile(p, b, true)
		}
		return err
	})
	return g, err
}

// isSkipped reports a folder that the go command does not enter.
func isSkipped(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(n string) bool {
		return n == "testdata" || n == "vendor" || n != "." && strings.HasPrefix(n, ".") || strings.HasPrefix(n, "_")
	})
}

// hasImports reports a file that says something about imports.
func hasImports(p string) bool { return path.Ext(p) == ".go" || path.Base(p) == "go.mod" }

func (g *Graph) addFile(p string, b []byte, tests bool) {
	dir, base := path.Dir(p), path.Base(p)
	if base == "go.mod" {
		if m := modfile.ModulePath(b); m != "" {
			g.modules[dir] = m
		} else {
			g.problems = append(g.problems, p+": names no module")
		}
		return
	}
	pkg := g.packages[dir]
	if pkg == nil {
		pkg = &goPackage{imports: map[string]bool{}, testImports: map[string]bool{}}
		g.packages[dir] = pkg
	}
	file, err := parser.ParseFile(token.NewFileSet(), p, b, parser.ImportsOnly)
	if err != nil {
		g.problems = append(g.problems, err.Error())
		return
	}
	into := pkg.imports
	if strings.HasSuffix(base, "_test.go") {
		into = pkg.testImports
		pkg.tested = pkg.tested || tests
	}
	for _, im := range file.Imports {
		if s, err := strconv.Unquote(im.Path.Value); err == nil {
			into[s] = true
		}
	}
}

// With returns g and the imports that a change adds. It removes none, because whoever stops
// importing a package relied on it until now. A test that the change brings does not count.
func (g *Graph) With(edits []Edit) *Graph {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return len(e.After) == 0 || !hasImports(e.Path) || isSkipped(path.Dir(e.Path)) })
	if len(edits) == 0 {
		return g
	}
	n := &Graph{Files: g.Files, modules: maps.Clone(g.modules), packages: map[string]*goPackage{}, problems: slices.Clone(g.problems)}
	for dir, p := range g.packages {
		n.packages[dir] = &goPackage{maps.Clone(p.imports), maps.Clone(p.testImports), p.tested}
	}
	for _, e := range edits {
		n.addFile(e.Path, e.After, false)
	}
	return n
}

// Problems lists what could not be read, by file: a graph with problems may lack
// an edge.
func (g *Graph) Problems() []string {
	out := slices.Clone(g.problems)
	if len(g.packages) > 0 && len(g.modules) == 0 {
		out = append(out, "no go.mod says which module the packages are of")
	}
	return out
}

// Package is the package a file belongs to: the folder it lies in, if Go files lie
// there too, and for what lies below a testdata folder the one around that.
func (g *Graph) Package(p string) (dir string, ok bool) {
	dir = path.Dir(p)
	if before, _, below := strings.Cut("/"+dir+"/", "/testdata/"); below {
		dir = path.Clean(strings.TrimPrefix(before, "/"))
	}
	if _, ok = g.packages[dir]; !ok && path.Ext(p) == ".go" {
		ok = !isSkipped(path.Dir(p))
	}
	return dir, ok
}

func (g *Graph) packagesOf(files []string) []string {
	in := map[string]bool{}
	for _, f := range files {
		if dir, ok := g.Package(f); ok {
			in[dir] = true
		}
	}
	return sortedNames(in)
}

// importPath is what others write to import the package in dir, "" where no
// go.mod says.
func (g *Graph) importPath(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if m, ok := g.modules[at]; ok {
			return path.Join(m, relativeFolder(at, dir))
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}

// importers are the packages that import the one in dir, in their tests or without them.
func (g *Graph) importers(dir string, inTests bool) []string {
	var out []string
	im := g.importPath(dir)
	for d, p := range g.packages {
		if im != "" && map[bool]map[string]bool{true: p.testImports, false: p.imports}[inTests][im] {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// Dependents are the packages that need one of these, directly or through others,
// tests left out; sorted. One of these is among them only if it needs another.
func (g *Graph) Dependents(pkgs []string) []string {
	found := map[string]bool{}
	for next := slices.Clone(pkgs); len(next) > 0; next = next[1:] {
		for _, dir := range g.importers(next[0], false) {
			if !found[dir] {
				found[dir] = true
				next = append(next, dir)
			}
		}
	}
	return sortedNames(found)
}

// affectedPackages returns the packages whose tests a change of these can break: they themselves,
// their dependents, and those whose tests import one of these, sorted.
func (g *Graph) affectedPackages(pkgs []string) []string {
	in := map[string]bool{}
	for _, p := range slices.Concat(pkgs, g.Dependents(pkgs)) {
		for _, dir := range append(g.importers(p, true), p) {
			in[dir] = g.packages[dir] != nil
		}
	}
	maps.DeleteFunc(in, func(_ string, is bool) bool { return !is })
	return sortedNames(in)
}

// Apart reports that neither of two sets of changed files can change what go says about the
// packages of the other: no package imports, itself or in its tests, packages of both.
// Files other than Go files are never apart, because any test may read them.
func (g *Graph) Apart(ours, theirs []string) bool {
	var turned [2][]string
	for i, files := range [2][]string{ours, theirs} {
		for _, f := range files {
			if dir, ok := g.Package(f); path.Ext(f) != ".go" || !ok || g.packages[dir] == nil || dir != path.Dir(f) {
				return false
			}
		}
		turned[i] = g.affectedPackages(g.packagesOf(files))
	}
	return len(g.Problems()) == 0 && !slices.ContainsFunc(turned[0], func(dir string) bool { return slices.Contains(turned[1], dir) })
}

// testCoverage returns how well tests cover a package, in percent: 100 with tests of its
// own, coveredFromAfar where other tests import it.
func (g *Graph) testCoverage(dir string) (int, string) {
	switch p := g.packages[dir]; {
	case p != nil && p.tested:
		return 100, ""
	case len(g.importers(dir, true)) > 0:
		return coveredFromAfar, fmt.Sprintf("%s is tested only by %s", dir, strings.Join(g.importers(dir, true), ", "))
	}
	return 0, dir + " has no tests"
}

// coveredFromAfar is the coverage by tests of other packages, or by a test that is only
// found by its name.
const coveredFromAfar = 80
