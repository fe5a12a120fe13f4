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

// sweepClaims takes back the claims of dead drains. A task whose claim is too old, or whose run was killed
// in this clone, is ready again, or blocked after too many attempts. Its reservation is
// charged in full and its op is ended, in this run's ledger.
func (d *drain) sweepClaims(ctx context.Context) error {
	killed, pins, err := d.repo.Orphans()
	if err != nil {
		return err
	}
	p, swept := d.planSweep(killed)
	if !p.isEmpty(d.at.cfg.Root) {
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
// are the tasks with the states they get and the runs that had them.
func (bw *boardWriter) planSweep(killed []string) (p *draft, swept []board.Task) {
	p = bw.newDraft()
	for _, t := range bw.at.tasks() {
		now := bw.log.now()
		reserved := slices.ContainsFunc(bw.at.spend.Open, func(c event.Record) bool { return c.Run == t.ClaimedBy && c.Task == string(t.ID) })
		if slices.Contains(killed, t.ClaimedBy) && reserved && now.Before(t.LeaseExpires) {
			now = t.LeaseExpires
		}
		if t.State != board.InProgress || !t.Expired(now) {
			continue
		}
		b, to, err := board.Sweep(t, now, bw.at.cfg.MaxAttempts)
		p.fail(err)
		p.changes[bw.at.pathOf(t.Path)] = b
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
		p.record(r)
		claim := o.wholeClaim(c)
		bw.recordDeadOp(p, claim)
		overrideDied(p, claim)
	}
	p.message = bw.log.message(fmt.Sprintf("board: sweep %d expired", max(len(swept), 1)), "", traced{lease: bw.leaseID})
	return p, swept
}

// hasExpired reports an open claim, made to last so long, whose time is over.
func (o Records) hasExpired(c event.Record, lasts time.Duration, now time.Time) bool {
	return !now.Before(c.TS.Add(lasts)) && !o.isAlive(c, now)
}

// isAlive reports whether the claim c is alive: its task is still in progress
// under the same run and its time is not over. A claim without a task,
// whose task is its run, says itself how long it holds.
func (o Records) isAlive(c event.Record, now time.Time) bool {
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

// Free takes back the claims of killed drains of this clone, as the next drain would, and
// tells the tasks it freed. Where none was killed it does nothing; while a drain runs, it
// is refused.
func Free(ctx context.Context, r *repo.Repo, o Options) ([]okf.ID, error) {
	if runs, _, err := r.Orphans(); err != nil || len(runs) == 0 {
		return nil, err
	}
	var freed []okf.ID
	err := underLock(ctx, r, o, func(d *drain) error {
		if err := d.retryAct(ctx, d.sweepClaims); err != nil {
			return err
		}
		freed = d.report.Swept
		return nil
	})
	return freed, err
}
