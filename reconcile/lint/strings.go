package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"sort"
	"strconv"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// literalText is the text of a string literal, or of several that are joined; ok is
// false for anything else.
func literalText(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(x.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return literalText(x.X)
	case *ast.BinaryExpr:
		left, ok := literalText(x.X)
		right, also := literalText(x.Y)
		return left + right, ok && also && x.Op == token.ADD
	}
	return "", false
}

var (
	// joint finds where one literal is joined to the next.
	joint = lazy("[\"'`][\\s)]*\\+[\\s(]*[\"'`]")
	// remark finds comments and texts in most languages, each to its end or that of the file.
	// It may take one for the other, so what is left is searched beside the whole.
	remark = lazy("/\\*(?:[^*]|\\*+[^*/])*(?:\\*+/)?|//[^\n]*|#[^\n]*|\"(?:[^\"\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\n]|\\\\.)*'?|`[^`]*`?")
)

// joinLiterals takes the joints out of a text; line says where a line of the rest was.
func joinLiterals(src []byte) (joined []byte, line func(int) int) {
	var at, breaks []int // the line of each joint in the rest, and the line breaks gone with it and before
	end, now, gone := 0, 1, 0
	for _, m := range joint().FindAllIndex(src, -1) {
		now += bytes.Count(src[end:m[0]], []byte("\n"))
		gone += bytes.Count(src[m[0]:m[1]], []byte("\n"))
		joined = append(joined, src[end:m[0]]...)
		at, breaks, end = append(at, now), append(breaks, gone), m[1]
	}
	return append(joined, src[end:]...), func(n int) int {
		if i := sort.SearchInts(at, n); i > 0 {
			n += breaks[i-1]
		}
		return n
	}
}

// withoutRemarks is a text with a space and its line breaks in place of each comment.
func withoutRemarks(src []byte) []byte {
	return remark().ReplaceAllFunc(src, func(b []byte) []byte {
		if bytes.IndexByte([]byte("\"'`"), b[0]) >= 0 {
			return b
		}
		return append([]byte(" "), bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n")))...)
	})
}

// joinedSecrets finds credentials that a file writes in pieces. What a name alone makes
// one is no credential here.
func joinedSecrets(_ *change, d *delta) []policy.Finding {
	if slices.Contains(proseExts(), d.ext) || !bytes.Contains(d.After, []byte("+")) {
		return nil
	}
	known := map[string]bool{}
	var out []policy.Finding
	look := func(text []byte, line func(int) int) {
		for _, s := range secrets.Find(text) {
			if !known[s.Value] && s.Kind != "secret" && line != nil && len(out) < maxAlike {
				out = append(out, d.oneFinding("secret_introduced", d.how(), line(s.Line), fmt.Sprintf("builds something that looks like a credential (%s)", s.Kind))...)
			}
			known[s.Value] = true
		}
	}
	look(d.After, nil) // found whole
	for i, s := range []side{d.was, d.now} {
		for _, src := range [][]byte{s.src, withoutRemarks(s.src)} {
			joined, line := joinLiterals(src)
			if i == 0 {
				line = nil // what was there is not the change's doing
			}
			look(joined, line)
		}
	}
	return out
}
