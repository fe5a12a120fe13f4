package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod": "module example.org/x\n", "x.go": "package x\nimport _ \"fmt\"\n", "a/a.go": "package a\nimport _ \"example.org/x\"\n",
		"b/b.go": "package b\nimport (\n\t_ \"example.org/x/a\"\n)\n", "c/c_test.go": "package c\nimport _ \"example.org/x/b\"\n", "d/d.go": "package d\nimport _ \"example.org/x/c\"\n",
		"c/c.go": "package c\n", "sub/go.mod": "module example.org/sub\n", "sub/s.go": "package s\nimport _ \"example.org/x/b\"\n", "u/u.go": "package u\nimport _ \"example.org/sub\"\n",
		"testdata/t.go": "package broken import", "vendor/v/v.go": "package broken import", ".hidden/h.go": "package broken import", "a/data.json": "{}",
	} {
		f[name] = &fstest.MapFile{Data: []byte(text)}
	}
	g, err := ReadGraph(f)
	if err != nil || len(g.Files) != len(f) {
		t.Fatal(err, g.Files)
	}
	if p := g.Problems(); len(p) > 0 {
		t.Error(p)
	}
	for _, c := range []struct{ name, got, want string }{
		{"through others, and other modules", fmt.Sprint(g.Dependents([]string{"."})), "[a b sub u]"},
		{"of two that need one another", fmt.Sprint(g.Dependents([]string{"a", "b"})), "[b sub u]"},
		{"none", fmt.Sprint(g.Dependents([]string{"u", "nowhere"})), "[]"},
		{"tests that import", fmt.Sprint(g.affectedPackages([]string{"b"})), "[b c sub u]"},
		{"files beside, test data, no package", fmt.Sprint(g.packagesOf([]string{"a/data.json", "a/testdata/x/y.txt", "docs/x.md", "new/n.go", "x.go"})), "[. a new]"},
		{"an import that a change brings", fmt.Sprint(g.With([]Edit{{Path: "d/new.go", After: []byte("package d\nimport _ \"example.org/x/u\"\n")}}).Dependents([]string{"u"})), "[d]"},
		{"and one that it takes away", fmt.Sprint(g.With([]Edit{{Path: "b/b.go", After: []byte("package b\n")}}).Dependents([]string{"a"})), "[b sub u]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	bad := buildGraph(map[string][]byte{"a.go": []byte("package"), "b/go.mod": []byte("go 1.26\n")})
	if p := strings.Join(bad.Problems(), "; "); !strings.Contains(p, "a.go:1") || !strings.Contains(p, "b/go.mod: names no module") || !strings.Contains(p, "no go.mod says") {
		t.Error(p)
	}
}

func FuzzBuildGraph(f *testing.F) {
	f.Add("a/a.go", []byte("package a\nimport \"example.org/x/b\"\n"))
	f.Add("go.mod", []byte("module example.org/x\n"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		g := buildGraph(map[string][]byte{"go.mod": []byte("module example.org/x\n"), "b/b.go": []byte("package b\nimport _ \"example.org/x/a\"\n")})
		g = g.With([]Edit{{Path: name, After: b}})
		g.affectedPackages(g.packagesOf([]string{name}))
		g.Dependents([]string{"b"})
	})
}

func TestConfidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files []Edit
		want  int
		said  string
	}{
		{modify("a/a.go"), 100, "1 of 1"}, {modify("b/b.go"), 0, "0 of 1"}, {modify("odd/cmd.go"), 80, "1 of 1"}, {modify("a/a.go", "b/b.go"), 0, "1 of 2"},
		{append(modify("b/b.go"), add("b/b_test.go")...), 0, "0 of 1"}, // a test that the change brings vouches for nothing
		{modify("docs/x.md", "LICENSE", "a/testdata/x.json"), 100, "0 of 0"}, {modify("a/template.toml"), 100, "1 of 1"}, {modify("Makefile"), 0, "0 of 1"},
		{modify("src/main.py"), 80, "1 of 1"}, {modify("src/other.py", "tests/test_main.py"), 0, "0 of 1"}, {modify("requirements.txt"), 0, "0 of 1"},
	} {
		a := ask(c.files)
		a.e.Graph.Files = append(a.e.Graph.Files, "tests/test_main.py")
		p := newProfile(a.e)
		if p.Confidence != c.want || p.Covered != c.said {
			t.Errorf("%v: %d %%, %s; want %d %%, %s", p.Files, p.Confidence, p.Covered, c.want, c.said)
		}
	}
}

