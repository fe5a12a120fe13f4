package lint

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// function is one declared function of a Go file.
type function struct {
	name string // with its receiver: "File.Close"
	decl *ast.FuncDecl
	in   side
}

// lineOf is where a node stands.
func (s side) lineOf(n ast.Node) int {
	if s.fset == nil || n == nil || !n.Pos().IsValid() {
		return 0
	}
	return s.fset.Position(n.Pos()).Line
}

// textOf is a node as it is written, with every space and line break as one space.
// Nodes inside nodes are read again and again: a file that makes that take many
// times its own length is refused, by the panic that the guard turns into a
// finding.
func (s side) textOf(n ast.Node) string {
	from, to := s.fset.Position(n.Pos()).Offset, s.fset.Position(n.End()).Offset
	if from < 0 || to > len(s.src) || from > to {
		return ""
	}
	if *s.read += to - from; *s.read > maxReread*(len(s.src)+1<<10) {
		panic("its expressions stand too deep in one another to be read")
	}
	return strings.Join(strings.Fields(string(s.src[from:to])), " ")
}

// maxReread is how many times its own length a file may take to read.
const maxReread = 1000

// listFunctions lists the functions of a side. Of several that may bear one name,
// init and _, each has its number.
func (s side) listFunctions() []function {
	if s.tree == nil {
		return nil
	}
	var out []function
	twice := map[string]int{}
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil && len(f.Recv.List) > 0 {
			name = receiverName(f.Recv.List[0].Type) + "." + name
		}
		if twice[name]++; twice[name] > 1 {
			name += "#" + strconv.Itoa(twice[name])
		}
		out = append(out, function{name, f, s})
	}
	return out
}

func receiverName(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// pair is one function before and after. A function that moved to another file
// of its folder is the same; was.decl is nil for a new one.
type pair struct{ was, now function }

// pairFunctions matches the functions of a file with what they were.
func (c *change) pairFunctions(d *delta) []pair {
	own := map[string]function{}
	for _, f := range d.was.listFunctions() {
		own[f.name] = f
	}
	var out []pair
	lines, _ := d.now.buildLines()
	usual := len(lines) != 1 || holdsUsually(lines[0]) // else it stands for another only where a person asks for it
	moved := constraintOf(d.Path, d.was) != constraintOf(d.Path, d.now)
	for _, f := range d.now.listFunctions() {
		was, ok := own[f.name]
		if old := c.goneFunctions(d)[f.name]; old.decl != nil && usual && (!ok || moved) {
			was = old
		}
		out = append(out, pair{was, f})
	}
	return out
}

// buildLines returns the build constraints that the go command reads, of which it obeys one
// and refuses more, and the older lines of build tags.
func (s side) buildLines() (lines, older []string) {
	if s.tree == nil {
		return nil, nil
	}
	for _, g := range s.tree.Comments {
		for _, c := range g.List {
			at := s.fset.PositionFor(c.Pos(), false).Offset
			before := bytes.TrimPrefix(s.src[:at], []byte("\ufeff"))
			switch {
			case c.Pos() > s.tree.Package:
			case constraint.IsGoBuild(c.Text) && len(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])) == 0:
				lines = append(lines, c.Text)
			case constraint.IsPlusBuild(c.Text):
				older = append(older, c.Text)
			}
		}
	}
	return lines, older
}

// holdsUsually reports a build constraint that holds on a common system, with cgo or without,
// for some version of Go, without any tag that a person would have to give.
func holdsUsually(text string) bool {
	expr, err := constraint.Parse(text)
	if err != nil {
		return false
	}
	for _, system := range []string{"amd64 linux unix cgo", "arm64 linux unix", "amd64 darwin unix", "arm64 darwin unix cgo", "amd64 windows cgo", "arm64 windows"} {
		for newest := 24; newest < 60; newest++ { // what is in use, and what is not out yet
			if expr.Eval(func(tag string) bool {
				minor, err := strconv.Atoi(strings.TrimPrefix(tag, "go1."))
				return err == nil && minor <= newest || slices.Contains(strings.Fields("gc "+system), tag)
			}) {
				return true
			}
		}
	}
	return false
}

// goneFunctions holds the functions that the files of a folder had and do not have any more,
// or have under another condition: the largest of each name.
func (c *change) goneFunctions(d *delta) map[string]function {
	if c.before == nil {
		c.before = map[string]map[string]function{}
		for _, o := range c.deltas {
			if c.before[o.dir] == nil {
				c.before[o.dir] = map[string]function{}
			}
			still := map[string]bool{}
			if constraintOf(o.Path, o.was) == constraintOf(o.Path, o.now) {
				for _, f := range o.now.listFunctions() {
					still[f.name] = true
				}
			}
			for _, f := range o.was.listFunctions() {
				if old := c.before[o.dir][f.name]; !still[f.name] && (old.decl == nil || f.size() > old.size()) {
					c.before[o.dir][f.name] = f
				}
			}
		}
	}
	return c.before[d.dir]
}

// size is how many statements a function has.
func (f function) size() int {
	if f.decl.Body == nil {
		return 0
	}
	return countStatements(f.decl.Body)
}

// work is how many statements a function has, 0 where it does nothing.
func (f function) work() int {
	if f.decl.Body != nil && isHollow(f.decl.Body.List, nil) {
		return 0
	}
	return max(f.size(), 1)
}

// condition is an expression without the negations around it, and whether it is
// negated: a != b is the negation of a == b, and a >= b that of a < b.
type condition struct {
	text    string
	negated bool
}

