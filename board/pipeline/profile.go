package pipeline

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Filed says who filed the task of a change, by the history of the task's file. What a task
// says about itself proves nothing.
type Filed string

// Who files tasks. A task that is not proven a person's counts as a machine's.
const (
	FiledByNobody  Filed = ""        // there is no task, or it is not committed
	FiledByMachine Filed = "machine" // a machine's commit brought the task, or changed its paths
	FiledByPerson  Filed = "person"
)

// Evidence is what a change is judged from, all read from bytes, trees and history. None of
// it is what a model said.
type Evidence struct {
	Files  []Edit
	Graph  *Graph              // of the base; where it has problems, rules fail
	Bundle string              // the folder of the bundle, whose files are no change's to make
	Atoms  map[string][]string // of a changed path, the atoms that name it
	GoMod  []byte              // go.mod at the top of the base
	Filed  Filed
	Scope  []string // the globs of what the task may change

	Policy    Policy
	Now       time.Time
	Substrate string // whose session made the change, for people
	Made      Made
	Findings  []policy.Finding
	Texts     [][]byte // of the base, which the change may have copied from
	Past      memory.Past
}

// ChangeType is what happens to a file.
type ChangeType string

// The change types. A rename is a new file with the bytes of a deleted one.
const (
	Created  ChangeType = "CREATE"
	Modified ChangeType = "MODIFY"
	Deleted  ChangeType = "DELETE"
	Renamed  ChangeType = "RENAME"
)

// Touched is one file of a profile.
type Touched struct {
	Path   string     `json:"path"`
	Change ChangeType `json:"change"`
	From   string     `json:"from,omitempty"` // of a rename, where the bytes were
	Mode   string     `json:"mode,omitempty"` // the new one, where it changed
}

// Profile is what a change touches. It is computed from Evidence and
// from nothing else.
type Profile struct {
	Filed      string              `json:"filed"`
	Files      []Touched           `json:"files"`
	Touches    map[string][]string `json:"touches,omitempty"` // by the code of the rule that is about it
	Packages   []string            `json:"packages,omitempty"`
	Dependents []string            `json:"dependents,omitempty"` // packages that need a changed one
	Atoms      []string            `json:"atoms,omitempty"`      // of the knowledge graph, that name a changed file
	Blast      int                 `json:"blast_radius"`         // dependents and atoms
	Confidence int                 `json:"test_confidence_pct"`  // of the part of the change that is tested least
	Covered    string              `json:"tested"`               // "2 of 3"
	Untested   []string            `json:"untested,omitempty"`

	graphTrouble []string
}

func newProfile(f Evidence) Profile {
	p := Profile{Filed: string(f.Filed), Files: touchedFiles(f.Files), Touches: map[string][]string{}}
	if f.Filed == FiledByNobody {
		p.Filed = "nobody"
	}
	core := map[string]bool{}
	for _, e := range f.Files {
		core[e.Path] = p.addPlaces(e, f)
		p.addSensitive(e.Path, f)
	}
	for _, x := range policy.CheckPaths(Candidate{Files: f.Files}.Paths()) {
		p.addTouch("path_unfit", x.Text)
	}
	for _, t := range p.Files {
		what := t.Path
		if t.From != "" {
			what = t.From + " to " + t.Path
		}
		if code := map[ChangeType]string{Created: "new_file_created", Deleted: "delete_operation", Renamed: "rename_operation"}[t.Change]; code != "" {
			p.addTouch(code, what)
			if core[t.Path] || core[t.From] {
				p.addTouch("core_path_structural_change", fmt.Sprintf("%s %s", t.Change, t.Path))
			}
		}
	}
	p.addReach(f)
	return p
}

func (p *Profile) addTouch(code, what string) { p.Touches[code] = append(p.Touches[code], what) }

