//go:build bench

package bench

import (
	"fmt"
	"strings"
)

// target is a promise about speed: the value measured must not be above the
// limit. Nothing fails when it is; the page says by how much and why.
type target struct {
	what  string
	unit  string // what the limit counts: "×", "ms", "MB", "bytes", percent, atLeast
	limit float64
	value func(p *page) (v float64, which string, ok bool)
}

// The units of a share: percent is a limit as all others, atLeast is one from below.
const (
	percent = "% of all"
	atLeast = "% of all, or more"
)

// whys says why a target is missed, by what it promises. A reason is written
// here when a figure was looked into, never before.
var whys = map[string]string{
	"load without cache, over a parallel read":                   "every block and every link is scanned, and the bundle is laid out in columns, after the read",
	"10,000 tasks: the slowest read, warm":                       "the keys of every task are decoded from the cache, put in order and printed, each cell looked through for secrets",
	"10,000 tasks: the slowest read, no cache":                   "it reads and lays out ten thousand files, then the words in them, and writes both caches",
	"10,000 tasks: peak memory of any read":                      "a first search has every text, what the files said and the words of all at once, and what is garbage until the collector looks",
	"10,000 tasks: create, with its commit":                      "it starts two git processes, and writes the folder of tasks and the index anew; git's own commit of one path, in the table below, takes most of the limit",
	"10,000 tasks: change one, as a claim does, with its commit": "it starts two git processes, and writes the folder of tasks and the index anew; git's own commit of one path, in the table below, takes most of the limit",
	"reconcile of 10,000 atoms, over writing their files":        "each atom is judged, printed and read again, and each file is written aside, synced and renamed",
	"drain, over its bare commits":                               "every commit writes the folder of tasks and the index anew, and a process of git moves the refs",
}

const (
	targetAtoms = 100_000
	targetTasks = 10_000
)

// targets are the promises, at 100,000 atoms and 10,000 tasks on two cores.
var targets = []target{
	{"load without cache, over a parallel read", "×", 1.6, ratioOf(func(p *page) *section { return p.load }, "load, no cache", "read every file")},
	{"load with cache and hand-edit check, over list and lstat", "×", 1.5, ratioOf(func(p *page) *section { return p.load }, "load, cache and hand edits", "list and lstat every file")},
	{"load from a commit", "ms", 50, func(p *page) (float64, string, bool) {
		v, ok := p.load.ms("load, a commit's tree", targetAtoms)
		return v, "", ok
	}},
	{"compile-persona, over start and load", "×", 1.2, overLoad("odd compile-persona")},
	{"get, over start and load", "×", 1.2, overLoad("odd get")},
	{"related, over start and load", "×", 1.2, overLoad("odd knowledge related")},
	{"task list, over start and load", "×", 1.2, overLoad("odd task list")},
	{"search, beyond start and load, postings cached", "ms", 60, func(p *page) (float64, string, bool) {
		v, ok := p.commands.ms("odd search", targetAtoms)
		return v - p.startAndLoad(targetAtoms), "", ok
	}},
	{"10,000 tasks: the slowest read, warm", "ms", 50, worst("", wall)},
	{"10,000 tasks: the slowest read, no cache", "ms", 300, worst(", no cache", wall)},
	{"10,000 tasks, 2,000 changes ended: the slower of status and op list", "ms", 60, func(p *page) (v float64, which string, ok bool) {
		for _, j := range (company{}).opReads()[:2] {
			if ms, measured := p.tasks.ms(j.name, targetTasks); measured && ms > v {
				v, which, ok = ms, j.name, true
			}
		}
		return v, which, ok
	}},
	{"10,000 tasks: create, with its commit", "ms", 60, onBoard("odd task add, with its commit")},
	{"10,000 tasks: change one, as a claim does, with its commit", "ms", 60, onBoard("odd task edit, with its commit")},
	{"10,000 tasks: peak memory of any read", "MB", 60, func(p *page) (float64, string, bool) {
		mb := func(f figure) float64 { return f.MB }
		a, nameA, _ := worst("", mb)(p)
		b, nameB, ok := worst(", no cache", mb)(p)
		if a > b {
			return a, nameA, ok
		}
		return b, nameB, ok
	}},
	{"reconcile of 10,000 atoms, over writing their files", "×", 2, func(p *page) (float64, string, bool) {
		return ratio(p.reconcile, "odd reconcile", "write as many files", targetTasks)
	}},
	{"drain, over its bare commits", "×", 1.5, func(p *page) (float64, string, bool) {
		return ratio(p.drain, "odd drain", fmt.Sprintf("%d git commit -- path", perTask*drainBatch), drainBatch)
	}},
	{"judge 50 new commits of 30,000", "ms", 60, func(p *page) (float64, string, bool) {
		v, ok := p.drain.ms(checkPushed, longHistory)
		return v, "", ok
	}},
	{"peak memory beyond its text, no cache, an atom", "bytes", 1024, func(p *page) (float64, string, bool) {
		f, text := p.load.find("load, no cache", targetAtoms), p.load.find("bytes of text", targetAtoms)
		if f == nil || text == nil {
			return 0, "", false
		}
		return (f.MB*1e6 - text.Value) / targetAtoms, "", true
	}},
	{"start-up of odd --version", "ms", 15, startOf("odd --version")},
	{"start-up of the anchor gate", "ms", 15, startOf("gate: a read, open")},
	{"offline reader: useful atoms", atLeast, 85, onLabels(func(s score) (int, int) { return s.useful, s.atoms })},
	{"offline reader: wrong atoms", percent, 2, onLabels(func(s score) (int, int) { return s.wrong, s.atoms })},
	{"offline reader: altered lines", "lines", 0, func(p *page) (float64, string, bool) {
		s := p.reader.total("")
		return float64(s.altered), "", s.trees > 0
	}},
	{"offline reader: core labels found, at most 40 atoms a task", atLeast, 50, onLabels(func(s score) (int, int) { return s.found, s.core })},
}

