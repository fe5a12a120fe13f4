package scratch

import (
	"maps"
	"path"
	"slices"
)

// buildProducts returns the files and folders that builds, tests and package managers leave in a work tree, by name
// or "*.ext". If the name alone is not enough, one of the listed files must be beside it.
func buildProducts() map[string][]string {
	return map[string][]string{
		"__pycache__": nil, "*.pyc": nil, "*.pyo": nil, "*.egg-info": nil, ".eggs": nil, ".pytest_cache": nil, ".mypy_cache": nil, ".ruff_cache": nil, ".hypothesis": nil, ".tox": nil, ".nox": nil, ".venv": nil, ".coverage": nil,
		"node_modules": nil, ".gradle": nil, "*.class": nil, "*.o": nil, ".DS_Store": nil,
		"target": {"Cargo.toml", "pom.xml"}, "build": {"build.gradle", "build.gradle.kts"}, "obj": {"*.csproj"}, "_build": {"mix.exs"},
	}
}

// dropProducts leaves out new build output, and returns the topmost folder or file of each, sorted. A folder with
// files of the base is kept.
func (k *scratchScan) dropProducts() []string {
	known := buildProducts()
	beside := map[string][]string{} // the names in each folder, such as Cargo.toml beside target
	tracked := map[string]bool{}    // folders of the base
	note := func(p string) { beside[path.Dir(p)] = append(beside[path.Dir(p)], path.Base(p)) }
	for p := range k.base {
		note(p)
		for dir := path.Dir(p); dir != "." && !tracked[dir]; dir = path.Dir(dir) {
			tracked[dir] = true
		}
	}
	for _, f := range k.found {
		note(f.path)
	}
	product := func(p string) bool {
		name := path.Base(p)
		want, ok := known[name]
		if !ok {
			_, ok = known["*"+path.Ext(name)]
			return ok && path.Ext(name) != name
		}
		return len(want) == 0 || slices.ContainsFunc(beside[path.Dir(p)], func(have string) bool {
			return slices.ContainsFunc(want, func(w string) bool { hit, _ := path.Match(w, have); return hit })
		})
	}
	tops := map[string]bool{}
	k.found = slices.DeleteFunc(k.found, func(f foundPath) bool {
		if _, was := k.base[f.path]; was {
			return false
		}
		for i, r := range f.path + "/" {
			if p := f.path[:i]; r == '/' && !tracked[p] && product(p) {
				tops[p] = true
				return true
			}
		}
		return false
	})
	return slices.Sorted(maps.Keys(tops))
}
