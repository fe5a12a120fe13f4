package pipeline

import (
	"fmt"
	"go/build"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/reconcile/policy"
)

func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func edits(paths ...string) []Edit {
	var out []Edit
	for _, p := range paths {
		out = append(out, Edit{Path: p, Before: []byte("x"), After: []byte("y")})
	}
	return out
}

// repository is a tree of three modules: one of its own, one below it, one without Go.
func repository() fstest.MapFS {
	return tree(
		"go.mod", "module example.com/m\n", "main.go", "package main\nimport _ \"example.com/m/b\"\n",
		"a/a.go", "package a\n", "a/a_test.go", "package a\n", "a/testdata/in.txt", "", "a/pages/index.html", "",
		"b/b.go", "package b\nimport _ \"example.com/m/a\"\n",
		"c/c.go", "package c\n", "c/c_test.go", "package c_test\nimport _ \"example.com/m/a\"\n",
		"d/d.go", "package d\n", "README.md", "", "e/e_test.go", "package e_test\n",
		"tool/go.mod", "module example.com/m/tool\n", "tool/t.go", "package main\nimport _ \"example.com/m/d\"\n", "tool/x/x.go", "package x\n",
		"docs/go.mod", "module example.com/docs\n", "docs/a.md", "",
		"vendor/v/v.go", "package v\n", ".ci/ci.go", "package ci\n", ".tools/go.mod", "module example.com/tools\n", ".tools/t.go", "package main\n", "test_x.py", "",
	)
}

