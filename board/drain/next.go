package drain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// choice is what is decided about one task: to run it, or why not.
type choice struct {
	task    board.Task
	ready   bool    // the board says nothing against it
	bound   bound   // as far as it could be resolved
	no      []error // all that refuses it
	overlap error   // the review of another task that it waits for, nil for none
}

// why is all that refuses the task, nil where nothing does.
func (ch choice) why() error { return joinErrors(ch.no...) }

// choose decides about the tasks of rows, in the board's order. Options.Task leaves one of them to be run.
func (ad admission) choose(ctx context.Context, rows []*board.Row) iter.Seq[choice] {
	named, _ := ad.at.findTask(ad.Task)
	return func(yield func(choice) bool) {
		for _, r := range board.Order(rows, ad.at.index()) {
			t, ok := board.Find(ad.at.tasks(), r.ID)
			if !ok {
				continue
			}
			ch := choice{task: t, no: []error{errors.New("not named by --task")}}
			if ad.Task == "" || t.ID == named.ID {
				ch = ad.decide(t)
			}
			if len(ch.no) == 0 {
				ch.overlap = ad.findOverlap(ctx, t)
			}
			if !yield(ch) {
				return
			}
		}
	}
}

// nextTask returns the first task in the board's order that may run, was not tried and does
// not wait for another review. With Options.Task it returns that one.
func (d *drain) nextTask(ctx context.Context, tried map[okf.ID]bool) (board.Task, bool, error) {
	var err error
	if d.leaseID, err = d.authority().checkLease(); err != nil {
		return board.Task{}, false, err
	}
	ad := d.admission()
	rows, err := ad.candidates(tried)
	if err != nil {
		return board.Task{}, false, err
	}
	var refused error // the last refusal: the error of this drain if it takes no task, else a note
	tell := func(next error) {
		if refused != nil && (next == nil || next.Error() != refused.Error()) {
			d.noteOnce(refused.Error())
		}
		refused = next
	}
	for ch := range ad.choose(ctx, rows) {
		switch why := ch.why(); {
		case ch.overlap != nil:
			d.noteOnce(ch.overlap.Error())
		case why != nil:
			tell(why)
		default:
			tell(nil)
			return ch.task, true, nil
		}
	}
	if len(tried) == 0 && refused != nil {
		return board.Task{}, false, refused // something is ready and all of it was refused
	}
	tell(nil)
	return board.Task{}, false, nil
}

// candidates are the tasks that may be next: those that are ready and wait for nothing, or the one that a
// person names, whatever it is.
func (ad admission) candidates(tried map[okf.ID]bool) ([]*board.Row, error) {
	if ad.Task != "" {
		t, err := ad.at.findTask(ad.Task)
		return []*board.Row{&t.Row}, err
	}
	return slices.DeleteFunc(slices.Clone(ad.at.rows()), func(r *board.Row) bool {
		return r.State != board.Ready || tried[r.ID] || board.Eligible(r, ad.at.index(), ad.Now()) != ""
	}), nil
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

// Overlaps are the ready tasks whose paths mean a file outside of the bundle
// that waits in the proposal of another task and that tip does not have
// yet. A proposal that is not in this clone holds nothing back.
func Overlaps(ctx context.Context, r *repo.Repo, tip repo.OID, cfg config.Config, tasks []board.Task) []*Overlap {
	var out []*Overlap
	for _, w := range tasks {
		if w.State != board.Review || w.Result.Commit == "" {
			continue
		}
		p, err := r.Commit(repo.OID(w.Result.Commit))
		if err != nil || len(p.Parents) != 1 {
			continue
		}
		made, err := bench.DiffFiles(ctx, r, cfg, p.Parents[0], p.OID)
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

// findOverlap is why t waits for a review of another task, nil where it does not. A person
// who names one task has it run all the same.
func (ad admission) findOverlap(ctx context.Context, t board.Task) error {
	if ad.Task != "" || !ad.at.changesFiles(t) {
		return nil
	}
	if ad.at.overlaps == nil {
		base, err := ad.base()
		if err != nil {
			return nil // the claim says why
		}
		ad.at.overlaps = append([]*Overlap{}, Overlaps(ctx, ad.repo, base, ad.at.cfg, ad.at.tasks())...)
	}
	for _, o := range ad.at.overlaps {
		if o.Task == t.ID {
			return refuse("overlap", "%s", o.Error())
		}
	}
	return nil
}
