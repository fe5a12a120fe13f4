package lint

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// asserter walks a function of a Go test and tells each thing it asserts: the
// condition that must hold, or the function of the project that it asks.
type asserter struct {
	from side
	says map[string]bool // what asserts: true for what a library made of the test, false for the suite that it is of
	each func(holds condition, call *ast.CallExpr, helper string)
}

// walkBlock walks statements that are run where cond holds, nil for always.
func (a asserter) walkBlock(list []ast.Stmt, cond *condition) {
	for _, s := range list {
		a.walkStatement(s, cond)
	}
}

// knownAssertion returns the assertion of a library, or of a suite, that a name calls.
func (a asserter) knownAssertion(name string) string {
	object, method, _ := strings.Cut(name, ".")
	said, _ := withoutNegation(method)
	if made, ok := a.says[object]; made || slices.Contains([]string{"assert", "require", "is", "qt", "must", "check", "expect"}, object) ||
		ok && slices.Contains(strings.Fields(`True NoError Nil Equal EqualValues Exactly EqualError Error Len Empty Zero Panics Contains ElementsMatch Subset Greater Less InDelta JSONEq IsType Implements Regexp Same`), said) {
		return method
	}
	return ""
}

var setupCall = lazy(`^(?:os|ioutil)\.(?:Mkdir\w*|CreateTemp|TempDir|TempFile|WriteFile|Getwd|Chdir|Setenv|Unsetenv|Remove(?:All)?)$`)

// setupBefore returns the function of Go's that makes files, or an environment, and whose error
// a condition of f compares; the package, if it is ioutil; "" for any other condition.
func setupBefore(f *ast.FuncDecl, text string, at token.Pos) string {
	name, ok := strings.CutSuffix(text[strings.LastIndexByte(text, ';')+1:], " == nil")
	call := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if s, is := n.(*ast.AssignStmt); ok && is && s.Pos() < at && len(s.Rhs) == 1 && dottedName(s.Lhs[len(s.Lhs)-1]) == strings.TrimSpace(name) {
			call = calleeName(s.Rhs[0])
		}
		return true
	})
	if !setupCall().MatchString(call) {
		return ""
	}
	from, _, _ := strings.Cut(strings.TrimPrefix(call, "os."), ".")
	return from
}

// findAsserters are the names in a function that assert, see [asserter].
func findAsserters(f *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	if f.Recv != nil && len(f.Recv.List) > 0 && len(f.Recv.List[0].Names) > 0 {
		out[f.Recv.List[0].Names[0].Name] = false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && len(s.Lhs) == 1 && len(s.Rhs) == 1 && dottedName(s.Lhs[0]) != "" && slices.Contains([]string{"assert.New", "require.New", "is.New", "qt.New"}, calleeName(s.Rhs[0])) {
			out[dottedName(s.Lhs[0])] = true
		}
		return true
	})
	return out
}

func (a asserter) walkStatement(s ast.Stmt, cond *condition) {
	switch s := s.(type) {
	case *ast.IfStmt:
		if s.Init != nil {
			a.walkStatement(s.Init, cond)
		}
		c := a.from.readCondition(s.Cond)
		if s.Init != nil {
			c.text = a.from.textOf(s.Init) + "; " + c.text
		}
		a.walkExpressions(s.Cond)
		if !isConstantCondition(s.Cond) { // what never runs asserts nothing
			a.walkBlock(s.Body.List, &c)
		}
		if s.Else != nil {
			inverse := c.inverse()
			a.walkStatement(s.Else, &inverse)
		}
	case *ast.SwitchStmt:
		on := ""
		if s.Init != nil {
			on = a.from.textOf(s.Init) + "; "
		}
		if s.Tag != nil {
			on += a.from.textOf(s.Tag) + " "
		}
		a.walkCases(s.Body, on, s.Tag == nil)
	case *ast.TypeSwitchStmt:
		a.walkCases(s.Body, a.from.textOf(s.Assign)+" ", false)
	case *ast.ExprStmt:
		a.call(s.X, cond)
	default:
		if list, ok := innerStatements(s); ok {
			a.walkBlock(list, cond)
		} else if s != nil {
			a.walkExpressions(s)
		}
	}
}

