package pipeline

import (
	"strings"
	"testing"
)

// Each lane and each reason, in the order in which they are looked for.
func TestLaneFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s            Signal
		lane, reason string
	}{
		{Signal{"intent", "p0", Complicated, 9, true}, "immediate", "critical_urgency"},
		{Signal{"person", "p3", Architectural, 9, false}, "immediate", "person_waiting"},
		{Signal{"test_failure", "p1", Simple, 1, false}, "immediate", "high_urgency_immediate"},
		{Signal{"test_failure", "", Simple, 1, false}, "standard", "standard"},
		{Signal{"backlog", "p3", Simple, 1, true}, "immediate", "cross_repo"},
		{Signal{"intent", "p2", Complicated, 9, false}, "speculative", "speculative_source"},
		{Signal{"intent", "p1", Complicated, 9, false}, "complex", "complex_task"},
		{Signal{"backlog", "p3", Architectural, 9, false}, "background", "background_low_urgency"},
		{Signal{"backlog", "p1", Simple, 1, false}, "background", "background_source"},
		{Signal{"backlog", "", Architectural, 1, false}, "complex", "complex_task"},
		{Signal{"task", "", Moderate, 3, false}, "complex", "multi_file"},
		{Signal{"task", "", Moderate, 2, false}, "standard", "standard"},
		{Signal{"task", "", Simple, 9, false}, "standard", "standard"},
	} {
		lane, reason := LaneFor(c.s)
		if string(lane) != c.lane || reason != c.reason {
			t.Errorf("%+v: %s by %s", c.s, lane, reason)
		}
	}
}

func TestComplexityOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ask, files string
		want       Complexity
	}{
		{"a database migration", "a.go", Architectural}, {"a breaking change", "a.go b.go", Architectural}, {"redesigned twice", "a.go b.go", Moderate},
		{"fix a typo", "a.go", Trivial}, {"important", "a.go", Simple}, {"say it better", "README.md", Trivial}, {"pin it", "requirements-dev.txt", Trivial},
		{"", "", Simple}, {"fix a typo", "a.go b.go", Moderate}, {"", "a b c", Moderate}, {"", "a b c d", Complicated},
	} {
		if got := ComplexityOf(c.ask, strings.Fields(c.files)); got != c.want {
			t.Errorf("%q of %q: %s, want %s", c.ask, c.files, got, c.want)
		}
	}
}
