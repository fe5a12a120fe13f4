package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
)

// expire ends every change that waited for a person longer than its review_ttl
// allowed: its op has its ending, its task goes back to backlog, one commit each.
// The review branch stays as it is. Nothing is ever approved by a timer, and what
// a person approved on its branch waits for a merge, not for a person.
func (d *drain) expire(ctx context.Context) error {
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
		p, why, err := d.planExpiry(t.ID, s.Op())
		if err != nil {
			return err
		}
		if err := d.land(ctx, p); err != nil {
			return err
		}
		d.say(fmt.Sprintf("%s: %s, back to backlog", t.ID, why))
	}
	return nil
}

// planExpiry plans the expiry of one op, and says why its task goes back to backlog.
func (bw *boardWriter) planExpiry(id okf.ID, o pipeline.Op) (p *draft, why string, err error) {
	end, err := pipeline.Expire(o, bw.log.id, bw.log.now())
	if err != nil {
		return nil, "", err
	}
	t, _ := board.Find(bw.at.tasks(), id)
	why = fmt.Sprintf("%s was not approved in time: %s", o.ID, end.Last().Note)
	b, err := board.Expire(t, why)
	if err != nil {
		return nil, "", err
	}
	p = bw.newDraft()
	if err := p.recordOps(end); err != nil {
		return nil, "", err
	}
	p.changes[bw.at.file(t.Path)] = b
	p.message = commitMessage(fmt.Sprintf("board: %s back to backlog", id), why,
		[2]string{"Odd-Run", bw.log.id}, [2]string{"Odd-Task", string(id)}, [2]string{"Odd-Lease", bw.leaseID}, [2]string{"Odd-Op", o.ID})
	return p, why, nil
}

// isApproved reports that a person's empty commit that approves t's proposal is
// upon it, on the branch that a forge will merge.
func (bw *boardWriter) isApproved(t board.Task) bool {
	for _, ref := range []string{bw.line.Local(t.Result.Branch), "refs/heads/" + t.Result.Branch} {
		tip, err := bw.repo.Ref(ref)
		if err != nil || string(tip) == t.Result.Commit {
			continue
		}
		c, err := bw.repo.Commit(tip)
		if err == nil && strings.Join(c.Trailer("Odd-Proposal"), " ") == t.Result.Commit && strings.Join(c.Trailer("Odd-Approved-By"), " ") == "human:"+c.Author.Email {
			return true
		}
	}
	return false
}
