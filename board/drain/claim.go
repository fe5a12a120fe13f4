package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// raceTries is how often a run plans again after another commit came first. Any number of
// read-only sessions may commit at the same time.
const raceTries = 30

// claim is a task this run holds.
type claim struct {
	task       board.Task // as the claim commit has it
	until      time.Time
	reserved   budget.MicroUSD
	sessions   int      // that share the reservation, 0 for one
	base       repo.OID // what the session reads and the proposal is made on
	leaseID    string   // the commitment lease it is made under, "" where none is required
	kind       string   // of work, as the lease's stance sees it
	op         string   // that it announces, "" where the task asks for no change of files
	startDraft *draft   // what the result of a refresh begins with: its claim, which is not committed by itself; else nil
	pin        repo.RefUpdate
	repo       *repo.Repo
}

// costOfEach returns what one session of the claim may cost.
func (c *claim) costOfEach() budget.MicroUSD { return c.reserved / budget.MicroUSD(max(c.sessions, 1)) }

// isRefresh reports a result that is judged again without a session: its task stays in review.
func (c *claim) isRefresh() bool { return c.startDraft != nil }

// notSaved says that the result of the claim is lost, and when its task is free again.
func (c *claim) notSaved(err error) error {
	if c.task.Path == "" {
		return fmt.Errorf("the result was not saved; odd drain ends this session's claim after %s: %w", formatTime(c.until), err)
	}
	return fmt.Errorf("%s: the result was not saved; odd drain frees the task after %s: %w", c.task.ID, formatTime(c.until), err)
}

// releaseBase lets git forget the base again.
func (c *claim) releaseBase(ctx context.Context) {
	if c.pin.New == "" {
		return
	}
	_ = c.repo.Update(context.WithoutCancel(ctx), repo.RefUpdate{Name: c.pin.Name, Old: c.pin.New})
}

// claim commits that this run works on t and what it may cost. If t may not be drained any more, it is
// nil: a note says why, or the error where a person asked for t.
func (d *drain) claim(ctx context.Context, t board.Task) (c *claim, err error) {
	err = d.retryAct(ctx, func(ctx context.Context) error {
		c = nil
		now, ok := board.Find(d.at.tasks(), t.ID)
		why := refuse("task", "task %s: it is no longer on the board", t.ID)
		if ok {
			d.leaseID, why = d.admission().whyDenied(now)
		}
		if why != nil && d.Task == "" && isRefusal(why) {
			d.addNote(fmt.Sprintf("%s: not claimed: %v", t.ID, why))
			return nil
		}
		if why != nil {
			return why
		}
		plan := d.planClaim(now)
		c = plan.claim
		return d.landClaim(ctx, plan)
	})
	return c, err
}

// explainRace tells a drain that lost every race for the board to come again later.
func explainRace(err error) error {
	if errors.Is(err, repo.ErrMoved) {
		return refuseBusy("raced", "other commits came in %d times in a row while odd tried to write; run odd drain again", raceTries)
	}
	return err
}

// claimPlan is a claim that no commit has yet: its draft lacks the commit alone.
type claimPlan struct {
	*claim
	draft *draft
}

func (d *drain) planClaim(t board.Task) claimPlan {
	p := d.newDraft()
	now := d.authority()
	c := &claim{until: now.until(d.at.cfg.TaskLease, d.leaseID), reserved: now.reservation(t), leaseID: d.leaseID, kind: t.Kind, repo: d.repo}
	b, err := board.Claim(t, d.Run, c.until)
	p.fail(err)
	c.task, err = parseAgain(t, b)
	p.fail(err)
	c.base, err = d.base()
	p.fail(err)
	p.changes[d.at.pathOf(t.Path)] = b
	data := event.ClaimData{Attempt: c.task.Attempts, Blob: c.task.Blob}
	if d.at.changesFiles(c.task) {
		c.op, err = newOpID(d.Now(), d.Random)
		p.fail(err)
		data.Op = c.op
	}
	if d.Call.Role != "" { // what a person asks for beside the task is told before the session
		if b, no := d.contracts().resolveContract(t); len(no) == 0 {
			data.ContractRole = string(b.Role)
		}
	}
	p.message = d.log.message(fmt.Sprintf("board: claim %s", t.ID), "", traced{task: t.ID, lease: c.leaseID})
	return d.recorder().completeClaim(c, p, event.Record{Kind: event.Claim, Task: string(t.ID), Role: t.Role, Team: t.Team}, data)
}

// completeClaim completes the draft of a claim with its record: what it reserves, on what and until when.
func (rec recorder) completeClaim(c *claim, p *draft, r event.Record, data event.ClaimData) claimPlan {
	data.LeaseExpires, data.Base, data.Lease = c.until.Format(time.RFC3339), string(c.base), c.leaseID
	data.Override, data.Alert = rec.tellOverride(p), rec.dueAlerts(r.Team, c.reserved)
	r.Reserved, r.Data = int64(c.reserved), data
	p.record(r)
	return claimPlan{c, p}
}

// landClaim lands a claim, and pins what its session reads.
func (d *drain) landClaim(ctx context.Context, plan claimPlan) error {
	c, p := plan.claim, plan.draft
	next, err := d.commit(ctx, p)
	if err != nil {
		return err
	}
	if d.target() == "" {
		c.base = next
	}
	c.pin = repo.RefUpdate{Name: pinned + d.Run, New: c.base}
	p.refs = append(p.refs, c.pin)
	err = d.moveTo(ctx, p, next)
	if err != nil && !p.landed { // else the next drain finds by the pin that this run died
		c.releaseBase(ctx)
	}
	return err
}

// base returns the tip of the branch that reviews merge into. Where that is the board
// branch itself, stake replaces it by the claim commit.
func (bw *boardWriter) base() (repo.OID, error) {
	if bw.target() == "" {
		return bw.at.tip, nil
	}
	oid, err := bw.repo.Ref(bw.line.Local(bw.target()))
	if errors.Is(err, repo.ErrNoRef) {
		return "", refuse("no-target", "odd.toml: [board] target %q is not a branch; create it with git branch, or change the key", bw.target())
	}
	return oid, err
}

// target returns the branch that reviews merge into, "" if it is the board branch.
func (bw *boardWriter) target() string {
	if t := bw.at.cfg.Target; t != bw.line.Name() {
		return t
	}
	return ""
}

// until returns when a claim made now under a lease ends: after its own time, or when the
// lease ends, whichever is first.
func (a authority) until(after time.Duration, lease string) time.Time {
	end := a.now.UTC().Add(after).Truncate(time.Second)
	if s, err := a.slowLoop(); err == nil && lease != "" && s.File.Lease.ExpiresAt.Before(end) {
		end = s.File.Lease.ExpiresAt
	}
	return end
}

func parseAgain(t board.Task, b []byte) (board.Task, error) {
	a, err := okf.Parse(t.Path, b)
	if err != nil {
		return board.Task{}, err
	}
	return board.Parse(&a)
}

// baseGraph returns the atoms that a session works on and its proposal is judged by: the board's, or
// the target's if that is another branch.
func (bw *boardWriter) baseGraph(base repo.OID) (*okf.Graph, error) {
	if bw.target() == "" {
		return bw.at.graph, nil
	}
	files, err := bw.repo.Tree(base)
	if err != nil {
		return nil, err
	}
	root, err := fs.Sub(files, bw.at.cfg.Root)
	if err != nil {
		return nil, err
	}
	g, _, err := okf.Load(root)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", bw.at.cfg.Root, bw.target(), err)
	}
	return g, nil
}
