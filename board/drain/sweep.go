package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// sweep takes back what dead drains held. A task whose lease expired, or whose run was killed
// in this clone, is ready again, or blocked after too many attempts. Its reservation is
// charged in full and its op is ended, in this run's ledger.
func (d *drain) sweep(ctx context.Context) error {
	killed, pins, err := d.repo.Orphans()
	if err != nil {
		return err
	}
	p, swept, err := d.planSweep(killed)
	if err != nil {
		return err
	}
	if len(p.all(d.at.cfg.Root)) > 0 {
		if err := d.land(ctx, p); err != nil {
			return err
		}
		d.report.Swept = nil
		for _, t := range swept {
			d.report.Swept = append(d.report.Swept, t.ID)
			d.say(fmt.Sprintf("%s: %s ended without a result, so the task is %s again", t.ID, t.ClaimedBy, t.State))
		}
	}
	if len(pins) == 0 {
		return nil
	}
	return d.repo.Update(ctx, pins...)
}

// planSweep plans what sweep commits: an empty draft where there is nothing to take back. swept
// are the tasks with the states they get and the runs that held them.
func (bw *boardWriter) planSweep(killed []string) (p *draft, swept []board.Task, err error) {
	p = bw.newDraft()
	for _, t := range bw.at.tasks() {
		now := bw.log.now()
		if slices.Contains(killed, t.ClaimedBy) && bw.at.isReserved(t) && now.Before(t.LeaseExpires) {
			now = t.LeaseExpires
		}
		if t.State != board.InProgress || !t.Expired(now) {
			continue
		}
		b, to, err := board.Sweep(t, now, bw.at.cfg.MaxAttempts)
		if err != nil {
			return nil, nil, err
		}
		p.changes[bw.at.file(t.Path)] = b
		t.State = to
		swept = append(swept, t)
	}
	o := recordsOf(bw.repo, bw.at)
	for _, c := range bw.at.spend.Open {
		died := slices.Contains(killed, c.Run)
		if !died && !o.hasExpired(c, bw.at.cfg.TaskLease, bw.log.now()) {
			continue
		}
		r := event.Record{Kind: event.Abandoned, Task: c.Task, DeadRun: c.Run, Team: c.Team, Cost: c.Reserved}
		if died {
			r.Data = event.AbandonedData{Killed: true}
		}
		if err := p.record(r); err != nil {
			return nil, nil, err
		}
		claim := o.wholeClaim(c)
		if err := bw.opDied(p, claim); err != nil {
			return nil, nil, err
		}
		if err := overrideDied(p, claim); err != nil {
			return nil, nil, err
		}
	}
	p.message = bw.boardMessage(fmt.Sprintf("board: sweep %d expired", max(len(swept), 1)), "")
	return p, swept, nil
}

// hasExpired reports an open claim, made for as long as lease, whose time is over.
func (o Records) hasExpired(c event.Record, lease time.Duration, now time.Time) bool {
	return !now.Before(c.TS.Add(lease)) && !o.isHeld(c, now)
}

// isHeld reports whether the claim c is alive: its task is still in progress
// under the same run and the lease has not expired. A claim without a task,
// whose task is its run, says itself how long it holds.
func (o Records) isHeld(c event.Record, now time.Time) bool {
	if c.Task == c.Run {
		until, err := time.Parse(time.RFC3339, o.wholeClaim(c).Claim().LeaseExpires)
		return err == nil && now.Before(until)
	}
	t, ok := board.Find(o.Tasks, okf.ID(c.Task))
	return ok && t.State == board.InProgress && t.ClaimedBy == c.Run && now.Before(t.LeaseExpires)
}

// wholeClaim returns the whole record of an open claim.
func (o Records) wholeClaim(c event.Record) event.Record {
	for _, r := range slices.Backward(o.runRecords(c.Run)) {
		if r.Opens() && r.Task == c.Task {
			return r
		}
	}
	return c
}

func (s *snapshot) isReserved(t board.Task) bool {
	return slices.ContainsFunc(s.spend.Open, func(c event.Record) bool { return c.Run == t.ClaimedBy && c.Task == string(t.ID) })
}

// pinned is the folder of refs that keep the base of a running session from git's pruning.
const pinned = "refs/odd/base/"

// Free takes back what killed drains of this clone held, as the next drain would, and
// tells the tasks it freed. Where none was killed it does nothing; while a drain runs, it
// is refused.
func Free(ctx context.Context, r *repo.Repo, o Options) ([]okf.ID, error) {
	if runs, _, err := r.Orphans(); err != nil || len(runs) == 0 {
		return nil, err
	}
	d, err := openDrain(ctx, r, o)
	if err != nil {
		return nil, err
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := d.readBoard(ctx); err != nil {
		return nil, err
	}
	if err := d.retryAct(ctx, d.sweep); err != nil {
		return nil, err
	}
	return d.report.Swept, d.pruneRuns(ctx)
}
