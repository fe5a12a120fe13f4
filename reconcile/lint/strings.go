package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"

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
		left, ok := literal(x.X)
		right, also := literal(x.Y)
		return left + right, ok && also && x.Op == token.ADD
	}
	return "", false
}

// joint finds where one literal is joined to the next.
var joint = lazy("[\"'`]\\s*\\+\\s*[\"'`]")

// joinedSecrets finds credentials that a file writes in pieces. What a name alone makes
// one is no credential here.
func joinedSecrets(_ *change, d *delta) []policy.Finding {
	if slices.Contains(proseExts(), d.ext) || !joint().Match(d.After) {
		return nil
	}
	old := map[string]bool{}
	for _, text := range [][]byte{joint().ReplaceAll(d.Before, nil), d.After} {
		for _, s := range secrets.Find(text) {
			old[s.Value] = true
		}
	}
	var out []policy.Finding
	for _, s := range secrets.Find(joint().ReplaceAll(d.After, nil)) {
		if !old[s.Value] && s.Kind != "secret" {
			for _, at := range joint().FindAllIndex(d.After, -1) { // line breaks that are gone
				if 1+bytes.Count(d.After[:at[0]], []byte("\n")) < s.Line {
					s.Line += bytes.Count(d.After[at[0]:at[1]], []byte("\n"))
				}
			}
			out = append(out, d.list("secret_introduced", d.how(), s.Line, fmt.Sprintf("builds something that looks like a credential (%s)", s.Kind))...)
		}
	}
	return out
}
