package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/odd-cli/odd/reconcile/policy"
)

// dependency is one required package, by its name as its registry compares names.
type dependency struct {
	version string // what may be taken, as written
	line    int
}

// manifest is what a dependency file asks for.
type manifest struct {
	requires map[string]dependency
	// other lines that decide whose code is run, each with the code of the
	// finding that a new one is
	other    map[string]foundLine
	language string // the version of Go
}

type foundLine struct {
	code, text string
	line       int
}

// checkDependencies judges the dependency files of a change against what they were: go.mod,
// go.sum, package.json and requirements*.txt. Code of others that comes in under
// a name close to one that goes out, from another place than the registry, or
// in an older version, is for a person to see. Adding a package is
// no finding here; that the change touches dependencies is the risk's to weigh.
func checkDependencies(files []File) []policy.Finding {
	var out []policy.Finding
	for _, f := range files {
		if path.Base(f.Path) == "go.sum" {
			out = append(out, checkSums(f)...)
		}
		read := manifestReader(f.Path)
		if read == nil || f.After == nil {
			continue
		}
		was := manifest{}
		if f.Before != nil {
			was, _ = read(f.Before) // unreadable before: everything is new
		}
		now, err := read(f.After)
		if err != nil {
			out = append(out, newFinding("dependency_unparsed", policy.BySyntax, f.Path, 0, "does not parse: "+err.Error()))
			continue
		}
		for _, d := range compareManifests(was, now) {
			d.Path = f.Path
			out = append(out, d)
		}
	}
	return out
}

