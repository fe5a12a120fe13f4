package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/reconcile/policy"
)

// said reads an output from testdata: its first line is the command.
func output(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "output", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n")
	return []byte(rest)
}

// TestClasses reads what the tools really print.
func TestClasses(t *testing.T) {
	t.Parallel()
	const a, b = "example.com/m/a.", "example.com/m/b."
	tests := []struct {
		name, want string
		ids        []string
	}{
		{"tests", "test", []string{a + "TestAdd", a + "TestTable", a + "TestTable/two_words"}},
		{"json", "test", []string{a + "TestAdd", a + "TestTable", a + "TestTable/two_words"}},
		{"cover", "test", []string{a + "TestAdd", a + "TestTable", a + "TestTable/two_words"}},
		{"panic", "test", []string{a + "TestAdd", a + "TestPanic", a + "TestTable", a + "TestTable/two_words"}},
		{"timeout", "test", []string{"example.com/m/b"}},
		{"exit", "test", []string{"example.com/m/b"}},
		{"fuzz", "test", []string{b + "ExampleF", b + "FuzzX", b + "FuzzX/seed#0"}},
		{"build", "syntax", []string{"b/b.go: too many return values", "b/b.go: undefined: undefined"}},
		{"vet", "syntax", []string{"b/b.go: undefined: undefined"}},
		{"printf", "syntax", []string{"b/b.go: fmt.Printf format %d has arg \"x\" of wrong type string"}},
		{"testprintf", "syntax", []string{"b/b.go: fmt.Printf format %d has arg \"x\" of wrong type string"}},
		{"testbuild", "syntax", []string{"b/b.go: too many return values", "b/b.go: undefined: undefined"}},
		{"parse", "syntax", []string{"b/b.go: syntax error: unexpected {, expected )"}},
		{"testparse", "syntax", []string{"b/b.go: syntax error: unexpected {, expected )"}},
		{"mixed", "syntax", []string{"b/b_test.go: undefined: undefinedThing"}},
		{"jsonbuild", "syntax", []string{"b/b_test.go: undefined: undefinedThing"}},
		{"ownmodule", "syntax", []string{"b/b.go: no required module provides package example.com/m/none; to add it:"}},
		{"nostd", "syntax", []string{"b/b.go: package nonexist/pkg is not in std (/usr/local/go/src/nonexist/pkg)"}},
		{"testnostd", "syntax", []string{"b/b.go: package nonexist/pkg is not in std (/usr/local/go/src/nonexist/pkg)"}},
		{"gomod", "syntax", []string{"go.mod: syntax error (unterminated block started at /src/m/go.mod:4:1)"}},
		{"nopackage", "syntax", []string{"check: exit 1"}},
		{"cycle", "syntax", []string{"import cycle through example.com/m/b"}},
		{"module", "env module", []string{"check: exit 1"}},
		{"testmodule", "env module", []string{"check: exit 1"}},
		{"gosum", "env module", []string{"check: exit 1"}},
		{"goversion", "env interpreter", []string{"check: exit 1"}},
		{"port", "env permission", []string{"check: exit 1"}},
		{"portalone", "env port", []string{"check: exit 1"}},
		{"mypy", "syntax", []string{"calc.py: Incompatible return value type"}},
		{"command", "env command", []string{"check: exit 1"}},
		{"makecommand", "env command", []string{"check: exit 1"}},
		{"disk", "env resource", []string{"check: exit 1"}},
		{"network", "env network", []string{"check: exit 1"}},
		{"generic", "test", []string{"check: exit 1"}},
		{"pytest", "test", []string{"tests/test_calc.py::test_add", "tests/test_calc.py::test_div[zero one]"}},
		{"pytestsyntax", "syntax", []string{"check: exit 1"}},
		{"pytestmodule", "env module", []string{"check: exit 1"}},
	}
	for _, tt := range tests {
		ran := Ran{Check: Check{Name: "check", Module: "example.com/m"}, Done: true, Exit: 1, Output: output(t, tt.name)}
		f := ran.diagnoseRun()
		if got := strings.TrimSpace(string(f.Class) + " " + f.Sub); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if d := cmp.Diff(tt.ids, f.IDs); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
		if f.Excerpt == "" || len(f.Excerpt) > maxExcerpt {
			t.Errorf("%s: an excerpt of %d bytes", tt.name, len(f.Excerpt))
		}
	}
}

