package drain

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// lock takes the drain lock: the kernel's on this machine, and with a remote
// the shared ref, so that one tenant has one drain (invariant 4). What was read under it is kept for the next process.
func (d *drain) lock(ctx context.Context) (unlock func(), err error) {
	local, err := d.repo.LockDrainFor(d.Run)
	if err != nil {
		return nil, explainLocked(err)
	}
	if d.line.Remote == "" {
		return func() {
			d.keepState()
			_ = local()
		}, nil
	}
	shared, err := d.repo.LockRemote(ctx, d.line.Remote, d.at.tenant(), d.Run, d.at.cfg.TaskLease, d.Now())
	if err != nil {
		_ = local()
		return nil, d.at.explainShared(d.line.Remote, err)
	}
	d.shared = shared
	return func() {
		d.shared = nil
		d.keepState()
		if err := shared.Release(context.WithoutCancel(ctx)); err != nil {
			d.addNote("the shared drain lock was not released; it expires by itself: " + err.Error())
		}
		_ = local()
	}, nil
}

// underLock opens a drain, takes its lock, reads the board under it and acts.
func underLock(ctx context.Context, r *repo.Repo, o Options, act func(*drain) error) error {
	d, err := openDrain(ctx, r, o)
	if err != nil {
		return err
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.readBoard(ctx); err != nil {
		return err
	}
	return act(d)
}

func (s *snapshot) tenant() string { return cmp.Or(s.cfg.Tenant, "default") }

// checkShared refuses while a drain of another clone has the shared lock. It takes no lock.
func (bw *boardWriter) checkShared(ctx context.Context) error {
	if bw.line.Remote == "" {
		return nil
	}
	return bw.at.explainShared(bw.line.Remote, bw.repo.CheckRemoteLock(ctx, bw.line.Remote, bw.at.tenant(), bw.log.now()))
}

// checkUnlocked refuses while another drain of this clone has the lock.
func (bw *boardWriter) checkUnlocked(context.Context) error {
	unlock, err := bw.repo.LockDrain()
	if err == nil {
		_ = unlock()
	}
	return explainLocked(err)
}

func explainLocked(err error) error {
	if errors.Is(err, repo.ErrBusy) {
		return refuseBusy("locked", "another odd drain runs in this clone: %s; try again when it has ended", strings.Replace(err.Error(), repo.ErrBusy.Error()+" ", "", 1))
	}
	return err
}

func (s *snapshot) explainShared(remote string, err error) error {
	if errors.Is(err, repo.ErrBusy) {
		return refuseBusy("locked", "another odd drain holds the lock of the remote, %s; try again when it has ended; if it was killed, run odd drain in its clone, or git push %s :refs/odd/lock/%s", strings.Replace(err.Error(), repo.ErrBusy.Error()+": ", "", 1), remote, s.tenant())
	}
	return err
}

// refuseWhilePaused refuses while pause.toml is on the board branch.
func (s *snapshot) refuseWhilePaused() error {
	why, paused := board.ReadPause(s.files, s.pathOf("pause.toml"))
	if !paused {
		return nil
	}
	return refuseBusy("paused", "drains are paused: %s; a person can run odd drain resume", why)
}

func (bw *boardWriter) planPause(why string) *draft {
	p := bw.newDraft()
	p.changes[bw.at.pathOf("pause.toml")] = board.PauseFile(why, bw.agentSignature().Name, bw.log.now().UTC().Truncate(time.Second))
	p.message = bw.log.message("board: pause", why, traced{lease: bw.leaseID})
	p.record(event.Record{Kind: event.Paused, Data: event.StopData{Reason: why}})
	return p
}
