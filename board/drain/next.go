package drain

import (
	"context"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// nextTask returns the first task in the board's order that may run, was not tried and does
// not wait for another review. With Options.Task it returns that one.
func (d *drain) nextTask(ctx context.Context, tried map[okf.ID]bool) (board.Task, bool, error) {
	var err error
	if d.leaseID, err = d.authority().checkStanding(); err != nil {
		return board.Task{}, false, err
	}
	if d.Task != "" {
		t, err := d.at.findTask(d.Task)
		if err != nil {
			return t, false, err
		}
		if _, err = d.admission().whyDenied(t); err == nil && d.Invoked {
			d.override, err = d.contracts().checkBindable(t)
		}
		return t, err == nil, err
	}
	var broke error // the last refusal, which is told as what this run ends with, or else before it goes on
	tell := func() {
		if broke != nil {
			d.noteOnce(broke.Error())
		}
	}
	ready := slices.DeleteFunc(slices.Clone(d.at.rows()), func(r *board.Row) bool { return r.State != board.Ready || tried[r.ID] })
	for t := range d.at.boardOrder(ready) {
		if board.Eligible(&t.Row, d.at.index(), d.Now()) != "" {
			continue
		}
		_, why := d.admission().whyDenied(t)
		if why == nil {
			if held := d.preflight().whyHeld(ctx, t); held != nil {
				d.noteOnce(held.Error())
				continue
			}
			tell()
			return t, true, nil
		}
		if broke != nil && broke.Error() != why.Error() {
			tell()
		}
		broke = why
	}
	if len(tried) == 0 && broke != nil {
		return board.Task{}, false, broke // something is ready and all of it was refused
	}
	tell()
	return board.Task{}, false, nil
}

// whyDenied returns why t may not be drained now, and the commitment lease that it may be drained under.
func (ad admission) whyDenied(t board.Task) (leaseID string, err error) {
	now := ad.now
	if err = now.checkEligible(t); err == nil {
		leaseID, err = now.checkStanding()
	}
	if err == nil {
		_, no := ad.findObstacles(t)
		err = joinErrors(no...)
	}
	return leaseID, err
}