// touchedFiles says what happens to each file. Each deleted file is the origin of one
// new one at most.
func touchedFiles(es []Edit) []Touched {
	var out []Touched
	moved := map[string]bool{}
	for _, e := range es {
		t := Touched{Path: e.Path, Change: Modified}
		switch {
		case e.Before == nil:
			t.Change = Created
		case e.After == nil:
			t.Change = Deleted
		}
		if e.Before != nil && e.OldMode != e.NewMode {
			t.Mode = e.NewMode
		}
		i := slices.IndexFunc(es, func(o Edit) bool {
			return t.Change == Created && o.After == nil && o.Before != nil && !moved[o.Path] && bytes.Equal(o.Before, e.After)
		})
		if i >= 0 {
			t.Change, t.From = Renamed, es[i].Path
			moved[t.From] = true
		}
		out = append(out, t)
	}
	return slices.DeleteFunc(out, func(t Touched) bool { return t.Change == Deleted && moved[t.Path] })
}

func (p *Profile) addPlaces(e Edit, f Evidence) (core bool) {
	for _, x := range policy.CheckProtected(e.Path, nil) {
		p.addTouch(cmp.Or(map[string]string{"protected_credential": "touches_credentials", "protected_dependency": "touches_vendored"}[x.Code], "touches_governance"), x.Text)
	}
	folded := policy.FoldPath(e.Path)
	within := func(code string, globs []string) bool {
		glob := globAround(globs, e.Path)
		if glob != "" {
			p.addTouch(code, e.Path+" is in "+glob)
		}
		return glob != ""
	}
	within("touches_gate", policy.GatePackages(f.GoMod))
	within("touches_configured", f.Policy.Protected)
	if core = within("core_path_modification", f.Policy.Core); core && f.Filed != FiledByPerson {
		within("machine_touches_core", f.Policy.Core)
	}
	for code, is := range map[string]bool{
		"touches_bundle":     f.Bundle != "" && strings.HasPrefix(folded+"/", policy.FoldPath(f.Bundle)+"/"),
		"agent_instructions": policy.InstructsAgents(e.Path),
		"dependency_change":  dependencyFile(e.Path),
		"executable_bit":     e.NewMode == modeExec && e.OldMode != modeExec,
	} {
		if is {
			p.addTouch(code, e.Path)
		}
	}
	switch {
	case e.OldMode == modeRepo || e.NewMode == modeRepo:
		p.addTouch("crosses_repo_boundary", e.Path+" is a submodule")
	case e.OldMode == modeLink || e.NewMode == modeLink:
		p.addTouch("path_unfit", e.Path+" is a symbolic link")
	}
	return core
}

// globAround is the first glob that matches a file, in any case, "" for none.
func globAround(globs []string, file string) string {
	for i, g := range expandFolders(globs) {
		if policy.MatchGlob(strings.ToLower(g), policy.FoldPath(file)) {
			return globs[i]
		}
	}
	return ""
}

func dependencyFile(p string) bool {
	base := strings.ToLower(path.Base(p))
	names := []string{"go.mod", "go.sum", "go.work", "go.work.sum", "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml",
		"pnpm-workspace.yaml", "pyproject.toml", "poetry.lock", "uv.lock", "pipfile", "pipfile.lock", "setup.py", "setup.cfg", "cargo.toml", "cargo.lock",
		"gemfile", "gemfile.lock", "composer.json", "composer.lock", "pom.xml", "build.gradle", "build.gradle.kts", "gradle.lockfile", "deno.json", "deno.lock", "flake.nix", "flake.lock", "dockerfile"}
	return slices.Contains(names, base) || policy.MatchAnyGlob([]string{"requirements*.txt", "constraints*.txt", "*.gemspec", "*.csproj", "dockerfile.*"}, base)
}

