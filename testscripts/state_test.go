package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestNoHiddenState: nothing runs before main, and what a package keeps at its
// top level is a table that nobody changes: set where it is declared, and never
// assigned, counted or taken the address of afterwards.
func TestNoHiddenState(t *testing.T) {
	t.Parallel()
	byPkg := map[string][]source{}
	for _, s := range goFiles(t, product) {
		byPkg[s.dir] = append(byPkg[s.dir], s)
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init; give it to the caller as a value", s.at(f))
			}
			for _, v := range valueless(d) {
				t.Errorf("%s: var %s has no value, so something sets it later", s.at(v), v.Name)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byPkg)) {
		for _, c := range changes(dir, byPkg[dir]) {
			t.Error(c)
		}
	}
}

func TestNoHiddenStateBites(t *testing.T) {
	t.Parallel()
	src := `package p
var table = map[string]int{}
var later int
//go:embed x
var file []byte
func local() { table := 1; table++; _ = table }
func one() { table["a"] = 1 }
func two() { delete(table, "a") }
func three() *int { return &later }
func four() { later++ }
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var bare []string
	for _, d := range f.Decls {
		for _, v := range valueless(d) {
			bare = append(bare, v.Name)
		}
	}
	if want := []string{"later"}; !slices.Equal(bare, want) {
		t.Errorf("valueless = %q, want %q", bare, want)
	}
	got := changes("p", []source{{file: f, fset: fset}})
	want := []string{
		"p.go:7:14: changes the package variable table",
		"p.go:8:21: changes the package variable table",
		"p.go:9:29: changes the package variable later",
		"p.go:10:15: changes the package variable later",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes = %q, want %q", got, want)
	}
}

// valueless returns the package variables declared without a value, go:embed apart.
func valueless(d ast.Decl) (bare []*ast.Ident) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR {
		return nil
	}
	for _, spec := range g.Specs {
		if v := spec.(*ast.ValueSpec); len(v.Values) == 0 && !embeds(g.Doc) && !embeds(v.Doc) {
			bare = append(bare, v.Names...)
		}
	}
	return bare
}

func embeds(g *ast.CommentGroup) bool {
	return g != nil && slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// changes returns every place where the files of one package change one of
// its package variables. Imports stay unresolved: only own names matter here.
func changes(dir string, files []source) (found []string) {
	var asts []*ast.File
	for _, s := range files {
		asts = append(asts, s.file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Error: func(error) {}}
	pkg, _ := conf.Check(dir, files[0].fset, asts, info)
	for _, s := range files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, x := range changed(n) {
				id := base(x)
				if id == nil {
					continue
				}
				if v, ok := info.Uses[id].(*types.Var); ok && v.Parent() == pkg.Scope() {
					found = append(found, s.at(x)+": changes the package variable "+id.Name)
				}
			}
			return true
		})
	}
	return found
}

// changed returns the expressions a node assigns, counts, empties or takes the address of.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// base is the name an assignable expression starts from: x for x.f[i].
func base(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// outside are the functions through which a program reads the world. They
// enter in cmd and are handed down as values; who else needs one is listed, by
// folder or file.
var outside = map[string][]string{
	// Told apart from the times of files, and how old an answer of git is; nothing of it is written.
	"time.Now":      {"journal/repo/fingerprint.go", "journal/repo/settings.go"},
	"time.Since":    {},
	"time.Until":    {},
	"time.Sleep":    {},
	"os.Getenv":     {},
	"os.LookupEnv":  {"persona/session/exec"},
	"os.Environ":    {"journal/repo/repotest", "persona/session/exec"},
	"os.Exit":       {"cmd/odd"},
	"os.Stdout":     {},
	"os.Stderr":     {},
	"os.Stdin":      {},
	"fmt.Print":     {},
	"fmt.Printf":    {},
	"fmt.Println":   {},
	"os.Chdir":      {},
	"rand.Reader":   {},
	"log.Fatal":     {},
	"log.Printf":    {},
	"http.Get":      {},
	"exec.LookPath": {"journal/repo", "journal/repo/object", "persona/session/cage"},
}

func TestTheWorldEntersInCmd(t *testing.T) {
	t.Parallel()
	for _, s := range goFiles(t, product) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			who, bound := outside[x.Name+"."+sel.Sel.Name]
			if bound && s.path != "cmd/internal/console/env.go" && !slices.Contains(who, s.dir) && !slices.Contains(who, s.path) {
				t.Errorf("%s: %s.%s; take it as a value from cmd.Env", s.at(sel), x.Name, sel.Sel.Name)
			}
			return true
		})
	}
}
