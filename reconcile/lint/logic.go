package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// collapsedFrom is how many statements a function has that may not come to
// nothing.
const collapsedFrom = 3

// checkFunctions judges what the functions of a file have become.
func checkFunctions(c *change, d *delta) []policy.Finding {
	if d.ext != ".go" {
		return bodiesByText(d)
	}
	var out []policy.Finding
	for _, p := range c.pairFunctions(d) {
		tell := func(code string, line int, format string, args ...any) {
			out = append(out, d.oneFinding(code, policy.BySyntax, line, fmt.Sprintf(format, args...))...)
		}
		if p.was.decl != nil && p.was.decl.Body != nil {
			p.judgeBody(c.newFunctions(d.dir), tell)
		}
		p.judgeConditions(d.test, tell)
		if !d.test {
			p.judgeErrors(tell)
		}
	}
	return out
}

// teller makes a finding about a function.
type teller func(code string, line int, format string, args ...any)

// judgeBody tells a function that does nothing any more, or something behind a return.
func (p pair) judgeBody(come arrived, tell teller) {
	at := p.now.in.lineOf(p.now.decl)
	if p.now.decl.Body == nil {
		tell("function_body_collapsed", at, "the function %s no longer has a body", p.now.name)
		return
	}
	was, now := p.was.decl.Body.List, p.now.decl.Body.List
	same := p.was.in.textOf(p.was.decl.Body) == p.now.in.textOf(p.now.decl.Body)
	switch {
	case p.was.size() >= collapsedFrom && isHollow(now, come) && !same && !endsAtOnce(was):
		tell("function_body_collapsed", at, "the function %s had %d statements and now does nothing", p.now.name, p.was.size())
	case !cutShort(was) && cutShort(now):
		tell("function_body_collapsed", at, "the function %s returns before its last statements", p.now.name)
	}
}

// countStatements counts the statements of a block, those inside others too.
func countStatements(b *ast.BlockStmt) int {
	n := 0
	ast.Inspect(b, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.CaseClause, *ast.CommClause:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n
}

// isHollow reports whether statements do nothing but end: with constants, a panic, a call
// of a new function that does nothing, or by leaving out what they were given.
func isHollow(list []ast.Stmt, come arrived) bool {
	works := func(e ast.Expr) bool { return !isConstant(e, come) }
	for _, s := range list {
		switch s := s.(type) {
		case *ast.EmptyStmt:
		case *ast.ReturnStmt:
			return !slices.ContainsFunc(s.Results, works)
		case *ast.ExprStmt:
			if calleeName(s.X) != "panic" && works(s.X) {
				return false
			}
		case *ast.AssignStmt:
			if s.Tok != token.ASSIGN || !areBlank(s.Lhs) || slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool { return isCall(e) && works(e) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// endsAtOnce reports whether the first statement returns constants.
func endsAtOnce(list []ast.Stmt) bool {
	_, returns := list[0].(*ast.ReturnStmt)
	return returns && isHollow(list[:1], nil)
}

func areBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return dottedName(e) != "_" })
}

// isCall reports whether an expression is a call.
func isCall(e ast.Expr) bool {
	_, ok := e.(*ast.CallExpr)
	return ok
}

// cutShort reports whether a return or a panic stands before other statements.
func cutShort(list []ast.Stmt) bool {
	for i, s := range list {
		if i == len(list)-1 {
			return false
		}
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.ExprStmt:
			if name := calleeName(s.X); name == "panic" || name == "os.Exit" {
				return true
			}
		}
	}
	return false
}

func isTruth(s string) bool { return s == "true" || s == "false" }

// judgeConditions tells conditions that are turned round, or made constant. What a test
// asserts is judged as a whole.
func (p pair) judgeConditions(test bool, tell teller) {
	was, _, wasFixed := conditionsOf(p.was)
	now, at, nowFixed := conditionsOf(p.now)
	if len(nowFixed) > len(wasFixed) {
		tell("guard_constant", p.now.in.lineOf(nowFixed[len(nowFixed)-1]), "a condition in %s is always true or always false", p.now.name)
	}
	if test || p.was.decl == nil {
		return
	}
	gone, come := was.subtract(now), now.subtract(was)
	for _, cond := range slices.SortedFunc(maps.Keys(gone), func(a, b condition) int { return strings.Compare(a.String(), b.String()) }) {
		if come[cond.inverse()] > 0 {
			tell("guard_boolean_inverted", at[cond.inverse()], "in %s the condition is now %s, it was %s", p.now.name, cond.inverse(), cond)
		}
	}
}

// conditionsOf counts the conditions of a function, with the line of the last of
// each, and lists those that are constant.
func conditionsOf(f function) (all counts[condition], at map[condition]int, fixed []ast.Node) {
	all, at = counts[condition]{}, map[condition]int{}
	if f.decl == nil || f.decl.Body == nil {
		return all, at, nil
	}
	add := func(e ast.Expr) {
		if e == nil {
			return
		}
		c := f.in.readCondition(e)
		all[c]++
		at[c] = f.in.lineOf(e)
		if isConstantCondition(e) {
			fixed = append(fixed, e)
		}
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Cond)
		case *ast.ForStmt:
			add(n.Cond)
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if isConstantCondition(r) && !isTruth(dottedName(r)) {
					fixed = append(fixed, r)
				}
			}
		}
		return true
	})
	return all, at, fixed
}

