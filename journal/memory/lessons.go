package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The most lessons that are told, and the most files that one names.
const (
	mostLessons = 20
	mostNamed   = 2
)

// Lessons are what the latest trials came to, the latest first, a line each: the
// task, the files, and the code of an ending that went wrong; what came about
// several times is told once, with the count. They hold no word
// that a session said, and nothing that only the surroundings were to blame for is
// a trial, so that no session learns from an outage.
func Lessons(trials []Trial, now time.Time) []string {
	recent := slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return weight(t.At, now) == 0 })
	slices.SortStableFunc(recent, func(a, b Trial) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Op, a.Op)) })
	var out []string
	times := map[string]int{}
	for _, t := range recent {
		s := t.String()
		if times[s]++; times[s] == 1 {
			out = append(out, s)
		}
	}
	out = out[:min(len(out), mostLessons)]
	for i, s := range out {
		if n := times[s]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d times)", s, n)
		}
	}
	return out
}

// String is the trial as a lesson.
func (t Trial) String() string {
	named := t.Files[:min(len(t.Files), mostNamed)]
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
