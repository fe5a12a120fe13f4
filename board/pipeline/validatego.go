package pipeline

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/odd-cli/odd/reconcile/policy"
)

// maxPackages is how many packages are named one by one; more are all of them.
const maxPackages = 200

// goScope is what go checks: of each module, by its folder, some packages or the whole.
type goScope struct {
	tree     fs.FS
	built    func(dir, name string) bool // a file that these commands look at
	whole    map[string]bool
	packages map[string]map[string]bool
}

// goChecks returns go build, go vet and go test of the packages that a change can affect,
// in every module. go refuses a package by name that has no file for this build, so such a
// one is left out and told by a finding.
func goChecks(files []Edit, p Project) ([]Check, []policy.Finding) {
	s := goScope{p.Files, p.mayBeBuilt, map[string]bool{}, map[string]map[string]bool{}}
	var changed []string
	for _, f := range files {
		mod, inside := moduleOf(p.Files, path.Dir(f.Path))
		if !inside {
			continue
		}
		if s.packages[mod] == nil {
			s.packages[mod] = map[string]bool{}
		}
		if slices.Contains([]string{"go.mod", "go.sum", "go.work", "modules.txt"}, path.Base(f.Path)) {
			s.whole[mod] = true
		}
		if dir, ok := packageOf(p, mod, f.Path); ok {
			changed = append(changed, dir)
		}
	}
	for mod := range s.packages {
		s.whole[mod] = s.whole[mod] || p.Graph == nil || len(p.Graph.Problems()) > 0
	}
	if p.Graph != nil {
		for _, dir := range p.Graph.affectedPackages(changed) {
			s.addPackage(dir)
		}
	}
	skipped := s.dropUnbuilt()
	checks := s.listChecks()
	if !slices.ContainsFunc(files, func(f Edit) bool { return isGoFile(path.Base(f.Path)) }) {
		for i := range checks {
			checks[i].Name += " (no Go file changed)"
		}
	}
	return checks, skipped
}

func (s goScope) addPackage(dir string) {
	mod, inside := moduleOf(s.tree, dir)
	if !inside || !hasGoFile(s.tree, dir) {
		return
	}
	if s.packages[mod] == nil {
		s.packages[mod] = map[string]bool{}
	}
	s.packages[mod][dir] = true
}

// dropUnbuilt removes the packages without a file for this build, with a soft finding each.
// Where a whole module is checked, go skips them by itself.
func (s goScope) dropUnbuilt() (out []policy.Finding) {
	for _, mod := range slices.Sorted(maps.Keys(s.packages)) {
		for _, dir := range sortedNames(s.packages[mod]) {
			if s.whole[mod] || s.hasFile(dir, isGoFile) {
				continue
			}
			delete(s.packages[mod], dir)
			out = append(out, policy.Finding{Code: "check_skipped", Severity: policy.Soft, How: policy.ByBytes, Path: dir,
				Text: "its build constraints exclude this computer, so nothing here compiled or tested it", Fix: "check it where its build constraints hold"})
		}
	}
	return out
}

// hasFile reports a file of a package that is for this build and whose name matches.
func (s goScope) hasFile(dir string, match func(string) bool) bool {
	return folderHas(s.tree, dir, func(name string) bool { return match(name) && s.built(dir, name) })
}

func (s goScope) listChecks() []Check {
	var out []Check
	mods := map[string]bool{}
	for mod := range s.packages {
		mods[mod] = true
	}
	for _, mod := range sortedNames(mods) {
		patterns := s.listPatterns(mod)
		if len(patterns) == 0 {
			continue
		}
		gomod, _ := fs.ReadFile(s.tree, path.Join(mod, "go.mod"))
		name, where := modfile.ModulePath(gomod), mod
		if where == "." {
			where = ""
		}
		add := func(tests bool, patterns []string, words ...string) {
			c := Check{Name: strings.Join(words[:2], " "), Argv: append(words, patterns...), Dir: where, Tests: tests, Module: name}
			if where != "" {
				c.Name += " in " + where
			}
			out = append(out, c)
		}
		if build := s.buildablePatterns(mod, patterns); len(build) > 0 {
			add(false, build, "go", "build", "-o", "/dev/null")
		}
		add(false, patterns, "go", "vet")
		add(s.hasTests(mod, patterns), patterns, "go", "test")
	}
	return out
}

// listPatterns are a module's packages as go is told them.
func (s goScope) listPatterns(mod string) []string {
	all := []string{"./..."}
	if s.whole[mod] {
		if !treeHas(s.tree, mod, isGoFile) {
			return nil
		}
		return all
	}
	var out []string
	for _, dir := range sortedNames(s.packages[mod]) {
		out = append(out, strings.TrimSuffix("./"+relativeFolder(mod, dir), "/."))
	}
	if len(out) > maxPackages {
		return all
	}
	return out
}

// buildablePatterns leaves out packages that are tests alone, which go build refuses by name.
func (s goScope) buildablePatterns(mod string, patterns []string) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		return p != "./..." && !s.hasFile(path.Join(mod, p), func(name string) bool { return isGoFile(name) && !isGoTest(name) })
	})
}

// relativeFolder returns a folder relative to its module, "." for the module's own.
func relativeFolder(mod, dir string) string {
	if mod == "." {
		return dir
	}
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(dir, mod), "/"), ".")
}

func moduleOf(tree fs.FS, dir string) (string, bool) {
	for {
		if info, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		if dir == "." || dir == "/" {
			return ".", false
		}
		dir = path.Dir(dir)
	}
}

// packageOf returns the package of a file, or the nearest one above it in its module, which
// may embed or read the file.
func packageOf(p Project, mod, file string) (string, bool) {
	if p.Graph != nil {
		if dir, ok := p.Graph.Package(file); ok {
			return dir, true
		}
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if hasGoFile(p.Files, dir) {
			return dir, true
		}
		if dir == mod || dir == "." || dir == "/" {
			return "", false
		}
	}
}

func hasGoFile(tree fs.FS, dir string) bool {
	return folderHas(tree, dir, isGoFile)
}

func (s goScope) hasTests(mod string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "./..." {
			return treeHas(s.tree, mod, isGoTest)
		}
		return s.hasFile(path.Join(mod, p), isGoTest)
	})
}

func isGoFile(name string) bool { return strings.HasSuffix(name, ".go") }

func isGoTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// mayBeBuilt reports a Go file that go may build here. It tries with and without a C
// compiler, and with this and any later version of go, because only go knows which it has.
func (p Project) mayBeBuilt(dir, name string) bool {
	if p.Build == nil {
		return true
	}
	c := *p.Build
	c.JoinPath = path.Join
	c.OpenFile = func(name string) (io.ReadCloser, error) { return p.Files.Open(name) }
	var later []string
	for n := range 100 {
		later = append(later, fmt.Sprintf("go1.%d", n))
	}
	for _, c.CgoEnabled = range []bool{true, false} {
		for _, c.ReleaseTags = range [][]string{p.Build.ReleaseTags, later} {
			if is, err := c.MatchFile(dir, name); is || err != nil {
				return true
			}
		}
	}
	return false
}

// folderHas reports a regular file in a folder whose name matches.
func folderHas(tree fs.FS, dir string, match func(string) bool) bool {
	entries, err := fs.ReadDir(tree, dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() && match(e.Name()) })
}

// treeHas reports one in a folder or below, and true where the tree cannot be read. It skips
// the folders that go skips.
func treeHas(tree fs.FS, root string, match func(string) bool) bool {
	found := false
	err := fs.WalkDir(tree, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && isSkippedFolder(d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && match(d.Name()):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found || err != nil
}
