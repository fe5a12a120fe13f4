package testscripts

import (
	"cmp"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	oneWord    = regexp.MustCompile(`^[a-z]+$`)
	participle = regexp.MustCompile(`^(?:[a-z]+[^e]ed|told|stood|lent|kept|held|said|made|known|given|taken|found|left|lost|gone|meant|sent|spent|shown|seen|bound|built|drawn|written|spoken)$`)
)

// TestNames prints what the names of functions and types are like, and the largest types
// and packages. It fails on nothing, as TestFigures.
func TestNames(t *testing.T) {
	private, single, bare := 0, 0, map[string]int{} // by package
	types, methods, lines := map[string][]string{}, map[string]int{}, map[string]int{}
	for _, s := range goFiles(t, product) {
		lines[s.dir] += strings.Count(string(s.text), "\n")
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods[s.dir+"."+receiver(d)]++
				}
				if name := d.Name.Name; !d.Name.IsExported() && name != "main" {
					private++
					if oneWord.MatchString(name) {
						single++
					}
					if participle.MatchString(name) {
						bare[s.dir]++
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						types[ts.Name.Name] = append(types[ts.Name.Name], s.dir)
					}
				}
			}
		}
	}
	most := func(of map[string]int, over int, what string) {
		for _, name := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(of[b]-of[a], cmp.Compare(a, b)) }) {
			if of[name] > over {
				t.Logf("%s: %d %s", name, of[name], what)
			}
		}
	}
	most(methods, 40, "methods (aim 40)")
	most(lines, 5000, "lines (aim 5,000)")
	most(bare, 9, "functions named by a participle alone (aim 0)")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if ast.IsExported(name) && len(types[name]) > 2 {
			t.Logf("type %s is in %s", name, strings.Join(types[name], ", "))
		}
	}
	all := 0
	for _, n := range bare {
		all += n
	}
	t.Logf("private functions: %d, of one word %d%% (aim 15), a participle alone %.1f%% (aim 0.5)", private, 100*single/private, 100*float64(all)/float64(private))
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}
