package drain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/odd-cli/odd/journal/repo"
)

// busyWait and busyTries are how long a finished session waits for a person's
// own git command to release the index: about ten seconds in all.
const (
	busyWait  = 100 * time.Millisecond
	busyTries = 100
)

// inTheWayTries is how often it waits for a file in the work tree that has other bytes than the
// board: one second in all, as no other odd takes longer to put down what it has committed.
const inTheWayTries = 10

// stuckTries is how often it waits again for another odd that is stopped while it moves
// refs; each wait takes as long as all of busyTries.
const stuckTries = 2

// fetchWait and fetchTries bound the wait for a remote that does not answer.
const (
	fetchWait  = 3 * time.Second
	fetchTries = 10
)

// landResult plans a result on the board as it is now and lands it. It plans again each time
// another commit came first, or the target did not take the change that was to land with it:
// then plan is told why.
func (d *drain) landResult(ctx context.Context, c *claim, plan func(barred error) *draft) error {
	if err := d.lookLatest(ctx); err != nil {
		return err
	}
	landed := false
	var no landingRefusal
	err := d.retryRaces(ctx, d.lookLatest, func(ctx context.Context) error {
		p := plan(no.why)
		pins := d.releasePin(c)
		p.refs = append(slices.Clip(p.refs), pins...)
		if err := d.land(ctx, p); err != nil {
			landed = p.landed // then only the board could not be read again
			errors.As(err, &no)
			return err
		}
		if len(pins) == 0 { // over a remote it is no part of the transaction, and the next claim makes it anew
			c.releaseBase(ctx)
		}
		c.pin.New, d.landed = "", d.stored
		return nil
	})
	if err == nil || landed || errors.As(err, new(unwritten)) || repo.Faulty(err) {
		return err
	}
	return c.notSaved(err)
}

// lookLatest reads the board as it is now, and waits a while for a remote that does not
// answer. Unlike readBoard it refuses nothing, because the session has already run.
func (bw *boardWriter) lookLatest(ctx context.Context) error {
	for try := 0; ; try++ {
		tip, err := bw.line.Latest(ctx)
		if err == nil {
			bw.at, err = readSnapshot(bw.repo, tip, bw.at)
			return err
		}
		if bw.wait == nil || try == fetchTries {
			return err
		}
		bw.wait(fetchWait)
	}
}

// retryRaces runs act until it succeeds, fails for good, or has lost too many races. again reads
// the board before each further try.
func (bw *boardWriter) retryRaces(ctx context.Context, again, act func(context.Context) error) error {
	for try := 0; ; try++ {
		err := act(ctx)
		if err == nil || !bw.tryAgain(err, try) {
			return err
		}
		if err := again(ctx); err != nil {
			return err
		}
	}
}

// releasePin returns the update that deletes the pinned base together with the result. With
// a remote there is none, because pins are local.
func (bw *boardWriter) releasePin(c *claim) []repo.RefUpdate {
	if at, err := bw.repo.Ref(c.pin.Name); bw.line.Remote != "" || c.pin.New == "" || err != nil || at != c.pin.New {
		return nil
	}
	return []repo.RefUpdate{{Name: c.pin.Name, Old: c.pin.New}}
}

func (bw *boardWriter) tryAgain(err error, try int) bool {
	switch {
	case errors.Is(err, repo.ErrMoved):
		return try < raceTries
	case errors.Is(err, repo.ErrStuck):
		return try < stuckTries
	case errors.Is(err, repo.ErrBusy) && bw.wait != nil && try < busyTries:
		bw.wait(busyWait)
		return true
	case errors.Is(err, repo.ErrInTheWay) && bw.wait != nil && try < inTheWayTries: // of a commit that somebody else is making
		bw.wait(busyWait)
		return true
	}
	return false
}