// ownFolder reports a version that is a folder of the repository, and nothing else.
func ownFolder(file, version string) bool {
	kind, folder, _ := strings.Cut(version, ":")
	at := path.Join(path.Dir(file), folder)
	return slices.Contains([]string{"file", "link", "portal"}, kind) && strings.HasPrefix(folder, ".") && at != ".." && !strings.HasPrefix(at, "../") && !strings.ContainsAny(folder, `%\`)
}

// manifestReader returns what reads a dependency file, nil for any other file.
func manifestReader(file string) func([]byte) (manifest, error) {
	switch base := strings.ToLower(path.Base(file)); {
	case base == "go.mod":
		return readGoMod
	case base == "package.json":
		return func(b []byte) (manifest, error) { return readPackageJSON(file, b) }
	case (strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints")) && strings.HasSuffix(base, ".txt"):
		return readRequirements
	}
	return nil
}

// compareManifests judges two states of one file.
func compareManifests(was, now manifest) []policy.Finding {
	var out []policy.Finding
	bad := func(code string, line int, text string) {
		out = append(out, newFinding(code, policy.BySyntax, "", line, text))
	}
	for _, key := range slices.Sorted(maps.Keys(now.other)) {
		raised := key == releasedToolchain && semver.Compare("v"+now.language, "v"+was.language) > 0 // the go command writes both
		if _, had := was.other[key]; !had && !(raised && was.language != "") {
			o := now.other[key]
			bad(o.code, o.line, o.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.requires)) {
		d := now.requires[name]
		old, had := was.requires[name]
		if had {
			if semver.IsValid(old.version) && semver.IsValid(d.version) && semver.Compare(d.version, old.version) < 0 {
				bad("dependency_downgraded", d.line, fmt.Sprintf("%s changes to an older version: %q, was %q", name, d.version, old.version))
			}
			continue
		}
		if code, other := findSimilarName(name, was, now); code != "" {
			bad(code, d.line, fmt.Sprintf("adds %s, whose name is close to %s", name, other))
		}
	}
	return out
}

// findSimilarName finds a name to be suspicious of beside a new one: first among those
// that go out, then among those that stay.
func findSimilarName(name string, was, now manifest) (code, other string) {
	for _, old := range slices.Sorted(maps.Keys(was.requires)) {
		_, stays := now.requires[old]
		switch {
		case !stays && majorOf(old) == majorOf(name):
			return "dependency_major", old
		case !stays && isAlike(old, name):
			return "dependency_lookalike", old
		case stays && len(name) >= 5 && withoutDigits(old) != withoutDigits(name) && levenshtein.ComputeDistance(old, name) == 1:
			return "dependency_lookalike", old
		}
	}
	return "", ""
}

// majorOf is a module path without its major version.
func majorOf(name string) string {
	prefix, _, ok := module.SplitPathVersion(name)
	if !ok {
		return name
	}
	return prefix
}

// withoutDigits returns a name without its digits: es2015 and es2016 are no slip.
func withoutDigits(name string) string { return strings.Trim(name, "0123456789") }

// isAlike reports whether one of two names could be meant for the other: it begins
// with it, holds it with few letters more, or differs by three letters at most,
// and by no more than half of what the two do not share.
func isAlike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if strings.HasPrefix(b, a+"/") {
		return false // below it, so by the same owner
	}
	if strings.HasPrefix(b, a) || strings.Contains(b, a) && len(b)-len(a) < 5 {
		return true
	}
	shared := 0
	for i := range len(a) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '/' {
			shared = i + 1
		}
	}
	d := levenshtein.ComputeDistance(a, b)
	return d <= 3 && 2*d <= len(a)-shared
}

// released finds the names of compilers that come from Go itself, by their checksums.
// releasedToolchain stands for all of them.
const releasedToolchain = "toolchain"

var released = lazy(`^(?:default|go1(?:\.\d+){1,2}(?:rc\d+)?)$`)

func readGoMod(b []byte) (manifest, error) {
	f, err := modfile.Parse("go.mod", b, nil)
	if err != nil {
		return manifest{}, err
	}
	m := manifest{requires: map[string]dependency{}, other: map[string]foundLine{}}
	for _, r := range f.Require {
		m.requires[r.Mod.Path] = dependency{r.Mod.Version, r.Syntax.Start.Line}
	}
	for _, r := range f.Replace {
		if f.Module != nil && r.New.Version == "" && path.Join(majorOf(f.Module.Mod.Path), r.New.Path) == majorOf(r.Old.Path) && strings.HasPrefix(r.New.Path, ".") {
			continue // another module of the repository, where its path says that it stands
		}
		asked := module.Version{Path: r.Old.Path, Version: m.requires[r.Old.Path].version}
		if r.New.Path == r.Old.Path && (r.Old.Version == "" || r.Old == asked) && slices.ContainsFunc(f.Require, func(q *modfile.Require) bool { return q.Mod == asked }) {
			m.requires[r.Old.Path] = dependency{r.New.Version, r.Syntax.Start.Line}
			continue // another version of a module in the version that is asked for, and no replace before it
		}
		what := strings.TrimSpace(r.Old.String() + " => " + r.New.String())
		m.other["replace "+what] = foundLine{"dependency_replace", "replaces a module with other code: " + what, r.Syntax.Start.Line}
	}
	for _, t := range f.Tool {
		m.other["tool "+t.Path] = foundLine{"dependency_tool", "adds a tool that go runs: " + t.Path, t.Syntax.Start.Line}
	}
	if f.Go != nil {
		m.language = f.Go.Version
	}
	if f.Toolchain != nil {
		key := "toolchain " + f.Toolchain.Name
		if released().MatchString(f.Toolchain.Name) {
			key = releasedToolchain // of Go itself, where there was one before: another version
		}
		m.other[key] = foundLine{"dependency_tool", "chooses the compiler: " + f.Toolchain.Name, f.Toolchain.Syntax.Start.Line}
	}
	return m, nil
}

// checkSums refuses another checksum for a version that had one: the code behind a
// version never changes.
func checkSums(f File) []policy.Finding {
	old := map[string]string{}
	for line := range strings.SplitSeq(string(f.Before), "\n") {
		if w := strings.Fields(line); len(w) == 3 {
			old[w[0]+" "+w[1]] = w[2]
		}
	}
	var out []policy.Finding
	for i, line := range strings.Split(string(f.After), "\n") {
		w := strings.Fields(line)
		if len(w) == 3 && old[w[0]+" "+w[1]] != "" && old[w[0]+" "+w[1]] != w[2] {
			out = append(out, newFinding("dependency_sum", policy.BySyntax, f.Path, i+1, fmt.Sprintf("%s %s has another checksum than before", w[0], w[1])))
		}
	}
	return out
}

// hooks are the scripts that npm runs by itself.
var hooks = []string{"preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "prepublish", "prepublishOnly", "prepack", "postpack", "dependencies"}

func readPackageJSON(file string, b []byte) (manifest, error) {
	var f struct {
		Dependencies         map[string]string          `json:"dependencies"`
		DevDependencies      map[string]string          `json:"devDependencies"`
		PeerDependencies     map[string]string          `json:"peerDependencies"`
		OptionalDependencies map[string]string          `json:"optionalDependencies"`
		Overrides            map[string]json.RawMessage `json:"overrides"`
		Resolutions          map[string]json.RawMessage `json:"resolutions"`
		Scripts              map[string]string          `json:"scripts"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return manifest{}, err
	}
	m := manifest{requires: map[string]dependency{}, other: map[string]foundLine{}}
	for _, deps := range []map[string]string{f.PeerDependencies, f.OptionalDependencies, f.DevDependencies, f.Dependencies} {
		for name, version := range deps {
			key := strings.ToLower(name)
			line := lineOf(b, `"`+name+`"`)
			m.requires[key] = dependency{version, line}
			if foreign().MatchString(version) && !ownFolder(file, version) {
				m.other["source "+key+" "+version] = foundLine{"dependency_source", name + " does not come from the registry: " + version, line}
			}
		}
	}
	for _, over := range []map[string]json.RawMessage{f.Overrides, f.Resolutions} {
		for name, to := range over {
			m.other["override "+name+" "+string(to)] = foundLine{"dependency_replace", "overrides the version of a package: " + name, lineOf(b, `"`+name+`"`)}
		}
	}
	for _, name := range hooks {
		if script, ok := f.Scripts[name]; ok {
			m.other["script "+name+" "+script] = foundLine{"dependency_script", "has a script that npm runs automatically: " + name, lineOf(b, `"`+name+`"`)}
		}
	}
	return m, nil
}

