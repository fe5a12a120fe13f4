package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Move is Update for refs of which some may be checked out: every worktree
// whose HEAD is a moved ref is brought along under its own index.lock,
// pre-checked before any ref moves, with a marker that Recover finishes. Staged,
// unstaged and untracked edits of other paths are as they were.
//
// The order of steps, for every work tree concerned: marker, index.lock, new
// index and files made aside, pre-check; then the refs, in one transaction; then
// files, index, lock and marker. An error means that no ref moved: ErrMoved,
// ErrInTheWay (each path named), ErrBusy; unless the disk fails while git writes the refs, and once more. What still goes wrong after the refs
// moved is finished or told by Recover.
func (r *Repo) Move(ctx context.Context, us ...RefUpdate) error {
	return r.withMoveLock(ctx, us, r.moveRefs)
}

// withMoveLock runs f, which moves refs, under the lock that orders such, once nothing is left of one that was killed.
func (r *Repo) withMoveLock(ctx context.Context, us []RefUpdate, f func(context.Context, []RefUpdate) error) error {
	if _, err := formatTransaction(us); err != nil || len(us) == 0 {
		return err
	}
	lock, err := r.lockSync(ctx, moveWait)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if _, err := r.recoverAll(ctx, false); err != nil {
		return err
	}
	return f(ctx, us)
}

func (r *Repo) moveRefs(ctx context.Context, us []RefUpdate) error {
	cs, err := r.findCheckouts(ctx, us)
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		return r.updateRefs(ctx, us)
	}
	cs[0].m.Also = updateTargets(us)
	if err := r.prepare(ctx, cs); err != nil {
		return undoAll(cs, err)
	}
	moved, err := r.updateAll(ctx, us, cs[0].m)
	switch {
	case err == nil || r.areAllMoved(us): // whatever update-ref's end looked like
		return r.completeAll(context.WithoutCancel(ctx), cs)
	case !moved:
		return undoAll(cs, err)
	}
	for _, c := range cs { // those whose ref did move are brought along all the same
		if now, _ := r.refs.resolve(c.m.Ref); now != c.m.New {
			err = errors.Join(err, c.undo())
		} else if cerr := r.completeAll(context.WithoutCancel(ctx), []*checkout{c}); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// updateRefs moves refs that no work tree shows.
func (r *Repo) updateRefs(ctx context.Context, us []RefUpdate) error {
	m := r.fillMarker(marker{Also: updateTargets(us)})
	if err := r.writeMarker(m); err != nil {
		return err
	}
	if err := r.testStep("marked"); err != nil {
		return err
	}
	_, err := r.updateAll(ctx, us, m)
	return errors.Join(err, removeIfExists(r.markerPath(m)))
}

// updateAll is one transaction under the marker m, and where the disk failed while git was writing the refs,
// once more for those that are left: a transaction of git is whole only if nothing
// fails after its locks are taken. moved tells, of an error, that some moved.
func (r *Repo) updateAll(ctx context.Context, us []RefUpdate, m marker) (moved bool, err error) {
	if err = r.runTransaction(ctx, us); !Faulty(err) {
		if killed := (*killedError)(nil); errors.As(err, &killed) {
			err = errors.Join(err, r.dropRefLocks(m))
		}
		return false, err
	}
	left := slices.DeleteFunc(slices.Clone(us), func(u RefUpdate) bool { return r.areAllMoved([]RefUpdate{u}) })
	switch {
	case len(left) == 0:
		return true, nil
	case len(left) == len(us):
		return false, err
	}
	if r.runTransaction(context.WithoutCancel(ctx), left) == nil {
		return true, nil
	}
	return true, err
}

// errStopped is what a test's step returns to play a process that was killed there.
var errStopped = errors.New("stopped")

// testStep lets a test stop between two steps.
func (r *Repo) testStep(step string) error {
	if r.step == nil {
		return nil
	}
	return r.step(step)
}

// How long a Move or Update, or a Recover, waits for another odd's Move, which takes a fifth of a second.
const (
	moveWait    = 10 * time.Second
	recoverWait = time.Second
)

// lockSync takes the lock that orders Moves, Updates and recoveries. It is not the drain's lock: approve moves refs too.
func (r *Repo) lockSync(ctx context.Context, patience time.Duration) (*flock.Flock, error) {
	return r.waitLock(ctx, "sync.lock", patience)
}

// waitLock takes a flock on a file of odd's directory, waiting its turn; ErrBusy when patience runs out.
func (r *Repo) waitLock(ctx context.Context, name string, patience time.Duration) (*flock.Flock, error) {
	if err := r.makeOddDir("tmp"); err != nil {
		return nil, err
	}
	f := flock.New(r.oddDir(name), flock.SetPermissions(0o666))
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := f.TryLockContext(wait, 10*time.Millisecond); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, fmt.Errorf("%s: %w, and in %s %w; see whether one is stopped or hangs", f.Path(), ErrBusy, patience, ErrStuck)
		}
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	r.shareWithGroup(f.Path())
	return f, nil
}

