package risk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
)

// Lane is the way the work of a task takes, the row that says so, and how much work
// it is by the task's own words and paths. root is the bundle's folder: a task that
// changes nothing outside of it is background work where it is of low priority.
func Lane(root string, t board.Task) (lane pipeline.Lane, why string, complexity pipeline.Complexity) {
	complexity = pipeline.ComplexityOf(t.Title, t.Paths)
	s := pipeline.Signal{Source: cmp.Or(t.Signal, "task"), Urgency: urgencyOf(t.Priority), Complexity: complexity, Files: len(t.Paths)}
	outside := func(glob string) bool { return glob != root && !strings.HasPrefix(glob, root+"/") }
	if s.Urgency == pipeline.UrgencyLow && t.Signal == "" && !slices.ContainsFunc(t.Paths, outside) {
		s.Source = "backlog"
	}
	lane, why = pipeline.LaneFor(s)
	return lane, why, complexity
}

// Limits are what the sessions for a task may take: those of its lane, and what the
// task itself says of turns and money.
func Limits(law config.Config, t board.Task) config.Limits {
	lane, _, _ := Lane(law.Root, t)
	l := law.Limits(string(lane))
	l.Turns, l.MaxCost = cmp.Or(t.MaxTurns, l.Turns), cmp.Or(t.Budget, l.MaxCost)
	return l
}

// Reservation is the most that the sessions for a task may cost, where its lease has left
// so much, in micro-USD: what a claim reserves, and what history is held to.
func Reservation(law config.Config, t board.Task, left int64) int64 {
	if law.Free() {
		return 0
	}
	return min(int64(Limits(law, t).MaxCost), left)
}

// urgencyOf is what a task's priority means for the way its work takes.
func urgencyOf(priority string) string {
	switch priority {
	case "p0":
		return pipeline.UrgencyCritical
	case "p1":
		return pipeline.UrgencyHigh
	case "p3":
		return pipeline.UrgencyLow
	}
	return pipeline.UrgencyNormal
}