// foreign are the versions that name a place: an address, a file, another
// package, or an owner's repository on the forge.
var foreign = lazy(`^(git|http|https|file|link|portal|patch|exec|npm|github|gitlab|bitbucket|gist|ssh)[+:]|://|^[^@\s][^/\s]*/[^/\s]+$|^\.{0,2}/`)

func lineOf(b []byte, text string) int {
	at := bytes.Index(b, []byte(text))
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(b[:at], []byte("\n"))
}

var (
	requirement = lazy(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*((?:[=<>!~].*)?)$`)
	// elsewhere finds a requirement whose code is not in the index, and options that say where code comes from.
	elsewhere = lazy(`^[^\s=<>!~]+\s*@|://|^[.-]|/`)
	// harmless finds options that name another file of requirements or ask for more, and what asks for the project itself.
	harmless = lazy(`^(?:--?(?:r|requirement|c|constraint|require-hashes|only-binary|prefer-binary)(?:[ =]+(?::all:|[^\s:]+))?|(?:(?:-e|--editable)[ =])?\s*\.(?:\[[\w, -]*\])?)$`)
	// separators are the same to a Python package index.
	separators = lazy(`[-_.]+`)
)

// readRequirements reads a file of pip's, of which a line that ends in a backslash goes on in the next.
func readRequirements(b []byte) (manifest, error) {
	m := manifest{requires: map[string]dependency{}, other: map[string]foundLine{}}
	whole := ""
	for i, line := range strings.Split(string(b)+"\n", "\n") {
		whole += strings.TrimRight(line, "\r")
		if rest, more := strings.CutSuffix(whole, `\`); more {
			whole = rest + " "
			continue
		}
		text, _, _ := strings.Cut(" "+whole, " #")
		text, whole = strings.TrimSpace(text), ""
		spec, _, _ := strings.Cut(text, ";")
		spec, _, _ = strings.Cut(spec, " --")
		spec = strings.TrimSpace(spec)
		got := requirement().FindStringSubmatch(spec)
		switch {
		case text == "" || harmless().MatchString(text):
		case got != nil:
			m.requires[strings.ToLower(separators().ReplaceAllString(got[1], "-"))] = dependency{strings.TrimLeft(got[2], "= "), i + 1}
		case elsewhere().MatchString(spec):
			m.other[text] = foundLine{"dependency_source", "installs code that does not come from the registry: " + text, i + 1}
		default:
			return m, fmt.Errorf("line %d: %q is not a package", i+1, text)
		}
	}
	return m, nil
}
