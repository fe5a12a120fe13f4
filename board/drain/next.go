package drain

import (
	"context"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
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

// taskLimit returns how many tasks a drain takes at most.
func (o Options) taskLimit(cfg config.Config) int {
	switch {
	case o.Task != "":
		return 1
	case o.MaxTasks > 0:
		return o.MaxTasks
	}
	return cfg.MaxTasks
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

// Overlap is why a ready task is held back: files that it may change wait for a
// person's review in the change of another task.
type Overlap struct {
	Task  okf.ID   `json:"task"`
	Files []string `json:"files"`
	In    okf.ID   `json:"waits_in"`
}

// Error implements error.
func (o *Overlap) Error() string {
	return fmt.Sprintf("task %s: %s waits for your review in %s; decide that first (odd review %[3]s), or run this task all the same: odd drain --task %[1]s",
		o.Task, o.Files[0]+countMore(o.Files), o.In)
}

// Overlaps are the ready tasks whose paths mean a file outside of the bundle, whose
// folder is root, that waits in the proposal of another task and that tip does not have
// yet. A proposal that is not in this clone holds nothing back.
func Overlaps(ctx context.Context, r *repo.Repo, tip repo.OID, root string, tasks []board.Task) []*Overlap {
	var out []*Overlap
	for _, w := range tasks {
		if w.State != board.Review || w.Result.Commit == "" {
			continue
		}
		p, err := r.Commit(repo.OID(w.Result.Commit))
		if err != nil || len(p.Parents) != 1 {
			continue
		}
		made, err := diffFiles(ctx, r, root, p.Parents[0], p.OID)
		if err != nil {
			continue
		}
		for _, t := range tasks {
			if t.State != board.Ready {
				continue
			}
			o := Overlap{Task: t.ID, In: w.ID}
			for _, c := range made {
				if !policy.MatchAnyGlob(t.Paths, c.Path) {
					continue
				}
				if now, _, err := r.Find(tip, c.Path); err == nil && now != c.New {
					o.Files = append(o.Files, c.Path)
				}
			}
			if len(o.Files) > 0 {
				out = append(out, &o)
			}
		}
	}
	return out
}

// whyHeld is why t waits for a review of another task, nil where it does not. A person
// who names one task has it run all the same.
func (pf preflight) whyHeld(ctx context.Context, t board.Task) error {
	if pf.Task != "" || !pf.at.changesFiles(t) {
		return nil
	}
	if pf.at.overlaps == nil {
		base, err := pf.base()
		if err != nil {
			return nil // the claim says why
		}
		pf.at.overlaps = append([]*Overlap{}, Overlaps(ctx, pf.repo, base, pf.at.cfg.Root, pf.at.tasks())...)
	}
	for _, o := range pf.at.overlaps {
		if o.Task == t.ID {
			return refuse("overlap", "%s", o.Error())
		}
	}
	return nil
}