// TestClassesOfEnds are failures that no output tells of.
func TestClassesOfEnds(t *testing.T) {
	t.Parallel()
	well := Ran{Done: true, Output: output(t, "notests")}
	tests := []struct {
		name, want string
		ran        Ran
		retryable  bool
	}{
		{"well", ": ", well, true},
		{"nothing at all", "env (broken): check: not run", Ran{}, false},
		{"no such program", "env (command): check: not-started", Ran{Fault: FaultStart}, false},
		{"killed", "env (resource): check: killed", Ran{Fault: FaultKilled}, true},
		{"too slow", "test: check: timeout", Ran{Fault: FaultTimeout, Output: output(t, "module")}, true},
		{"no tests where some were expected", "test: check: failed, because it ran no test", Ran{Check: Check{Tests: true}, Done: true, Output: output(t, "nothing")}, true},
		{"no test files where tests were expected", "test: check: failed, because it ran no test", Ran{Check: Check{Tests: true}, Done: true, Output: output(t, "notests")}, true},
		{"no tests for pytest", "test: check: exit 5", Ran{Check: Check{Tests: true}, Done: true, Exit: 5, Output: output(t, "pytestempty")}, true},
	}
	for _, tt := range tests {
		tt.ran.Check.Name = "check"
		f := tt.ran.diagnoseRun()
		if f.String() != tt.want || f.Retryable() != tt.retryable {
			t.Errorf("%s: %q, retryable %t; want %q, %t", tt.name, f, f.Retryable(), tt.want, tt.retryable)
		}
	}
	if got, want := well.String(), ": passed (it has no tests)"; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
}

// TestNotTheSurroundings are tests that speak of the surroundings and are not
// failing because of them.
func TestNotTheSurroundings(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`x_test.go:3: got "permission denied", want nil`,
		`x_test.go:3: Open: want an error with "connection refused"`,
		`x_test.go:3: command not found: got 3`,
		`x_test.go:3: want "address already in use"`,
	} {
		out := "--- FAIL: TestX (0.00s)\n    " + line + "\nFAIL\nFAIL\texample.com/m/a\t0.003s\nFAIL\n"
		f := Ran{Done: true, Exit: 1, Output: []byte(out)}.diagnoseRun()
		if d := cmp.Diff([]string{"example.com/m/a.TestX"}, f.IDs); f.Class != ClassTest || d != "" {
			t.Errorf("%s: %s", line, f)
		}
	}
	shout := "main.go:12: hello\n--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tm\t0.003s\n"
	if f := (Ran{Done: true, Exit: 1, Output: []byte(shout)}).diagnoseRun(); f.Class != ClassTest {
		t.Errorf("what a test printed is a place: %s", f)
	}
}

func TestReportFailure(t *testing.T) {
	t.Parallel()
	failing := func(name string) Ran {
		return Ran{Check: Check{Name: name, Module: "example.com/m"}, Done: true, Exit: 1, Output: output(t, name)}
	}
	report := func(ran ...Ran) Report { return Report{Want: make([]Check, len(ran)), Ran: ran, Done: true} }
	finding := func(code string, s policy.Severity) Report {
		return Report{Done: true, Findings: []policy.Finding{{Code: code, Severity: s, Path: "a.go", Text: "so", Fix: "not so"}}}
	}
	tests := []struct {
		name string
		r    Report
		want string
	}{
		{"the zero report", Report{}, "env (broken): the checks were not gone through"},
		{"checks that were left out", Report{Want: make([]Check, 2), Done: true}, "env (broken): the checks were not gone through"},
		{"the worst class", report(failing("tests"), failing("build")), "syntax: b/b.go: too many return values, b/b.go: undefined: undefined"},
		{"what cannot be mended first", report(failing("disk"), failing("build"), failing("module")), "env (module): module: exit 1"},
		{"all of a class", report(failing("generic"), failing("exit")), "test: example.com/m/b, generic: exit 1"},
		{"a file that does not parse", finding("parse_failed", policy.Hard), "syntax: parse_failed a.go"},
		{"a rule", finding("protected_path", policy.Hard), "env (rule): protected_path a.go"},
	}
	for _, tt := range tests {
		f, failed := tt.r.Failure()
		if !failed || f.String() != tt.want || tt.r.Passed() {
			t.Errorf("%s: %q, want %q", tt.name, f, tt.want)
		}
	}
	said := Ran{Check: Check{Name: "check.sh"}, Done: true, Exit: 1, Output: []byte("\n  want  two, have three \nmore\n")}
	if got, want := report(said, Ran{Check: Check{Name: "quiet"}, Done: true, Exit: 2}).Failures(), []string{"check.sh: exit 1: want two, have three", "quiet: exit 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, r := range map[string]Report{"soft": finding("check_edited", policy.Soft), "no check": {Done: true}, "well": report(Ran{Done: true})} {
		if f, failed := r.Failure(); failed || !r.Passed() {
			t.Errorf("%s: %s", name, f)
		}
	}
	many := Failure{Class: ClassTest, IDs: strings.Fields("a b c d e f g")}
	if got := many.String(); got != "test: a, b, c, d, e and 2 more" {
		t.Error(got)
	}
}

