package drain

import (
	"context"
	"fmt"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// sweep takes back what dead drains held: a task whose lease has expired is
// ready again (or blocked, after too many attempts), and every reservation that
// outlived its lease is charged in full, and the op its claim announced ended, in
// this run's own ledger file, and the permits of dead sessions of this clone are
// released.
func (d *drain) sweep(ctx context.Context) error {
	if err := d.unpinDead(ctx); err != nil {
		return err
	}
	kept := d.keep()
	ch := repo.Changes{}
	var swept []okf.ID
	for _, t := range d.at.tasks {
		if t.State != board.InProgress || !t.Expired(d.Now()) {
			continue
		}
		b, to, err := board.Sweep(t, d.Now(), d.at.cfg.MaxAttempts)
		if err != nil {
			return err
		}
		ch[d.at.file(t.Path)] = b
		swept = append(swept, t.ID)
		d.Progress(fmt.Sprintf("%s: %s ended without a result, so the task is %s again", t.ID, t.ClaimedBy, to))
	}
	for _, c := range d.at.spend.Open {
		if d.Now().Before(c.TS.Add(d.at.cfg.TaskLease)) || d.holds(c) {
			continue
		}
		name, err := d.record(ledger.Record{Kind: ledger.Abandoned, Task: c.Task, DeadRun: c.Run, Team: c.Team, Cost: c.Reserved})
		if err != nil {
			d.restore(kept)
			return err
		}
		claim := d.claimed(c)
		if err := d.opDied(claim); err != nil {
			d.restore(kept)
			return err
		}
		ch[name] = d.own(name)
		if err := d.overrideDied(ch, claim); err != nil {
			d.restore(kept)
			return err
		}
	}
	if err := d.releaseDead(ch); err != nil {
		d.restore(kept)
		return err
	}
	if len(ch) == 0 {
		return nil
	}
	if err := d.commit(ctx, fmt.Sprintf("board: sweep %d expired", max(len(swept), 1)), "", ch); err != nil {
		d.restore(kept)
		return err
	}
	d.report.Swept, d.dead = swept, nil
	return nil
}

// holds reports whether the claim c is alive: its task is still in progress
// under the same run and the lease has not expired. A claim without a task,
// whose task is its run, says itself how long it holds.
func (d *drain) holds(c ledger.Record) bool {
	if c.Task == c.Run {
		until, err := time.Parse(time.RFC3339, text(d.claimed(c).Data, "lease_expires"))
		return err == nil && d.Now().Before(until)
	}
	t, ok := board.Find(d.at.tasks, okf.ID(c.Task))
	return ok && t.State == board.InProgress && t.ClaimedBy == c.Run && d.Now().Before(t.LeaseExpires)
}

// unpinDead lets go of the bases that killed drains of this clone had pinned;
// under the drain lock there is no other kind.
func (d *drain) unpinDead(ctx context.Context) error {
	pins, err := d.repo.Refs("refs/odd/base/")
	if err != nil || len(pins) == 0 {
		return err
	}
	for i, p := range pins {
		pins[i] = repo.RefUpdate{Name: p.Name, Old: p.New}
	}
	return d.repo.Update(ctx, pins...)
}
