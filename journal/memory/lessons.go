package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How many lessons there are at most, and how many files one names.
const (
	maxLessons = 20
	maxNamed   = 2
)

// Lessons returns the results of the latest trials, the latest first, one a line: the task, the files, and the code
// of a failure. A lesson that repeats is listed once, with its count. Lessons quote nothing that a session said.
// Failures caused by the environment are not trials, so that no session learns from an outage.
func Lessons(trials []Trial, now time.Time) []string {
	recent := slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return trialWeight(t.At, now) == 0 })
	slices.SortStableFunc(recent, func(a, b Trial) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Op, a.Op)) })
	var out []string
	times := map[string]int{}
	for _, t := range recent {
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