// isConstantCondition reports whether a condition is true or false by what is written: a
// constant, a comparison of two literals, or of a thing with itself, or any of
// them joined to something else.
func isConstantCondition(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return isConstantCondition(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && isConstantCondition(x.X)
	case *ast.Ident:
		return isTruth(x.Name)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return isConstantCondition(x.X) || isConstantCondition(x.Y)
		}
		if !slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ}, x.Op) {
			return false
		}
		_, left := x.X.(*ast.BasicLit)
		_, right := x.Y.(*ast.BasicLit)
		l, r := dottedName(x.X), dottedName(x.Y)
		return left && right || l != "" && l == r && isSteady(x.X) && isSteady(x.Y)
	}
	return false
}

// isSteady reports whether an expression is a name, or one after the other, and
// not so long that dotted cuts it: no call, no index.
func isSteady(e ast.Expr) bool {
	for range maxChain {
		switch x := e.(type) {
		case *ast.Ident:
			return true
		case *ast.SelectorExpr:
			e = x.X
		default:
			return false
		}
	}
	return false
}

// judgeErrors tells errors that a function drops more often than it did.
func (p pair) judgeErrors(tell teller) {
	was, now := findDroppedErrors(p.was), findDroppedErrors(p.now)
	if len(now) > len(was) {
		tell("silent_exception_swallow", p.now.in.lineOf(now[len(now)-1]), "%s ignores an error", p.now.name)
	} else if line := findForgottenError(p); line > 0 {
		tell("silent_exception_swallow", line, "%s no longer handles an error", p.now.name)
	}
}

// findForgottenError returns the line of a call whose error a function named or returned and
// now gives to nobody, 0 if there is none.
func findForgottenError(p pair) int {
	handled, ignored := sortErrors(p.was)
	still, now := sortErrors(p.now)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if handled[name] > still[name] && ignored[name] == nil {
			return p.now.in.lineOf(now[name])
		}
	}
	return 0
}

// sortErrors counts the calls of a function whose error has a name or is returned, and finds
// those whose error goes to nobody.
func sortErrors(f function) (handled counts[string], ignored map[string]ast.Node) {
	handled, ignored = counts[string]{}, map[string]ast.Node{}
	if f.decl == nil || f.decl.Body == nil {
		return handled, ignored
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) != 1 || calleeName(n.Rhs[0]) == "" {
				return true
			}
			last := dottedName(n.Lhs[len(n.Lhs)-1])
			if strings.Contains(strings.ToLower(last), "err") {
				handled[calleeName(n.Rhs[0])]++
			} else if last == "_" {
				ignored[calleeName(n.Rhs[0])] = n
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				handled[calleeName(r)]++
			}
		case *ast.ExprStmt:
			if name := calleeName(n.X); name != "" {
				ignored[name] = n
			}
		}
		return true
	})
	return handled, ignored
}

// findDroppedErrors lists where a function leaves an error: a result given to _, an if about
// an error that does nothing or returns as if there were none, a panic recovered
// and forgotten.
func findDroppedErrors(f function) (out []ast.Node) {
	if f.decl == nil || f.decl.Body == nil {
		return nil
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if areBlank(n.Lhs) && len(n.Rhs) == 1 && isCall(n.Rhs[0]) && !mayIgnoreError(calleeName(n.Rhs[0])) {
				out = append(out, n)
			}
		case *ast.IfStmt:
			if aboutError(n.Cond) && isPassive(n.Body.List) {
				out = append(out, n)
			}
		case *ast.ExprStmt:
			if calleeName(n.X) == "recover" {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// mayIgnoreError are the calls whose error nobody looks at.
func mayIgnoreError(name string) bool {
	return strings.HasPrefix(name, "fmt.") || strings.HasSuffix(name, ".Close") || strings.HasSuffix(name, ".WriteString")
}

// aboutError reports whether a condition asks whether there is an error.
func aboutError(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && dottedName(b.Y) == "nil" && strings.Contains(strings.ToLower(dottedName(b.X)), "err")
}

// isPassive reports whether statements do nothing, or return nothing but nil.
func isPassive(list []ast.Stmt) bool {
	if len(list) == 0 {
		return true
	}
	r, ok := list[0].(*ast.ReturnStmt)
	return ok && len(r.Results) > 0 && dottedName(r.Results[len(r.Results)-1]) == "nil" && !slices.ContainsFunc(r.Results, func(e ast.Expr) bool { return !isConstant(e, nil) })
}
