package anchor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declared are the constants of codes.go, by name.
func declared(t *testing.T) map[string]Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Code{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			out[v.Names[0].Name] = Code(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	return out
}

func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	names, explained := declared(t), map[Code]bool{}
	for _, e := range Explanations() {
		if explained[e.Code] || e.Means == "" || e.Example == "" || e.Remedy == "" {
			t.Errorf("%+v: twice, or without a text", e)
		}
		explained[e.Code] = true
		if !regexp.MustCompile(`^A_[A-Z_]+$`).MatchString(string(e.Code)) {
			t.Errorf("%s does not have the form of a code", e.Code)
		}
	}
	for name, code := range names {
		if !explained[code] {
			t.Errorf("%s (%s) is not explained", name, code)
		}
	}
	if len(explained) != len(names) {
		t.Errorf("%d codes are explained, %d declared", len(explained), len(names))
	}
}

// TestEveryCodeIsReached: each code is expected by some row of a test here or of
// a script. A name in this file does not count.
func TestEveryCodeIsReached(t *testing.T) {
	t.Parallel()
	expected := map[string]bool{}
	files, _ := filepath.Glob("*_test.go")
	for _, file := range files {
		if file == "explain_test.go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				expected[id.Name] = true
			}
			return true
		})
	}
	var scripts strings.Builder
	files, _ = filepath.Glob("../../testscripts/testdata/*.txtar")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(b)
	}
	var missing []string
	for name, code := range declared(t) {
		if !expected[name] && !regexp.MustCompile(string(code)+`\b`).MatchString(scripts.String()) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no test expects %v", missing)
	}
}
