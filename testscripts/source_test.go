package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the path every import of odd's own starts with.
const module = "github.com/odd-cli/odd"

// source is one parsed Go file of the module.
type source struct {
	path string // slash-separated, below the module root
	dir  string // the package, as the import table names it: "board/drain"
	test bool
	file *ast.File
	text []byte
	fset *token.FileSet
}

// imports lists the file's imports; own ones without the module path.
func (s source) imports() (own, other []string) {
	for _, im := range s.file.Imports {
		p := strings.Trim(im.Path.Value, `"`)
		if in, ok := strings.CutPrefix(p, module+"/"); ok {
			own = append(own, in)
		} else {
			other = append(other, p)
		}
	}
	return own, other
}

// at is the "path:line" of a node.
func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return p.String()
}

// root is the top of the module.
const root = ".."

var sources = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		f, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{
			path: rel, dir: path.Dir(rel), test: strings.HasSuffix(name, "_test.go"),
			file: f, text: text, fset: fset,
		})
		return nil
	})
	return all, err
})

// goFiles returns the module's files that keep says, and fails when there are none.
func goFiles(t *testing.T, keep func(source) bool) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(s source) bool { return !keep(s) })
	if len(kept) == 0 {
		t.Fatal("no Go files found")
	}
	return kept
}

// product is every file that goes into the binary.
func product(s source) bool { return !s.test && s.dir != "testscripts" && s.dir != "okf/okftest" }

func anyFile(source) bool { return true }
