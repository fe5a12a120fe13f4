package lint

import (
	"go/ast"
	"go/build/constraint"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
)

// check is one thing that a test asserts: what must hold.
type check struct {
	condition
	place
	in     string // the key of the function that asserts it
	helper string // the function of the project that is asked, if one is, or the method
	weak   bool   // it only says that something is not so, or is there
	setup  string // what made the files of the test, if the check is about its error, see [setupBefore]
	asks   []string
	words  map[string]bool
}

// suite is what the tests of a change assert in one of its states.
type suite struct {
	tests  map[string]tested // the tests and their helpers, by folder or file and name
	checks []check
	own    map[string]bool            // the functions and types that test files declare for themselves, by folder, or by extension where there is no tree
	bound  map[string]map[string]bool // see boundNames, by file
}

func newSuite() *suite {
	return &suite{tests: map[string]tested{}, own: map[string]bool{}, bound: map[string]map[string]bool{}}
}

type place struct {
	path string
	line int
}

// tested is one function of a test file.
type tested struct {
	place
	name        string
	tokens      counts[string] // its names and its literals
	test        bool           // it is run as a test
	constraint  string         // when it is compiled, "" for always
	off         bool           // it is declared as one that does not run
	skips, ifs  int            // what keeps it from running, always and by a condition
	rows, items int            // the cases of its tables, and all that its lists hold
	strong      int            // its checks that say what something is
	calls       map[string]bool
	objects     map[string]string // of a call, where no tree says it: "httpx." of httpx.Client()
	checked     counts[string]    // the values in its checks
}

// addCheck notes a check, unless it holds whatever the code does.
func (s *suite) addCheck(k check, about string, imports map[string]string) {
	for _, side := range []string{"true", "false"} {
		if about, ok := strings.CutSuffix(strings.TrimPrefix(k.text, side+" == "), " == "+side); ok || about != k.text {
			k.condition = condition{about, k.negated != (side == "false")}
		}
	}
	k.words, k.asks = wordsOf(about+" "+k.text, imports)
	k.weak = k.negated && strings.Contains(k.text, " == ") || strings.HasPrefix(k.text, "Nil(") || k.negated && strings.HasPrefix(k.text, "Empty(")
	l, r, both := strings.Cut(k.text, " == ")
	asksNothing := len(k.words) == 0 || len(k.words) == 1 && k.words["err"] && strings.Contains(k.text, ";")
	if k.text != "fails" && asksNothing || both && l == r {
		return
	}
	s.checks = append(s.checks, k)
}

// checkTests judges whether the tests of a change still assert what they did. A test
// is compared with what it became: under another name, in another file.
func checkTests(c *change) []policy.Finding {
	was, now := newSuite(), newSuite()
	var out []policy.Finding
	touched, coded := false, c.touchesCode()
	for _, d := range c.deltas {
		switch {
		case d.test && d.ext == ".go":
			was.readTree(d, d.was)
			now.readTree(d, d.now)
			out = append(out, testMain(d)...)
		case d.test:
			was.readText(d, d.was)
			now.readText(d, d.now)
		}
		if touched = touched || d.test; !coded {
			out = append(out, checkExpectations(d)...)
		}
	}
	if !touched {
		return out
	}
	for _, d := range c.beside { // what tests of the change may ask
		if d.test {
			was.readTree(d, d.was)
			now.readTree(d, d.now)
		}
	}
	was.keepReached()
	j := comparison{was: was, now: now, twins: was.findTwins(now), used: now.keepReached(), coded: coded}
	j.removed, j.stands = c.compareNames()
	j.fewer = c.fewerFunctions()
	j.leaves, j.asked = c.leavesFolder, sync.OnceValue(c.askedBeside)
	return slices.Concat(j.judgeTests(), out)
}

// readTree gathers what a Go test file asserts.
func (s *suite) readTree(d *delta, from side) {
	cons := constraintOf(d.Path, from)
	for _, f := range from.listFunctions() {
		if f.decl.Body == nil {
			continue
		}
		key := d.dir + "/" + f.name
		_, last, method := strings.Cut(f.name, ".")
		t := tested{place: place{d.Path, from.lineOf(f.decl)}, name: f.name, test: isTestName(f.name) || method && isTestName(last), constraint: cons, tokens: counts[string]{}, checked: counts[string]{}, calls: calledBy(f.decl, from.imports)}
		t.skips, t.ifs = countSkips(f)
		t.off = len(f.decl.Body.List) > 0 && isSkip(f.decl.Body.List[0])
		t.countTokens(f.decl)
		s.tests[key] = t
		s.own[d.dir+" "+f.name] = true
		a := asserter{from: from, says: findAsserters(f.decl), each: func(c condition, n *ast.CallExpr, helper string) {
			s.addCheck(check{condition: c, place: place{d.Path, from.lineOf(n)}, in: key, helper: helper, setup: setupBefore(f.decl, c.text, n.Pos())}, strings.Join(argumentsOf(from, n), " "), from.imports)
		}}
		a.walkBlock(f.decl.Body.List, nil)
	}
}