// addReach adds what depends on the change, and how well tests cover it.
func (p *Profile) addReach(f Evidence) {
	p.graphTrouble = f.Graph.Problems()
	g := f.Graph.With(f.Files)
	paths := Candidate{Files: f.Files}.Paths()
	p.Packages = g.packagesOf(paths)
	p.Dependents = g.Dependents(p.Packages)
	atoms := map[string]bool{}
	for _, path := range paths {
		for _, a := range f.Atoms[path] {
			atoms[a] = true
		}
	}
	p.Atoms = slices.Sorted(maps.Keys(atoms))
	p.Blast = len(p.Dependents) + len(p.Atoms)
	p.addConfidence(g, f)
}

// addConfidence adds the test confidence of the part that is tested least, not the mean: a
// well tested package does not make an untested one safer. Only tests at the base count.
// Documents and tests need none.
func (p *Profile) addConfidence(g *Graph, f Evidence) {
	p.Confidence = 100
	parts, good := map[string]bool{}, 0
	for _, e := range f.Files {
		part, pct, why := coverageOf(g, e.Path)
		if part == "" || parts[part] {
			continue
		}
		parts[part] = true
		p.Confidence = min(p.Confidence, pct)
		if pct > 0 {
			good++
		}
		if why != "" {
			p.Untested = append(p.Untested, why)
		}
	}
	p.Covered = fmt.Sprintf("%d of %d", good, len(parts))
}