func TestPatchSignature(t *testing.T) {
	t.Parallel()
	same := patchSignature([]Edit{{Path: "a", After: []byte("1")}, {Path: "b", After: []byte("2")}})
	for name, other := range map[string][]Edit{
		"content": {{Path: "a", After: []byte("1")}, {Path: "b", After: []byte("3")}},
		"mode":    {{Path: "a", After: []byte("1"), NewMode: modeExec}, {Path: "b", After: []byte("2")}},
		"border":  {{Path: "a", After: []byte("11:b1:2")}},
	} {
		if patchSignature(other) == same {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// TestTestsSeen: a check that was to run tests and ran none has not passed, nor has one that
// ends well and tells of tests that failed.
func TestTestsSeen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"tests":       "exit 0, but it tells of tests that failed",
		"json":        "exit 0, but it tells of tests that failed",
		"pytest":      "exit 0, but it tells of tests that failed",
		"mixed":       "exit 0, but it tells of tests that failed",
		"nothing":     "failed, because it ran no test",
		"notests":     "failed, because it ran no test",
		"pytestempty": "failed, because it ran no test",
		"generic":     "passed",
	} {
		r := Ran{Check: Check{Name: "check", Tests: true}, Done: true, Output: output(t, name)}
		if r.String() != "check: "+want || r.Passed() != (want == "passed") {
			t.Errorf("%s: %q, passed %t", name, r, r.Passed())
		}
	}
	for _, well := range []string{"ok  \tm\t0.1s\nok  \tm/b\t0.1s [no tests to run]\n", "--- PASS: TestX (0.00s)\nPASS\nok  \tm\t0.1s\tcoverage: [no statements]\n", "?   \tm\t[no test files]\nok  \tm/b\t(cached)\n", "==== 3 passed, 1 skipped in 0.05s ====\n"} {
		if r := (Ran{Check: Check{Tests: true}, Done: true, Output: []byte(well)}); !r.Passed() {
			t.Errorf("%q: %s", well, r)
		}
	}
}

// FuzzFailure: whatever a tool prints, a check that did not end well is a failure
// with an id, bounded and legible.
func FuzzFailure(f *testing.F) {
	names, err := filepath.Glob("testdata/output/*.txt")
	if err != nil || len(names) < 30 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		f.Add(output(f, strings.TrimSuffix(filepath.Base(name), ".txt")), 1)
	}
	f.Fuzz(func(t *testing.T, out []byte, exit int) {
		r := Ran{Check: Check{Name: "check", Tests: true, Module: "example.com/m"}, Done: true, Exit: exit, Output: out}
		fail := r.diagnoseRun()
		if r.Passed() != (fail.Class == "") || r.Passed() && exit != 0 {
			t.Fatalf("exit %d: passed %t, %+v", exit, r.Passed(), fail)
		}
		if r.Passed() {
			return
		}
		if len(fail.IDs) == 0 || len(fail.Excerpt) > 3*maxExcerpt || fail.Sub == EnvRule {
			t.Fatalf("%+v", fail)
		}
	})
}

// TestMergeIsStable: the order of the checks does not change what failed.
func TestMergeIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		one := rapid.Custom(func(rt *rapid.T) Failure {
			f := Failure{Class: rapid.SampledFrom([]Class{ClassEnv, ClassSyntax, ClassTest}).Draw(rt, "class"), IDs: []string{rapid.StringMatching(`[a-d]`).Draw(rt, "id")}}
			if f.Class == ClassEnv {
				f.Sub = rapid.SampledFrom([]string{EnvModule, EnvNetwork}).Draw(rt, "sub")
			}
			return f
		})
		all := rapid.SliceOfN(one, 1, 6).Draw(rt, "all")
		a, b := mergeFailures(all), mergeFailures(rapid.Permutation(all).Draw(rt, "again"))
		if a.signature() != b.signature() || a.Class != b.Class || a.Sub != b.Sub {
			rt.Fatalf("%+v and %+v", a, b)
		}
	})
}
