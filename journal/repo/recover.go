package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// Recover finishes what a killed Move or Update left. It removes only locks that its markers prove odd's, completes
// the checkouts, and returns one line for each file that it would not overwrite. It also removes the work tree of a
// killed PersonCommit. Every command calls it; it is cheap when there is nothing to do.
//
// If a ref did not move, the Move never happened, and its locks are removed. While another odd is moving refs,
// Recover waits a second and then leaves the work to that one. ErrBusy means that another git holds the index.lock
// of a checkout that must be completed.
func (r *Repo) Recover(ctx context.Context) ([]string, error) {
	r.trySweepCommits()
	if ms, err := r.readMarkers(); err != nil || len(ms) == 0 && len(r.listDrafts()) == 0 {
		return nil, err
	}
	lock, err := r.lockSync(ctx, recoverWait)
	if errors.Is(err, ErrBusy) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	return r.recoverAll(ctx, true)
}

// recoverAll handles every marker. With tell false it leaves the lines about kept files in their markers for the
// next Recover.
func (r *Repo) recoverAll(ctx context.Context, tell bool) (lines []string, err error) {
	r.sweepSync()
	ms, err := r.readMarkers()
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		if len(m.Kept) > 0 && !tell {
			continue
		}
		kept, err := r.recoverMarker(ctx, m)
		lines = append(lines, kept...)
		if err != nil {
			return lines, fmt.Errorf("%s: %w", cmp.Or(m.Root, r.common), err)
		}
		if tell {
			os.Remove(r.markerPath(m)) // if it is left, its lines were returned just now
		}
	}
	return lines, nil
}

// recoverMarker settles one marker. It removes the ref locks first: after that, the dead process cannot move the
// ref any more.
func (r *Repo) recoverMarker(ctx context.Context, m marker) ([]string, error) {
	if len(m.Kept) > 0 {
		return m.Kept, nil
	}
	if err := r.dropRefLocks(m); err != nil {
		return nil, err
	}
	if m.Root == "" {
		return nil, local.RemoveIfExists(r.markerPath(m))
	}
	c := r.checkoutOf(m)
	now, err := r.Ref(m.Ref)
	if err != nil && !errors.Is(err, ErrNoRef) {
		return nil, err
	}
	switch {
	case now == m.Old:
		return nil, c.undo()
	case now != m.New:
		kept := []string{fmt.Sprintf("%s: left as it is: %s moved on after odd was killed; git status shows what differs", m.Root, shortRef(m.Ref))}
		return kept, errors.Join(m.dropIndexLock(), c.cleanUp(kept))
	case !r.isOnRef(ctx, m):
		return nil, c.undo()
	}
	return r.finishCheckout(ctx, c)
}

// finishCheckout completes a checkout whose ref has moved.
func (r *Repo) finishCheckout(ctx context.Context, c *checkout) ([]string, error) {
	if err := errors.Join(c.findChanges(ctx), c.lockIndex()); err != nil {
		return nil, err
	}
	if err := c.writeScratch(ctx); err != nil {
		if !errors.Is(err, ErrInTheWay) {
			return nil, err
		}
		kept := []string{err.Error()}
		return kept, errors.Join(c.m.dropIndexLock(), c.cleanUp(kept))
	}
	return c.complete(ctx)
}

// isOnRef reports whether the work tree's HEAD still names the marker's ref; false if the work tree is gone.
func (r *Repo) isOnRef(ctx context.Context, m marker) bool {
	if r.InProcess() {
		return r.ResolveName(ref.ReadSymbolicRef(filepath.Join(m.GitDir, "HEAD"))) == r.ResolveName(m.Ref)
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}, Env: []string{"GIT_DIR=" + m.GitDir}, Read: true})
	return err == nil && r.ResolveName(strings.TrimSpace(string(out))) == r.ResolveName(m.Ref)
}