// walkCases walks the cases of a switch on something, or of one whose cases are conditions.
func (a asserter) walkCases(of *ast.BlockStmt, on string, conditions bool) {
	for _, s := range of.List {
		s := s.(*ast.CaseClause)
		var words []string
		for _, e := range s.List {
			words = append(words, a.from.textOf(e))
		}
		if !conditions || !slices.ContainsFunc(s.List, isConstantCondition) { // what never runs asserts nothing
			a.walkBlock(s.Body, &condition{text: on + "case " + strings.Join(words, ", ")})
		}
	}
}

// innerStatements are the statements inside one that holds no condition of its own.
func innerStatements(s ast.Stmt) (list []ast.Stmt, ok bool) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return s.List, true
	case *ast.ForStmt:
		return s.Body.List, true
	case *ast.RangeStmt:
		return s.Body.List, true
	case *ast.SelectStmt:
		return s.Body.List, true
	case *ast.CommClause:
		return s.Body, true
	case *ast.LabeledStmt:
		return []ast.Stmt{s.Stmt}, true
	}
	return nil, false
}

// walkExpressions looks for functions written inside an expression or a statement.
func (a asserter) walkExpressions(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			a.walkBlock(f.Body.List, nil)
			return false
		}
		return true
	})
}

// call tells what one call asserts.
func (a asserter) call(e ast.Expr, cond *condition) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		a.walkExpressions(e)
		return
	}
	name := calleeName(call)
	object, _, _ := strings.Cut(name, ".")
	at := strings.LastIndexByte(name, '.')
	switch {
	case a.knownAssertion(name) != "":
		a.each(a.readClaim(a.knownAssertion(name), call), call, "")
	case at >= 0 && isFailing(object, name[at+1:]):
		c := condition{"fails", false}
		if cond != nil {
			c = cond.inverse()
		}
		a.each(c, call, "")
	case (strings.HasPrefix(name, "Expect") || strings.Contains(name, "….")) && fluent().MatchString(a.from.textOf(call)):
		a.each(condition{text: a.from.textOf(call)}, call, "")
	case (at >= 0 && a.from.imports[object] == "" || len(call.Args) > 1) && slices.ContainsFunc(call.Args, isTester):
		a.each(condition{text: a.from.textOf(call.Fun) + " is called"}, call, name)
	}
	for _, arg := range call.Args {
		a.walkExpressions(arg)
	}
}

// fluent finds what assertions that are chains of calls have among them.
var fluent = lazy(`(?i)(?:expect|assert|require|should|that)\w*\(`)

func isFailing(object, method string) bool {
	return slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}, method) && !slices.Contains([]string{"fmt", "log", "slog", "errors"}, object)
}

// isTester reports an argument that is the test itself.
func isTester(e ast.Expr) bool {
	return slices.Contains([]string{"t", "b", "tb", "ts"}, dottedName(e)) || strings.HasSuffix(calleeName(e), ".T")
}

// argumentsOf returns what a call is about, without the test itself.
func argumentsOf(from side, call *ast.CallExpr) []string {
	var out []string
	for _, arg := range call.Args {
		if !isTester(arg) {
			out = append(out, from.textOf(arg))
		}
	}
	return out
}

