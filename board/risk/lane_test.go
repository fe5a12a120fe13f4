package risk_test

import (
	"cmp"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
)

// The lanes know by name what is broken and what can wait, of all that a task may say
// that it was filed for.
func TestSignalsAreSources(t *testing.T) {
	t.Parallel()
	want := map[string]pipeline.Lane{"test_failure": pipeline.LaneImmediate, "runtime_health": pipeline.LaneImmediate}
	for _, s := range []string{"backlog", "code_marks", "doc_staleness", "exploration", "architecture"} {
		want[s] = pipeline.LaneBackground
	}
	for _, s := range board.Signals() {
		task := board.Task{Row: board.Row{Title: "Mend it", Priority: "p1"}, Signal: s, Paths: []string{"a.go"}}
		if lane, _, _ := risk.Lane("knowledge", task); lane != cmp.Or(want[s], pipeline.LaneStandard) {
			t.Errorf("%s goes %s", s, lane)
		}
		delete(want, s)
	}
	if len(want) > 0 {
		t.Errorf("no task may say %v", want)
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
