package console

import (
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/persona/session"
)

// TestProgress: the live line has the time, turns and cost of the task at hand, is drawn
// again each second, fits the terminal, and stops when it is done.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var tick func()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	p := NewProgress(Env{Stderr: &out, Live: true, Width: 60, Now: func() time.Time { return now }, Getenv: func(string) string { return "" },
		After: func(_ time.Duration, f func()) func() { tick = f; return func() { tick = nil } }})
	last := func() string {
		lines := strings.Split(out.String(), "\r")
		return strings.TrimRight(lines[len(lines)-1], " ")
	}
	want := func(line string) {
		t.Helper()
		if got := last(); got != line {
			t.Errorf("%q, want %q", got, line)
		}
	}
	p.SetLine("tides: claimed, attempt 1")
	want("tides: claimed, attempt 1")
	p.CountTurn(session.Usage{})
	now = now.Add(61 * time.Second)
	p.CountTurn(session.Usage{Turns: 2, Cost: 12_300})
	p.SetLine("tides: Read docs/tides.md")
	want("1m1s  2 turns  $0.0123  tides: Read docs/tides.md")
	now = now.Add(time.Second)
	tick()
	want("1m2s  2 turns  $0.0123  tides: Read docs/tides.md")
	p.SetLine("tides: Read docs/a/path/that/is/much/longer/than/the/line.md")
	if got := last(); layout.Width(got) != 59 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q takes %d columns", got, layout.Width(got))
	}
	p.CountTurn(session.Usage{}) // of the next task
	want("0s  0 turns  $0.00  tides: Read docs/a/path/that/is/much/l…")
	p.ClearLine()
	if tick != nil {
		t.Error("the clock runs on")
	}
}
