// Package memory is what the changes before teach about files: how often a change
// of a file went well, how fragile the file is, and how likely another change of
// it is to do harm. It is arithmetic over what the ledger tells, in integers: the
// same trials at the same moment teach the same, in whatever order they come.
//
//	success     = well / (well + ill), 1 where nothing is known
//	fragility   = 0.6·(1 − success) + 0.25·min(1, files/10) + 0.15·min(1, trials/20)
//	risk        = 0.3·(1 − success) + 0.3·fragility + 0.2·min(1, dependents/20) + 0.1
//	level       low below 0.3, medium below 0.6, high below 0.8, critical
//
// files is how many a trial of the file changed, on average; a file of which
// nothing is known has no fragility. The risk of a change is that of its worst
// file. None of it is more than a heuristic: it may ask for more care and never
// for less, and nothing that is kept anywhere follows from it.
//
// A trial counts in full for a week and a tenth less every day after that, so
// that a file which was mended is not held to its past for ever.
package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Trial is what became of one change of files.
type Trial struct {
	Op    string
	Task  string
	At    time.Time // of its ending
	Files []string  // that it changed, as far as they are known
	Count int       // how many it changed in all
	Well  bool      // it was merged, or landed
	Why   string    // the code of an ending that is none
	Form  bool      // it was refused for how it was named or delivered, which says nothing of the files
}

// How long a trial counts in full, and what it loses every day after that.
const (
	whole = 7 * 24 * time.Hour
	full  = 10 // tenths
)

// Window is how far back a trial teaches anything.
const Window = whole + full*24*time.Hour

// weight is what a trial counts now, in tenths; one of the future counts for nothing.
func weight(at, now time.Time) int {
	age := now.Sub(at)
	if age < 0 {
		return 0
	}
	return max(full-int(max(age-whole, 0)/(24*time.Hour)), 0)
}

// Past is what is remembered at a moment. The zero Past remembers nothing.
type Past struct{ files map[string]Reputation }

// At is what these trials teach now.
func At(trials []Trial, now time.Time) Past {
	p := Past{map[string]Reputation{}}
	for _, t := range trials {
		w := weight(t.At, now)
		if w == 0 || t.Form {
			continue
		}
		for _, f := range slices.Compact(slices.Sorted(slices.Values(t.Files))) {
			p.files[f] = p.files[f].after(t, f, w)
		}
	}
	return p
}

// Reputation is what is remembered of a file.
type Reputation struct {
	Path   string `json:"path"`
	Trials int    `json:"trials"` // changes of it that ended, whatever they count by now
	Well   int    `json:"well"`

	tenths, good, blast int // what all trials count, those that went well, and their files
}

func (r Reputation) after(t Trial, path string, w int) Reputation {
	r.Path = path
	r.Trials++
	r.tenths += w
	r.blast += w * max(t.Count, len(t.Files))
	if t.Well {
		r.Well++
		r.good += w
	}
	return r
}

// one is the whole of what is measured in thousandths.
const one = 1000

// success is how much of what counts went well, in thousandths.
func (r Reputation) success() int {
	if r.tenths == 0 {
		return one
	}
	return one * r.good / r.tenths
}

// Fragility is how easily a change of the file goes wrong, in thousandths.
func (r Reputation) Fragility() int {
	if r.tenths == 0 {
		return 0
	}
	files := min(one, one*r.blast/r.tenths/10)
	often := min(one, one*r.tenths/full/20)
	return (600*(one-r.success()) + 250*files + 150*often) / one
}

// leastTrials is how many changes of a file must have ended before it asks for more
// care: one that failed says as much about the change as about the file.
const leastTrials = 3

// Failing reports a file of which fewer changes went well than not.
func (r Reputation) Failing() bool { return r.success() < one/2 }

// Risk is that of a change of the file on which so much depends, in thousandths.
func (r Reputation) Risk(dependents int) int {
	return (300*(one-r.success())+300*r.Fragility()+200*min(one, one*max(dependents, 0)/20))/one + 100
}

// String is a line about it.
func (r Reputation) String() string {
	changes := "changes"
	if r.Trials == 1 {
		changes = "change"
	}
	return fmt.Sprintf("%s: %d of %d %s went well, fragility %s", r.Path, r.Well, r.Trials, changes, Decimal(r.Fragility()))
}

// Decimal writes thousandths with two digits, rounded.
func Decimal(milli int) string { return fmt.Sprintf("%d.%02d", (milli+5)/one, (milli+5)/10%100) }

// Level is how likely a change is to do harm.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

// LevelOf is the level of a risk.
func LevelOf(risk int) Level {
	switch {
	case risk < 300:
		return Low
	case risk < 600:
		return Medium
	case risk < 800:
		return High
	}
	return Critical
}

// Of is what is remembered of these files, the worst first; files of which
// nothing is remembered are left out.
func (p Past) Of(paths []string) []Reputation {
	var out []Reputation
	for _, f := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if r, known := p.files[f]; known {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Reputation) int { return cmp.Compare(b.Risk(0), a.Risk(0)) })
	return out
}

// Files are those of which something is remembered, in order, as far as they match.
func (p Past) Files(match func(path string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.files)), func(f string) bool { return !match(f) })
}

// Careful are those of the files a change of which asks for more care than the
// change itself does: enough of their changes ended, and more of these went wrong than
// well, or the risk is high.
func (p Past) Careful(paths []string, dependents int) []Reputation {
	return slices.DeleteFunc(p.Of(paths), func(r Reputation) bool {
		return r.Trials < leastTrials || !r.Failing() && LevelOf(r.Risk(dependents)) != High && LevelOf(r.Risk(dependents)) != Critical
	})
}
