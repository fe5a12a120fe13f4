package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// How many lessons there are at most, how many files and ops one names, and of how many files the pairs are looked at.
const (
	maxLessons = 20
	maxNamed   = 2
	maxOps     = 3
	maxPaired  = 6
)

// What makes a lesson hold: so many failures agree, whose weight is at least leastSum tenths and at least twice that of
// the changes of the same files that went well.
const (
	leastAgree = 3
	leastSum   = 2 * fullWeight
)

// Lesson is what several failures agree on. It fades as they do, and ends when enough changes of its files go well.
type Lesson struct {
	Files   []string // one, or two that fail together
	Why     string   // the code of the failures, "" for two files
	Ops     []string // that failed, the latest first
	Against int      // changes of these files that went well
	weight  [2]int   // tenths: of what failed, of what went well
}

// heldLessons returns the lessons that hold, those with the most failures first. A file has no lesson of its own where all of
// its failures are those of a pair.
func heldLessons(trials []Trial, now time.Time) (out []Lesson) {
	all := map[string]*Lesson{}
	recent := recentTrials(trials, now)
	for _, t := range recent {
		w := trialWeight(t.At, now)
		for _, files := range t.listSubjects() {
			why := t.Why
			if len(files) > 1 {
				why = ""
			}
			key := strings.Join(append(files, why), "\x00")
			if t.Well || t.Form {
				continue
			}
			if all[key] == nil {
				all[key] = &Lesson{Files: files, Why: why}
			}
			l := all[key]
			l.Ops, l.weight[0] = append(l.Ops, t.Op), l.weight[0]+w
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		l := all[key]
		if len(l.Ops) < leastAgree || l.weight[0] < leastSum {
			continue
		}
		for _, t := range recent {
			if t.Well && slices.ContainsFunc(l.Files, func(f string) bool { return slices.Contains(t.Files, f) }) {
				l.Against, l.weight[1] = l.Against+1, l.weight[1]+trialWeight(t.At, now)
			}
		}
		if l.weight[0] >= 2*l.weight[1] {
			out = append(out, *l)
		}
	}
	pairs := slices.Clone(out)
	out = slices.DeleteFunc(out, func(l Lesson) bool {
		return len(l.Files) == 1 && slices.ContainsFunc(pairs, func(p Lesson) bool {
			return len(p.Files) == 2 && slices.Contains(p.Files, l.Files[0]) && !slices.ContainsFunc(l.Ops, func(op string) bool { return !slices.Contains(p.Ops, op) })
		})
	})
	slices.SortStableFunc(out, func(a, b Lesson) int { return cmp.Compare(len(b.Ops), len(a.Ops)) })
	return out
}

// listSubjects returns the files of a trial, and the pairs of them where they are few.
func (t Trial) listSubjects() (out [][]string) {
	files := slices.Compact(slices.Sorted(slices.Values(t.Files)))
	for i, f := range files {
		out = append(out, []string{f})
		for _, g := range files[i+1:] {
			if len(files) <= maxPaired {
				out = append(out, []string{f, g})
			}
		}
	}
	return out
}

// String returns the lesson with its evidence.
func (l Lesson) String() string {
	what := "changes failed as " + l.Why
	if len(l.Files) == 2 {
		what = "changes of both failed together"
	}
	ops := strings.Join(l.Ops[:min(len(l.Ops), maxOps)], ", ")
	if n := len(l.Ops) - maxOps; n > 0 {
		ops += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s: %d %s, %d went well (%s)", strings.Join(l.Files, " and "), len(l.Ops), what, l.Against, ops)
}

// recentTrials returns the trials that still count, the latest first.
func recentTrials(trials []Trial, now time.Time) []Trial {
	recent := slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return trialWeight(t.At, now) == 0 })
	slices.SortStableFunc(recent, func(a, b Trial) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Op, a.Op)) })
	return recent
}

// Lessons returns the lessons that hold, and then the results of the latest trials that are no evidence of them, the
// latest first, one a line: the task, the files, and the code of a failure. A result that repeats is listed once, with
// its count. Lessons quote nothing that a session said. Failures caused by the environment are not trials, so that no
// session learns from an outage.
func Lessons(trials []Trial, now time.Time) []string {
	var out, told []string
	for _, l := range heldLessons(trials, now) {
		out, told = append(out, l.String()), append(told, l.Ops...)
	}
	times := map[string]int{}
	for _, t := range recentTrials(trials, now) {
		if slices.Contains(told, t.Op) {
			continue
		}
		s := t.String()
		if times[s]++; times[s] == 1 {
			out = append(out, s)
		}
	}
	out = out[:min(len(out), maxLessons)]
	for i, s := range out {
		if n := times[s]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d times)", s, n)
		}
	}
	return out
}

// String returns the trial as a lesson.
func (t Trial) String() string {
	named := t.Files[:min(len(t.Files), maxNamed)]
	names, more := strings.Join(named, ", "), max(t.Count, len(t.Files))-len(named)
	switch {
	case more > 0 && names != "":
		names += fmt.Sprintf(" and %d more", more)
	case more == 1:
		names = "1 file"
	case more > 0:
		names = fmt.Sprintf("%d files", more)
	}
	came := "went well"
	if !t.Well {
		came = "failed as " + t.Why
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", t.Task, came, names), ": ")
}