// readClaim is what an assertion of a library says must hold, in the words in which
// an if would say it.
func (a asserter) readClaim(method string, call *ast.CallExpr) condition {
	name, negated := withoutNegation(method)
	args := argumentsOf(a.from, call)
	at := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "True":
		if i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return !isTester(e) }); i >= 0 {
			c := a.from.readCondition(call.Args[i])
			return condition{c.text, c.negated != negated}
		}
	case "NoError", "Nil":
		return condition{writeEquality(at(0), "nil"), negated}
	case "Equal", "EqualValues", "Exactly":
		return condition{writeEquality(at(0), at(1)), negated}
	case "EqualError":
		return condition{writeEquality(at(0)+".Error()", at(1)), negated}
	case "Len":
		return condition{writeEquality("len("+at(0)+")", at(1)), negated}
	case "Empty", "Zero", "Panics":
		return condition{name + "(" + at(0) + ")", negated}
	}
	return condition{name + "(" + at(0) + ", " + at(1) + ")", negated}
}

// writeEquality writes that two things are the same, whichever of them is named first.
func writeEquality(a, b string) string {
	return min(a, b) + " == " + max(a, b)
}

// withoutNegation is the name of an assertion without its negation.
func withoutNegation(method string) (name string, negated bool) {
	method = strings.TrimSuffix(method, "f")
	switch method {
	case "False":
		return "True", true
	case "Error":
		return "NoError", true
	}
	for _, no := range []string{"Not", "No"} {
		if rest, ok := strings.CutPrefix(method, no); ok && rest != "" && method != "NoError" && method != "Nothing" {
			return rest, true
		}
	}
	return method, false
}

// asserting finds the lines of tests in other languages that assert something.
var asserting = lazy(`^\s*(?:assert\b|self\.(?:assert|fail)|(?:await\s+)?expect\(|await\s+expect(?:\s*$|\.poll\()|assert[.!_(]|assert_\w+|(?:with\s+)?pytest\.(?:raises|warns)|t\.(?:is|deepEqual|true|false|throws)\(|should\b|\w+\.should[.(]|EXPECT_|ASSERT_|XCTAssert|Assert\.|debug_assert)`)

// scripted finds the lines of a test script that assert something.
var scripted = lazy(`^\s*(?:\[[^\]]*\]\s*)?(?:!\s|exits\s|cmp|cmpenv\s|stdout\s|stderr\s|grep\s|exists\s)`)

// testNames find the names of tests in other languages, and what skips them.
var (
	testNames = lazy(`^\s*(?:async\s+)?(?:def\s+(test\w*)|x?(?:it|test)(?:\.\w+)*\s*\(\s*["'` + "`" + `]([^"'` + "`" + `]+)|fn\s+(test\w*)|(?:public\s+)?void\s+(test\w*))`)
	testSkips = lazy(`@(?:pytest\.mark\.(?:skipif|skip|xfail)|unittest\.skip(?:If|Unless)?|Ignore|Disabled)|\b(?:it|test|describe)\.(?:skip|only|todo)\b|\bx(?:it|describe)\(|#\[ignore|pytest\.skip\(|self\.skipTest\(|^\s*skip\b`)
)

