package overview

import (
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
)

// Draft returns a draft as a whole lease.toml: the lease that is drafted or suspended,
// as it is, or else a prefilled one, of the tasks that people put on the board
// whose bundle is at root.
func (s SlowLoop) Draft(tasks []board.Task, root string, now time.Time) gate.File {
	c, f := s.Facts.Chain, s.File
	if st := f.Lease.State; s.Facts.Present && s.Facts.Unreadable == nil && (st == gate.Draft || st == gate.Suspended) {
		f.Lease.State, f.Lease.ActivatedAt = gate.Draft, time.Time{}
		return f
	}
	p := gate.Plan{ID: c.NextLease(), Paths: touchedPaths(tasks, root)}
	rows := board.RowsOf(tasks)
	for _, t := range board.Order(rows, board.IndexOf(rows)) {
		if t.State == board.Ready {
			p.Ready = append(p.Ready, gate.Work{ID: string(t.ID), Title: t.Title, Kind: t.Kind})
		}
	}
	f = gate.DraftOf(now, p)
	if c.Stance() == gate.Discovery {
		f.Stance = gate.Discovery
	}
	return f
}

// touchedPaths returns the bundle at root, and what else the tasks may touch. A glob
// that no lease may hold is left out.
func touchedPaths(tasks []board.Task, root string) []string {
	out := []string{root + "/**"}
	for _, t := range tasks {
		for _, p := range t.Paths {
			if folder, ok := strings.CutSuffix(p, "/"); ok {
				p = folder + "/**"
			}
			if t.State != board.Done && !slices.Contains(out, p) && !strings.HasPrefix(p, root+"/") && canHold(p) {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out[1:])
	return out
}

func canHold(p string) bool {
	l := gate.Lease{Scope: gate.Scope{Paths: []string{p}}}
	return !slices.ContainsFunc(l.Check(false), func(p gate.Problem) bool { return p.Field == "lease.scope.paths" })
}