func TestSecurityWord(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"auth/x.go", "internal/oauth2/x.go", "api/accessToken.go", "TOKEN", "x/AuthZ.go", "user_password.sql", "passwords.txt", "pkg/authorization.go", "secretStore.go",
		"ssl/x", "httpTLSServer.go", "authentication.md", "encryption.go", "credStore.go"} {
		if securityWord(p) == "" {
			t.Errorf("%s is sensitive", p)
		}
	}
	for _, p := range []string{"cancellation_token.go", "authoring_guide.md", "token_bucket.go", "authors.txt", "authority.go", "secretary.md", "go/token/token.go", "lexer/tokenLexer.go", "certain.go",
		"credible.md", "tablestls.go", "concert.md", "board/drain/origin.go"} {
		if w := securityWord(p); w != "" {
			t.Errorf("%s is not sensitive, for %s", p, w)
		}
	}
}

// A person's scope names a sensitive path by spelling out what makes it one.
func TestScopeNames(t *testing.T) {
	t.Parallel()
	billing := set(func(p *Policy) { p.Security = []string{"billing/"} })
	for _, c := range []struct {
		path, scope string
		want        Tier
	}{
		{"pkg/auth/x.md", "pkg/auth/**", ApprovalRequired}, {"pkg/auth/x.md", "**/auth/*.md", ApprovalRequired}, {"pkg/auth/x.md", "pkg/auth/x.md", ApprovalRequired},
		{"pkg/auth/x.md", "pkg/**", NeverByMachine}, {"pkg/auth/x.md", "**", NeverByMachine}, {"pkg/auth/x.md", "pkg/a*/x.md", NeverByMachine}, {"pkg/auth/x.md", "auth/**", NeverByMachine},
		{"ａｕｔｈ/x.md", "**", NeverByMachine},
		{"docs/password-rules.md", "docs/**", ApprovalRequired}, {"docs/password-rules.go", "docs/**", NeverByMachine}, {"docs/password-rules.txt", "docs/**", NeverByMachine},
		{"docs/auth/password-rules.md", "docs/**", NeverByMachine}, {"src/UserPermissions/README.md", "**", NeverByMachine}, {"docs/billing/token.md", "docs/**", ApprovalRequired}, {"billing/token.md", "**", NeverByMachine},
		{"billing/x.md", "billing/", ApprovalRequired}, {"billing/x.md", "billing/*.md", ApprovalRequired}, {"billing/x.md", "b*/*.md", NeverByMachine}, {"billing/x.md", "**/x.md", NeverByMachine},
	} {
		if v := ask(modify(c.path), billing, byPerson(c.scope)).verdict(); v.Tier != c.want {
			t.Errorf("%s in %s: %s, want %s", c.path, c.scope, v.Tier, c.want)
		}
		machine := ask(modify(c.path), billing, byPerson(c.scope))
		machine.e.Filed = FiledByMachine
		if v := machine.verdict(); v.Tier != NeverByMachine {
			t.Errorf("%s, filed by a machine: %s", c.path, v.Tier)
		}
	}
}

func TestTouched(t *testing.T) {
	t.Parallel()
	got := touchedFiles([]Edit{
		{"a", []byte("1"), nil, modePlain, ""}, {"b", nil, []byte("1"), "", modePlain}, {"c", nil, []byte("1"), "", modePlain},
		{"d", []byte("2"), []byte("2"), modePlain, modeExec}, {"e", []byte("3"), nil, modePlain, ""},
	})
	want := []Touched{{"b", Renamed, "a", ""}, {"c", Created, "", ""}, {"d", Modified, "", modeExec}, {"e", Deleted, "", ""}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAtomsNaming(t *testing.T) {
	t.Parallel()
	var atoms []okf.Atom
	for path, text := range map[string]string{
		"terms/a.md": "type: term\nid: by-resource\nresource: cmd/main.go", "terms/b.md": "type: term\nid: by-source\nsources: [{resource: cmd/}]",
		"terms/c.md": "type: term\nid: relative\nresource: ../../cmd/main.go#L3", "tasks/d.md": "type: task\nid: task\nresource: cmd/main.go",
		"terms/e.md": "type: term\nid: elsewhere\nresource: https://example.org/cmd/main.go", "terms/f.md": "type: term\nid: nothing",
	} {
		a, err := okf.Parse(path, []byte("---\n"+text+"\ntitle: x\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	got := AtomsNaming(okf.NewGraph(atoms), "knowledge", []string{"cmd/main.go", "cmd/other.go", "x.go"})
	want := map[string][]string{"cmd/main.go": {"by-resource", "by-source", "relative"}, "cmd/other.go": {"by-source"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
