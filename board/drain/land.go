package drain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// busyWait and busyTries are how long a finished session waits for a person's
// own git command to release the index: about ten seconds in all.
const (
	busyWait  = 100 * time.Millisecond
	busyTries = 100
)

// stuckTries is how often it waits again for another odd that stands still while it
// moves refs; each time takes as long as all of busyTries.
const stuckTries = 2

// fetchWait and fetchTries are how long it waits for a remote that does not answer.
const (
	fetchWait  = 3 * time.Second
	fetchTries = 10
)

// landing is a result commit to be made: what it changes, what moves with it, what it says.
type landing struct {
	changes repo.Changes
	refs    []repo.RefUpdate
	message string
	onto    repo.OID // the commit it is made on, "" for the board's tip
	alone   *change  // that lands with it by itself, nil for none
}

// land writes a result by compare-and-swap. Each try begins with the ledger and
// the journal as they were and looks at the board as it is then.
func (d *drain) land(ctx context.Context, c *claim, result func() (landing, error)) error {
	before := d.keep()
	for try := 0; ; try++ {
		d.restore(maps.Clone(before))
		tip, err := d.line.Latest(ctx)
		if err != nil && d.Wait != nil && try < fetchTries {
			d.Wait(fetchWait)
			continue
		}
		if err != nil {
			return err
		}
		if d.at, err = look(d.repo, tip, d.at); err != nil {
			return err
		}
		l, err := result()
		if err != nil {
			return unwritten{err}
		}
		next, err := d.make(ctx, repo.OID(or(string(l.onto), string(tip))), l.changes, l.message)
		if err != nil {
			return unwritten{err}
		}
		pins := d.release(c)
		err = d.line.Land(ctx, tip, next, append(slices.Clip(l.refs), pins...)...)
		if err == nil {
			if len(pins) == 0 { // over a remote it is no part of the transaction, and the next claim makes it anew
				c.unpin(ctx)
			}
			c.pin.New, d.landed = "", d.stored
			d.at, err = look(d.repo, next, d.at)
			return err
		}
		if d.refusesLanding(ctx, l, next, err) {
			continue // without the landing
		}
		if errors.Is(err, repo.ErrDeclined) {
			return unwritten{err}
		}
		if repo.Faulty(err) {
			return err
		}
		if !d.tryAgain(err, try) {
			return fmt.Errorf("%s: the result was not saved; odd drain frees the task after %s: %w", c.task.ID, c.lease.UTC().Format(time.RFC3339), err)
		}
	}
}

// recordLost returns the result of a claim that a person or a sweep has taken back: it is
// recorded as lost, and neither its proposal nor its handoff is published. kept
// is the ledger before the session was written into it.
func (d *drain) recordLost(c *claim, w *work, out *Outcome, artifacts repo.RefUpdate, kept map[string][]byte) (landing, error) {
	out.State, out.Reason = "", "result discarded: somebody changed the task while its session ran"
	w.handed = nil
	if c.op != "" {
		s, err := d.story(c.op)
		if err != nil {
			return landing{}, err
		}
		c.ended = s.Told != nil
	}
	return d.retold(c, w, out, artifacts, kept)
}

// retold is a result whose proposal is not published after all: the ledger
// begins again where it was before the session.
func (d *drain) retold(c *claim, w *work, out *Outcome, artifacts repo.RefUpdate, kept map[string][]byte) (landing, error) {
	out.Branch, out.Proposal, out.Files = "", "", 0
	d.restore(maps.Clone(kept))
	if ch := w.change; ch != nil && ch.sealed != nil {
		ch.rescind(out.Reason)
	}
	if err := d.account(c, w); err != nil {
		return landing{}, err
	}
	out.Trace = event.Trace(d.own(d.at.file(event.Path(d.Run, d.started))))
	return d.result(c, w, *out, []repo.RefUpdate{artifacts})
}

// release lets go of the pinned base in the result's own transaction, where
// that is a local one.
func (d *drain) release(c *claim) []repo.RefUpdate {
	if at, err := d.repo.Ref(c.pin.Name); d.line.Remote != "" || c.pin.New == "" || err != nil || at != c.pin.New {
		return nil
	}
	return []repo.RefUpdate{{Name: c.pin.Name, Old: c.pin.New}}
}

// tryAgain reports whether a result that did not land is worth another try.
func (d *drain) tryAgain(err error, try int) bool {
	switch {
	case errors.Is(err, repo.ErrMoved):
		return try < raceTries
	case errors.Is(err, repo.ErrStuck):
		return try < stuckTries
	case errors.Is(err, repo.ErrBusy) && d.Wait != nil && try < busyTries:
		d.Wait(busyWait)
		return true
	}
	return false
}

// refusesLanding reports a result that did not land with a change which was to land
// by itself. What was pushed in spite of the error is left as it is.
func (d *drain) refusesLanding(ctx context.Context, l landing, next repo.OID, err error) bool {
	if l.alone == nil || errors.Is(err, repo.ErrBusy) || errors.Is(err, repo.ErrMoved) {
		return false // another try looks again where the target is
	}
	if at, look := d.line.Latest(ctx); look != nil || at == next {
		return false
	}
	l.alone.barred = err
	return true
}
