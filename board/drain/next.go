package drain

import (
	"context"
	"errors"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// next is the first task of the total order that may run, was not tried and is not
// held back by a review of another, or the one that was asked for.
func (d *drain) next(ctx context.Context, tried map[okf.ID]bool) (board.Task, bool, error) {
	if err := d.standing(); err != nil {
		return board.Task{}, false, err
	}
	if d.Task != "" {
		t, err := d.at.task(d.Task)
		if err != nil {
			return t, false, err
		}
		if why := d.whyDenied(t); why != nil {
			return t, false, why
		}
		if d.Invoked {
			err = d.bindable(t)
		}
		return t, err == nil, err
	}
	var broke error // the last refusal, which is told as what this run ends with, or else before it goes on
	tell := func() {
		if broke != nil {
			d.noteOnce(broke.Error())
		}
	}
	for t := range d.at.order() {
		if tried[t.ID] || board.Eligible(&t.Row, d.at.index, d.Now()) != "" {
			continue
		}
		why := d.whyDenied(t)
		if held := d.whyHeld(ctx, t); why == nil && held != nil {
			d.noteOnce(held.Error())
			continue
		}
		if why == nil {
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

// whyDenied says why t may not be drained now: the board, the lease, the budget.
func (d *drain) whyDenied(t board.Task) error {
	if err := d.ineligible(t); err != nil {
		return err
	}
	if err := d.standing(); err != nil {
		return err
	}
	_, no := d.obstacles(t)
	return together(no)
}

// ineligible says why the board has t not for any drain: where it stands, that its file
// has an unfinished merge, or that another file has its id.
func (d *drain) ineligible(t board.Task) error {
	if why := board.Eligible(&t.Row, d.at.index, d.Now()); why != "" {
		return refuse("task", "task %s: %s", t.ID, why)
	}
	if t.Atom != nil {
		if p := okf.Conflict(t.Atom.Bytes()); p != nil {
			p.Path = d.at.file(t.Path)
			return refuse("unmerged", "%v", p)
		}
	}
	if twin := board.Twin(d.at.problems, t.Path); twin != nil {
		return refuse("task", "%s:%d: %s; %s", d.at.file(t.Path), twin.Line, twin.Message, twin.Hint)
	}
	return nil
}

// also is what both refuse, under the code of the first.
func also(first, second error) error {
	var a, b *Refusal
	if errors.As(first, &a) && errors.As(second, &b) {
		return refuse(a.Code, "%s; %s", a.Text, b.Text)
	}
	if first != nil {
		return first
	}
	return second
}

// checkEquipment refuses t where anything of its chain lacks what it needs to begin:
// one that takes over is no time to find out.
func (d *drain) checkEquipment(t board.Task) error {
	for _, cfg := range d.chain(t) {
		if err := Equipped(cfg, d.Environ); err != nil {
			return err
		}
	}
	return nil
}
