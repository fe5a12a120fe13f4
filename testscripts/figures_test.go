package testscripts

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"testing"
)

// figures are the numbers of a body of code.
type figures struct {
	sloc, commentLines int
	funcs              []size
	longestFile        string
	longestSLOC        int
	interfaces         int
}

// size is one function's: lines from func to brace, and cyclomatic number.
type size struct {
	at          string
	lines, cycl int
}

// TestFigures prints the numbers the house style aims at. It fails on nothing:
// a number says where to look, a person says what to do.
func TestFigures(t *testing.T) {
	code := measure(goFiles(t, product))
	tests := measure(goFiles(t, func(s source) bool { return !product(s) }))
	lines := make([]int, len(code.funcs))
	sum, long, knotty := 0, 0, 0
	for i, f := range code.funcs {
		lines[i], sum = f.lines, sum+f.lines
		if f.lines > 60 {
			long++
			t.Logf("%s: a function of %d lines, aim at 60 or fewer", f.at, f.lines)
		}
		if f.cycl > 15 {
			knotty++
			t.Logf("%s: cyclomatic number %d, aim at 15 or less", f.at, f.cycl)
		}
	}
	slices.Sort(lines)
	t.Logf("code %d lines in %d functions: mean %.1f (aim 16), p95 %d (aim 50), over 60 lines %d (aim 0), over cyclomatic 15 %d (aim 0)",
		code.sloc, len(lines), float64(sum)/float64(len(lines)), lines[len(lines)*95/100], long, knotty)
	t.Logf("longest file %s with %d lines (aim 400), interfaces %d (aim 6), comments %d%% (aim 15 to 25), tests %.2f of code (aim 0.8 to 1.2)",
		code.longestFile, code.longestSLOC, code.interfaces,
		100*code.commentLines/(code.commentLines+code.sloc), float64(tests.sloc)/float64(code.sloc))
}

func measure(files []source) (f figures) {
	for _, s := range files {
		code, comments := countLines(s.text)
		f.sloc += code
		f.commentLines += comments
		if code > f.longestSLOC {
			f.longestFile, f.longestSLOC = s.path, code
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					lines := s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
					f.funcs = append(f.funcs, size{s.at(n), lines, cyclomatic(n)})
				}
			case *ast.InterfaceType:
				if len(n.Methods.List) > 0 {
					f.interfaces++
				}
			}
			return true
		})
	}
	return f
}

// countLines counts the lines that carry a token, and those that carry only comment.
func countLines(text []byte) (code, comments int) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	isCode, isComment := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		lines := isCode
		if tok == token.COMMENT {
			lines = isComment
		}
		for l, n := file.Line(pos), 0; n <= newlines(lit); n++ {
			lines[l+n] = true
		}
	}
	for l := range isComment {
		if !isCode[l] {
			comments++
		}
	}
	return len(isCode), comments
}

func newlines(s string) (n int) {
	for _, c := range s {
		if c == '\n' {
			n++
		}
	}
	return n
}

// cyclomatic is one, and one more for every branch, loop, case, && and ||.
func cyclomatic(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
