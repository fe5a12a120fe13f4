package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// Move is Update for refs that may be checked out. Every work tree whose HEAD is a moved ref is updated under its
// own index.lock. Edits of other paths, staged, unstaged or untracked, stay as they were.
//
// The steps for every work tree are: marker, index.lock, new index and files in scratch files, check for obstacles;
// then one transaction for the refs; then files, index, lock and marker. An error means that no ref moved:
// ErrMoved, ErrInTheWay (it names each path) or ErrBusy. The exception is a disk that fails twice while git writes
// the refs. What goes wrong after the refs moved, Recover finishes or reports.
func (r *Repo) Move(ctx context.Context, us ...RefUpdate) error {
	return r.withMoveLock(ctx, us, r.moveRefs)
}

// withMoveLock runs f, which moves refs, under the lock for moves, after it has recovered what a killed move left.
func (r *Repo) withMoveLock(ctx context.Context, us []RefUpdate, f func(context.Context, []RefUpdate) error) error {
	if _, err := ref.Format(us); err != nil || len(us) == 0 {
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
	if err := r.prepareMove(ctx, cs); err != nil {
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
		if now, _ := r.Ref(c.m.Ref); now != c.m.New {
			err = errors.Join(err, c.undo())
		} else if cerr := r.completeAll(context.WithoutCancel(ctx), []*checkout{c}); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// Update moves refs in one transaction, all or nothing, without touching a checkout. ErrMoved means that a ref was
// not at its Old. A branch that is checked out anywhere must go through Move. ErrBusy means that another odd's move
// takes too long.
func (r *Repo) Update(ctx context.Context, us ...RefUpdate) error {
	return r.withMoveLock(ctx, us, r.updateRefs)
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
	return errors.Join(err, local.RemoveIfExists(r.markerPath(m)))
}

// updateAll runs one transaction under the marker m. If the disk fails while git writes the refs, it runs a second
// one for those that are left, because git's transactions are atomic only if nothing fails after the locks are
// taken. With an error, moved says whether some refs moved.
func (r *Repo) updateAll(ctx context.Context, us []RefUpdate, m marker) (moved bool, err error) {
	if err = ref.Transact(ctx, r.Store, us); !gitcmd.Faulty(err) {
		if killed := (*ref.KilledError)(nil); errors.As(err, &killed) {
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
	if ref.Transact(context.WithoutCancel(ctx), r.Store, left) == nil {
		return true, nil
	}
	return true, err
}

// errStopped is returned by a test's step to act as a process that was killed there.
var errStopped = errors.New("stopped")

// testStep lets a test stop between two steps.
func (r *Repo) testStep(step string) error {
	if r.step == nil {
		return nil
	}
	return r.step(step)
}

// How long a Move, Update or Recover waits for another odd's Move, which takes a fifth of a second.
const (
	moveWait    = 10 * time.Second
	recoverWait = time.Second
)

// lockSync takes the lock that orders Moves, Updates and recoveries. It is not the drain lock, because approve
// moves refs too.
func (r *Repo) lockSync(ctx context.Context, patience time.Duration) (*flock.Flock, error) {
	return r.WaitLock(ctx, "sync.lock", patience)
}

// prepareMove does everything that can fail before a ref moves.
func (r *Repo) prepareMove(ctx context.Context, cs []*checkout) error {
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
		if !r.isOnRef(ctx, c.m) { // while index.lock is held, no git can switch the branch
			return fmt.Errorf("%s: %w: another branch than %s was checked out just now; try again", c.m.Root, ErrBusy, shortRef(c.m.Ref))
		}
		if err := errors.Join(c.writeScratch(ctx), r.testStep("staged")); err != nil {
			return err
		}
		if err := c.checkObstacles(ctx); err != nil {
			return err
		}
	}
	return r.testStep("checked")
}

// undoAll undoes the checkouts' preparation and returns why, joined with any further error.
func undoAll(cs []*checkout, why error) error {
	if errors.Is(why, errStopped) {
		return why
	}
	for _, c := range cs {
		why = errors.Join(why, c.undo())
	}
	return why
}

// areAllMoved reports whether every ref has its new id. Then the transaction was committed, whatever update-ref
// reported.
func (r *Repo) areAllMoved(us []RefUpdate) bool {
	for _, u := range us {
		if now, err := r.Ref(u.Name); err != nil && !errors.Is(err, ErrNoRef) || now != u.New {
			return false
		}
	}
	return true
}

// completeAll updates the checkouts after the refs moved.
func (r *Repo) completeAll(ctx context.Context, cs []*checkout) error {
	if err := r.testStep("moved"); err != nil {
		return err
	}
	for _, c := range cs {
		if _, err := c.complete(ctx); errors.Is(err, errStopped) {
			return err
		}
		// After any other error the marker is still there, and Recover finishes or reports the rest.
	}
	return nil
}

// complete places files and index. Lines about files it kept stay in the marker for the next Recover.
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

// sweepSync removes scratch files and half-written markers of killed Moves. The sync lock must be held. What a
// surviving git still writes to is left to the next sweep.
func (r *Repo) sweepSync() {
	for _, n := range append(local.Glob(r.OddPath("tmp"), "sync-*"), r.listDrafts()...) {
		os.RemoveAll(n)
	}
}

// listDrafts returns the half-written markers.
func (r *Repo) listDrafts() []string { return local.Glob(r.OddPath("sync"), ".*") }