func TestGoChecks(t *testing.T) {
	t.Parallel()
	graph, err := ReadGraph(repository())
	if err != nil {
		t.Fatal(err)
	}
	commands := func(pkgs string) []string {
		return []string{"go build -o /dev/null " + pkgs, "go vet " + pkgs, "go test " + pkgs}
	}
	in := func(dir, pkgs string) []string {
		c := commands(pkgs)
		return []string{dir + ": " + c[0], dir + ": " + c[1], dir + ": " + c[2]}
	}
	tests := []struct {
		name    string
		paths   []string
		graph   *Graph
		gone    []string
		want    []string
		noTests bool
	}{
		{name: "who imports it, and whose tests do", paths: []string{"a/a.go"}, graph: graph, want: commands(". ./a ./b ./c")},
		{name: "tests alone, which go build refuses", paths: []string{"e/e_test.go"}, graph: graph, want: []string{"go vet ./e", "go test ./e"}},
		{name: "tests alone and more", paths: []string{"c/c.go", "e/e_test.go"}, graph: graph, want: []string{"go build -o /dev/null ./c", "go vet ./c ./e", "go test ./c ./e"}},
		{name: "test data", paths: []string{"a/testdata/in.txt"}, graph: graph, want: commands(". ./a ./b ./c")},
		{name: "what a package may embed", paths: []string{"a/pages/index.html"}, graph: graph, want: commands(". ./a ./b ./c")},
		{name: "the top", paths: []string{"main.go"}, graph: graph, want: commands("."), noTests: true},
		{name: "a text at the top belongs to the package there", paths: []string{"README.md"}, graph: graph, want: commands("."), noTests: true},
		{name: "go.mod", paths: []string{"go.mod"}, graph: graph, want: commands("./...")},
		{name: "nobody knows who imports it", paths: []string{"a/a.go"}, graph: &Graph{Files: graph.Files, problems: []string{"x.go is no Go"}}, want: commands("./...")},
		{name: "a module below", paths: []string{"tool/x/x.go"}, graph: graph, want: in("tool", "./x"), noTests: true},
		{name: "two modules", paths: []string{"tool/t.go", "c/c.go"}, graph: graph, want: append(commands("./c"), in("tool", ".")...)},
		{name: "another module imports it", paths: []string{"d/d.go"}, graph: graph, want: append(commands("./d"), in("tool", ".")...), noTests: true},
		{name: "a package that is gone", paths: []string{"a/a.go", "a/a_test.go"}, gone: []string{"a/a.go", "a/a_test.go"}, want: commands(". ./b ./c")},
		{name: "a module in a hidden folder", paths: []string{".tools/go.mod"}, graph: graph, want: in(".tools", "./..."), noTests: true},
		{name: "no Go there", paths: []string{"docs/a.md"}, graph: graph},
		{name: "no Go there, by go.mod", paths: []string{"docs/go.mod"}, graph: graph},
	}
	for _, tt := range tests {
		files := repository()
		for _, p := range tt.gone {
			delete(files, p)
		}
		if tt.graph == nil {
			var err error
			if tt.graph, err = ReadGraph(files); err != nil {
				t.Fatal(err)
			}
		}
		checks, findings := Checks(edits(tt.paths...), Project{Files: files, Graph: tt.graph, Build: plan9()})
		var got []string
		tested := false
		for _, c := range checks {
			line := strings.Join(c.Argv, " ")
			if c.Dir != "" {
				line = c.Dir + ": " + line
			}
			got = append(got, line)
			tested = tested || c.Tests
			if c.Timeout != DefaultCheck || c.Name == "" || !strings.HasPrefix(c.Module, "example.com/") {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" || len(findings) > 0 {
			t.Errorf("%s: (-want +got)\n%s%v", tt.name, d, findings)
		}
		if tested == tt.noTests && len(checks) > 0 {
			t.Errorf("%s: expects tests: %t", tt.name, tested)
		}
	}
	wide := tree("go.mod", "module m\n")
	var paths []string
	for i := range maxPackages + 1 {
		p := fmt.Sprintf("p%d/p.go", i)
		wide[p] = &fstest.MapFile{Data: []byte("package p\n")}
		paths = append(paths, p)
	}
	g, err := ReadGraph(wide)
	if err != nil {
		t.Fatal(err)
	}
	if checks, _ := Checks(edits("README.md"), Project{Files: repository(), Graph: graph}); len(checks) != 3 || checks[0].Name != "go build (no Go file changed)" {
		t.Errorf("no Go file: %v", checks)
	}
	if checks, _ := Checks(edits(paths...), Project{Files: wide, Graph: g}); len(checks) != 3 || checks[1].Argv[2] != "./..." {
		t.Errorf("many packages: %v", checks)
	}
}

// Two changes are apart where go would say of neither what it did not say before.
func TestApart(t *testing.T) {
	t.Parallel()
	graph, err := ReadGraph(repository())
	if err != nil {
		t.Fatal(err)
	}
	broken := repository()
	broken["x/x.go"] = &fstest.MapFile{Data: []byte("no go")}
	bad, err := ReadGraph(broken)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		g            *Graph
		ours, theirs string
		want         bool
	}{
		{graph, "b/b.go", "d/d.go", true},
		{graph, "a/a.go", "d/d.go e/e_test.go", true},
		{graph, "a/a.go", "b/b.go", false},      // they import it
		{graph, "b/b.go", "a/a.go", false},      // it imports them
		{graph, "a/a.go", "c/c.go", false},      // their tests import it
		{graph, "a/a.go", "a/a_test.go", false}, // one package
		{graph, "b/b.go", "c/c.go", true},       // one needs what the other's tests need, and that is as it was
		{graph, "d/d.go", "tool/t.go", false},   // another module that imports it
		{graph, "b/b.go", "README.md", false},   // a test may read it
		{graph, "b/b.go", "go.mod", false},      // all of the module
		{graph, "b/b.go", "gone/g.go", false},   // a package that is not there
		{graph, "a/testdata/in.txt", "d/d.go", false},
		{bad, "b/b.go", "d/d.go", false},
	} {
		if got := tt.g.Apart(strings.Fields(tt.ours), strings.Fields(tt.theirs)); got != tt.want {
			t.Errorf("%s and %s: apart %t", tt.ours, tt.theirs, got)
		}
	}
}