// coverageOf returns how well tests cover the part that a file is of: its Go package, or the
// file itself. The part is "" where no test is expected.
func coverageOf(g *Graph, p string) (part string, pct int, why string) {
	ext := strings.ToLower(path.Ext(p))
	switch {
	case slices.Contains([]string{".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".svg", ".png", ".jpg", ".jpeg", ".gif"}, ext) && !dependencyFile(p),
		slices.Contains([]string{"LICENSE", "NOTICE", "AUTHORS"}, path.Base(p)), strings.Contains("/"+p, "/testdata/"):
		return "", 100, ""
	}
	if dir, ok := g.Package(p); ok {
		pct, why := g.testCoverage(dir)
		return "package " + dir, pct, why
	}
	if isTest(p) {
		return "", 100, ""
	}
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	if slices.ContainsFunc(g.Files, func(b string) bool { return path.Ext(b) == path.Ext(p) && isTest(b) && testStem(b) == stem }) {
		return p, coveredFromAfar, p + " has a test only by name"
	}
	return p, 0, p + " has no test"
}

func isTest(p string) bool { return testStem(p) != "" }

// testStem is what a test's name says that it tests, "" for no test.
func testStem(p string) string {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "Test", "Tests"} {
		if s, ok := strings.CutSuffix(stem, end); ok {
			return s
		}
	}
	if s, ok := strings.CutPrefix(stem, "test_"); ok {
		return s
	}
	return ""
}

// AtomsNaming finds, for each of these repository paths, the atoms that name it or
// a folder it is in, as their resource, as a source, or as a link from the bundle's
// folder root. Their ids are sorted. A change of the file may make these atoms false.
func AtomsNaming(g *okf.Graph, root string, paths []string) map[string][]string {
	out := map[string][]string{}
	for _, a := range g.Atoms() {
		if a.Type == "task" {
			continue // what is to be done with a file relies on nothing in it
		}
		names := []string{a.Resource}
		for _, s := range a.Sources {
			names = append(names, s.Resource)
		}
		for _, p := range paths {
			if slices.ContainsFunc(names, func(n string) bool { return meansPath(n, root, path.Dir(a.Path), p) }) {
				out[p] = append(out[p], string(a.ID))
			}
		}
	}
	for _, ids := range out {
		slices.Sort(ids)
	}
	return out
}

// meansPath reports that a resource of an atom in dir names the path or a folder around it,
// from the repository's top or relative to the atom.
func meansPath(resource, root, dir, p string) bool {
	resource, _, _ = strings.Cut(resource, "#")
	if resource == "" || strings.Contains(resource, "://") {
		return false
	}
	for _, at := range []string{path.Clean(resource), path.Join(root, dir, resource), path.Join(root, resource)} {
		if at = strings.TrimPrefix(at, "/"); at == p || at != "." && strings.HasPrefix(p, at+"/") {
			return true
		}
	}
	return false
}

// Words of a path that make it security-sensitive: whole words, or the beginnings
// of words. cancellation_token, authoring.md and token_bucket.go hold none.
var (
	securityWords = []string{"token", "tokens", "cred", "creds", "tls", "ssl", "cert", "certs", "certificate", "certificates", "jwt", "saml", "sso",
		"login", "signin", "acl", "rbac", "hmac", "keyring", "keystore", "permission", "permissions", "privilege", "privileges", "csrf", "sudo"}
	securityStems = []string{"auth", "oauth", "password", "passwd", "credential", "secret", "encrypt", "decrypt", "crypto", "cipher"}
	innocentStems = []string{"author", "secretar", "authentic"}
	guiltyStems   = []string{"authoriz", "authoris", "authentica", "authentici"}
	tokenizers    = []string{"cancellation", "cancel", "bucket", "lex", "lexer", "parse", "parser", "syntax", "ast", "next", "page", "count", "counter",
		"usage", "limit", "budget", "max", "go"}
)

// securityWord is the first word of a path that makes it security-sensitive, "" for
// none. A token is none beside a word that says what other kind of token it is.
func securityWord(p string) string {
	words := slices.Compact(pathWords(strings.TrimSuffix(p, ".go")))
	for i, w := range words {
		begins := func(stems []string) bool {
			return slices.ContainsFunc(stems, func(s string) bool { return strings.HasPrefix(w, s) })
		}
		beside := func(j int) bool { return j >= 0 && j < len(words) && slices.Contains(tokenizers, words[j]) }
		switch {
		case w == "token" || w == "tokens":
			if !beside(i-1) && !beside(i+1) {
				return w
			}
		case slices.Contains(securityWords, w), begins(securityStems) && (!begins(innocentStems) || begins(guiltyStems)):
			return w
		}
	}
	return ""
}

// addSensitive says whether a path is security-sensitive, and whether a person filed
// the task and its scope names that path.
func (p *Profile) addSensitive(file string, f Evidence) {
	word := cmp.Or(securityWord(file), securityWord(policy.FoldPath(file)))
	why := file + " holds the word " + word
	glob := globAround(f.Policy.Security, file)
	switch {
	case word == "" && glob == "":
		return
	case word == "":
		why = file + " is in " + glob
	}
	// A text's own name says what it is about: whoever wants one on passwords gives nothing away.
	dir := path.Dir(file)
	isText := slices.Contains([]string{".md", ".markdown", ".rst", ".adoc"}, path.Ext(file)) && glob == "" && cmp.Or(securityWord(dir), securityWord(policy.FoldPath(dir))) == ""
	inScope := slices.ContainsFunc(expandFolders(f.Scope), func(g string) bool {
		return policy.MatchGlob(g, file) && (isText || namesSensitive(g, file, glob, word))
	})
	if f.Filed == FiledByPerson && inScope {
		p.addTouch("security_in_scope", why)
		return
	}
	p.addTouch("touches_security_surface", why)
}

// namesSensitive reports that a glob which matches a sensitive path was written with it in
// mind: the glob is the path, or what is spelled out in it is sensitive for the
// same reason. Whoever wrote ** said nothing about passwords.
func namesSensitive(glob, file, configured, word string) bool {
	var spelled, prefix []string
	for _, n := range strings.Split(glob, "/") {
		wild := strings.ContainsAny(n, "*?[")
		if !wild {
			spelled = append(spelled, n)
		}
		if !wild && len(prefix)+1 == len(spelled) {
			prefix = spelled
		}
	}
	switch {
	case glob == file:
		return true
	case word == "":
		return globAround([]string{configured}, path.Join(prefix...)) != ""
	}
	return securityWord(path.Join(spelled...)) != ""
}
