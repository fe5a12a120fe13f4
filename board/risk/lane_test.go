package risk_test

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
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
		{"", "p3", "One page", []string{"knowledge", "knowledge/a.md"}, pipeline.LaneBackground},
		{"", "p3", "One page", []string{"knowledge/a.md", "knowledges/a.md"}, pipeline.LaneStandard},
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

// A claim reserves what a session may cost, no more than its lease has left, and nothing
// where no session can cost money.
func TestReservation(t *testing.T) {
	t.Parallel()
	free, costly := config.Default(), config.Default()
	costly.Session.Substrate = "claude"
	for _, c := range []struct {
		law          config.Config
		budget, left int64
		want         int64
	}{{free, 300, 400, 0}, {costly, 300, 400, 300}, {costly, 300, 200, 200}} {
		task := board.Task{Budget: budget.MicroUSD(c.budget)}
		if got := risk.Reservation(c.law, task, c.left); got != c.want {
			t.Errorf("free %v, %d left: %d, want %d", c.law.Free(), c.left, got, c.want)
		}
		own, usual := risk.Limits(c.law, board.Task{MaxTurns: 7}), risk.Limits(c.law, board.Task{})
		if own.Turns != 7 || own.MaxCost != usual.MaxCost || usual.Turns != c.law.Session.MaxTurns || own.Timeout != usual.Timeout {
			t.Errorf("%+v with turns of its own, else %+v", own, usual)
		}
	}
}

// An entry about a file asks for as many of its people as must approve, whatever case
// their addresses are in; the entry with the fewest left to ask comes first.
func TestApprovers(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Approvals: 2, Approvers: map[string][]string{"src/**": {"ann", "bob", "cy"}, "role": {"ann", "bob"}, "docs/**": {"eve"}}}
	for _, c := range []struct {
		path      string
		types, by []string
		want      []risk.Missing
	}{
		{"src/a.go", []string{"role"}, nil, []risk.Missing{{"src/a.go", "role", []string{"ann", "bob"}, 2}, {"src/a.go", "src/**", []string{"ann", "bob", "cy"}, 2}}},
		{"src/a.go", nil, []string{"ANN", "eve"}, []risk.Missing{{"src/a.go", "src/**", []string{"bob", "cy"}, 1}}},
		{"src/a.go", nil, []string{"ann", "cy"}, nil},
		{"a.go", nil, nil, nil},
	} {
		if d := gocmp.Diff(c.want, risk.Approvers(cfg, c.path, c.types, c.by)); d != "" {
			t.Errorf("%s by %v: %s", c.path, c.by, d)
		}
	}
}