// plan9 is a machine that nobody runs these tests on.
func plan9() *build.Context {
	return &build.Context{GOOS: "plan9", GOARCH: "arm", Compiler: "gc", ReleaseTags: []string{"go1.1"}}
}

// Go refuses a package by name that has no file for the build: it is left out, and
// that is said. Where it is not known what go builds for, go is asked.
func TestPackagesForOtherBuilds(t *testing.T) {
	t.Parallel()
	files := tree("go.mod", "module m\n", "w/a_windows.go", "package w\n", "w/b.go", "//go:build linux && !plan9\n\npackage w\n",
		"x/x_windows.go", "package x\n", "x/x_test.go", "package x\n", "c/c.go", "//go:build cgo\n\npackage c\n", "n/n.go", "//go:build !cgo && go1.90\n\npackage n\n",
		"bad/b.go", "//go:build (\n\npackage bad\n", "only/o.go", "//go:build ignore\n\npackage main\n")
	graph, err := ReadGraph(files)
	if err != nil {
		t.Fatal(err)
	}
	change := edits("w/b.go", "x/x_windows.go", "c/c.go", "n/n.go", "bad/b.go")
	for _, tt := range []struct {
		build     *build.Context
		files     []Edit
		want, not string
	}{
		{plan9(), change, "go build -o /dev/null ./bad ./c ./n; go vet ./bad ./c ./n ./x; go test ./bad ./c ./n ./x", "w"},
		{nil, change, "go build -o /dev/null ./bad ./c ./n ./w ./x; go vet ./bad ./c ./n ./w ./x; go test ./bad ./c ./n ./w ./x", ""},
		{plan9(), edits("w/b.go", "only/o.go"), "", "only w"},
		{plan9(), edits("w/b.go", "go.mod"), "go build -o /dev/null ./...; go vet ./...; go test ./...", ""},
	} {
		checks, findings := Checks(tt.files, Project{Files: files, Graph: graph, Build: tt.build})
		var got, not []string
		for _, c := range checks {
			got = append(got, strings.Join(c.Argv, " "))
		}
		for _, f := range findings {
			if f.Code != "check_skipped" || f.Severity != policy.Soft {
				t.Error(f)
			}
			not = append(not, f.Path)
		}
		if strings.Join(got, "; ") != tt.want || strings.Join(not, " ") != tt.not {
			t.Errorf("%q, without %q; want %q, without %q", got, not, tt.want, tt.not)
		}
	}
}

