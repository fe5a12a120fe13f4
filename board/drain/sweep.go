package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// sweepClaims takes back what dead drains held. A task whose lease expired, or whose run was killed
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
// are the tasks with the states they get and the runs that held them.
func (bw *boardWriter) planSweep(killed []string) (p *draft, swept []board.Task) {
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
		bw.opDied(p, claim)
		overrideDied(p, claim)
	}
	p.message = bw.log.message(fmt.Sprintf("board: sweep %d expired", max(len(swept), 1)), "", traced{lease: bw.leaseID})
	return p, swept
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

// Free takes back what killed drains of this clone held, as the next drain would, and
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

// # What a claim announces
//
// The records of an op land with the task's result, all in one commit, so that a
// process that dies before it leaves none of them. But its claim, which lands before
// anything is done, has the op's id (data.op), and whoever closes the claim writes
// how that op ended: the run itself, or the one that takes back what it held. So of
// every op that was ever meant, history says how it ended, and that it did once.

// unrecordedOp returns an op that a claim announced and no ledger tells of: all that is known of
// it is its base, and the run that died with it, "" for none.
func (bw *boardWriter) unrecordedOp(id, task, base, dead string) (pipeline.Story, error) {
	facts := map[string]string{}
	for k, v := range map[string]string{pipeline.FactBase: base, pipeline.FactDied: dead} {
		if v != "" {
			facts[k] = v
		}
	}
	o, err := pipeline.Begin(id, task, bw.log.id, bw.log.now(), pipeline.Limits{}, facts)
	return pipeline.Story{Told: []pipeline.Told{{Op: o, Record: o.Record()}}, Sound: true}, err
}

// opDied ends the op that the claim of a dead run announced, in this run's own
// ledger. Older claims announce none.
func (bw *boardWriter) opDied(p *draft, claim event.Record) {
	id := claim.Claim().Op
	if id == "" {
		return
	}
	story, err := bw.at.findStory(id)
	p.fail(err)
	if story.Told == nil {
		if story, err = bw.unrecordedOp(id, claim.Task, claim.Claim().Base, claim.Run); err != nil {
			return // a forged claim, of which odd check tells; it must not stop the board
		}
		p.recordOps(story.Op())
	}
	end, ok, err := pipeline.Abandon(story, bw.log.id, bw.log.now(), "the run that worked on it died, and its claim went on")
	p.fail(err)
	if ok {
		p.recordOps(end)
	}
}

// findStory returns what the board's ledgers tell of an op; none for an op that they do not know.
func (s *snapshot) findStory(id string) (pipeline.Story, error) {
	if id == "" {
		return pipeline.Story{}, nil
	}
	stories, err := s.state.Stories(func(o *state.Op) bool { return o.ID == id })
	if err != nil || len(stories) == 0 {
		return pipeline.Story{}, err
	}
	return stories[0], nil
}

// tellOp writes what the op of a claim came to until its outcome. One that was
// announced and not begun, because the work ended before, is abandoned here; one
// that another run has ended, as of a dead run, has no word to add.
func (rec recorder) tellOp(p *draft, c *claim, w work) {
	if before, _ := w.splitOps(); len(before) > 0 || c.op == "" {
		p.recordOps(before...)
		return
	}
	s, err := rec.unrecordedOp(c.op, string(c.task.ID), string(c.base), "")
	p.fail(err)
	end, err := pipeline.End(s.Op(), rec.log.id, rec.log.now(), pipeline.Abandoned, w.reason)
	p.fail(err)
	p.recordOps(s.Op(), end)
}

// expireChanges ends every change that waited for a person longer than its review_ttl
// allowed: its op has its ending, its task goes back to backlog, one commit each.
// The review branch stays as it is. Nothing is ever approved by a timer, and what
// a person approved on its branch waits for a merge, not for a person.
func (d *drain) expireChanges(ctx context.Context) error {
	for _, t := range slices.Clone(d.at.tasks()) {
		if t.State != board.Review || t.Result.Commit == "" {
			continue
		}
		s, ok, err := d.at.state.Waiting(string(t.ID), t.Result.Commit)
		if err != nil {
			return refuse("ledger", "%s/%v; restore the ledger from git history", d.at.cfg.Root, err)
		}
		if !ok || !s.Sound || d.Now().Before(s.Op().Until) || d.isApproved(t) {
			continue
		}
		p, why := d.planExpiry(t.ID, s.Op())
		if err := d.land(ctx, p); err != nil {
			return err
		}
		d.say(fmt.Sprintf("%s: %s, back to backlog", t.ID, why))
	}
	return nil
}

// planExpiry plans the expiry of one op, and says why its task goes back to backlog.
func (bw *boardWriter) planExpiry(id okf.ID, o pipeline.Op) (p *draft, why string) {
	p = bw.newDraft()
	end, err := pipeline.Expire(o, bw.log.id, bw.log.now())
	p.fail(err)
	t, _ := board.Find(bw.at.tasks(), id)
	why = fmt.Sprintf("%s was not approved in time: %s", o.ID, end.Last().Note)
	b, err := board.Expire(t, why)
	p.fail(err)
	p.recordOps(end)
	p.changes[bw.at.pathOf(t.Path)] = b
	p.message = bw.log.message(fmt.Sprintf("board: %s back to backlog", id), why, traced{task: id, lease: bw.leaseID, op: o.ID})
	return p, why
}

// isApproved reports that a person's empty commit that approves t's proposal is
// upon it, on the branch that a forge will merge.
func (bw *boardWriter) isApproved(t board.Task) bool {
	for _, ref := range []string{bw.line.Local(t.Result.Branch), "refs/heads/" + t.Result.Branch} {
		tip, err := bw.repo.Ref(ref)
		if err != nil {
			continue
		}
		c, err := bw.repo.Commit(tip)
		if err == nil && strings.Join(c.Trailer("Odd-Proposal"), " ") == t.Result.Commit && strings.Join(c.Trailer("Odd-Approved-By"), " ") == "human:"+c.Author.Email {
			return true
		}
	}
	return false
}
