package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// raceTries is how often a run plans again after another commit came first. Any number of
// read-only sessions may commit at the same time.
const raceTries = 30

// claim is a task this run holds.
type claim struct {
	task       board.Task // as the claim commit has it
	until      time.Time
	reserved   budget.MicroUSD
	sessions   int                // that share the reservation, 0 for one
	base       repo.OID           // what the session reads and the proposal is made on
	leaseID    string             // the commitment lease it is made under, "" where none is required
	kind       string             // of work, as the lease's stance sees it
	override   *contract.Override // that its sessions have of a person; nil for none
	op         string             // that it announces, "" where the task asks for no change of files
	startDraft *draft             // what the result of a refresh begins with: its claim, which is not committed by itself; else nil
	pin        repo.RefUpdate
	repo       *repo.Repo
}

// costOfEach returns what one session of the claim may cost.
func (c *claim) costOfEach() budget.MicroUSD { return c.reserved / budget.MicroUSD(max(c.sessions, 1)) }

// isRefresh reports a result that is judged again without a session: its task stays in review.
func (c *claim) isRefresh() bool { return c.startDraft != nil }

// notSaved says that the result of the claim is lost, and when its task is free again. A refresh claims nothing.
func (c *claim) notSaved(err error) error {
	if c.isRefresh() {
		return fmt.Errorf("review --refresh %s: the result was not saved, and the task is in review as before: %w", c.task.ID, err)
	}
	if isOffBoard(c.task) {
		return fmt.Errorf("the result was not saved; odd drain ends this session's claim after %s: %w", formatTime(c.until), err)
	}
	return fmt.Errorf("%s: the result was not saved; odd drain frees the task after %s: %w", c.task.ID, formatTime(c.until), err)
}

// tryAgain is how a person has the work of the claim tried again, behind a reason.
func (c *claim) tryAgain() string {
	if isOffBoard(c.task) {
		return ""
	}
	return fmt.Sprintf("; run odd task ready %s to try again", c.task.ID)
}

// releaseBase lets git forget the base again.
func (c *claim) releaseBase(ctx context.Context) {
	if c.pin.New == "" {
		return
	}
	_ = c.repo.Update(context.WithoutCancel(ctx), repo.RefUpdate{Name: c.pin.Name, Old: c.pin.New})
}

// claim commits that this run works on t in so many sessions, and what they may cost. If a task of the board
// may not be drained any more, it is nil: a note says why, or the error where a person asked for it.
func (d *drain) claim(ctx context.Context, t board.Task, sessions int) (c *claim, err error) {
	err = d.retryAct(ctx, func(ctx context.Context) error {
		c = nil
		ch, why := d.admit(t)
		if why != nil && d.Task == "" && !isOffBoard(t) && isRefusal(why) {
			d.addNote(fmt.Sprintf("%s: not claimed: %v", t.ID, why))
			return nil
		}
		if why != nil {
			return why
		}
		var p *draft
		c, p = d.planClaim(ch.task, ch.bound, sessions)
		return d.landClaim(ctx, c, p)
	})
	return c, err
}

// admit decides about t once more, as the board has it now.
func (d *drain) admit(t board.Task) (ch choice, err error) {
	if d.leaseID, err = d.authority().checkLease(); err != nil {
		return ch, err
	}
	if !isOffBoard(t) {
		now, ok := board.Find(d.at.tasks(), t.ID)
		if !ok {
			return ch, refuse("task", "task %s: it is no longer on the board", t.ID)
		}
		t = now
	}
	ch = d.admission().decide(t)
	return ch, ch.why()
}

// newClaim is what this run would claim now to work on t, bound to b, in so many sessions.
func (d *drain) newClaim(t board.Task, b bound, sessions int) (*claim, error) {
	now, lasts := d.authority(), d.at.cfg.TaskLease
	if isOffBoard(t) {
		lasts = max(lasts, risk.Limits(d.at.cfg, t).Timeout) * time.Duration(sessions)
	}
	base, err := d.base()
	return &claim{
		task: t, sessions: sessions, base: base, until: now.until(lasts, d.leaseID), reserved: now.reservation(t),
		leaseID: d.leaseID, kind: kindOf(t, b.Role), override: b.Override, repo: d.repo,
	}, err
}

