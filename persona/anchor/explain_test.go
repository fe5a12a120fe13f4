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
		if v, ok := n.(*ast.ValueSpec); ok {
			out[v.Names[0].Name] = Code(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	return out
}

func TestEveryCodeIsTold(t *testing.T) {
	t.Parallel()
	codes := Codes()
	names := declared(t)
	if len(codes) != len(names) {
		t.Errorf("%d codes are told, %d declared", len(codes), len(names))
	}
	for name, code := range names {
		text, ok := Explain(code)
		if !ok || !strings.HasPrefix(text, string(code)+": ") || !strings.Contains(text, "\nTrips it: ") || !strings.Contains(text, "\nWay out: ") {
			t.Errorf("%s (%s): %q", name, code, text)
		}
		if !regexp.MustCompile(`^A_[A-Z_]+$`).MatchString(string(code)) {
			t.Errorf("%s is not a code's form", code)
		}
	}
	if _, ok := Explain("A_NOTHING"); ok {
		t.Error("an unknown code is told")
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
