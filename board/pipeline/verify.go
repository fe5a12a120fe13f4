package pipeline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// What is measured of a tree.
const (
	MeasurePassRate   = "pass_rate"  // tests that passed, of those that ran: 0 to 1
	MeasureCoverage   = "coverage"   // statements that tests reach, in percent
	MeasureComplexity = "complexity" // cyclomatic complexity of a function
	MeasureLint       = "lint"       // complaints
)

// Measure is one number about a tree, or about a part of it.
type Measure struct {
	Name  string  // one of the Measure words
	Where string  // a package, or file:line function; "" is the whole tree
	Value float64 // in the unit of its word
}

// Thresholds are how much worse than its base a change may leave a tree. Zero
// members are those of DefaultThresholds.
type Thresholds struct {
	PassRate   float64 // at least
	Coverage   float64 // points a package may lose
	Complexity float64 // that the mean over the functions of the files it changes may gain
	Lint       float64 // complaints it may add
}

// DefaultThresholds is the table.
func DefaultThresholds() Thresholds {
	return Thresholds{PassRate: 1, Coverage: 5, Complexity: 2, Lint: 5}
}

// Breach is one threshold that a change does not hold.
type Breach struct {
	Measure
	Base, Limit float64 // in the unit of the measure: what the base has, and the worst the change may
	Text        string  // the breach on one line
}

// Error is the breach on one line.
func (b Breach) Error() string { return b.Text }

// Compare holds a change against its base. What the project does not measure on
// both sides cannot be held; what the base measures and the change does not any
// more is a breach. code are the measures of the functions of the files that
// change, see [CodeMeasures], on both sides.
func Compare(base, is []Measure, t Thresholds) []Breach {
	d := DefaultThresholds()
	t = Thresholds{cmp.Or(t.PassRate, d.PassRate), cmp.Or(t.Coverage, d.Coverage), cmp.Or(t.Complexity, d.Complexity), cmp.Or(t.Lint, d.Lint)}
	var out []Breach
	say := func(m Measure, was, limit float64, format string, args ...any) {
		out = append(out, Breach{m, was, limit, fmt.Sprintf(format, args...)})
	}
	for _, m := range is {
		was, known := find(base, m.Name, m.Where)
		switch {
		case m.Name == MeasurePassRate && m.Value < t.PassRate:
			say(m, was, t.PassRate, "%s%s of the tests pass, at least %s must", at(m.Where), percent(m.Value), percent(t.PassRate))
		case m.Name == MeasureCoverage && known && was-m.Value > t.Coverage:
			say(m, was, t.Coverage, "%stest coverage falls from %.1f%% to %.1f%%, and at most %.1f points are allowed; add tests for the new code", at(m.Where), was, m.Value, t.Coverage)
		case m.Name == MeasureLint && m.Value-was > t.Lint:
			say(m, was, t.Lint, "%s%.0f lint warnings, %.0f before; at most %.0f more are allowed", at(m.Where), m.Value, was, t.Lint)
		}
	}
	out = append(out, lostMeasures(base, is)...)
	if was, ok := mean(base); ok {
		if now, ok := mean(is); ok && now-was > t.Complexity {
			m, grew := steepest(base, is)
			m.Value, m.Name = now, MeasureComplexity
			say(m, was, t.Complexity, "mean complexity of the functions rises from %.1f to %.1f, at most %.1f more are allowed; most of it is %s", was, now, t.Complexity, grew)
		}
	}
	return out
}

// lostMeasures are names that only the base has.
func lostMeasures(base, is []Measure) []Breach {
	var out []Breach
	for _, name := range []string{MeasureCoverage, MeasureLint} {
		has := func(list []Measure) bool {
			return slices.ContainsFunc(list, func(m Measure) bool { return m.Name == name })
		}
		if has(base) && !has(is) {
			out = append(out, Breach{Measure: Measure{Name: name}, Text: name + " was measured before the change and is missing now"})
		}
	}
	return out
}

func at(where string) string {
	if where == "" {
		return ""
	}
	return where + ": "
}

func percent(v float64) string { return strconv.FormatFloat(v*100, 'f', -1, 64) + "%" }