func ratio(s *section, name, beside string, n int) (float64, string, bool) {
	a, okA := s.ms(name, n)
	b, okB := s.ms(beside, n)
	if !okA || !okB {
		return 0, "", false
	}
	cpu := s.find(name, n).CPU / max(s.find(beside, n).CPU, 1e-9)
	return a / b, fmt.Sprintf("%.2f × in CPU time", cpu), true
}

func ratioOf(of func(*page) *section, name, beside string) func(*page) (float64, string, bool) {
	return func(p *page) (float64, string, bool) { return ratio(of(p), name, beside, targetAtoms) }
}

func overLoad(name string) func(*page) (float64, string, bool) {
	return func(p *page) (float64, string, bool) {
		v, ok := p.commands.ms(name, targetAtoms)
		return v / max(p.startAndLoad(targetAtoms), 1e-9), "", ok
	}
}

func onBoard(name string) func(*page) (float64, string, bool) {
	return func(p *page) (float64, string, bool) {
		v, ok := p.tasks.ms(name, targetTasks)
		return v, "", ok
	}
}

// worst is the largest value among the reads of a board, and whose it is.
func worst(suffix string, get func(figure) float64) func(*page) (float64, string, bool) {
	return func(p *page) (v float64, which string, ok bool) {
		for _, j := range (company{}).reads() {
			if f := p.tasks.find(j.name+suffix, targetTasks); f != nil && get(*f) > v {
				v, which, ok = get(*f), j.name, true
			}
		}
		return v, which, ok
	}
}

func startOf(name string) func(*page) (float64, string, bool) {
	return func(p *page) (float64, string, bool) {
		v, ok := p.start.ms(name, 0)
		return v, "", ok
	}
}

// targets shows every promise beside what was measured.
func (p *page) targets() {
	p.say("## Targets")
	p.say("At 100,000 atoms and 10,000 tasks on two cores. The offline reader is judged by [labelled documents](#the-reader).")
	var rows [][]string
	for _, g := range targets {
		v, which, ok := g.value(p)
		said, met, bound := "—", "not measured", "≤ "
		if g.unit == atLeast {
			bound = "≥ "
		}
		if ok {
			said = amount(v, g.unit)
			met = "met"
			if missed(v, g) > 0 {
				met = strings.TrimSuffix(fmt.Sprintf("**missed by %s** %s", g.missedBy(v), whys[g.what]), " ")
			}
			if which != "" {
				said += " (" + which + ")"
			}
		}
		rows = append(rows, []string{g.what, bound + amount(g.limit, g.unit), said, met})
	}
	p.table([]string{"target", "limit", "measured", ""}, rows)
}

// missed is by how much a value is on the wrong side of its limit, if more than 0.
func missed(v float64, g target) float64 {
	if g.unit == atLeast {
		return g.limit - v
	}
	return v - g.limit
}

// missedBy says how much that is: in points of a share, in per cent of a limit.
func (g target) missedBy(v float64) string {
	switch {
	case g.unit == percent || g.unit == atLeast:
		return fmt.Sprintf("%.1f points", missed(v, g))
	case g.limit == 0:
		return amount(v, g.unit)
	}
	return amount(100*missed(v, g)/g.limit, "%")
}

func amount(v float64, unit string) string {
	switch unit {
	case "×":
		return fmt.Sprintf("%.2f ×", v)
	case "%":
		return fmt.Sprintf("%.0f %%", v)
	case percent, atLeast:
		return fmt.Sprintf("%.1f %%", v)
	case "lines":
		return fmt.Sprintf("%.0f lines", v)
	}
	return number(v) + " " + unit
}