// readText gathers what a test of another language asserts, line by line. What
// stands before the first test, or in a file without one, is the file's own.
func (s *suite) readText(d *delta, from side) {
	if !from.here {
		return
	}
	re, lines := asserting(), from.lines()
	if d.ext == ".txtar" {
		re = scripted()
		if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-- ") }); at >= 0 {
			lines = lines[:at]
		}
	}
	s.bound[d.Path] = boundNames(d.ext, from.src)
	in := d.Path
	t := tested{place: place{d.Path, 0}, name: path.Base(d.Path), test: !slices.ContainsFunc(lines, testNames().MatchString), tokens: counts[string]{}, checked: counts[string]{}, calls: map[string]bool{}, objects: map[string]string{}}
	pending, after, begun, off := counts[bool]{}, "", -1, false
	for i, l := range lines {
		skips, mark := testSkips().FindString(l), strings.TrimSpace(l)
		byCondition := strings.HasSuffix(strings.ToLower(skips), "if") || strings.HasSuffix(skips, "Unless") || openers().MatchString(after) || strings.Contains(l, "? "+skips)
		if skips != "" {
			byCondition = byCondition && !skipsAlways().MatchString(readStatement(lines[i:]))
		}
		never := skips != "" && !byCondition && !strings.HasSuffix(skips, ".only")
		if m := ownName().FindStringSubmatch(l); m != nil {
			s.own[d.ext+" "+m[1]+m[2]] = true
		}
		at := i
		if strings.HasPrefix(mark, "@") && i > begun {
			at += max(slices.IndexFunc(lines[i:], decorated().MatchString), 0)
		}
		if m := testNames().FindStringSubmatch(lines[at]); m != nil && at > begun {
			s.tests[in], begun = t, at
			name := strings.Join(m[1:], "")
			for in = d.Path + "/" + name; s.tests[in].test; in += "#" {
			}
			t = tested{place: place{d.Path, at + 1}, name: name, test: true, off: off, skips: pending[false], ifs: pending[true], tokens: counts[string]{}, checked: counts[string]{}, calls: map[string]bool{}, objects: map[string]string{}}
			pending, off = counts[bool]{}, false
		} else if skips != "" && i > begun && (strings.HasPrefix(mark, "@") || strings.HasPrefix(mark, "#[") || strings.Contains(mark, "describe")) {
			pending[byCondition]++
			off, skips = off || never, ""
		}
		t.off = t.off || never && i <= begun
		t.skips += btoi(skips != "" && !byCondition)
		t.ifs += btoi(skips != "" && byCondition)
		named := testNames().MatchString(l)
		uses := l // what a file declares for itself, it does not use yet
		if !named {
			uses = declares().ReplaceAllString(l, "$1")
		}
		for _, w := range tokens().FindAllString(uses, -1) {
			t.tokens[plainValue(w)]++
		}
		if !named && !noCall(d.ext, mark) {
			t.call(d.ext, uses)
		}
		t.items += btoi(tableRow().MatchString(l))
		if re.MatchString(l) {
			text, negated := withoutNot(readStatement(lines[i:]))
			if !slices.Contains(scriptExts(), d.ext) || !asksNothing(text) {
				s.addCheck(check{condition: condition{text, negated}, place: place{d.Path, i + 1}, in: in}, "", nil)
			}
		}
		if mark != "" {
			after = mark
		}
	}
	s.tests[in] = t
}

// asksNothing reports an assertion of JavaScript that does not say what must hold, or that is about a value which is
// written down.
func asksNothing(text string) bool {
	text = string(quotes().ReplaceAll([]byte(strings.TrimPrefix(text, "await ")), nil))
	end := strings.IndexByte(text, ')') + 1
	for end > 0 && end < len(text) && countOpen([]byte(text[:end])) > 0 {
		end++
	}
	return strings.HasPrefix(text, "expect(") && end == len(text) || aboutValue().MatchString(text)
}

var aboutValue = lazy(`^expect\((?:await )?(?:true|false|null|undefined|[\d.]*)\)`)

// decorated finds what stands below decorators.
var decorated = lazy(`^\s*(?:(?:async\s+)?(?:def|class)\s|(?:public\s+)?void\s|fn\s)`)

// skipsAlways finds a test whose condition to be skipped is written down as a value.
var skipsAlways = lazy(`\b(?:skip(?:if|If|Unless)|xfail)\((?:condition=)?(?:not )?(?:True|False|None|\d+|"(?:True|1)")(?:[,)]| (?:and|or)\b)`)

// noCall reports a line that calls nothing of what is tested: a decorator or a comment.
func noCall(ext, line string) bool {
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#") || ext != ".py" && strings.HasPrefix(line, "//")
}

// onLanguage find what is called on a module or an object that Python, or JavaScript, and its
// runners of tests have.
var (
	onPython = lazy(`(^|[^\w.])(?:os|sys|re|io|json|ssl|time|socket|asyncio|functools|itertools|collections|logging|pathlib|shutil|subprocess|datetime|tempfile|threading|pytest|unittest|mock|capsys|capfd|caplog|monkeypatch|tmp_path|recwarn|mocker)\.\w+`)
	onScript = lazy(`(^|[^\w.])(?:JSON\.(?:parse|stringify)|Object\.(?:assign|create|defineProperty|entries|freeze|fromEntries|getPrototypeOf|is|keys|values)|(?:Math|Reflect|Promise|console|process|jest|vi|sinon)\.\w+)\b`)
)