// find is the value of a measure; with several of one name and place the last.
func find(list []Measure, name, where string) (v float64, ok bool) {
	for _, m := range list {
		if m.Name == name && m.Where == where {
			v, ok = m.Value, true
		}
	}
	return v, ok
}

// mean is the mean complexity of the functions.
func mean(list []Measure) (float64, bool) {
	sum, n := 0.0, 0
	for _, m := range list {
		if m.Name == MeasureComplexity {
			sum, n = sum+m.Value, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// steepest is the function whose complexity grew most, new ones from nothing.
func steepest(base, is []Measure) (Measure, string) {
	was := map[string]float64{}
	for _, m := range base {
		if m.Name == MeasureComplexity {
			was[function(m.Where)] = m.Value
		}
	}
	var top Measure
	grew := -1.0
	for _, m := range is {
		if d := m.Value - was[function(m.Where)]; m.Name == MeasureComplexity && d > grew {
			top, grew = m, d
		}
	}
	return top, fmt.Sprintf("%s, %.0f before and %.0f now", top.Where, was[function(top.Where)], top.Value)
}

// function is a place without its line: "a/b.go:12 F" is "a/b.go F".
func function(where string) string {
	place, name, _ := strings.Cut(where, " ")
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		place = place[:i]
	}
	return place + " " + name
}

// metric is a line that a project's own command may print: a name, a place if
// there is one, and a number.
var metric = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(coverage|complexity|lint)(?:[ \t]+(\S+))?[ \t]+([0-9]+(?:\.[0-9]+)?)%?$`)
})

// covered is what go test -cover says: of a package, or of the one it ends with.
var covered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:ok  \t(\S+)\t.*|\t(\S+)\t\t)?coverage: ([0-9.]+)% of statements`)
})

// Measured is what the outputs of checks say of a tree: the share of tests that
// passed, what go test -cover prints, and lines "NAME VALUE" or "NAME WHERE VALUE"
// with coverage, complexity or lint for a name. A check that did not pass and
// named no test counts as one that failed.
func Measured(ran []Ran) []Measure {
	var out []Measure
	total, passed := 0, 0
	for _, r := range ran {
		t := tallied(r.Output)
		switch {
		case !r.Passed():
			total, passed = total+max(t.ran, 1), passed+t.ran-max(min(t.failed, t.ran), min(t.ran, 1))
		case t.known:
			total, passed = total+t.ran, passed+t.ran-t.failed
		}
		out = append(out, printed(string(plain(r.Output)))...)
	}
	if total > 0 {
		out = append(out, Measure{Name: MeasurePassRate, Value: float64(passed) / float64(total)})
	}
	return out
}

func printed(text string) []Measure {
	var out []Measure
	loose := -1 // a coverage whose package comes in the next line
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := metric().FindStringSubmatch(line); m != nil {
			out = append(out, Measure{m[1], m[2], figure(m[3])})
			continue
		}
		if m := covered().FindStringSubmatch(line); m != nil {
			out = append(out, Measure{MeasureCoverage, m[1] + m[2], figure(m[3])})
			if m[1]+m[2] == "" {
				loose = len(out) - 1
			}
			continue
		}
		if m := lineShapes()["failed"].FindStringSubmatch(line); m != nil && loose >= 0 {
			out[loose].Where = m[1]
		}
		loose = -1
	}
	return out
}

func figure(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0 // the pattern lets through digits and dots alone
	}
	return v
}

// Hold is every threshold that a tree whose checks have passed does not hold against
// its base. base is the report of the same checks at the base, nil where nobody ran
// them: then only what the change itself is measured by counts.
func Hold(report Report, base *Report, files []Edit, t Thresholds) []Breach {
	var out []Breach
	is := Measured(report.Ran)
	was := []Measure{}
	if base != nil {
		was = Measured(base.Ran)
	} else {
		is = slices.DeleteFunc(is, func(m Measure) bool { return m.Name == MeasureLint })
	}
	then, now, err := CodeMeasures(files)
	if err != nil {
		out = append(out, Breach{Measure: Measure{Name: MeasureComplexity}, Text: err.Error()})
	}
	return append(out, Compare(append(was, then...), append(is, now...), t)...)
}