func TestConfiguredChecks(t *testing.T) {
	t.Parallel()
	graph, err := ReadGraph(repository())
	if err != nil {
		t.Fatal(err)
	}
	p := Project{Files: repository(), Graph: graph, Timeout: time.Second,
		Commands: [][]string{{"make", "test"}, {"git", "push"}, {"./scripts/check.sh", "-v"}, {"go", "test", "./..."}, {}, {"sh", "-c", "git push"}},
		Accept:   [][]string{{"python3", "-m", "pytest", "tests/test_new.py"}, {"go", "vet", "./a"}, {"timeout", "9", "sh", "-c", "./scripts/all.sh | tail"}},
	}
	checks, findings := Checks(edits("Makefile", "scripts/check.sh", "scripts/all.sh", "a/a.go", "tests/test_new.py"), p)
	var got []string
	for _, c := range checks {
		got = append(got, fmt.Sprintf("%s; tests %t; %s", c.Name, c.Tests, c.Timeout))
	}
	want := []string{
		"make test; tests false; 1s",
		"./scripts/check.sh -v; tests false; 1s",
		"go test ./...; tests true; 1s",
		"python3 -m pytest tests/test_new.py; tests true; 1s",
		"go vet ./a; tests false; 1s",
		"timeout 9 sh -c ./scripts/all.sh | tail; tests false; 1s",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	codes := map[string]int{}
	for _, f := range findings {
		codes[string(f.Severity)+" "+f.Code+" "+f.Path]++
	}
	for _, want := range []string{"soft check_edited Makefile", "soft check_edited scripts/check.sh", "soft check_edited scripts/all.sh", "soft check_edited tests/test_new.py", "hard check_empty "} {
		if codes[want] != 1 {
			t.Errorf("%q is found %d times: %v", want, codes[want], codes)
		}
	}
	hards := 0
	for _, f := range findings {
		if isHard(f) {
			hards++
		}
	}
	if hards < 3 {
		t.Errorf("two pushes and nothing at all are %d hard findings", hards)
	}
	none, findings := Checks(edits("README.md"), Project{Files: tree("README.md", "")})
	if len(none) != 0 || len(findings) != 0 {
		t.Errorf("%v, %v", none, findings)
	}
	_, findings = Checks(edits("a.go"), Project{Commands: [][]string{{"go", "test"}}})
	if len(findings) != 0 {
		t.Errorf("no tree: %v", findings)
	}
}

func TestExamine(t *testing.T) {
	t.Parallel()
	checks := func(names string) []Check {
		var out []Check
		for _, n := range strings.Fields(names) {
			out = append(out, Check{Name: n})
		}
		return out
	}
	// A check's name is what it does, one word a run.
	tests := []struct {
		name, checks, ran string
		passed            bool
	}{
		{name: "well", checks: "ok ok", ran: "ok ok", passed: true},
		{name: "nothing to run", passed: true},
		{name: "a test that fails does not stop the rest", checks: "test ok", ran: "test ok"},
		{name: "what does not build does", checks: "ok build ok", ran: "ok build"},
		{name: "so do the surroundings", checks: "port ok", ran: "port"},
		{name: "too slow is a failure", checks: "slow ok", ran: "slow ok"},
		{name: "cancelled stops", checks: "cancelled ok", ran: "cancelled"},
	}
	for _, tt := range tests {
		var ran []string
		r := Examine(checks(tt.checks), nil, func(c Check) Ran {
			ran = append(ran, c.Name)
			well := Ran{Done: true}
			switch c.Name {
			case "test", "build", "port":
				return Ran{Done: true, Exit: 1, Output: output(t, map[string]string{"test": "tests", "build": "build", "port": "port"}[c.Name])}
			case "slow":
				return Ran{Fault: FaultTimeout}
			case "cancelled":
				return Ran{Fault: FaultCancelled}
			}
			return well
		})
		if strings.Join(ran, " ") != tt.ran || r.Passed() != tt.passed || !r.Done {
			t.Errorf("%s: ran %q, passed %t", tt.name, ran, r.Passed())
		}
		if _, failed := r.Failure(); failed == tt.passed {
			t.Errorf("%s: passed and failed are both %t", tt.name, failed)
		}
	}
	refused := Examine(checks("ok"), []policy.Finding{{Code: "parse_failed", Severity: policy.Hard}}, func(Check) Ran {
		t.Error("a candidate with a hard finding is run")
		return Ran{}
	})
	if refused.Passed() || !strings.Contains(refused.String(), "1 more checks were not run") {
		t.Error(refused)
	}
}

func TestReportWords(t *testing.T) {
	t.Parallel()
	r := Report{Want: make([]Check, 5), Done: true, Ran: []Ran{
		{Check: Check{Name: "a"}, Done: true, Exit: 2}, {Check: Check{Name: "b", Timeout: time.Minute}, Fault: FaultTimeout, Detail: "stopped"}, {Check: Check{Name: "c"}},
		{Check: Check{Name: "d", Tests: true}, Done: true, Output: output(t, "nothing")},
	}}
	want := "a: exit 2\nb: timeout: it was stopped after 1m0s; raise [pipeline] check_timeout in odd.toml\nc: not run\nd: failed, because it ran no test\n1 more checks were not run\n"
	if d := cmp.Diff(want, r.String()); d != "" {
		t.Error(d)
	}
	if got := (Report{Done: true}).String(); !strings.Contains(got, "no check ran") {
		t.Error(got)
	}
}
