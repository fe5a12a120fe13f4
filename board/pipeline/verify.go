package pipeline

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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

// How much worse than its base a change may leave a tree.
const (
	minPassRate   = 1.0 // at least
	maxCoverage   = 5.0 // points a package may lose
	maxComplexity = 2.0 // that the mean over the functions of the files it changes may gain
	maxLint       = 5.0 // complaints it may add
)

// compareMeasures holds a change against its base, and says in what it is worse than it may
// be, a line each. What the project does not measure on
// both sides cannot be held; what the base measures and the change does not any
// more is a breach. code are the measures of the functions of the files that
// change, see [CodeMeasures], on both sides.
func compareMeasures(base, is []Measure) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range is {
		was, known := findMeasure(base, m.Name, m.Where)
		switch {
		case m.Name == MeasurePassRate && m.Value < minPassRate:
			say("%s%s of the tests pass, at least %s must", placePrefix(m.Where), formatPercent(m.Value), formatPercent(minPassRate))
		case m.Name == MeasureCoverage && known && was-m.Value > maxCoverage:
			say("%stest coverage falls from %.1f%% to %.1f%%, and at most %.1f points are allowed; add tests for the new code", placePrefix(m.Where), was, m.Value, maxCoverage)
		case m.Name == MeasureLint && m.Value-was > maxLint:
			say("%s%.0f lint warnings, %.0f before; at most %.0f more are allowed", placePrefix(m.Where), m.Value, was, maxLint)
		}
	}
	out = append(out, lostMeasures(base, is)...)
	if was, ok := meanComplexity(base); ok {
		if now, ok := meanComplexity(is); ok && now-was > maxComplexity {
			say("mean complexity of the functions rises from %.1f to %.1f, at most %.1f more are allowed; most of it is %s", was, now, maxComplexity, steepestFunction(base, is))
		}
	}
	return out
}

// lostMeasures are names that only the base has.
func lostMeasures(base, is []Measure) []string {
	var out []string
	for _, name := range []string{MeasureCoverage, MeasureLint} {
		has := func(list []Measure) bool {
			return slices.ContainsFunc(list, func(m Measure) bool { return m.Name == name })
		}
		if has(base) && !has(is) {
			out = append(out, name+" was measured before the change and is missing now")
		}
	}
	return out
}

func placePrefix(where string) string {
	if where == "" {
		return ""
	}
	return where + ": "
}

func formatPercent(v float64) string { return strconv.FormatFloat(v*100, 'f', -1, 64) + "%" }

// findMeasure is the value of a measure; with several of one name and place the last.
func findMeasure(list []Measure, name, where string) (v float64, ok bool) {
	for _, m := range list {
		if m.Name == name && m.Where == where {
			v, ok = m.Value, true
		}
	}
	return v, ok
}

func meanComplexity(list []Measure) (float64, bool) {
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

// steepestFunction is the function whose complexity grew most, new ones from nothing.
func steepestFunction(base, is []Measure) string {
	was := map[string]float64{}
	for _, m := range base {
		if m.Name == MeasureComplexity {
			was[withoutLine(m.Where)] = m.Value
		}
	}
	var top Measure
	grew := -1.0
	for _, m := range is {
		if d := m.Value - was[withoutLine(m.Where)]; m.Name == MeasureComplexity && d > grew {
			top, grew = m, d
		}
	}
	return fmt.Sprintf("%s, %.0f before and %.0f now", top.Where, was[withoutLine(top.Where)], top.Value)
}

// withoutLine is a place without its line: "a/b.go:12 F" is "a/b.go F".
func withoutLine(where string) string {
	place, name, _ := strings.Cut(where, " ")
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		place = place[:i]
	}
	return place + " " + name
}

// metricLine is a line that a project's own command may print: a name, a place if
// there is one, and a number.
var metricLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(coverage|complexity|lint)(?:[ \t]+(\S+))?[ \t]+([0-9]+(?:\.[0-9]+)?)%?$`)
})

// coverageLine is what go test -cover says: of a package, or of the one it ends with.
var coverageLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:ok  \t(\S+)\t.*|\t(\S+)\t\t)?coverage: ([0-9.]+)% of statements`)
})

// Measured is what the outputs of checks say of a tree: the share of tests that
// passed, what go test -cover prints, and lines "NAME VALUE" or "NAME WHERE VALUE"
// with coverage, complexity or lint for a name.
func Measured(ran []Ran) []Measure {
	var out []Measure
	total, passed := 0, 0
	for _, r := range ran {
		if t := tallyOutput(r.Output); t.known {
			total, passed = total+t.ran, passed+t.ran-t.failed
		}
		out = append(out, printedMeasures(string(plainOutput(r.Output)))...)
	}
	if total > 0 {
		out = append(out, Measure{Name: MeasurePassRate, Value: float64(passed) / float64(total)})
	}
	return out
}

func printedMeasures(text string) []Measure {
	var out []Measure
	loose := -1 // a coverage whose package comes in the next line
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := metricLine().FindStringSubmatch(line); m != nil {
			out = append(out, Measure{m[1], m[2], parseFigure(m[3])})
			continue
		}
		if m := coverageLine().FindStringSubmatch(line); m != nil {
			out = append(out, Measure{MeasureCoverage, m[1] + m[2], parseFigure(m[3])})
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

func parseFigure(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0 // the pattern lets through digits and dots alone
	}
	return v
}

// Hold says in what a tree whose checks have passed is worse than its base, more than
// it may be, a line each. base is the report of the same checks at the base, the zero one
// where they measure nothing that could be worse than there.
func Hold(report, base Report, files []Edit) []string {
	var out []string
	then, now, err := measureCode(files)
	if err != nil {
		out = append(out, err.Error())
	}
	return append(out, compareMeasures(append(Measured(base.Ran), then...), append(Measured(report.Ran), now...))...)
}

// measureCode measures the functions of the Go files that a change edits, at its
// base and with it: of each the cyclomatic complexity, 1 and one more for every
// if, for, case that is not the default, && and ||. Functions inside count to the
// one around them. Files that do not parse at the base are left out there; one
// that does not parse any more is an error.
func measureCode(files []Edit) (base, is []Measure, err error) {
	for _, f := range sortedByPath(files) {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		if was, err := functionComplexities(f.Path, f.Before); err == nil {
			base = append(base, was...)
		}
		now, err := functionComplexities(f.Path, f.After)
		if err != nil {
			return nil, nil, err
		}
		is = append(is, now...)
	}
	return base, is, nil
}

// functionComplexities measures one file; none is nothing.
func functionComplexities(name string, src []byte) ([]Measure, error) {
	if src == nil {
		return nil, nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []Measure
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			where := fmt.Sprintf("%s:%d %s", name, fset.Position(f.Pos()).Line, funcName(f))
			out = append(out, Measure{MeasureComplexity, where, float64(countBranches(f.Body))})
		}
	}
	return out, nil
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	recv, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*"), "[")
	return recv + "." + f.Name.Name
}

func countBranches(body ast.Node) int {
	n := 1
	ast.Inspect(body, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
