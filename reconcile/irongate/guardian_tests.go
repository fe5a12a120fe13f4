package irongate

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// assertion is one thing that a test asserts: what, and whether it is negated.
// The values it is asserted of are part of it, so that a test cannot be made to
// expect whatever comes.
type assertion struct {
	dir string
	condition
}

// suite is what the tests of a change assert in one of its states. Folders
// count as a whole: a test may move from file to file.
type suite struct {
	tests   map[string]tested // by folder and name
	asserts counts[assertion]
	at      map[assertion]place
	rows    counts[string] // cases of tables, by folder and function
}

type place struct {
	path string
	line int
}

// tested is one test function.
type tested struct {
	place
	body       string
	constraint string // when it is compiled, "" for always
	skips      int
}

func newSuite() suite {
	return suite{map[string]tested{}, counts[assertion]{}, map[assertion]place{}, counts[string]{}}
}

// tests judges whether the tests of a change still assert what they did.
func tests(c *change) []Finding {
	was, now := newSuite(), newSuite()
	for _, d := range c.deltas {
		switch {
		case d.test && d.ext == ".go":
			was.read(d, d.was)
			now.read(d, d.now)
		case d.test:
			was.readText(d, d.was)
			now.readText(d, d.now)
		}
	}
	out := goneTests(was, now)
	out = append(out, weakened(was, now)...)
	for _, key := range slices.Sorted(maps.Keys(was.rows)) {
		t, still := now.tests[key]
		if still && now.rows[key] < was.rows[key] {
			out = append(out, found("test_assertion_weakened", BySyntax, t.path, t.line, fmt.Sprintf("the test %s has %d cases and had %d", path.Base(key), now.rows[key], was.rows[key])))
		}
	}
	for _, d := range c.deltas {
		out = append(out, expectations(d)...)
		if d.test && d.ext == ".go" {
			out = append(out, testMain(c, d)...)
		}
	}
	return out
}

// read gathers what a Go test file asserts.
func (s suite) read(d *delta, from side) {
	cons := constraintOf(d.Path, from)
	for _, f := range from.functions() {
		if f.decl.Body == nil {
			continue
		}
		if isTestName(f.name) {
			s.tests[d.dir+"/"+f.name] = tested{place{d.Path, from.line(f.decl)}, from.text(f.decl.Body), cons, skips(f)}
		}
		s.rows[d.dir+"/"+f.name] += tableRows(f.decl)
		a := asserter{from: from, each: func(c condition, n ast.Node) {
			key := assertion{d.dir, c}
			s.asserts[key]++
			s.at[key] = place{d.Path, from.line(n)}
		}}
		a.block(f.decl.Body.List, nil)
	}
}

func isTestName(name string) bool {
	for _, kind := range []string{"Test", "Fuzz", "Example", "Benchmark"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
}

// constraintOf says when a file is compiled: its build line, or what its name
// says about the system.
func constraintOf(p string, s side) string {
	var out []string
	if s.tree != nil {
		for _, g := range s.tree.Comments {
			for _, c := range g.List {
				if c.Pos() < s.tree.Package && (constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text)) {
					out = append(out, c.Text)
				}
			}
		}
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(p), ".go"), "_test"), "_")
	for _, part := range parts[1:] {
		if slices.Contains(systems(), part) {
			out = append(out, "_"+part)
		}
	}
	return strings.Join(out, " ")
}

