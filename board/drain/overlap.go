package drain

import (
	"context"
	"fmt"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

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
		made, err := r.Diff(ctx, p.Parents[0], p.OID)
		if err != nil {
			continue
		}
		for _, t := range tasks {
			if t.State != board.Ready {
				continue
			}
			o := Overlap{Task: t.ID, In: w.ID}
			for _, c := range made {
				if inBundle(root, c.Path) || !policy.MatchAnyGlob(t.Paths, c.Path) {
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
	if pf.Task != "" || !pf.at.changes(t) {
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
