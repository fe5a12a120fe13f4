package drain

import (
	"cmp"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
)

// Results returns what people decided about the results of tasks, oldest first: every
// rejection, and the approval of a task that is done.
func Results(tasks []board.Task) (out []gate.Result) {
	for _, t := range tasks {
		for _, r := range t.Rejected {
			if at, err := time.Parse(time.RFC3339, r.At); err == nil {
				out = append(out, gate.Result{Task: string(t.ID), Kind: t.Kind, Goal: t.Goal != "", At: at})
			}
		}
		if at := doneAt(t); !at.IsZero() {
			out = append(out, gate.Result{Task: string(t.ID), Kind: t.Kind, Goal: t.Goal != "", At: at, Accepted: true})
		}
	}
	slices.SortStableFunc(out, func(a, b gate.Result) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Task, b.Task)) })
	return out
}

// readyWork returns the ready tasks that no other task holds up, in the order of the board.
func (m *Memory) readyWork() (out []board.Task) {
	all := board.IndexOf(board.RowsOf(m.Tasks))
	for _, t := range m.Tasks {
		if board.Eligible(&t.Row, all, m.Slow.Facts.Now) == "" {
			out = append(out, t)
		}
	}
	return out
}

// readLately counts what perception looks at.
func (m *Memory) readLately() (gate.Lately, error) {
	now := m.Slow.Facts.Now
	l := gate.Lately{Results: Results(m.Tasks), LandsAlone: m.LandsAlone, HasGoals: board.DirectionOf(m.Graph, nil) != nil}
	notes, err := m.State.Notes(now.AddDate(0, -months, 0))
	for _, n := range notes {
		list := map[string]*[]time.Time{state.Override: &l.Overrides, state.Outage: &l.Outages, state.Limit: &l.Limits}[n.What]
		*list = append(*list, n.At)
	}
	scope := scopeByID(m.Graph, m.Slow.File.Lease)
	for _, t := range m.readyWork() {
		l.Ready = append(l.Ready, gate.Work{ID: string(t.ID), Title: t.Title, Kind: t.Kind})
		if len(whyOutOfScope(scope, t, true)) > 0 {
			l.Outside = append(l.Outside, string(t.ID))
		}
	}
	waits := map[string]time.Time{}
	for _, e := range m.ends {
		waits[e.Run+" "+e.Task] = e.At
	}
	for _, t := range m.Tasks {
		if at, err := time.Parse(time.RFC3339, t.Created); err == nil && now.Sub(at) <= gate.Lookback {
			l.Filed++
		}
		if at := waits[t.Result.Run+" "+string(t.ID)]; t.State == board.Review && !at.IsZero() {
			l.Review = append(l.Review, string(t.ID))
			if l.ReviewFrom.IsZero() || at.Before(l.ReviewFrom) {
				l.ReviewFrom = at
				l.Review[0], l.Review[len(l.Review)-1] = l.Review[len(l.Review)-1], l.Review[0]
			}
		}
	}
	return l, err
}
