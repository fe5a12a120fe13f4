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
	"time"

	"golang.org/x/mod/modfile"

	"github.com/odd-cli/odd/reconcile/policy"
)

// maxPackages is how many packages are named one by one; more are all of them.
const maxPackages = 200

// goChecks returns go build, go vet and go test of the packages that a change can affect, in
// every module: the whole module where the change is about the module, or nobody knows who
// imports what. go refuses a package by name that has no file for this build, so such a one is
// left out and told by a soft finding.
func goChecks(files []Edit, p Project, timeout time.Duration) (checks []Check, skipped []policy.Finding) {
	whole, packages := map[string]bool{}, map[string][]string{} // by the module's folder
	var changed []string
	suffix := " (no Go file changed)"
	for _, f := range files {
		if isGoFile(f.Path) {
			suffix = ""
		}
		mod, inside := moduleOf(p.Files, path.Dir(f.Path))
		if !inside {
			continue
		}
		packages[mod] = nil
		whole[mod] = whole[mod] || len(p.Graph.Problems()) > 0 || slices.Contains([]string{"go.mod", "go.sum", "go.work", "modules.txt"}, path.Base(f.Path))
		if dir, ok := p.Graph.packageAround(mod, f.Path); ok {
			changed = append(changed, dir)
		}
	}
	for _, dir := range p.Graph.affectedPackages(changed) {
		mod, inside := moduleOf(p.Files, dir)
		switch {
		case !inside:
		case whole[mod] || p.builds(dir, isGoFile):
			packages[mod] = append(packages[mod], dir)
		default:
			skipped = append(skipped, policy.Finding{Code: "check_skipped", Severity: policy.Soft, How: policy.ByBytes, Path: dir,
				Text: "its build constraints exclude this computer, so nothing here compiled or tested it", Fix: "check it where its build constraints hold"})
		}
	}
	for _, mod := range slices.Sorted(maps.Keys(packages)) {
		of := p.moduleChecks(mod, packages[mod], whole[mod])
		for i := range of {
			of[i].Name, of[i].Timeout = of[i].Name+suffix, timeout
		}
		checks = append(checks, of...)
	}
	return checks, skipped
}

// moduleChecks are the checks of some packages of a module, or of the whole.
func (p Project) moduleChecks(mod string, dirs []string, whole bool) (out []Check) {
	build, all, tests := []string{"./..."}, []string{"./..."}, false
	if whole || len(dirs) > maxPackages {
		if !p.Graph.hasFile(mod, isGoFile) {
			return nil
		}
		tests = p.Graph.hasFile(mod, isGoTest)
	} else {
		build, all = nil, nil
		for _, dir := range dirs {
			pattern := strings.TrimSuffix("./"+relativeFolder(mod, dir), "/.")
			all = append(all, pattern)
			if p.builds(dir, func(name string) bool { return isGoFile(name) && !isGoTest(name) }) {
				build = append(build, pattern) // go build refuses by name a package that is tests alone
			}
			tests = tests || p.builds(dir, isGoTest)
		}
	}
	gomod, _ := fs.ReadFile(p.Files, path.Join(mod, "go.mod"))
	where, in := "", ""
	if mod != "." {
		where, in = mod, " in "+mod
	}
	add := func(tests bool, patterns []string, words ...string) {
		if len(patterns) > 0 {
			out = append(out, Check{Name: strings.Join(words[:2], " ") + in, Argv: append(words, patterns...), Dir: where, Tests: tests, Module: modfile.ModulePath(gomod)})
		}
	}
	add(false, build, "go", "build", "-o", "/dev/null")
	add(false, all, "go", "vet")
	add(tests, all, "go", "test")
	return out
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

// packageAround returns the package of a file, or the nearest one above it in its module, which
// may embed or read the file.
func (g *Graph) packageAround(mod, file string) (string, bool) {
	if dir, ok := g.Package(file); ok {
		return dir, true
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if g.packages[dir] != nil || dir == mod || dir == "." {
			return dir, g.packages[dir] != nil
		}
	}
}

func isGoFile(name string) bool { return strings.HasSuffix(name, ".go") }

func isGoTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// builds reports a file of a package that matches and that go may build here.
func (p Project) builds(dir string, match func(string) bool) bool {
	entries, err := fs.ReadDir(p.Files, dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && match(e.Name()) && p.mayBeBuilt(dir, e.Name())
	})
}

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

// hasFile reports a file in a folder or below that matches, in no folder that go skips.
func (g *Graph) hasFile(root string, match func(name string) bool) bool {
	return slices.ContainsFunc(g.Files, func(file string) bool {
		below, in := file, root == "."
		if !in {
			below, in = strings.CutPrefix(file, root+"/")
		}
		return in && match(path.Base(file)) && !isSkipped(path.Dir(below))
	})
}
