package lint

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// literal is the text of a string literal, or of several that are joined; ok is
// false for anything else.
func literal(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(x.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return literal(x.X)
	case *ast.BinaryExpr:
		runs := joinedRuns(x, nil)
		if len(runs) == 1 && runs[0].whole {
			return runs[0].text, true
		}
	}
	return "", false
}

// run is a string that an expression puts together from literals next to one
// another; whole says that it is the expression.
type run struct {
	text  string
	whole bool
}

// joinedRuns takes a chain of additions apart, from its right end to its left,
// and notes in seen what it has passed.
func joinedRuns(x *ast.BinaryExpr, seen map[ast.Node]bool) []run {
	var operands []ast.Expr
	var e ast.Expr = x
	for {
		sum, ok := e.(*ast.BinaryExpr)
		if !ok || sum.Op != token.ADD {
			break
		}
		if seen != nil {
			seen[sum] = true
		}
		operands = append(operands, sum.Y)
		e = sum.X
	}
	operands = append(operands, e)
	var out []run
	var b strings.Builder
	known := 0
	for _, o := range slices.Backward(operands) {
		if lit, ok := o.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				b.WriteString(text)
				known++
				continue
			}
		}
		if b.Len() > 0 {
			out = append(out, run{text: b.String()})
			b.Reset()
		}
	}
	if b.Len() > 0 {
		out = append(out, run{b.String(), known == len(operands)})
	}
	return out
}

// joinedStrings lists the strings that a Go file puts together from literals.
func (s side) joinedStrings() map[string]ast.Node {
	out := map[string]ast.Node{}
	if s.tree == nil {
		return out
	}
	seen := map[ast.Node]bool{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if x, ok := n.(*ast.BinaryExpr); ok && x.Op == token.ADD && !seen[x] {
			for _, r := range joinedRuns(x, seen) {
				out[r.text] = x
			}
		}
		return true
	})
	return out
}

// joinedSecrets finds credentials that a Go file writes in pieces.
func joinedSecrets(_ *change, d *delta) []policy.Finding {
	if d.ext != ".go" {
		return nil
	}
	was := d.was.joinedStrings()
	var out []policy.Finding
	for text, at := range d.now.joinedStrings() {
		if _, had := was[text]; had {
			continue
		}
		for _, s := range secrets.Find([]byte(text)) {
			out = append(out, d.list("secret_introduced", policy.BySyntax, d.now.line(at), fmt.Sprintf("builds something that looks like a credential (%s)", s.Kind))...)
		}
	}
	slices.SortFunc(out, func(a, b policy.Finding) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Text, b.Text)) })
	return out
}
