package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

// This file writes the records of ops and reads them back; package pipeline shows which there
// are, and when they come.

// recordOp records the op of a claim, as far as it stands before the outcome. One that was
// announced and not begun, because the work ended before, is abandoned.
func (rec recorder) recordOp(p *draft, c *claim, w work) {
	before, _ := w.log.Split()
	if len(before) == 0 && c.op != "" {
		var err error
		before, err = pipeline.Unbegun(c.op, string(c.task.ID), string(c.base), rec.log.id, "", rec.log.now(), w.reason)
		p.fail(err)
	}
	p.recordOps(before...)
}

// recordOpBehind records what an op came to once it moved a ref, and with that the end of the op
// whose place it takes.
func (rec recorder) recordOpBehind(p *draft, w work) {
	_, behind := w.log.Split()
	p.recordOps(behind...)
	if len(behind) > 0 && w.change.remade != nil {
		end, err := pipeline.End(w.change.remade.old, rec.log.id, rec.log.now(), pipeline.Superseded, "checked again as "+w.log.Op().ID)
		p.fail(err)
		p.recordOps(end)
	}
}

// recordDeadOp ends the op that the claim of a dead run announced. Older claims announce none. A
// forged claim is passed over: odd check tells of it, and it must not stop the board.
func (bw *boardWriter) recordDeadOp(p *draft, claim event.Record) {
	data := claim.Claim()
	if data.Op == "" {
		return
	}
	story, err := bw.at.findStory(data.Op)
	p.fail(err)
	if story.Told == nil {
		log, _ := pipeline.Unbegun(data.Op, claim.Task, data.Base, bw.log.id, claim.Run, bw.log.now(), ranDead)
		p.recordOps(log...)
		return
	}
	end, ok, err := pipeline.Abandon(story, bw.log.id, bw.log.now(), ranDead)
	p.fail(err)
	if ok {
		p.recordOps(end)
	}
}

const ranDead = "the run that worked on it died, and its claim went on"

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

func (bw *boardWriter) waitingOp(t board.Task) (pipeline.Op, error) {
	s, ok, err := bw.at.state.Waiting(string(t.ID), t.Result.Commit)
	if err != nil {
		return pipeline.Op{}, refuse("ledger", "%s/%v; restore the ledger from git history", bw.at.cfg.Root, err)
	}
	switch {
	case !ok || !s.Sound:
		return pipeline.Op{}, refuse("records", "review --refresh %s: the ledger entries of its change are inconsistent; odd check says why, odd reject %[1]s --reason \"why\" ends it", t.ID)
	case bw.isApproved(t): // which does not expire
		return pipeline.Op{}, refuse("state", "review --refresh %s: it is approved already; merge it, then run odd sync", t.ID)
	case !bw.log.now().Before(s.Op().Until):
		return pipeline.Op{}, refuse("expired", "review --refresh %s: the time to approve it ended at %s; odd drain moves the task back to backlog", t.ID, s.Op().Until.Format("2006-01-02 15:04Z"))
	}
	return s.Op(), nil
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