var (
	object  = lazy(`[\w$.]*\.$`)
	ownName = lazy(`^(?:(?:\s*class|(?:export\s+|async\s+)*(?:def|function))\s+(\w+)|(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?\([^()]*\)\s*=>)`)
)

// declares finds a function or a method that a line of another language declares.
var declares = lazy(`\b(?:def|function|fn)\s+\w+|^\s*(?:async\s+|static\s+)*\w+(\([^()]*\)\s*\{\s*)$`)

// call adds the names that a line of another language calls, each with its object, but for
// what is called on an object of the language or of a runner of tests.
func (t tested) call(ext, line string) {
	switch {
	case ext == ".py":
		line = onPython().ReplaceAllString(line, "$1")
	case slices.Contains(scriptExts(), ext):
		line = onScript().ReplaceAllString(line, "$1")
	}
	for _, at := range tokens().FindAllStringIndex(line, -1) {
		name, before := line[at[0]:at[1]], line[:at[0]]
		if !literalToken(name) && !slices.Contains(common, name) && strings.HasPrefix(line[at[1]:], "(") {
			t.calls[name], t.objects[name] = true, object().FindString(before)
		}
	}
}

// maxStatement is how many lines of an assertion are read.
const maxStatement = 30

// readStatement is the text of what begins in the first line, to the line in which its brackets
// are closed and behind which no call of it follows, however it is broken into lines.
func readStatement(lines []string) string {
	text, unclosed := "", 0
	lines = lines[:min(maxStatement, len(lines))]
	for i, l := range lines {
		text += " " + l
		unclosed += countOpen(quotes().ReplaceAll([]byte(l), nil))
		if unclosed <= 0 && (i+1 == len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[i+1]), ".")) {
			break
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	for _, tight := range [][2]string{{"( ", "("}, {" )", ")"}, {"[ ", "["}, {" ]", "]"}, {",)", ")"}, {",]", "]"}, {", )", ")"}, {" .", "."}} {
		text = strings.ReplaceAll(text, tight[0], tight[1])
	}
	if rest, ok := strings.CutPrefix(text, "assert ("); ok && strings.HasSuffix(rest, ")") {
		text = "assert " + rest[:len(rest)-1]
	}
	return polled().ReplaceAllString(strings.TrimSuffix(text, ";"), "expect(await ")
}

// polled finds the beginning of an assertion that a runner of tests asks again until it holds.
var polled = lazy(`^await expect\.poll\((?:async )?\(\) => `)

// openers begin a block that is run under a condition; tableRow is a line of a list
// of cases.
var (
	openers  = lazy(`^(?:if|elif|else|except|try)\b`)
	tableRow = lazy(`^\s*[\[({"'].*[\])}"'],\s*$|^\s*@pytest\.mark\.parametrize`)
)

// withoutNot takes the negation out of an assertion's line.
func withoutNot(line string) (text string, negated bool) {
	for _, no := range [][2]string{
		{"assert not ", "assert "}, {"! ", ""}, {".not.", "."}, {"assertFalse", "assertTrue"}, {"assertNotEqual", "assertEqual"}, {"assertIsNotNone", "assertIsNone"},
		{"assertNotIn(", "assertIn("}, {" != ", " == "}, {"toBe(false)", "toBe(true)"}, {"toBeFalsy(", "toBeTruthy("}, {" is not ", " is "}, {" not in ", " in "}, {"assert_ne!", "assert_eq!"}, {"notEqual(", "equal("},
	} {
		if strings.Contains(line, no[0]) {
			line, negated = strings.Replace(line, no[0], no[1], 1), !negated
		}
	}
	return line, negated
}
