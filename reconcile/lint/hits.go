package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// hit is what a rule finds in one state of a file, and what it tells where there are more
// than before.
type hit struct {
	code, text string
	how        policy.How
	kind       string // one that is gone from a file may stand for another of its kind
	key        string // its kind and how it is written
	line       int
}

func newHit(code, text string, how policy.How, kind, written string, line int) hit {
	return hit{code, text, how, kind, kind + "\x00" + written, line}
}

// findHits are what is found in a state of the file: effects of Go code, lines of every language,
// and notes of odd's own.
func (d *delta) findHits(s side) []hit {
	out := slices.Concat(effectsOf(d, s), ownMarksIn(s))
	for _, p := range slices.Concat(textPatterns(), claimPatterns()) {
		if p.readsFile(d.ext) {
			out = append(out, d.findMatching(s, p)...)
		}
	}
	return out
}

func countHits(all []hit) counts[string] {
	out := counts[string]{}
	for _, h := range all {
		out[h.key]++
	}
	return out
}

// lostHits are what files have less often than before, in code and apart from it in tests.
type lostHits map[bool]counts[string]

// takeLost uses up one loss. What was in a test does not move to code.
func (t lostHits) takeLost(key string, code bool) bool {
	for _, from := range []bool{code, true} {
		if t[from][key] > 0 {
			t[from][key]--
			return true
		}
	}
	return false
}

// moreHits tells each kind of thing that a file has more often than before. What another file
// has lost has moved, and one for which this file lost another of its kind is no more than
// there was; a loss counts once.
func moreHits(c *change) []policy.Finding {
	lost := lostHits{true: {}, false: {}}
	now, old, own := map[*delta][]hit{}, map[*delta]counts[string]{}, map[*delta][]string{}
	for _, d := range c.deltas {
		now[d], old[d] = d.findHits(d.now), countHits(d.findHits(d.was))
		gone := old[d].subtract(countHits(now[d]))
		own[d] = slices.Sorted(maps.Keys(gone))
		for key, n := range gone {
			lost[d.mayHarm()][key] += n
		}
	}
	var out []policy.Finding
	for _, d := range c.deltas {
		told := map[string]bool{}
		for _, h := range now[d] {
			if old[d][h.key]--; old[d][h.key] >= 0 || told[h.kind] || h.code == "test_detected" && d.test {
				continue
			}
			if lost.takeLost(h.key, d.mayHarm()) || slices.ContainsFunc(own[d], func(key string) bool {
				return strings.HasPrefix(key, h.kind+"\x00") && lost.takeLost(key, d.mayHarm())
			}) {
				continue
			}
			told[h.kind] = true
			out = append(out, d.oneFinding(d.inTest(h.code), h.how, h.line, h.text)...)
		}
	}
	return out
}

// inTest is the code of a finding in this file: tests may run code that they compute, and
// those of Go may give rights.
func (d *delta) inTest(code string) string {
	switch {
	case code == "dynamic_code_introduced" && !d.mayHarm():
		return "dynamic_code_in_test"
	case code == "permission_loosened" && d.test && d.ext == ".go":
		return "permission_loosened_in_test"
	}
	return code
}

// mayHarm reports a file that is no test and no data of one.
func (d *delta) mayHarm() bool {
	return !d.test && !slices.Contains(strings.Split(d.dir, "/"), "testdata")
}