func (c condition) inverse() condition { return condition{c.text, !c.negated} }

func (c condition) String() string {
	if c.negated {
		return "!(" + c.text + ")"
	}
	return c.text
}

func (s side) readCondition(e ast.Expr) condition {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return s.readCondition(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return s.readCondition(x.X).inverse()
		}
	case *ast.BinaryExpr:
		l, r := s.textOf(x.X), s.textOf(x.Y)
		switch x.Op {
		case token.NEQ:
			return condition{writeEquality(l, r), true}
		case token.GEQ:
			return condition{l + " < " + r, true}
		case token.GTR:
			return condition{r + " < " + l, false}
		case token.LEQ:
			return condition{r + " < " + l, true}
		case token.EQL:
			return condition{writeEquality(l, r), false}
		case token.LSS:
			return condition{l + " < " + r, false}
		}
	}
	return condition{s.textOf(e), false}
}

// counts is how often each thing is there.
type counts[K comparable] map[K]int

// subtract returns what is there less often than before, as often as it is missing.
func (was counts[K]) subtract(now counts[K]) counts[K] {
	out := counts[K]{}
	for k, n := range was {
		if n > now[k] {
			out[k] = n - now[k]
		}
	}
	return out
}

// countOf counts a list.
func countOf[K comparable](list []K) counts[K] {
	out := counts[K]{}
	for _, k := range list {
		out[k]++
	}
	return out
}

// calleeName names what a call calls: "os.Exit", "t.Fatal", "f"; "" if it has no name.
func calleeName(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	return dottedName(call.Fun)
}

// dottedName writes a chain of names. Where it begins with something else, or is
// longer than any name is, its beginning is "…"; "" is no chain.
func dottedName(e ast.Expr) string { return chainName(e, maxChain) }

const maxChain = 32

func chainName(e ast.Expr, depth int) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.ParenExpr:
		if depth > 0 {
			return chainName(x.X, depth-1)
		}
	case *ast.IndexExpr:
		if depth > 0 {
			return chainName(x.X, depth-1)
		}
	case *ast.SelectorExpr:
		left := ""
		if depth > 0 {
			left = chainName(x.X, depth-1)
		}
		return cmp.Or(left, "…") + "." + x.Sel.Name
	}
	return ""
}

// importsOf maps the names of a file's imports to their paths. The name of an
// import without one is guessed as people do: the last part of the path that is
// no version.
func importsOf(f *ast.File) map[string]string {
	out := map[string]string{}
	if f == nil {
		return out
	}
	for _, im := range f.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		name := guessName(p)
		if im.Name != nil {
			name = im.Name.Name
		}
		out[name] = p
	}
	return out
}

func guessName(p string) string {
	parts := strings.Split(p, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = parts[len(parts)-2]
	}
	last, _, _ = strings.Cut(last, ".v")
	last = strings.TrimPrefix(last, "go-")
	if at := strings.LastIndexByte(last, '-'); at >= 0 {
		last = last[at+1:]
	}
	return last
}

// eachCall counts the calls of functions of other packages in a node, by the path
// of the package and the name, such as "os/exec.Command", and returns each.
func (s side) eachCall(n ast.Node, each func(name string, call *ast.CallExpr)) {
	if n == nil || s.tree == nil {
		return
	}
	imports := s.imports
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := calleeName(call)
		if pkg, rest, ok := strings.Cut(name, "."); ok && imports[pkg] != "" {
			name = imports[pkg] + "." + rest
		} else if _, dot := imports["."]; dot && !strings.Contains(name, ".") {
			name = imports["."] + "." + name
		}
		each(name, call)
		return true
	})
}

// arrived are the names of functions that a folder did not have, each with the statements
// of the largest; 0 is one that does nothing.
type arrived map[string]int

// newFunctions lists the new functions of a folder.
func (c *change) newFunctions(dir string) arrived {
	if c.come[dir] == nil {
		come := arrived{}
		for _, o := range c.deltas {
			for _, f := range o.now.listFunctions() {
				if name := f.decl.Name.Name; o.dir == dir {
					come[name] = max(come[name], f.work())
				}
			}
		}
		for _, o := range slices.Concat(c.deltas, c.beside) {
			for _, f := range o.was.listFunctions() {
				if o.dir == dir {
					delete(come, f.decl.Name.Name)
				}
			}
		}
		if c.come == nil {
			c.come = map[string]arrived{}
		}
		c.come[dir] = come
	}
	return c.come[dir]
}

// calledSize returns how much the function that an expression calls does, and whether it is new.
func (a arrived) calledSize(e ast.Expr) (n int, is bool) {
	name := calleeName(e)
	n, is = a[name[strings.LastIndexByte(name, '.')+1:]]
	return n, is
}

// isConstant reports whether an expression is a value that needs no work: a literal, nil,
// true, false, an empty composite, a call of a new function that does nothing, or a new
// error that no new function which works words.
func isConstant(e ast.Expr, come arrived) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "true" || x.Name == "false"
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.UnaryExpr:
		return isConstant(x.X, come)
	case *ast.ParenExpr:
		return isConstant(x.X, come)
	case *ast.CallExpr:
		name := dottedName(x.Fun)
		n, is := come.calledSize(x)
		return is && n == 0 || (name == "errors.New" || name == "fmt.Errorf") && !slices.ContainsFunc(x.Args, func(e ast.Expr) bool {
			n, is := come.calledSize(e)
			return is && n >= collapsedFrom
		})
	}
	return false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lazy compiles a pattern when it is first needed: most changes need few.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
