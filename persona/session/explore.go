package session

import (
	"fmt"
	"slices"
	"strings"
)

// Exploration is how much a session read up before it changed anything.
type Exploration struct {
	Milli      int64    // the score, in thousandths of a point
	Categories []string // what was explored, sorted: call_graph, comprehension, discovery, history, structure
	Unique     int      // different calls that were answered
}

// weights are what a call of each tool is worth, in thousandths, and what it
// explores. A tool that is not here explores nothing.
var weights = map[string]struct {
	milli    int64
	category string
}{
	"read_file":    {1000, "comprehension"},
	"search_code":  {1500, "discovery"},
	"glob_files":   {500, "discovery"},
	"list_dir":     {500, "discovery"},
	"list_symbols": {1500, "structure"},
	"get_callers":  {2500, "call_graph"},
	"git_blame":    {2000, "history"},
	"git_log":      {1500, "history"},
	"git_diff":     {1500, "history"},
}

// Explores reports a tool that only looks.
func Explores(tool string) bool {
	_, is := weights[tool]
	return is
}

// most is what the weights add up to at most, so that no number of calls of one
// kind stands for looking from several sides.
const mostWeight = 15_000

// Explore scores calls and the given files, each of which counts as a file that
// was read:
//
//	score = min(Σ weight, 15) × (1 + 0.5 × (categories − 1))
//
// over different calls, two being the same where tool and arguments are. A call
// that failed adds its weight and no category, and where none was answered the
// score is 0. One that was denied or never made looked at nothing.
func Explore(calls []Call, given []string) Exploration {
	type key struct{ tool, args string }
	weighed, answered := map[key]bool{}, map[key]bool{}
	var sum int64
	var e Exploration
	count := func(k key, ok bool) {
		w, counts := weights[k.tool]
		if !counts {
			return
		}
		if !weighed[k] {
			weighed[k] = true
			sum += w.milli
		}
		if !ok || answered[k] {
			return
		}
		answered[k] = true
		e.Unique++
		if !slices.Contains(e.Categories, w.category) {
			e.Categories = append(e.Categories, w.category)
		}
	}
	for _, p := range given {
		count(key{"read_file", "preloaded:" + p}, true)
	}
	for _, c := range calls {
		if c.Status == CallDenied || c.Status == CallCancelled {
			continue
		}
		count(key{c.Tool, c.Key}, c.Status == CallOK)
	}
	slices.Sort(e.Categories)
	if n := int64(len(e.Categories)); n > 0 {
		e.Milli = min(sum, mostWeight) * (n + 1) / 2
	}
	return e
}

// floor is what a change of one complexity must have been preceded by.
type floor struct {
	milli      int64
	categories int
	required   []string
}

// floors are by complexity. One that is not here, as one that nobody knows, has
// that of moderate.
var floors = map[string]floor{
	"trivial":       {},
	"simple":        {4_000, 2, nil},
	"moderate":      {8_000, 3, nil},
	"complex":       {10_000, 3, nil},
	"architectural": {14_000, 4, []string{"call_graph", "history"}},
}

// Shortfall says what is missing for a change of the complexity and how to come by
// it, "" where it is enough: first the kinds of looking that are missing, then what
// weighs most.
func (e Exploration) Shortfall(complexity string) string {
	f, ok := floors[complexity]
	if !ok {
		complexity, f = "moderate", floors["moderate"]
	}
	var missing []string
	for _, c := range f.required {
		if !slices.Contains(e.Categories, c) {
			missing = append(missing, c)
		}
	}
	if e.Milli >= f.milli && len(e.Categories) >= f.categories && len(missing) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "a change of complexity %s wants a score of %s from at least %d kinds of looking; so far it is %s from %d",
		complexity, formatPoints(f.milli), f.categories, formatPoints(e.Milli), len(e.Categories))
	if len(missing) > 0 {
		fmt.Fprintf(&b, "; it needs %s", strings.Join(missing, " and "))
	}
	b.WriteString(e.adviseNext(missing))
	b.WriteString(". Asking twice the same counts once; more of list_dir and glob_files helps little")
	return b.String()
}

// looks names what each kind of looking is done with, those that weigh most first.
var looks = []struct {
	category string
	tools    string
}{
	{"call_graph", "get_callers"},
	{"history", "git_blame, git_log or git_diff"},
	{"structure", "list_symbols"},
	{"discovery", "search_code"},
	{"comprehension", "read_file"},
}

// adviseNext lists what has not been looked at yet, what is required first.
func (e Exploration) adviseNext(required []string) string {
	var first, then []string
	for _, l := range looks {
		switch {
		case slices.Contains(e.Categories, l.category):
		case slices.Contains(required, l.category):
			first = append(first, l.category+" with "+l.tools)
		default:
			then = append(then, l.category+" with "+l.tools)
		}
	}
	if len(first)+len(then) == 0 {
		return "; get_callers and git_blame of what you have not looked at weigh most"
	}
	return "; not yet looked at: " + strings.Join(append(first, then...), "; ")
}

// formatPoints writes thousandths as a number: 25.5.
func formatPoints(milli int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", milli/1000, milli%1000), "0"), ".")
}
