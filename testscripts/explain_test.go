package testscripts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/cmd"
)

// unseen are codes that no literal shows, each with where it is put together.
var unseen = []string{
	"odd-task-state",               // board: odd-task- and the key
	"odd-invariant-16",             // board/verify: odd-invariant- and the number
	"usage", "busy", "interrupted", // verb: what Status returns beside the code of a refusal
	"handoff_insufficient", "refused", // persona/session: outcomes
}

// families are the beginnings of codes, each with one that has it.
var families = map[string]string{"unknown-": "unknown-role"}

// TestEveryCodeIsExplained: odd explain knows every code that a literal or a constant
// of the module gives to a refusal, a finding or a failure, and those put together.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	found := codesIn(goFiles(t, product))
	if len(found) < 500 {
		t.Errorf("only %d codes found in the sources", len(found))
	}
	for _, c := range gate.Codes() {
		found[c] = "board/gate"
		found["lease-"+strings.ReplaceAll(c, "_", "-")] = "board/drain"
	}
	for _, c := range unseen {
		found[c] = "unseen"
	}
	unexplained(t, found, func(code, at string) { t.Errorf("%s: odd explain does not know %q", at, code) })
}

// TestAnUnexplainedCodeIsReported: a new code in any of the forms that the module
// has for one does not pass unseen.
func TestAnUnexplainedCodeIsReported(t *testing.T) {
	t.Parallel()
	const text = `package drain

const (
	Vanished = "new-failure"
	codeNew  = "new-const"
)

type Outcome struct{ Code string }

func (o *Outcome) Busy() string    { return "new-busy" }
func (o *Outcome) Refused() string { return "new-family-" + o.Code }

func f() []any {
	_ = session.Fail(Vanished, "")
	_ = refuse("new-refusal", "%s is gone", "x")
	_ = d.refuse("new-method", "", "x")
	_ = verb.Refuse("new-exported", "%s is gone", "x")
	_ = busy("new_lock", "x")
	o.Failure = "new-assigned"
	w.blocked("new-blocked: %s", "x")
	_ = []laneRow{{"new-row", 1}}
	return []any{Outcome{Code: "new-member"}, &Refusal{"new-place", "x"}, okf.Problem{Code: codeNew}, refuse("state", "known")}
}
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "new.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	unexplained(t, codesIn([]source{{path: "board/drain/new.go", dir: "board/drain", file: f, fset: fset}}), func(code, _ string) { got = append(got, code) })
	slices.Sort(got)
	want := []string{"new-assigned", "new-blocked", "new-busy", "new-const", "new-exported", "new-failure", "new-family-", "new-member", "new-method", "new-place", "new-refusal", "new-row", "new_lock"}
	if !slices.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
}

// TestExplanationsNameWhatIsThere: a command in back-ticks has a verb that odd has, and
// flags that the verb has; each explanation is a sentence.
func TestExplanationsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	help := map[string]string{"": said(t, "help", "all")}
	seen := 0
	for _, c := range explained(t) {
		if c.Kind == "" || !strings.HasSuffix(c.Means, ".") || c.Fix != "" && !strings.HasSuffix(c.Fix, ".") && !strings.HasSuffix(c.Fix, ".md") {
			t.Errorf("%s (%s): %q, %q", c.Code, c.Kind, c.Means, c.Fix)
		}
		for _, line := range commands(c.Means + " " + c.Fix) {
			seen++
			at := ""
			for _, word := range strings.Fields(line)[1:] {
				if !verb.MatchString(word) || at != "" && !strings.Contains(help[at], "\n  "+word+" ") {
					break
				}
				if at == "" && !strings.Contains(help[at], "\n  "+word+" ") && word != "help" {
					t.Errorf("%s: %q: odd has no verb %s", c.Code, line, word)
					break
				}
				if at = strings.TrimSpace(at + " " + word); word != "help" && help[at] == "" {
					help[at] = said(t, append([]string{"help"}, strings.Fields(at)...)...)
				}
				at = strings.TrimPrefix(at, "help")
			}
			for _, flag := range flags.FindAllString(line, -1) {
				if !strings.Contains(help[at], flag) {
					t.Errorf("%s: %q: odd %s has no %s", c.Code, line, at, flag)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands found in the explanations", seen)
	}
}

// TestExplanationsFit: on a terminal no line is wider than it, and the kinds stand together.
func TestExplanationsFit(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"odd", "explain"}, {"odd", "explain", "state"}} {
		var out bytes.Buffer
		env := cmd.OS()
		env.Stdout, env.Dir, env.Terminal, env.Width = &out, t.TempDir(), true, 80
		if code := cmd.Main(env, args...); code != 0 {
			t.Errorf("%v: exit code %d", args, code)
		}
		kinds := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%v: %s", args, line)
			}
			if !strings.HasPrefix(line, " ") {
				if kinds[line] {
					t.Errorf("%v: %s stands twice", args, line)
				}
				kinds[line] = true
			}
		}
	}
}

type explanation struct{ Code, Kind, Means, Fix string }

// explained is all that odd explain knows.
func explained(t *testing.T) (all []explanation) {
	t.Helper()
	if err := json.Unmarshal([]byte(said(t, "explain", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// unexplained tells of every code that odd explain does not know.
func unexplained(t *testing.T, codes map[string]string, tell func(code, at string)) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range explained(t) {
		known[strings.ToLower(c.Code)] = true
	}
	for code, at := range codes {
		if code = cmp.Or(families[code], code); known[strings.ToLower(code)] {
			continue
		}
		var out bytes.Buffer // one that stands for another is not in the list
		env := cmd.OS()
		env.Stdout, env.Stderr, env.Dir, env.Terminal = &out, io.Discard, t.TempDir(), false
		if cmd.Main(env, "odd", "explain", code) != 0 || !strings.Contains(out.String(), "\n  ") {
			tell(code, at)
		}
	}
}

// codesIn are the codes that files give to refusals, findings and failures, each with a place:
//   - the first argument of refuse, Refuse, busy, deny, lack, failf and Fail, the second of problem,
//     what a task is blocked with in front of a colon
//   - a member Code or Failure, what is assigned to one or to code, the first member of
//     a refusal or a row of rules, where members have no names
//   - what Refused and Busy return; a code that only begins with a literal stands as that beginning
//   - constants of the types of codes, those named code…, Code… or rule…, and those declared
//     together with one that names a failure
//
// The rows of a table that odd explain reads need not be found.
func codesIn(files []source) map[string]string {
	c := codeFinder{values: map[string]string{}, found: map[string]string{}}
	for _, s := range files {
		c.in = s
		ast.Inspect(s.file, c.constants)
	}
	for _, s := range files {
		c.in = s
		ast.Inspect(s.file, c.uses)
	}
	for _, s := range files {
		c.in = s
		ast.Inspect(s.file, c.failures)
	}
	return c.found
}

type codeFinder struct {
	in     source
	values map[string]string // by package folder, a dot and the constant's name
	found  map[string]string
	failed []string // keys of values that Fail was called with
}

var (
	codeShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*[-_]?$`)
	codeName  = regexp.MustCompile(`^([Cc]ode|rule)[A-Z]|^Code$`)
	codeTypes = []string{"Code", "Reason", "Held", "StopReason"}
	// codeArgs is where a function takes its code.
	codeArgs = map[string]int{"refuse": 0, "Refuse": 0, "busy": 0, "deny": 0, "lack": 0, "failf": 0, "Fail": 0, "problem": 1}
	// codeLists are types whose first member is a code where members have no names.
	codeLists = []string{"Refusal", "NoProfile", "Denied", "Busy", "Fault", "Unfit", "Meaning", "Rule", "rule", "laneRow"}
	// codeless are types of the same names that begin with something else.
	codeless = []string{"persona/contract.Rule", "board/pipeline.Denied"}
)

