package sense

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measure is a report of numbers: of a file its statements, or of a benchmark what a run of
// it took. It says what is wrong only next to an earlier one.
type measure struct {
	name, sensor string
	values       map[metric][]float64
}

// metric is what was measured: the coverage of a file, or a unit of a benchmark.
type metric struct{ subject, what string }

// How much worse than before is worth a task: coverage in percentage points, and how many
// times as long a benchmark takes.
const (
	coverageFall = 1.0
	benchmarkTop = 1.5
)

// isCoverage begins a Go cover profile or a report of LCOV; isBenchmark is a result of go
// test -bench.
var (
	isCoverage  = regexp.MustCompile(`\A(?:mode: \w+\n|TN:|SF:)`)
	isBenchmark = regexp.MustCompile(`(?m)^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+(\S+ ns/op.*)$`)
)

// readMeasure reads a report of numbers, and says whether it is one.
func readMeasure(r Report) (measure, bool) {
	switch {
	case isCoverage.Match(r.Bytes):
		return measure{r.Name, "coverage", readCoverage(string(r.Bytes))}, true
	case !bytes.HasPrefix(r.Bytes, []byte("{")) && isBenchmark.Match(r.Bytes):
		return measure{r.Name, "benchmark", readBenchmarks(string(r.Bytes))}, true
	}
	return measure{}, false
}

// readCoverage returns how many percent of each file's statements ran. A block that a
// profile has more than once counts once, and ran if one of them did.
func readCoverage(text string) map[metric][]float64 {
	type block struct{ file, at string }
	size, ran := map[block]float64{}, map[block]bool{}
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if f, ok := strings.CutPrefix(line, "SF:"); ok {
			file = f
			continue
		}
		b, n, hits := block{}, 1.0, ""
		if data, ok := strings.CutPrefix(line, "DA:"); ok {
			words := strings.Split(data, ",")
			if len(words) < 2 {
				continue
			}
			b, hits = block{file, words[0]}, words[1]
		} else {
			words := strings.Fields(line)
			at := strings.LastIndexByte(line, ':')
			if len(words) != 3 || at < 0 {
				continue
			}
			b, hits = block{line[:at], strings.Fields(line[at+1:] + " ")[0]}, words[2]
			n, _ = strconv.ParseFloat(words[1], 64)
		}
		count, err := strconv.ParseFloat(hits, 64)
		if err == nil {
			size[b] = n
			ran[b] = ran[b] || count > 0
		}
	}
	all, covered := map[string]float64{}, map[string]float64{}
	for b, n := range size {
		all[b.file] += n
		if ran[b] {
			covered[b.file] += n
		}
	}
	out := map[metric][]float64{}
	for f, n := range all {
		if n > 0 {
			out[metric{f, "is covered less than before"}] = []float64{100 * covered[f] / n}
		}
	}
	return out
}

// readBenchmarks returns what each run of a benchmark took, in all units of which less is
// better.
func readBenchmarks(text string) map[metric][]float64 {
	out, pkg := map[metric][]float64{}, ""
	for line := range strings.Lines(text) {
		if p, ok := strings.CutPrefix(line, "pkg:"); ok {
			pkg = strings.TrimSpace(p)
		}
		m := isBenchmark.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		words := strings.Fields(m[2])
		for i := 1; i < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i-1], 64)
			if unit := words[i]; err == nil && (unit == "ns/op" || unit == "B/op" || unit == "allocs/op") {
				at := metric{firstText(pkg, m[1]), m[1] + " " + unit}
				out[at] = append(out[at], v)
			}
		}
	}
	return out
}

// compareMeasures returns what the last report of each sensor says is worse than before:
// coverage than in the report before it, a benchmark than the median of all earlier runs.
func compareMeasures(all []measure) (out []Finding, err error) {
	for _, sensor := range []string{"coverage", "benchmark"} {
		var of []measure
		for _, m := range all {
			if m.sensor == sensor {
				of = append(of, m)
			}
		}
		switch len(of) {
		case 0:
			continue
		case 1:
			return nil, fmt.Errorf("%s: is one report of the sensor %s; name an earlier one before it, to compare with", of[0].name, sensor)
		}
		last, before := of[len(of)-1], map[metric][]float64{}
		for _, m := range of[:len(of)-1] {
			for at, values := range m.values {
				if sensor == "coverage" {
					before[at] = nil
				}
				before[at] = append(before[at], values...)
			}
		}
		for _, at := range slices.SortedFunc(maps.Keys(last.values), func(a, b metric) int {
			return strings.Compare(a.subject+"\x00"+a.what, b.subject+"\x00"+b.what)
		}) {
			if len(before[at]) == 0 {
				continue
			}
			was, is := median(before[at]), median(last.values[at])
			f := Finding{Sensor: sensor, Subject: at.subject, Signature: at.what}
			switch {
			case sensor == "coverage" && is < was-coverageFall:
				f.Message = fmt.Sprintf("from %.1f %% of its statements to %.1f %%", was, is)
			case sensor == "benchmark" && was > 0 && is >= was*benchmarkTop:
				f.Message = fmt.Sprintf("from %.4g to %.4g, medians of %d and %d runs", was, is, len(before[at]), len(last.values[at]))
			default:
				continue
			}
			out = append(out, f)
		}
	}
	return out, nil
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