// prepare does everything that can fail before a ref moves.
func (r *Repo) prepare(ctx context.Context, cs []*checkout) error {
	for _, c := range cs {
		if err := r.writeMarker(c.m); err != nil {
			return err
		}
	}
	if err := r.testStep("marked"); err != nil {
		return err
	}
	for _, c := range cs {
		if err := errors.Join(c.lockIndex(), r.testStep("locked")); err != nil {
			return err
		}
		if !r.isOnRef(ctx, c.m) { // from here on no git switches it
			return fmt.Errorf("%s: %w: another branch than %s was checked out just now; try again", c.m.Root, ErrBusy, shortRef(c.m.Ref))
		}
		if err := errors.Join(c.stage(ctx), r.testStep("staged")); err != nil {
			return err
		}
		if err := c.checkObstacles(ctx); err != nil {
			return err
		}
	}
	return r.testStep("checked")
}

// undoAll undoes a preparation and returns why.
func undoAll(cs []*checkout, why error) error {
	if errors.Is(why, errStopped) {
		return why
	}
	for _, c := range cs {
		why = errors.Join(why, c.undo())
	}
	return why
}

// areAllMoved reports whether every ref is where its update wanted it: then the transaction was committed, whatever
// update-ref's end looked like.
func (r *Repo) areAllMoved(us []RefUpdate) bool {
	for _, u := range us {
		if now, err := r.refs.resolve(u.Name); err != nil && !errors.Is(err, ErrNoRef) || now != u.New {
			return false
		}
	}
	return true
}

// completeAll brings the checkouts along after the refs moved.
func (r *Repo) completeAll(ctx context.Context, cs []*checkout) error {
	if err := r.testStep("moved"); err != nil {
		return err
	}
	for _, c := range cs {
		if _, err := c.complete(ctx); errors.Is(err, errStopped) {
			return err
		}
		// Any other error left the marker: the refs moved, and Recover will say what is missing.
	}
	return nil
}

// complete places files and index; lines about kept files stay in the marker for the next Recover.
func (c *checkout) complete(ctx context.Context) (kept []string, err error) {
	if kept, err = c.placeFiles(ctx); err != nil {
		return kept, err
	}
	if err := c.installIndex(ctx); err != nil {
		return kept, err
	}
	if err := c.r.testStep("unlocked"); err != nil {
		return kept, err
	}
	return kept, c.cleanUp(kept)
}

// sweepSync removes scratch files and half-written markers of Moves that were killed. The sync lock must be held.
// One that a git which outlived its odd still writes to is left to the next sweep.
func (r *Repo) sweepSync() {
	for _, n := range append(globDir(r.oddDir("tmp"), "sync-*"), r.listDrafts()...) {
		os.RemoveAll(n)
	}
}

// listDrafts are markers that are being written, or whose writer was killed at it.
func (r *Repo) listDrafts() []string { return globDir(r.oddDir("sync"), ".*") }