func (c *codeFinder) add(n ast.Node, code string) {
	if codeShape.MatchString(code) {
		c.found[code] = c.in.at(n)
	}
}

// key is how values names a constant that an expression of this file means.
func (c *codeFinder) key(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return c.in.dir + "." + e.Name
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		own, _ := c.in.imports()
		for _, dir := range own {
			if ok && (dir == x.Name || strings.HasSuffix(dir, "/"+x.Name)) {
				return dir + "." + e.Sel.Name
			}
		}
	case *ast.CallExpr: // string(pipeline.VerifyFailed)
		if len(e.Args) == 1 && called(e) == "string" {
			return c.key(e.Args[0])
		}
	}
	return ""
}

// value is the text of a literal or a constant, "" for any other expression.
func (c *codeFinder) value(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return c.values[c.key(e)]
}

func called(e *ast.CallExpr) string {
	switch f := e.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// constants learns the constants of texts, and finds those that are codes by their type or name.
func (c *codeFinder) constants(n ast.Node) bool {
	spec, ok := n.(*ast.ValueSpec)
	if !ok || len(spec.Values) != len(spec.Names) {
		return true
	}
	for i, name := range spec.Names {
		v := c.value(spec.Values[i])
		if v == "" {
			continue
		}
		c.values[c.in.dir+"."+name.Name] = v
		if slices.Contains(codeTypes, nameOf(spec.Type)) || spec.Type == nil && codeName.MatchString(name.Name) {
			c.add(name, v)
		}
	}
	return true
}

// uses finds codes where they are given to something.
func (c *codeFinder) uses(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.call(n)
	case *ast.KeyValueExpr:
		if k := nameOf(n.Key); k == "Code" || k == "Failure" {
			c.add(n, c.value(n.Value))
		}
	case *ast.CompositeLit:
		c.first(n, nameOf(n.Type))
		if list, ok := n.Type.(*ast.ArrayType); ok {
			for _, e := range n.Elts {
				if e, ok := e.(*ast.CompositeLit); ok && e.Type == nil {
					c.first(e, nameOf(list.Elt))
				}
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if k := nameOf(left); (k == "code" || k == "Code" || k == "Failure") && len(n.Rhs) == len(n.Lhs) {
				c.add(n, c.value(n.Rhs[i]))
			}
		}
	case *ast.FuncDecl:
		if n.Recv != nil && (n.Name.Name == "Refused" || n.Name.Name == "Busy") {
			ast.Inspect(n, c.returns)
		}
	}
	return true
}

// call finds the code that a function is called with. Two packages put a word in front.
func (c *codeFinder) call(n *ast.CallExpr) {
	name := called(n)
	at, ok := codeArgs[name]
	switch {
	case name == "parse" && c.in.dir == "persona/contract":
		c.add(n, "unknown-"+c.value(n.Args[0]))
	case name == "problem" && c.in.dir == "board":
		c.add(n, "odd-task-"+c.value(n.Args[1]))
	case name == "blocked" && len(n.Args) > 0:
		if code, _, ok := strings.Cut(c.value(n.Args[0]), ": "); ok && strings.ContainsAny(code, "-_") {
			c.add(n, code)
		}
	case ok && len(n.Args) > at:
		c.add(n, c.value(n.Args[at]))
		if name == "Fail" {
			c.fails(n.Args[at])
		}
	}
}

// first finds the first member of a value of a type that begins with its code.
func (c *codeFinder) first(n *ast.CompositeLit, of string) {
	if len(n.Elts) > 0 && slices.Contains(codeLists, of) && !slices.Contains(codeless, c.in.dir+"."+of) {
		c.add(n, c.value(n.Elts[0]))
	}
}

func (c *codeFinder) returns(n ast.Node) bool {
	if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
		e := r.Results[0]
		if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			e = sum.X
		}
		c.add(r, c.value(e))
	}
	return true
}

// fails finds the name of a failure, which may be of several words.
func (c *codeFinder) fails(e ast.Expr) {
	if v := c.value(e); v != "" {
		c.found[v] = c.in.at(e)
	}
	c.failed = append(c.failed, c.key(e))
}

// failures finds the names of failures declared together with one that is given to Fail.
func (c *codeFinder) failures(n ast.Node) bool {
	group, ok := n.(*ast.GenDecl)
	if !ok || group.Tok != token.CONST {
		return true
	}
	var all []*ast.Ident
	for _, spec := range group.Specs {
		all = append(all, spec.(*ast.ValueSpec).Names...)
	}
	if slices.ContainsFunc(all, func(id *ast.Ident) bool { return slices.Contains(c.failed, c.key(id)) }) {
		for _, id := range all {
			if v := c.values[c.key(id)]; v != "" {
				c.found[v] = c.in.at(id)
			}
		}
	}
	return true
}
