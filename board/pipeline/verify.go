package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// How much worse than its base a change may leave what the project measures.
const (
	maxCoverage = 5.0 // points of test coverage that a package may lose
	maxLint     = 5.0 // lint warnings that it may add
)

// measureLine is a line that a project's own command may print, or go test -cover.
var measureLine = pattern(`^(?:(coverage|lint)(?:[ \t]+(\S+))?[ \t]+|(?:ok  \t(\S+)\t.*|\t(\S+)\t\t)coverage: )([0-9]+(?:\.[0-9]+)?)%?(?: of statements.*)?$`)

// Measured is what the outputs of checks measure, by "NAME WHERE", where WHERE may be empty:
// "coverage" in percent and "lint" in warnings.
func Measured(ran []Ran) map[string]float64 {
	out := map[string]float64{}
	for _, r := range ran {
		for line := range strings.Lines(string(plainOutput(r.Output))) {
			if m := measureLine().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				out[cmp.Or(m[1], "coverage")+" "+m[2]+m[3]+m[4]], _ = strconv.ParseFloat(m[5], 64) // digits and a dot
			}
		}
	}
	return out
}

// Worse says in what a tree is worse than its base, more than it may be, a line each. What the
// base does not measure cannot be compared; a measure that only the base has is missing.
func Worse(base, is map[string]float64) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(is)) {
		name, where, _ := strings.Cut(key, " ")
		if where != "" {
			where += ": "
		}
		was, known := base[key]
		switch {
		case name == "coverage" && known && was-is[key] > maxCoverage:
			out = append(out, fmt.Sprintf("%stest coverage falls from %.1f%% to %.1f%%, and at most %.1f points are allowed; add tests for the new code", where, was, is[key], maxCoverage))
		case name == "lint" && is[key]-was > maxLint:
			out = append(out, fmt.Sprintf("%s%.0f lint warnings, %.0f before; at most %.0f more are allowed", where, is[key], was, maxLint))
		}
	}
	for _, name := range []string{"coverage", "lint"} {
		has := func(key string) bool { return strings.HasPrefix(key, name+" ") }
		if slices.ContainsFunc(slices.Collect(maps.Keys(base)), has) && !slices.ContainsFunc(slices.Collect(maps.Keys(is)), has) {
			out = append(out, name+" was measured before the change and is missing now")
		}
	}
	return out
}
