package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMeasured(t *testing.T) {
	t.Parallel()
	const covered = "ok  \texample.com/m/a\t0.003s\tcoverage: 85.7% of statements\n" +
		"ok  \texample.com/m/b\t(cached)\tcoverage: [no statements]\n" +
		"\texample.com/m/c\t\tcoverage: 0.0% of statements\n"
	for _, tt := range []struct {
		name, output string
		want         map[string]float64
	}{
		{"coverage of packages", covered, map[string]float64{"coverage example.com/m/a": 85.7, "coverage example.com/m/c": 0}},
		{"a command of the project", "coverage 81.25%\nlint internal/x 3\nlint: 9\nlint 1 2 3\nspeed 9\n", map[string]float64{"coverage ": 81.25, "lint internal/x": 3}},
		{"nothing", "", map[string]float64{}},
	} {
		if d := cmp.Diff(tt.want, Measured([]Ran{{Done: true, Output: []byte(tt.output)}})); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

func TestWorse(t *testing.T) {
	t.Parallel()
	type measures = map[string]float64
	for _, tt := range []struct {
		name     string
		base, is measures
		want     []string
	}{
		{name: "nothing measured"},
		{name: "five points", base: measures{"coverage p": 80}, is: measures{"coverage p": 75}},
		{name: "more than five points, in one of two", base: measures{"coverage p": 80, "coverage q": 10}, is: measures{"coverage p": 74.9, "coverage q": 99},
			want: []string{"p: test coverage falls from 80.0% to 74.9%, and at most 5.0 points are allowed; add tests for the new code"}},
		{name: "a new package", base: measures{"coverage p": 80}, is: measures{"coverage p": 80, "coverage q": 0}},
		{name: "coverage is not measured any more", base: measures{"coverage p": 80}, want: []string{"coverage was measured before the change and is missing now"}},
		{name: "five warnings", base: measures{"lint ": 3}, is: measures{"lint ": 8}},
		{name: "six warnings", base: measures{"lint ": 3}, is: measures{"lint ": 9}, want: []string{"9 lint warnings, 3 before; at most 5 more are allowed"}},
	} {
		if d := cmp.Diff(tt.want, Worse(tt.base, tt.is)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
	worse := Report{Done: true, Breaches: []string{"so"}}
	if f, failed := worse.Failure(); !failed || worse.Passed() || !f.Steady || f.Class != ClassTest {
		t.Errorf("failed is %v, with %+v", failed, f)
	}
}
