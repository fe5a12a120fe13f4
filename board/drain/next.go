package drain

import (
	"context"
	"errors"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// nextTask returns the first task in the board's order that may run, was not tried and does
// not wait for another review. With Options.Task it returns that one.
func (d *drain) nextTask(ctx context.Context, tried map[okf.ID]bool) (board.Task, bool, error) {
	var err error
	if d.under, err = d.authority().checkStanding(); err != nil {
		return board.Task{}, false, err
	}
	if d.Task != "" {
		t, err := d.at.findTask(d.Task)
		if err != nil {
			return t, false, err
		}
		if why := d.whyDenied(t); why != nil {
			return t, false, why
		}
		if d.Invoked {
			err = d.checkBindable(t)
		}
		return t, err == nil, err
	}
	var broke error // the last refusal, which is told as what this run ends with, or else before it goes on
	tell := func() {
		if broke != nil {
			d.noteOnce(broke.Error())
		}
	}
	ready := slices.DeleteFunc(slices.Clone(d.at.rows), func(r *board.Row) bool { return r.State != board.Ready || tried[r.ID] })
	for t := range d.at.boardOrder(ready) {
		if board.Eligible(&t.Row, d.at.index, d.Now()) != "" {
			continue
		}
		why := d.whyDenied(t)
		if why == nil {
			if held := d.whyHeld(ctx, t); held != nil {
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

// whyDenied returns why t may not be drained now, nil if it may.
func (d *drain) whyDenied(t board.Task) error {
	now := d.authority()
	err := now.checkEligible(t)
	if err == nil {
		d.under, err = now.checkStanding()
	}
	if err != nil {
		return err
	}
	_, no := d.findObstacles(t)
	return joinAll(no)
}

// checkEligible refuses t if its state, an unfinished merge of its file, or another file
// with the same id keeps it from every drain.
func (a authority) checkEligible(t board.Task) error {
	if why := board.Eligible(&t.Row, a.index, a.now); why != "" {
		return refuse("task", "task %s: %s", t.ID, why)
	}
	if t.Atom != nil {
		if p := okf.Conflict(t.Atom.Bytes()); p != nil {
			p.Path = a.file(t.Path)
			return refuse("unmerged", "%v", p)
		}
	}
	if twin := board.Twin(a.problems, t.Path); twin != nil {
		return refuse("task", "%s:%d: %s; %s", a.file(t.Path), twin.Line, twin.Message, twin.Hint)
	}
	return nil
}

// joinRefusal returns one refusal with both texts and the code of the first.
func joinRefusal(first, second error) error {
	var a, b *Refusal
	if errors.As(first, &a) && errors.As(second, &b) {
		return refuse(a.Code, "%s; %s", a.Text, b.Text)
	}
	if first != nil {
		return first
	}
	return second
}

// checkEquipment refuses t if any agent of its chain lacks what it needs to start. A
// fallback that cannot start would fail only when it is needed.
func (pf preflight) checkEquipment(t board.Task) error {
	for _, cfg := range pf.at.agentChain(t) {
		if err := Equipped(cfg, pf.Environ); err != nil {
			return err
		}
	}
	return nil
}