// systems are the names of systems and processors that the name of a Go file
// may end in.
func systems() []string {
	return strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 windows zos linux
		386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64 wasm`)
}

// skips counts what keeps a test from running: calls of Skip, and a return that
// stands before its other statements.
func skips(f function) int {
	n := btoi(cutShort(f.decl.Body.List))
	ast.Inspect(f.decl.Body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Skip" || sel.Sel.Name == "SkipNow" || sel.Sel.Name == "Skipf") {
				n++
			}
		}
		return true
	})
	return n
}

// tableRows counts the rows of the tables in a function: composites in a list.
func tableRows(f *ast.FuncDecl) int {
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		list, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch list.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			for _, e := range list.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				if _, ok := e.(*ast.CompositeLit); ok {
					n++
				}
			}
		}
		return true
	})
	return n
}

// goneTests finds tests that are no more, or are not run any more.
func goneTests(was, now suite) []Finding {
	bodies := map[string]bool{}
	for key, t := range now.tests {
		if _, old := was.tests[key]; !old {
			bodies[path.Dir(key)+" "+t.body] = true
		}
	}
	var out []Finding
	for _, key := range slices.Sorted(maps.Keys(was.tests)) {
		old := was.tests[key]
		t, still := now.tests[key]
		name := path.Base(key)
		switch {
		case !still && bodies[path.Dir(key)+" "+old.body]: // it goes by another name
		case !still:
			out = append(out, found("test_removed", BySyntax, old.path, 0, "the test "+name+" is gone"))
		case t.skips > old.skips:
			out = append(out, found("test_skipped", BySyntax, t.path, t.line, "the test "+name+" is skipped"))
		case t.constraint != old.constraint && t.constraint != "":
			out = append(out, found("test_skipped", BySyntax, t.path, t.line, fmt.Sprintf("the test %s is compiled only with the build constraint %q", name, t.constraint)))
		}
	}
	return out
}

// weakened finds assertions that are no more.
func weakened(was, now suite) []Finding {
	gone, come := was.asserts.lost(now.asserts), now.asserts.lost(was.asserts)
	var out []Finding
	for _, a := range slices.SortedFunc(maps.Keys(gone), func(a, b assertion) int {
		return strings.Compare(was.at[a].path+"\x00"+a.String(), was.at[b].path+"\x00"+b.String())
	}) {
		how := BySyntax
		if path.Ext(was.at[a].path) != ".go" {
			how = ByText
		}
		if inverse := (assertion{a.dir, a.inverse()}); come[inverse] > 0 {
			at := now.at[inverse]
			out = append(out, found("test_assertion_inverted", how, at.path, at.line, fmt.Sprintf("the check is now %s, it was %s", short80(inverse.String()), short80(a.String()))))
			continue
		}
		out = append(out, found("test_assertion_weakened", how, was.at[a].path, 0, fmt.Sprintf("the check %s (line %d before the change) is gone", short80(a.String()), was.at[a].line)))
	}
	return out
}

// short80 cuts a text to what fits a line.
func short80(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// testMain judges a TestMain that ends before the tests have run.
func testMain(_ *change, d *delta) []Finding {
	runs := func(s side) (is, does bool, line int) {
		for _, f := range s.functions() {
			if f.name != "TestMain" || f.decl.Body == nil {
				continue
			}
			is, line = true, s.line(f.decl)
			ast.Inspect(f.decl.Body, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Run" || sel.Sel.Name == "Main") {
					does = true
				}
				return true
			})
			does = does && !cutShort(f.decl.Body.List)
		}
		return is, does, line
	}
	was, did, _ := runs(d.was)
	is, does, line := runs(d.now)
	if is && !does && (!was || did) {
		return d.list("test_main_bypass", BySyntax, line, "TestMain returns before the tests have run")
	}
	return nil
}

// expectations finds files of what tests expect that a change rewrites.
func expectations(d *delta) []Finding {
	if d.Before == nil || d.test && d.ext != ".txtar" || string(d.Before) == string(d.After) && d.After != nil {
		return nil
	}
	dirs := strings.Split(path.Dir(d.Path), "/")
	if !slices.Contains(dirs, "testdata") && !slices.Contains(dirs, "__snapshots__") && d.ext != ".golden" && d.ext != ".snap" {
		return nil
	}
	return d.list("expectation_changed", ByBytes, 0, "holds the expected result of a test, and was changed")
}
