package pipeline

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// measureCode measures the functions of the Go files that a change edits, at its
// base and with it: of each the cyclomatic complexity, 1 and one more for every
// if, for, case that is not the default, && and ||. Functions inside count to the
// one around them. Files that do not parse at the base are left out there; one
// that does not parse any more is an error.
func measureCode(files []Edit) (base, is []Measure, err error) {
	for _, f := range sortedByPath(files) {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		if was, err := functionComplexities(f.Path, f.Before); err == nil {
			base = append(base, was...)
		}
		now, err := functionComplexities(f.Path, f.After)
		if err != nil {
			return nil, nil, err
		}
		is = append(is, now...)
	}
	return base, is, nil
}

// functionComplexities measures one file; none is nothing.
func functionComplexities(name string, src []byte) ([]Measure, error) {
	if src == nil {
		return nil, nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []Measure
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			where := fmt.Sprintf("%s:%d %s", name, fset.Position(f.Pos()).Line, funcName(f))
			out = append(out, Measure{MeasureComplexity, where, float64(countBranches(f.Body))})
		}
	}
	return out, nil
}

// funcName is "F", or "T.F" of a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	recv, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*"), "[")
	return recv + "." + f.Name.Name
}

func countBranches(body ast.Node) int {
	n := 1
	ast.Inspect(body, func(node ast.Node) bool {
		switch x := node.(type) {
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
