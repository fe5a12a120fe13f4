package irongate

import (
	"go/ast"
	"go/build/constraint"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// check is one thing that a test asserts: what must hold, and how much that says.
type check struct {
	condition
	place
	in     string // the key of the function or test that asserts it
	rank   int
	helper string // the function of the project that is asked, if one is
	words  map[string]bool
}

// suite is what the tests of a change assert in one of its states.
type suite struct {
	tests  map[string]tested // the functions that assert, and the tests, by folder or file and name
	checks []check
}

type place struct {
	path string
	line int
}

// tested is one function that asserts, or one test of another language.
type tested struct {
	place
	name, body  string
	tokens      counts[string]
	test, whole bool   // it is a test; it is a whole file of tests
	constraint  string // when it is compiled, "" for always
	skips, rows int    // what keeps it from running; cases of its tables
}

// add notes a check, unless it holds whatever the code does.
func (s *suite) add(in string, at place, c condition, helper, about string) {
	for _, side := range []string{"true", "false"} {
		if about, ok := strings.CutSuffix(strings.TrimPrefix(c.text, side+" == "), " == "+side); ok || about != c.text {
			c = condition{about, c.negated != (side == "false")}
		}
	}
	k := check{condition: c, place: at, in: in, rank: rank(c), helper: helper, words: wordsOf(about + " " + c.text)}
	l, r, both := strings.Cut(c.text, " == ")
	if c.text != "fails" && len(k.words) == 0 || both && l == r {
		return
	}
	s.checks = append(s.checks, k)
}

func (s *suite) note(key string, t tested) {
	t.tokens = counts[string]{}
	for _, w := range tokens().FindAllString(t.body, -1) {
		t.tokens[w]++
	}
	s.tests[key] = t
}

// tests judges whether the tests of a change still assert what they did. A test
// is compared with what it became: under another name, in another file.
func tests(c *change) []Finding {
	was, now := &suite{tests: map[string]tested{}}, &suite{tests: map[string]tested{}}
	var out []Finding
	for _, d := range c.deltas {
		out = append(out, expectations(d)...)
		switch {
		case d.test && d.ext == ".go":
			was.read(d, d.was)
			now.read(d, d.now)
			out = append(out, testMain(c, d)...)
		case d.test:
			was.readText(d, d.was)
			now.readText(d, d.now)
		}
	}
	for _, d := range c.beside { // what tests of the change may ask
		if d.test {
			was.read(d, d.was)
			now.read(d, d.now)
		}
	}
	j := comparison{was: was, now: now, twins: was.twins(now), removed: c.removed(), coded: c.coded()}
	return slices.Concat(j.goneTests(), j.weakened(), out)
}

// read gathers what a Go test file asserts.
func (s *suite) read(d *delta, from side) {
	cons := constraintOf(d.Path, from)
	for _, f := range from.functions() {
		if f.decl.Body == nil {
			continue
		}
		key := d.dir + "/" + f.name
		_, last, method := strings.Cut(f.name, ".")
		s.note(key, tested{place: place{d.Path, from.line(f.decl)}, name: f.name, body: from.text(f.decl.Body), test: isTestName(f.name) || method && isTestName(last),
			constraint: cons, skips: skips(f), rows: tableRows(f.decl)})
		a := asserter{from: from, each: func(c condition, n *ast.CallExpr, helper string) {
			s.add(key, place{d.Path, from.line(n)}, c, helper, strings.Join(argumentsOf(from, n), " "))
		}}
		a.block(f.decl.Body.List, nil)
	}
}

func isTestName(name string) bool {
	for _, kind := range []string{"Test", "Fuzz", "Example"} {
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
