// Package memory computes, from earlier changes, how risky it is to change a file: how often
// changes of it went well, how fragile it is, and how likely another change is to do harm.
// It computes in integers from the ledger's records. The same trials at the same time give
// the same result, in any order.
//
//	success     = well / (well + ill), 1 where nothing is known
//	fragility   = 0.6·(1 − success) + 0.25·min(1, files/10) + 0.15·min(1, trials/20)
//	risk        = 0.3·(1 − success) + 0.3·fragility + 0.2·min(1, dependents/20) + 0.1
//	level       low below 0.3, medium below 0.6, high below 0.8, critical
//
// files is the average number of files that trials of the file changed. An unknown file has
// fragility 0. The risk of a change is that of its worst file. All of this is a heuristic:
// it may ask for more care, never for less, and none of it is stored.
//
// A trial counts in full for a week and a tenth less every day after that, so that the past
// of a repaired file fades.
package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Trial is the result of one change of files.
type Trial struct {
	Op    string
	Task  string
	At    time.Time // when it ended
	Files []string  // the changed files, as far as they are known
	Count int       // how many files it changed in all
	Well  bool      // it was merged, or landed
	Why   string    // the code of the failure, if not Well
	Form  bool      // it was refused for its name or its form of delivery, which says nothing about the files
}

// How long a trial counts in full, and what it loses every day after that.
const (
	fullTime   = 7 * 24 * time.Hour
	fullWeight = 10 // tenths
)

// Window is the age from which a trial no longer counts.
const Window = fullTime + fullWeight*24*time.Hour

// trialWeight returns what a trial counts now, in tenths; a trial in the future counts nothing.
func trialWeight(at, now time.Time) int {
	age := now.Sub(at)
	if age < 0 {
		return 0
	}
	return max(fullWeight-int(max(age-fullTime, 0)/(24*time.Hour)), 0)
}

// Past is what trials say about files at one time. The zero Past knows nothing.
type Past struct{ files map[string]Reputation }

// At returns what these trials say now.
func At(trials []Trial, now time.Time) Past {
	p := Past{map[string]Reputation{}}
	for _, t := range trials {
		w := trialWeight(t.At, now)
		if w == 0 || t.Form {
			continue
		}
		for _, f := range slices.Compact(slices.Sorted(slices.Values(t.Files))) {
			p.files[f] = p.files[f].addTrial(t, f, w)
		}
	}
	return p
}

// Reputation is what is known about a file.
type Reputation struct {
	Path   string `json:"path"`
	Trials int    `json:"trials"` // changes of it that ended, whatever their weight now
	Well   int    `json:"well"`

	tenths, good, blast int // weights of all trials, of those that went well, and of their files
}

func (r Reputation) addTrial(t Trial, path string, w int) Reputation {
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

// thousand is the whole of what is measured in thousandths.
const thousand = 1000

// successRate returns the weighted share of trials that went well, in thousandths.
func (r Reputation) successRate() int {
	if r.tenths == 0 {
		return thousand
	}
	return thousand * r.good / r.tenths
}

// Fragility returns how easily a change of the file goes wrong, in thousandths.
func (r Reputation) Fragility() int {
	if r.tenths == 0 {
		return 0
	}
	files := min(thousand, thousand*r.blast/r.tenths/10)
	often := min(thousand, thousand*r.tenths/fullWeight/20)
	return (600*(thousand-r.successRate()) + 250*files + 150*often) / thousand
}

// leastTrials is how many changes of a file must have ended before it asks for more care: one failure says as much
// about the change as about the file.
const leastTrials = 3

// Failing reports whether fewer changes of the file went well than not.
func (r Reputation) Failing() bool { return r.successRate() < thousand/2 }

// Risk returns the risk of a change of the file, on which so many others depend, in thousandths.
func (r Reputation) Risk(dependents int) int {
	return (300*(thousand-r.successRate())+300*r.Fragility()+200*min(thousand, thousand*max(dependents, 0)/20))/thousand + 100
}

// String describes the file on one line.
func (r Reputation) String() string {
	changes := "changes"
	if r.Trials == 1 {
		changes = "change"
	}
	return fmt.Sprintf("%s: %d of %d %s went well, fragility %s", r.Path, r.Well, r.Trials, changes, Decimal(r.Fragility()))
}

// Decimal writes thousandths with two digits, rounded.
func Decimal(milli int) string { return fmt.Sprintf("%d.%02d", (milli+5)/thousand, (milli+5)/10%100) }

// Level is how likely a change is to do harm.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

// LevelOf returns the level of a risk.
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

// Of returns what is known about these files, the worst first; it leaves out unknown files.
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

// Files returns the known files that match, sorted.
func (p Past) Files(match func(path string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.files)), func(f string) bool { return !match(f) })
}

// Careful returns those of the files whose change asks for more care than the change itself does. Enough of their
// changes must have ended, and either more went wrong than well or the risk is high.
func (p Past) Careful(paths []string, dependents int) []Reputation {
	return slices.DeleteFunc(p.Of(paths), func(r Reputation) bool {
		return r.Trials < leastTrials || !r.Failing() && LevelOf(r.Risk(dependents)) != High && LevelOf(r.Risk(dependents)) != Critical
	})
}
