package overview

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
)

// Whatever people put on the board, the prefilled draft is a lease that may be
// committed to as it is.
func TestThePrefilledDraftNeedsNoEdit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	tasks := []board.Task{
		{Row: board.Row{ID: "a", Title: "TBD", State: board.Ready, Kind: "extract"}, Paths: []string{"src/**", "odd.toml", ".github/**", "/abs", "a\\b", "[", "../x", "knowledge/terms/**"}},
		{Row: board.Row{ID: "b", Title: "Two\tlines\nand \u202eworse", State: board.Ready, Kind: "no-such-kind"}, Paths: []string{"src/**", ""}},
		{Row: board.Row{ID: "c", State: board.Backlog}, Paths: []string{"docs/"}},
	}
	l := SlowLoop{}.Draft(tasks, "knowledge", now).Lease
	l.ActivatedAt = now
	for _, p := range l.Check(true) {
		t.Errorf("%s", p)
	}
}