// planClaim plans the commit of a claim: a task of the board is this run's, or this run holds sessions that no
// task asks for.
func (d *drain) planClaim(t board.Task, b bound, sessions int) (*claim, *draft) {
	p, rec := d.newDraft(), d.recorder()
	c, err := d.newClaim(t, b, sessions)
	p.fail(err)
	r := event.Record{Kind: event.Claim, Task: string(t.ID), Role: t.Role, Team: t.Team, Reserved: int64(c.reserved)}
	data := event.ClaimData{LeaseExpires: c.until.Format(time.RFC3339), Base: string(c.base), Lease: c.leaseID, Override: tellOverride(p, b.Override, d.Person), Alert: rec.dueAlerts(t.Team, c.reserved)}
	if isOffBoard(t) {
		r.Kind, data.Sessions, data.ContractRole, data.Mode, data.Artifact, data.Asked = event.Engage, int64(sessions), string(b.Role), string(b.Mode), b.Artifact, t.Title
		data.Handoff = rec.addGiven(p)
		p.message = d.log.message(fmt.Sprintf("board: begin a session as %s", b.Role), t.Title, traced{lease: c.leaseID})
	} else {
		d.takeTask(p, c, &data)
		if d.Call.Role != "" { // what a person asks for beside the task is told before the session
			data.ContractRole = string(b.Role)
		}
	}
	r.Data = data
	p.record(r)
	return c, p
}

// takeTask plans that the task of c is this run's.
func (d *drain) takeTask(p *draft, c *claim, data *event.ClaimData) {
	text, err := board.Claim(c.task, d.Run, c.until)
	p.fail(err)
	p.changes[d.at.pathOf(c.task.Path)] = text
	p.message = d.log.message(fmt.Sprintf("board: claim %s", c.task.ID), "", traced{task: c.task.ID, lease: c.leaseID})
	a, err := okf.Parse(c.task.Path, text)
	p.fail(err)
	c.task, err = board.Parse(&a)
	p.fail(err)
	data.Attempt, data.Blob = c.task.Attempts, c.task.Blob
	if d.at.changesFiles(c.task) {
		c.op, err = newOpID(d.Now(), d.Random)
		p.fail(err)
		data.Op = c.op
	}
}

// landClaim lands a claim, and pins what its session reads.
func (bw *boardWriter) landClaim(ctx context.Context, c *claim, p *draft) error {
	next, err := bw.commit(ctx, p)
	if err != nil {
		return err
	}
	if bw.target() == "" {
		c.base = next
	}
	c.pin = repo.RefUpdate{Name: pinned + bw.log.id, New: c.base}
	p.refs = append(p.refs, c.pin)
	err = bw.moveTo(ctx, p, next)
	if err != nil && !p.landed { // else the next drain finds by the pin that this run died
		c.releaseBase(ctx)
	}
	return err
}

// base returns the tip of the branch that reviews merge into. Where that is the board
// branch itself, landClaim replaces it by the claim commit.
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

// until returns when a claim made now ends: after its own time, or when its commitment lease ends,
// whichever is first.
func (a authority) until(lasts time.Duration, lease string) time.Time {
	end := a.now.UTC().Add(lasts).Truncate(time.Second)
	if s, err := a.readGovernance(); err == nil && lease != "" && s.File.Lease.ExpiresAt.Before(end) {
		end = s.File.Lease.ExpiresAt
	}
	return end
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

// isOffBoard reports a task that is on no board: an invocation.
func isOffBoard(t board.Task) bool { return t.Path == "" }

// pinned is the folder of refs that keep the base of a running session from git's pruning.
const pinned = "refs/odd/base/"
