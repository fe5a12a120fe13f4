package testscripts

import (
	"bytes"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTopLevel(t *testing.T) {
	t.Parallel()
	want := []string{
		"cmd", "board", "okf", "persona", "journal", "reconcile", "knowledge", "testscripts",
		"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "BENCHMARKS.md",
		"action.yml", "odd.toml", "CONTRIBUTING.md", "SECURITY.md",
	}
	built := []string{"bin", "demo", "dist"} // what .gitignore names
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") && !slices.Contains(want, n) && !slices.Contains(built, n) {
			t.Errorf("%s: the top level is fixed; put it below one of %s", n, strings.Join(want[:8], " "))
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, s := range goFiles(t, anyFile) {
		said[s.dir] = said[s.dir] || s.file.Doc.Text() != ""
	}
	for _, dir := range slices.Sorted(maps.Keys(said)) {
		if !said[dir] {
			t.Errorf("%s: no package comment", dir)
		}
	}
}

func TestEveryExportIsDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range goFiles(t, product) {
		if s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			for _, n := range undocumented(d) {
				t.Errorf("%s: %s has no comment", s.at(n), n.Name)
			}
		}
	}
}

// undocumented returns the exported names a declaration leaves unexplained. A
// comment on a group of constants or variables is enough for its members, and
// so is one at the end of the line. A method that an interface asks for by
// name (Error, String, Refused …) explains itself.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		known := []string{"Error", "String", "Unwrap", "Is", "Refused", "Busy", "Len", "Less", "Swap", "Read", "Write", "Close"}
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && (d.Recv == nil || !slices.Contains(known, d.Name.Name)) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		return undocumentedSpecs(d)
	}
	return nil
}

func undocumentedSpecs(d *ast.GenDecl) (bare []*ast.Ident) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && d.Doc == nil {
				bare = append(bare, spec.Name)
			}
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				if n.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
					bare = append(bare, n)
				}
			}
		}
	}
	return bare
}

// exportedReceiver reports whether d is a function, or a method of a type that others can name.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

// banned are words that do not belong in a finished file: promises instead of
// work, documents and places that a reader of this repository does not have.
// They are spelled in halves so that this file does not trip over itself.
var banned = regexp.MustCompile(strings.Join([]string{
	`\bTO` + `DO\b`, `\bFIX` + `ME\b`, `\bX` + `XX\b`, `\bHA` + `CK\b`,
	`\bDE` + `SIGN(\.md)? ?§`, `\bSTY` + `LE(\.md)? ?§`, `\bnotes/[a-z]+\.md\b`,
	`/wo` + `rk/`, `/tm` + `p/odd\b`, `\b(not |un)imple` + `mented\b`,
}, "|"))

// bannedParts are texts of which each match of banned holds one.
var bannedParts = []string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK", "DE" + "SIGN", "STY" + "LE", "notes/", "/wo" + "rk/", "/tm" + "p/odd", "imple" + "mented"}

func TestNoBannedWords(t *testing.T) {
	t.Parallel()
	files, err := tracked()
	if err != nil {
		t.Skipf("git ls-files: %v", err) // a source archive has no git
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || name == "testscripts/rules_test.go" {
			continue // deleted and not yet committed
		}
		if !slices.ContainsFunc(bannedParts, func(part string) bool { return bytes.Contains(b, []byte(part)) }) {
			continue // much faster than the pattern
		}
		for i, line := range strings.Split(string(b), "\n") {
			if m := banned.FindString(line); m != "" {
				t.Errorf("%s:%d: %q", name, i+1, m)
			}
		}
	}
}

// tracked lists the repository's files.
func tracked() ([]string, error) {
	c := exec.Command("git", "ls-files", "-z")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.Trim(string(out), "\x00"), "\x00"), nil
}

func TestErrorsNameTheThing(t *testing.T) {
	t.Parallel()
	lazy := regexp.MustCompile(`^"(failed to|could not|unable to|error |can't )`)
	for _, s := range goFiles(t, product) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Errorf" && f.Sel.Name != "New" {
				return true
			}
			if lit, ok := call.Args[0].(*ast.BasicLit); ok && lazy.MatchString(lit.Value) {
				t.Errorf("%s: %s: name the thing first, then what is wrong", s.at(lit), lit.Value)
			}
			return true
		})
	}
}

// areas are the words a script's name may begin with: the verbs, and a few
// words for what belongs to no one verb.
var areas = strings.Fields(`harness readme
	init demo check status site sync log explain context
	persona compile search get related expand why backlinks graph index canon
	task drain change review approve reject reconcile
	journal handoff invoke observe audit
	gate lease proposals decay sense decide pause resume
	anchor op mcp hook config doctor undo version completion help flags input proof`)

func TestScriptsAreShortAndNamed(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, p := range scripts {
		name := strings.TrimSuffix(filepath.Base(p), ".txtar")
		area, _, _ := strings.Cut(name, "_")
		if !slices.Contains(areas, area) {
			t.Errorf("%s: the name begins with its area, one of %s", p, strings.Join(areas, " "))
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > 80 {
			t.Errorf("%s: %d lines; a script tells one story in at most 80", p, n)
		}
		if !strings.HasPrefix(string(b), "# ") {
			t.Errorf("%s: begins without a comment that says what it shows", p)
		}
	}
}

// TestGoModIsPlain holds what can be seen without the network: one module, no
// replacements, none of the lint tools, and a sum for every requirement.
func TestGoModIsPlain(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"replace ", "exclude ", "honnef.co/", "rhysd/actionlint", "toolchain "} {
		if strings.Contains(string(mod), not) {
			t.Errorf("go.mod: holds %q", not)
		}
	}
	require := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(mod), -1)
	if len(require) == 0 {
		t.Fatal("go.mod: no requirements read")
	}
	for _, r := range require {
		if !strings.Contains(string(sum), r[1]+" "+r[2]+"/go.mod ") {
			t.Errorf("go.sum: no line for %s %s", r[1], r[2])
		}
	}
}
