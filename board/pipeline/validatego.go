package pipeline

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/odd-cli/odd/reconcile/irongate"
)

// maxPackages is how many packages are named one by one; more are all of them.
const maxPackages = 200

// goChecks are go build, go vet and go test of the packages that a change
// touches, in every module of the tree that it reaches.
func goChecks(files []irongate.File, p Project) []Check {
	whole := map[string]bool{}              // modules to be checked in full
	touched := map[string]map[string]bool{} // of each other module, its folders
	note := func(mod, dir string) {
		if touched[mod] == nil {
			touched[mod] = map[string]bool{}
		}
		touched[mod][dir] = true
	}
	for _, f := range files {
		mod, ok := moduleOf(p.Files, path.Dir(f.Path))
		if base := path.Base(f.Path); base == "go.mod" || base == "go.sum" || base == "go.work" || p.Importers == nil && strings.HasSuffix(base, ".go") {
			whole[mod] = ok
			continue
		}
		if dir, found := packageOf(p.Files, mod, path.Dir(f.Path)); ok && found {
			note(mod, dir)
		}
		if ok && strings.HasSuffix(f.Path, ".go") {
			note(mod, path.Dir(f.Path)) // gone itself, perhaps; who imports it is not
		}
	}
	for mod, dirs := range touched {
		for dir := range closure(dirs, p.Importers) {
			if in, ok := moduleOf(p.Files, dir); ok && in == mod {
				dirs[dir] = true
			} else if ok {
				whole[in] = true // another module of the same workspace
			}
		}
	}
	return goCommands(p.Files, whole, touched)
}

func goCommands(tree fs.FS, whole map[string]bool, touched map[string]map[string]bool) []Check {
	mods := map[string]bool{}
	for mod, ok := range whole {
		mods[mod] = ok
	}
	for mod := range touched {
		mods[mod] = true
	}
	var out []Check
	for _, mod := range sorted(mods) {
		if !mods[mod] {
			continue
		}
		patterns, why := []string{"./..."}, "the whole module, for what builds it changed, or who imports what is not known"
		if !whole[mod] {
			patterns, why = packages(tree, mod, touched[mod]), "the packages that the change touches, and who imports them"
		}
		if len(patterns) == 0 {
			continue
		}
		name := modulePath(tree, mod)
		add := func(tests bool, words ...string) {
			c := Check{Name: strings.Join(words[:2], " "), Argv: append(words, patterns...), Dir: strings.TrimPrefix(mod, "."), Why: why, Tests: tests, Module: name}
			if mod != "." {
				c.Name += " in " + mod
			}
			out = append(out, c)
		}
		add(false, "go", "build", "-o", "/dev/null")
		add(false, "go", "vet")
		add(anyTests(tree, mod, patterns), "go", "test")
	}
	return out
}

// closure is dirs and all that import them, however far away.
func closure(dirs map[string]bool, importers map[string][]string) map[string]bool {
	seen := map[string]bool{}
	todo := sorted(dirs)
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		todo = append(todo, importers[dir]...)
	}
	return seen
}

// packages are patterns for go of the folders of a module that have Go files.
func packages(tree fs.FS, mod string, dirs map[string]bool) []string {
	var out []string
	for _, dir := range sorted(dirs) {
		if hasGo(tree, dir) && !ignored(mod, dir) {
			out = append(out, strings.TrimSuffix("./"+within(mod, dir), "/."))
		}
	}
	if len(out) > maxPackages {
		return []string{"./..."}
	}
	return out
}

// within is a folder as seen from its module, "." for the module's own.
func within(mod, dir string) string {
	if mod == "." {
		return dir
	}
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(dir, mod), "/"), ".")
}

// moduleOf is the folder of the go.mod that a folder belongs to.
func moduleOf(tree fs.FS, dir string) (string, bool) {
	for {
		if isFile(tree, path.Join(dir, "go.mod")) {
			return dir, true
		}
		if dir == "." || dir == "/" {
			return ".", false
		}
		dir = path.Dir(dir)
	}
}

// packageOf is the nearest folder with Go files, from dir up to its module: a
// file beside them, or below in testdata, may be what they embed or read.
func packageOf(tree fs.FS, mod, dir string) (string, bool) {
	for {
		if hasGo(tree, dir) && !ignored(mod, dir) {
			return dir, true
		}
		if dir == mod || dir == "." || dir == "/" {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// ignored reports a folder that go does not look into.
func ignored(mod, dir string) bool {
	rel := within(mod, dir)
	if rel == "." {
		return false
	}
	return slices.ContainsFunc(strings.Split(rel, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}

func hasGo(tree fs.FS, dir string) bool {
	return anyFile(tree, dir, func(name string) bool { return strings.HasSuffix(name, ".go") })
}

func anyFile(tree fs.FS, dir string, match func(string) bool) bool {
	entries, err := fs.ReadDir(tree, dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() && match(e.Name()) })
}

// anyTests reports tests in what the patterns name.
func anyTests(tree fs.FS, mod string, patterns []string) bool {
	for _, p := range patterns {
		if p == "./..." {
			sub, err := fs.Sub(tree, mod)
			return err != nil || hasTests(sub)
		}
		if anyFile(tree, path.Join(mod, p), func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
			return true
		}
	}
	return false
}

// modulePath is the path a go.mod declares, "" where it cannot be told.
func modulePath(tree fs.FS, mod string) string {
	b, err := fs.ReadFile(tree, path.Join(mod, "go.mod"))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(b)
}

func isFile(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	return err == nil && info.Mode().IsRegular()
}
