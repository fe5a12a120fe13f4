package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	m := func(name, where string, v float64) Measure { return Measure{name, where, v} }
	tests := []struct {
		name     string
		base, is []Measure
		want     []string
	}{
		{name: "nothing measured"},
		{name: "all pass", is: []Measure{m(MeasurePassRate, "", 1)}},
		{name: "one fails", is: []Measure{m(MeasurePassRate, "", 0.75)}, want: []string{"75% of the tests pass, at least 100% must"}},
		{name: "one failed before too", base: []Measure{m(MeasurePassRate, "", 0.5)}, is: []Measure{m(MeasurePassRate, "", 0.75)}, want: []string{"75% of the tests pass, at least 100% must"}},
		{name: "five points", base: []Measure{m(MeasureCoverage, "p", 80)}, is: []Measure{m(MeasureCoverage, "p", 75)}},
		{name: "more than five points, in one of two", base: []Measure{m(MeasureCoverage, "p", 80), m(MeasureCoverage, "q", 10)}, is: []Measure{m(MeasureCoverage, "p", 74.9), m(MeasureCoverage, "q", 99)},
			want: []string{"p: test coverage falls from 80.0% to 74.9%, and at most 5.0 points are allowed; add tests for the new code"}},
		{name: "a new package", base: []Measure{m(MeasureCoverage, "p", 80)}, is: []Measure{m(MeasureCoverage, "p", 80), m(MeasureCoverage, "q", 0)}},
		{name: "coverage is not measured any more", base: []Measure{m(MeasureCoverage, "p", 80)}, want: []string{"coverage was measured before the change and is missing now"}},
		{name: "five complaints", base: []Measure{m(MeasureLint, "", 3)}, is: []Measure{m(MeasureLint, "", 8)}},
		{name: "six complaints", base: []Measure{m(MeasureLint, "", 3)}, is: []Measure{m(MeasureLint, "", 9)}, want: []string{"9 lint warnings, 3 before; at most 5 more are allowed"}},
		{name: "two more branches", base: []Measure{m(MeasureComplexity, "a.go:1 F", 2)}, is: []Measure{m(MeasureComplexity, "a.go:9 F", 4)}},
		{name: "three more branches", base: []Measure{m(MeasureComplexity, "a.go:1 F", 2), m(MeasureComplexity, "a.go:5 G", 2)},
			is:   []Measure{m(MeasureComplexity, "a.go:9 F", 1), m(MeasureComplexity, "a.go:12 G", 9)},
			want: []string{"mean complexity of the functions rises from 2.0 to 5.0, at most 2.0 more are allowed; most of it is a.go:12 G, 2 before and 9 now"}},
		{name: "a new file is held against nothing", is: []Measure{m(MeasureComplexity, "a.go:9 F", 30)}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, compareMeasures(tt.base, tt.is)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	const covered = "ok  \texample.com/m/a\t0.003s\tcoverage: 85.7% of statements\n" +
		"ok  \texample.com/m/b\t(cached)\tcoverage: [no statements]\n" +
		"\texample.com/m/c\t\tcoverage: 0.0% of statements\n"
	tests := []struct {
		name string
		ran  Ran
		want []Measure
	}{
		{"coverage of packages", Ran{Done: true, Output: []byte(covered)},
			[]Measure{{MeasureCoverage, "example.com/m/a", 85.7}, {MeasureCoverage, "example.com/m/c", 0}, {MeasurePassRate, "", 1}}},
		{"coverage of one that fails", Ran{Done: true, Exit: 1, Output: output(t, "cover")},
			[]Measure{{MeasureCoverage, "example.com/m/a", 50}, {MeasurePassRate, "", 0}}},
		{"a command of the project", Ran{Done: true, Output: []byte("coverage 81.25%\nlint internal/x 3\ncomplexity a.go 4\nlint: 9\nlint 1 2 3\nspeed 9\n")},
			[]Measure{{MeasureCoverage, "", 81.25}, {MeasureLint, "internal/x", 3}, {MeasureComplexity, "a.go", 4}}},
		{"tests by name", Ran{Done: true, Exit: 1, Output: output(t, "json")}, []Measure{{MeasurePassRate, "", 0.4}}},
		{"pytest", Ran{Done: true, Exit: 1, Output: output(t, "pytest")}, []Measure{{MeasurePassRate, "", 0.6}}},
		{"well, and no tests to be seen", Ran{Done: true}, nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, Measured([]Ran{tt.ran})); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

func TestCodeMeasures(t *testing.T) {
	t.Parallel()
	const src = `package p

func Plain() {}

func (x *T[K]) Loop() {
	for range 3 {
		if a && b || c {
		}
	}
}

func (T) Choose() {
	switch x {
	case 1, 2:
	case 3:
	default:
	}
	select {
	case <-c:
	default:
	}
	func() {
		for {
		}
	}()
}

func Extern()
`
	base, is, err := measureCode([]Edit{
		{Path: "p.go", Before: []byte("package p\nfunc Plain() { if a {} }\n"), After: []byte(src)},
		{Path: "was.go", Before: []byte("package p\nfunc ("), After: []byte("package p\nfunc F() {}\n")},
		{Path: "gone.go", Before: []byte("package p\nfunc Gone() {}\n")},
		{Path: "a.md", After: []byte("func (")},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantBase := []Measure{{MeasureComplexity, "gone.go:2 Gone", 1}, {MeasureComplexity, "p.go:2 Plain", 2}}
	want := []Measure{{MeasureComplexity, "p.go:3 Plain", 1}, {MeasureComplexity, "p.go:5 T.Loop", 5}, {MeasureComplexity, "p.go:12 T.Choose", 5}, {MeasureComplexity, "was.go:2 F", 1}}
	if d := cmp.Diff(wantBase, base) + cmp.Diff(want, is); d != "" {
		t.Error(d)
	}
	if _, _, err := measureCode([]Edit{{Path: "p.go", After: []byte("package p\nfunc (")}}); err == nil || !strings.HasPrefix(err.Error(), "p.go:2:7: ") {
		t.Error(err)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	ok := Report{Done: true, Want: make([]Check, 1), Ran: []Ran{{Done: true, Output: []byte("ok  \tm\t0.1s\tcoverage: 80.0% of statements\nlint 9\n")}}}
	worse := Report{Done: true, Want: make([]Check, 1), Ran: []Ran{{Done: true, Output: []byte("ok  \tm\t0.1s\tcoverage: 70.0% of statements\nlint 9\n")}}}
	simple := []Edit{{Path: "p.go", Before: []byte("package p\nfunc F() {}\n"), After: []byte("package p\nfunc F() { return }\n")}}
	knotty := []Edit{{Path: "p.go", Before: simple[0].Before, After: []byte("package p\nfunc F() { if a && b && c {} }\n")}}
	tests := []struct {
		name  string
		r     Report
		base  Report
		files []Edit
		want  string
	}{
		{"may land", ok, ok, simple, ""},
		{"nothing is measured any more", Report{}, ok, simple, "coverage was measured before the change and is missing now\nlint was measured before the change and is missing now"},
		{"less is tested", worse, ok, simple, "m: test coverage falls from 80.0% to 70.0%, and at most 5.0 points are allowed; add tests for the new code"},
		{"more branches", ok, ok, knotty, "mean complexity of the functions rises from 1.0 to 4.0, at most 2.0 more are allowed; most of it is p.go:2 F, 1 before and 4 now"},
		{"it does not parse", ok, ok, []Edit{{Path: "p.go", After: []byte("func")}}, "p.go:1:1: expected 'package', found 'func'"},
	}
	for _, tt := range tests {
		r := tt.r
		r.Breaches = Hold(tt.r, tt.base, tt.files)
		if d := cmp.Diff(tt.want, strings.Join(r.Breaches, "\n")); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
		if f, failed := r.Failure(); failed != !r.Passed() || tt.r.Passed() && failed != (tt.want != "") || tt.r.Passed() && failed && (!f.Steady || f.Class != ClassTest) {
			t.Errorf("%s: failed is %v, with %+v", tt.name, failed, f)
		}
	}
}
