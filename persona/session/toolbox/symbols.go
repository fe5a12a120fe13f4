package toolbox

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/odd-cli/odd/okf"
)

// byText is what an answer says that no parser of the language has looked at.
const byText = "found by text patterns, not by a parser of the language: some may be missing, some may be none"

// declares matches a line that declares something, in most languages.
var declares = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(?:export|default|public|private|protected|static|abstract|final|async|pub(?:\([^)]*\))?|unsafe|extern|inline|const)\s+)*` +
		`(?:def|class|func|function|fn|struct|enum|trait|impl|interface|type|module|namespace|record|object|sub|proc)\s+[A-Za-z_$][\w$]*|^[A-Za-z_]\w*\s*\(\)\s*\{|^#{1,6} \S`)
})

func listSymbols(_ context.Context, c *call) (string, error) {
	s, err := c.readText(c.at)
	if err != nil {
		return "", err
	}
	if path.Ext(c.at) == ".go" {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, c.at, s, parser.SkipObjectResolution)
		if err == nil {
			return "parsed as Go, package " + f.Name.Name + "\n" + formatList(goSymbols(fset, f), "it declares nothing"), nil
		}
		return textSymbols(s, "it does not parse as Go ("+okf.Clip(err.Error(), 200)+"); "), nil
	}
	return textSymbols(s, ""), nil
}

func textSymbols(s, why string) string {
	var out []string
	for i, l := range strings.Split(s, "\n") {
		if declares().MatchString(l) {
			out = append(out, fmt.Sprintf("%d\t%s", i+1, okf.Clip(strings.TrimSpace(l), mostLine)))
		}
	}
	return why + byText + "\n" + formatList(out, "nothing that looks like a declaration")
}

// goSymbols are the declarations of a Go file with the lines they span.
func goSymbols(fset *token.FileSet, f *ast.File) []string {
	var out []string
	say := func(n ast.Node, format string, args ...any) {
		out = append(out, fmt.Sprintf("%d-%d\t", fset.Position(n.Pos()).Line, fset.Position(n.End()).Line)+fmt.Sprintf(format, args...))
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			say(d, "func %s%s", receiverOf(d), d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					say(s, "type %s %s", s.Name.Name, typeKind(s.Type))
				case *ast.ValueSpec:
					for _, n := range s.Names {
						say(s, "%s %s", d.Tok, n.Name)
					}
				}
			}
		}
	}
	return out
}

// receiverOf is "(T) " of a method.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	star := ""
	if s, ok := t.(*ast.StarExpr); ok {
		star, t = "*", s.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return "(" + star + id.Name + ") "
	}
	return "() "
}

func typeKind(e ast.Expr) string {
	switch e.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	case *ast.FuncType:
		return "func"
	case *ast.MapType:
		return "map"
	}
	return ""
}

// sources are the files whose text is looked through for callers.
var sources = []string{".c", ".cc", ".cpp", ".cs", ".ex", ".exs", ".h", ".hpp", ".java", ".jl", ".js", ".jsx", ".kt", ".lua", ".m", ".mjs", ".php",
	".pl", ".py", ".r", ".rb", ".rs", ".scala", ".sh", ".swift", ".ts", ".tsx", ".vue", ".zig"}

func getCallers(ctx context.Context, c *call) (string, error) {
	name := c.args.getText("symbol")
	if i := strings.LastIndexAny(name, ".:#"); i >= 0 {
		name = name[i+1:]
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return "", failWith("bad_arguments", "symbol: want one name, like ParseArgs")
	}
	u := uses{name: name, called: regexp.MustCompile(`(?:^|[^\w$])` + regexp.QuoteMeta(name) + `\s*[(<{]`)}
	full, err := c.b.tree.walkFiles(ctx, c.pathOrTop(), func(f file) bool {
		isGo := path.Ext(f.path) == ".go"
		if isGo || slices.Contains(sources, path.Ext(f.path)) {
			if b, err := f.load(c.b.o.Limits.FileBytes); err == nil && strings.Contains(string(b), name) {
				u.addFile(f.path, b, isGo)
			}
		}
		return true
	})
	out := "parsed as Go, by name alone: another thing of the same name is listed too\n" + formatList(u.parsed, "no use in Go")
	if len(u.texts) > 0 {
		out += "\n\n" + byText + "\n" + formatList(u.texts, "")
	}
	return out + notePartial(full), err
}

// uses are the places that use a name: those that were parsed as Go, and lines that
// look like a call of it.
type uses struct {
	name          string
	called        *regexp.Regexp
	parsed, texts []string
}

// addFile adds the uses in one file. Go that does not parse is looked through as text.
func (u *uses) addFile(p string, b []byte, isGo bool) {
	if isGo {
		if found, ok := goUses(p, b, u.name); ok {
			u.parsed = append(u.parsed, found...)
			return
		}
	}
	for i, l := range strings.Split(string(b), "\n") {
		if u.called.MatchString(l) {
			u.texts = append(u.texts, fmt.Sprintf("%s:%d: %s", p, i+1, okf.Clip(strings.TrimSpace(l), mostLine)))
		}
	}
}

// goUses are the uses of a name in a Go file, with the function each stands in.
func goUses(p string, b []byte, name string) (out []string, ok bool) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, p, b, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	for _, d := range f.Decls {
		in := "at the top"
		own := map[*ast.Ident]bool{}
		switch d := d.(type) {
		case *ast.FuncDecl:
			in, own[d.Name] = "in "+receiverOf(d)+d.Name.Name, true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					own[t.Name] = true
				}
			}
		}
		out = append(out, usesIn(fset, d, own, p, in, name)...)
	}
	return out, true
}

// usesIn are the uses of a name in one declaration, each called or named.
func usesIn(fset *token.FileSet, d ast.Decl, own map[*ast.Ident]bool, p, in, name string) (out []string) {
	calls := map[*ast.Ident]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch fun := n.Fun.(type) {
			case *ast.Ident:
				calls[fun] = true
			case *ast.SelectorExpr:
				calls[fun.Sel] = true
			}
		case *ast.Ident:
			if n.Name == name && !own[n] {
				how := "named"
				if calls[n] {
					how = "called"
				}
				out = append(out, fmt.Sprintf("%s:%d: %s %s", p, fset.Position(n.Pos()).Line, how, in))
			}
		}
		return true
	})
	return out
}