// countTokens notes the names, the literals and the lists of a function, and as its cases
// those of the lists that it goes through.
func (t *tested) countTokens(f *ast.FuncDecl) {
	lists, ranged := map[string]int{}, map[string]bool{}
	name := func(e ast.Expr, value ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			lists[id.Name] += countCases(value)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			t.tokens[n.Name]++
		case *ast.BasicLit:
			t.tokens[plainValue(n.Value)]++
		case *ast.CompositeLit:
			t.items += len(n.Elts) * btoi(isList(n))
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				name(n.Lhs[i], n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				name(n.Names[i], n.Values[i])
			}
		case *ast.RangeStmt:
			t.rows += countCases(n.X)
			ranged[dottedName(n.X)] = true
		}
		return true
	})
	for list, n := range lists {
		t.rows += n * btoi(ranged[list])
	}
}

func isList(c *ast.CompositeLit) bool {
	switch c.Type.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	}
	return false
}

// countCases counts the elements of a list that is written out.
func countCases(e ast.Expr) int {
	if c, ok := e.(*ast.CompositeLit); ok && isList(c) {
		return len(c.Elts)
	}
	return 0
}

// calledBy are the names that a node calls, but for Go's own library and the test itself.
func calledBy(n ast.Node, imports map[string]string) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		name := ""
		if call, ok := n.(*ast.CallExpr); ok {
			name = calleeName(call)
		}
		first, _, _ := strings.Cut(name, ".")
		from, imported := imports[first]
		domain, _, _ := strings.Cut(from, "/")
		if name != "" && !slices.Contains(common, first) && (!imported || strings.Contains(domain, ".")) {
			out[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
		return true
	})
	return out
}

// isTestName reports a function that go test runs and that can fail. An example
// is documentation.
func isTestName(name string) bool {
	for _, kind := range []string{"Test", "Fuzz"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
}

// constraintOf says when a file is compiled: its build line, or the older ones where it has
// none, and what its name says about the system. Several build lines stand as they are.
func constraintOf(p string, s side) string {
	var out []string
	lines, older := s.buildLines()
	switch {
	case len(lines) > 1:
		out, older = lines, nil
	case len(lines) == 1:
		older = lines
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(p), ".go"), "_test"), "_")
	for _, part := range parts[1:] {
		if slices.Contains(goSystems(), part) && !slices.Contains(older, "//go:build "+part) {
			older = append(slices.Clone(older), "//go:build "+part)
		}
	}
	var exprs constraint.Expr
	for _, text := range older {
		expr, err := constraint.Parse(text)
		switch {
		case err != nil:
			out = append(out, text)
		case exprs == nil:
			exprs = expr
		default:
			exprs = &constraint.AndExpr{X: exprs, Y: expr}
		}
	}
	if exprs != nil {
		out = append(out, "//go:build "+exprs.String())
	}
	return strings.Join(out, " ")
}

// goSystems are the names of systems and processors that the name of a Go file
// may end in.
func goSystems() []string {
	return strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js nacl netbsd openbsd plan9 solaris wasip1 windows zos linux
		386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64 wasm`)
}

// countSkips counts what keeps a test from running: calls of Skip that nothing decides
// about and a return before other statements, and calls of Skip behind an if.
func countSkips(f function) (always, byCondition int) {
	var depth []ast.Node
	ifs := 0
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if n == nil {
			ifs -= btoi(isConditional(depth[len(depth)-1]))
			depth = depth[:len(depth)-1]
			return true
		}
		depth = append(depth, n)
		ifs += btoi(isConditional(n))
		if _, ok := n.(*ast.CallExpr); ok && isSkip(n) {
			always += btoi(ifs == 0)
			byCondition += btoi(ifs > 0)
		}
		return true
	})
	return always + btoi(cutShort(f.decl.Body.List)), byCondition
}

// isSkip reports a call that skips a test, or a statement that is one.
func isSkip(n ast.Node) bool {
	if s, ok := n.(*ast.ExprStmt); ok {
		n = s.X
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Skip", "SkipNow", "Skipf"}, sel.Sel.Name)
}

// isConditional reports a statement that runs what is in it only under a condition which
// is not written down as true.
func isConditional(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return !isConstantCondition(n.Cond)
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// short80 cuts a text to what fits a line.
func short80(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// testMain judges a TestMain that ends before the tests have run.
func testMain(d *delta) []policy.Finding {
	runs := func(s side) (is, does bool, line int) {
		for _, f := range s.listFunctions() {
			if f.name != "TestMain" || f.decl.Body == nil {
				continue
			}
			is, line = true, s.lineOf(f.decl)
			ast.Inspect(f.decl.Body, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Run" || sel.Sel.Name == "Main" || sel.Sel.Name == "VerifyTestMain" && s.imports[dottedName(sel.X)] == "go.uber.org/goleak") {
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
		return d.oneFinding("test_main_bypass", policy.BySyntax, line, "TestMain returns before the tests have run")
	}
	return nil
}

// checkExpectations finds files of what tests expect that a change rewrites, and no code with them.
func checkExpectations(d *delta) []policy.Finding {
	if d.Before == nil || d.test && d.ext != ".txtar" || string(d.Before) == string(d.After) && d.After != nil {
		return nil
	}
	dirs := strings.Split(path.Dir(d.Path), "/")
	if !slices.Contains(dirs, "testdata") && !slices.Contains(dirs, "__snapshots__") && d.ext != ".golden" && d.ext != ".snap" {
		return nil
	}
	return d.oneFinding("expectation_changed", policy.ByBytes, 0, "holds the expected result of a test and was changed, and the code is the same")
}
