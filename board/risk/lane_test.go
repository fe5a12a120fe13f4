package risk_test

import (
	"slices"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
)

// What a task may say that it was filed for is what the table of lanes knows, but
// for the two that nobody says: that a person waits, and nothing in particular.
func TestSignalsAreSources(t *testing.T) {
	t.Parallel()
	sources := slices.DeleteFunc(pipeline.Sources(), func(s string) bool { return s == "person" || s == "task" })
	if signals := slices.Sorted(slices.Values(board.Signals())); !slices.Equal(signals, sources) {
		t.Errorf("tasks may say %q, the lanes know %q", signals, sources)
	}
}

// Every task has a lane, and what it was filed for decides it together with its
// priority and its size.
func TestLane(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal, priority, title string
		paths                   []string
		lane                    pipeline.Lane
	}{
		{"", "p2", "One page", []string{"a.txt"}, pipeline.LaneStandard},
		{"", "p3", "One page", []string{"a.txt"}, pipeline.LaneStandard},
		{"", "p0", "One page", []string{"a.txt"}, pipeline.LaneImmediate},
		{"test_failure", "p1", "Mend it", []string{"a.go"}, pipeline.LaneImmediate},
		{"test_failure", "p2", "Mend it", []string{"a.go"}, pipeline.LaneStandard},
		{"scheduled", "p1", "Mend it", []string{"a.go"}, pipeline.LaneStandard},
		{"code_marks", "p2", "Mend it", []string{"a.go", "b.go", "c.go"}, pipeline.LaneBackground},
		{"code_marks", "p2", "New module", []string{"a.go"}, pipeline.LaneComplex},
		{"code_marks", "p3", "New module", []string{"a.go"}, pipeline.LaneBackground},
		{"intent", "p2", "New module", []string{"a.go"}, pipeline.LaneSpeculative},
		{"intent", "p1", "Mend it", []string{"a.go"}, pipeline.LaneStandard},
	} {
		task := board.Task{Row: board.Row{Title: c.title, Priority: c.priority}, Signal: c.signal, Paths: c.paths}
		if lane, why, _ := risk.Lane("knowledge", task); lane != c.lane {
			t.Errorf("%+v goes %s (%s)", c, lane, why)
		}
	}
}
