// Package drain takes ready tasks one at a time, under a lock, a time limit
// and a budget. It runs one bounded session for each task and puts what the
// session proposes on a review branch. Begin at Run and read from top to bottom.
//
// The history after each step of a task, and so after a crash at any moment:
//
//	claim     board branch: task in_progress, ledger claim with the reservation
//	proposal  odd/review/SLUG.N: the atoms that reconcile returned and the files that were judged
//	result    board branch: task in review or blocked, journal, ledger outcome
//
// Each board commit is planned as a draft: its files, its message and the refs
// that move with it. A plan reads the board at one commit, the time and what the session
// brought, and moves no shared ref. repo.Line.Land asks the rules
// about the commit and moves all of its refs, or none. A draft that loses its race
// is dropped and planned again on the new tip, so nothing has to be undone.
//
// # Before the first claim
//
// Under the lock, a drain is refused while the board is paused, the clock is wrong or
// this computer cannot run sessions. Then it commits the gate proposals of decay. They stand even if the
// next check refuses the drain: a commitment lease must be valid, unless odd.toml has turned leases off,
// and no emergency may be open. The lease is checked again before every task, before every
// turn, and when the result lands. If it has ended meanwhile, the task is blocked
// and what was emitted is dropped.
//
// A session's own gate proposals go with its result. One of severity emergency
// ends the drain, whatever odd.toml says of leases.
//
// # A change of files
//
// A task that asks for file changes goes through package pipeline between claim
// and proposal. Its paths are judged before a session costs anything; its bytes
// are judged afterwards, in a tree of their own. The proposal holds the files and
// the session's atoms in one commit, and the op's records come with the result.
// With auto_apply, a change of a low tier may land on the target with the result.
//
// # A crash
//
// Proposal, result and the run's artifacts (refs/odd/run/RUN) move in one
// transaction. If a drain dies, a later one frees its task: in the same clone at
// once, in another when the time of the claim is over. The whole reservation is
// charged.
//
// # Where to read
//
// This file is the loop. The others, in the order of a task:
//
//   - snapshot, lock, authority, money: the board at one commit; one drain at a time, here and over a remote; what
//     the lease, the emergencies, the budget and the state of a task allow at a moment
//   - next, preflight, plan: which task is taken, and why others are not; whether a session could work; --dry-run
//   - claim, draft, land: the commit that takes a task; how a commit is planned, and lands in spite of races
//   - sessions, work: the sessions of a claim, one after the other or side by side; one session from its request to
//     its verdict
//   - invoke: sessions that no task asks for
//   - contract, records: what a session is bound to; what the ledgers record of a run, and what is given instead of
//     the board
//   - grant, handshake: what a session may do; the handshake that binds it to its role
//   - brief, related: what it is told, and the atoms that bear on its task
//   - desk, computer, toolbox, servers: its scratch repository, this computer, what it may look at, its MCP servers
//   - failover: the next agent takes over where a connection fails
//   - judge, handover, gateproposals: what it emitted is capped and merged; the handoff for the next session, and a person's
//     override; gate proposals, of decay and of sessions
//   - change, changesteps, changemake, storable, changecheck, changejudge, changeland: a change of files, from its op and
//     its plan over candidates, what git can store of them, and checks, to its tier, its commit and its landing
//   - oprecords: the records of ops, written and read, and the end of reviews whose time is over; package pipeline shows
//     which records there are
//   - propose, settle, artifacts, notify: the proposal and the result of a claim; what a run keeps; the command that is
//     told of it
//   - judgeagain, changeagain: odd review --refresh judges what a run kept once more
//   - sweep: takes back the claims of killed drains
//   - refusal: the errors of rules, the count of refused drains, and helpers for texts
//
// Package overview has what the board says before anybody works: its lease, its context and
// the signs of decay. Package agent has the agents that odd.toml names, with their sandbox, package bench the
// checks of a commit.
//
// boardWriter plans commits for the board and moves it. Other questions are answered by a value made for them:
// snapshot, authority, admission, contracts and computer; recorder plans the commits that record what sessions came
// to. One session at work on a claim is an attempt. The attempt turns an input into a lastSession; each judgement
// makes a new lastSession of the one before. With the sessions before it, the last one is a work. The result of a
// claim is planned from its works, on the board as it is when it lands. These values are never written again; a
// snapshot fills caches, and a handshake counts its stages. A change of files has a state, which only its own methods
// write; it asks its sessions (asking) and keeps the log of its op. The type drain is the loop, and what its steps
// share of the run. The package is large because every step from claim to result has an end of its own for a crash, a
// lost race, a lease that is over and money that is gone.
//
// # Invariants kept here
//
//   - 1: the confidence cap runs before the merge.
//   - 2: a proposal holds only the bytes named above.
//   - 3: nothing here can say done. board.Verdict has no such value, and
//     board/review may not be imported.
//   - 4: one drain at a time.
//   - 5: money is reserved in the claim.
//   - 6: a role below the floor gets no session.
//   - 8: no commit of a drain touches governance, and a claim names its lease.
//   - 9: what a session proposes is an agent's proposal, and moves nothing.
//   - 12: mergeEmission needs a live permit, which only a bound handshake gives.
//   - 13: a change is proposed only as the commit whose bytes were judged.
package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// Options are what the caller decides.
type Options struct {
	agent.Host

	Branch     string              // full ref name of the board branch
	MaxTasks   int                 // 0: [drain] max_tasks
	Task       string              // only this task, "" for the total order
	Progress   func(string)        // one line of talk; nil is silence
	BeforeTurn func(session.Usage) // what the sessions of a task took so far, before each turn; nil: nobody counts
	Wait       func(time.Duration) // lets a person's own git command finish; nil does not wait
	Random     func([]byte) error  // chance, for the tokens and the key of anchors
	Check      repo.Check          // of each commit before it lands; nil for none

	// Substrate makes the session's substrate; nil means what odd.toml names.
	Substrate func(config.Config, fs.FS) (session.Substrate, error)

	// Preview shows a change of the tier NOTIFY_APPLY that would land by itself to
	// the person at the terminal; by is who let it land, human:ADDRESS, "" for no.
	// nil: nobody is there, and it waits.
	Preview func(context.Context, Preview) (by string, err error)

	// Call is what the caller asks of the session's contract besides its task,
	// Handoffs among it by name; it wins over the task and odd.toml.
	Call     contract.Call
	Handoffs []string
	Invoked  bool                                               // a person asked for this one session: what its contract refuses is told to them, and blocks nothing
	Person   string                                             // who asks for an override, "human:ann@example.org"
	Reply    func(context.Context, invoke.Turn) (string, error) // a person's turn; nil: nobody is there
	Watch    *invoke.Watch                                      // the stream that an observer's session watches; nil: none
}

// Report is what one drain did.
type Report struct {
	Run   string          `json:"run"`
	Swept []okf.ID        `json:"swept,omitempty"` // tasks whose dead claim was taken back
	Tasks []Outcome       `json:"tasks"`
	Said  []Spoken        `json:"sessions,omitempty"` // of Invoke
	Notes []string        `json:"notes,omitempty"`    // checkouts left alone, branches that diverged
	Level string          `json:"budget"`             // ok, alert or stop after the run
	Spent budget.MicroUSD `json:"spent_micro_usd"`
}

// Outcome is the end of one task.
type Outcome struct {
	Task     okf.ID                   `json:"task"`
	State    board.State              `json:"state"` // review or blocked; "" when the claim was lost
	Reason   string                   `json:"reason,omitempty"`
	Code     string                   `json:"code,omitempty"` // of a blocked task, where a limit, a fault or the end of its change has one
	Branch   string                   `json:"branch,omitempty"`
	Proposal repo.OID                 `json:"proposal,omitempty"`
	Effects  map[reconcile.Effect]int `json:"effects,omitempty"`
	Files    int                      `json:"files,omitempty"`  // of a proposed change, besides the atoms
	Landed   string                   `json:"landed,omitempty"` // the branch that the change landed on by itself
	Cost     budget.MicroUSD          `json:"cost_micro_usd"`
	Notes    []string                 `json:"notes,omitempty"` // what the session leaves to a person, as titles: what it did not read or left out
	Trace    string                   `json:"trace"`
	Session  *Spoken                  `json:"session,omitempty"` // under a contract other than general's
}

// drain is one run.
type drain struct {
	Options
	boardWriter
	notes
	given  *Given // what an invocation works on instead of the board; nil for none
	report Report
	shared *repo.RemoteLock // nil without a remote
	artifacts

	baton       *baton         // nil where one session runs at a time
	uncommitted bool           // the work tree has other governance files than the board
	unrecorded  []failover.Try // sessions of the task at hand, which the ledger has not told yet
	overspent   string         // how the month was past its hard stop while a session ran; "" it was not
	stop        error          // what a session brought up that ends the drain after its task
}

// Run drains the board once. The error is a refusal, a *Busy or a fault; the
// report says what was done before it.
func Run(ctx context.Context, r *repo.Repo, o Options) (Report, error) {
	d, err := openDrain(ctx, r, o)
	if err != nil {
		return Report{Run: o.Run}, err
	}
	if d.Invoked { // what is refused is refused before anything is written, a sweep too
		if _, _, err := d.nextTask(ctx, nil); err != nil {
			return d.report, err
		}
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return d.report, err
	}
	defer unlock()
	if err = d.begin(ctx); err == nil {
		err = d.endDrain(ctx, d.runTasks(ctx))
	}
	return d.report, err
}

// runTasks takes tasks one at a time, until there is none or something ends the drain.
func (d *drain) runTasks(ctx context.Context) error {
	tried := map[okf.ID]bool{}
	for left := d.taskLimit(d.at.cfg); left > 0; {
		t, ok, err := d.nextTask(ctx, tried)
		if err != nil {
			return d.countRefusal(err)
		}
		if !ok {
			return nil
		}
		tried[t.ID] = true
		ended := len(d.report.Tasks)
		claimed, err := d.runTask(ctx, t)
		if claimed {
			left-- // a task that could not be claimed counts for nothing
		}
		for _, out := range d.report.Tasks[ended:] {
			d.computer().notify(ctx, out)
		}
		if err == nil {
			err = d.reckonMoney(ctx)
		}
		if err != nil || d.isOver() {
			return err // the tasks done so far stand; the next drain says why it will not start
		}
	}
	return nil
}

// begin looks at the board as it is under the lock, lets decay propose, and
// refuses what no drain may start on, before it sweeps the claims of dead drains.
func (d *drain) begin(ctx context.Context) error {
	if err := d.readBoard(ctx); err != nil {
		return err
	}
	if err := d.checkComputer(ctx); err != nil {
		return err
	}
	d.computer().clearDesks()
	d.computer().clearCaches()
	if err := d.retryAct(ctx, d.proposeDecay); err != nil {
		return err
	}
	var err error
	if d.leaseID, err = d.authority().checkLease(); err != nil {
		return d.countRefusal(err)
	}
	for _, act := range []func(context.Context) error{d.sweepClaims, d.expireChanges} {
		if err := d.retryAct(ctx, act); err != nil {
			return err
		}
	}
	return d.retryAct(ctx, d.stopOverspent)
}

// checkComputer refuses where no result could be stored, or no session could work.
func (d *drain) checkComputer(ctx context.Context) error {
	return cmp.Or(d.checkStorable(ctx), d.computer().checkDesks(ctx))
}

// isOver reports that the drain takes no further task: somebody paused the board, an
// emergency came up, or the lease is used up.
func (d *drain) isOver() bool {
	if d.stop != nil || d.at.refuseWhilePaused() != nil {
		return true
	}
	under, err := d.authority().checkLease()
	d.leaseID = under
	if err != nil {
		d.addNote("no further task is taken: " + err.Error())
	}
	return err != nil
}

// endDrain ends a drain whose tasks ended with err. What a session stopped it for is its error before an
// interruption or a fault.
func (d *drain) endDrain(ctx context.Context, err error) error {
	if err == nil {
		_ = d.countRefusal(nil)
		d.report.Spent = d.authority().tenantPurse().total()
		d.report.Level = d.at.cfg.Allows(d.report.Spent, 0).String()
		if len(d.report.Tasks) > 0 {
			if _, err = d.repo.PruneRuns(ctx, d.Now().Add(-artifactAge)); err == nil {
				err = d.repo.Maintain(ctx)
			}
		}
	}
	if d.stop == nil {
		return err
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.addNote(err.Error())
	}
	return d.stop
}

// openDrain reads the committed board, and refuses what can be told without a lock.
func openDrain(ctx context.Context, r *repo.Repo, o Options) (*drain, error) {
	d, err := readCommitted(r, o)
	if err == nil {
		err = d.checkWorkTree(ctx)
	}
	return d, err
}

// readCommitted reads the board as this clone has it.
func readCommitted(r *repo.Repo, o Options) (*drain, error) {
	local, err := r.Ref(o.Branch)
	if errors.Is(err, repo.ErrNoRef) {
		return nil, refuse("no-commits", "%s has no commits yet; git add -A && git commit -m \"odd: begin\"", strings.TrimPrefix(o.Branch, "refs/heads/"))
	}
	if err != nil {
		return nil, err
	}
	return readAt(r, o, local)
}

// readAt reads the board at tip.
func readAt(r *repo.Repo, o Options, tip repo.OID) (*drain, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.Now = monotonicClock(o.Now)
	d := newDrain(r, o)
	var err error
	if d.at, err = readSnapshot(r, tip, nil); err != nil {
		return nil, err
	}
	d.line = &repo.Line{Repo: r, Ref: o.Branch, Remote: d.at.cfg.Remote, Note: d.addNote, Check: o.Check}
	return d, nil
}

// checkWorkTree refuses a clone that is not whole, and one in which a person is editing what would
// be judged or overwritten.
func (d *drain) checkWorkTree(ctx context.Context) error {
	if d.repo.Shallow() {
		return refuse("shallow", "this clone is shallow, and odd needs the whole history; run git fetch --unshallow (in CI: check out with fetch-depth: 0)")
	}
	dirty, err := d.repo.Dirty(ctx, d.at.cfg.Root, "odd.toml")
	if err != nil {
		return err
	}
	d.uncommitted = slices.ContainsFunc(dirty, func(name string) bool { return strings.HasPrefix(name, d.at.pathOf("governance")) })
	if half := d.repo.Unmerged(ctx); len(half) > 0 {
		return refuse("unmerged", "%s: a git merge is not finished%s; resolve the conflict and commit; git status says how to undo it instead", half[0], countMore(half))
	}
	for _, name := range dirty {
		if dir, file := path.Split(name); dir == d.at.pathOf(board.Folder)+"/" && path.Ext(file) == ".md" && file != "index.md" {
			b, err := os.ReadFile(filepath.Join(d.repo.Root(), filepath.FromSlash(name)))
			if err != nil {
				continue // it is deleted
			}
			if _, err := okf.Parse(name, b); err != nil {
				return refuse("dirty", "%v; then git add and git commit it, because odd drain reads only committed files", err)
			}
		}
	}
	if len(dirty) > 0 {
		return refuse("dirty", "%s: has edits that are not committed%s, and odd drain reads only committed files; git add and git commit them", dirty[0], countMore(dirty))
	}
	return nil
}

func newDrain(r *repo.Repo, o Options) *drain {
	d := &drain{
		Options: o, artifacts: artifacts{tree: repo.Changes{}}, report: Report{Run: o.Run, Tasks: []Outcome{}},
		boardWriter: boardWriter{repo: r, wait: o.Wait, log: &runLog{id: o.Run, started: o.Now().UTC(), now: o.Now, files: map[string][]byte{}}},
	}
	d.notes = notes{o.Progress, &d.report.Notes}
	return d
}

// monotonicClock returns a clock that never goes back during a run, even if the machine's
// does. Records of one run are therefore in order.
func monotonicClock(now func() time.Time) func() time.Time {
	var mu sync.Mutex
	var last time.Time
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if t := now(); t.After(last) {
			last = t
		}
		return last
	}
}

// readBoard reads the board as it is now and refuses a state in which no drain may start.
func (d *drain) readBoard(ctx context.Context) error {
	tip, err := d.line.Tip(ctx)
	if err != nil {
		return err
	}
	if d.at, err = readSnapshot(d.repo, tip, d.at); err != nil {
		return err
	}
	for _, p := range d.at.unread() {
		all := p.Path == board.Folder
		p.Path = d.at.pathOf(p.Path)
		if all {
			return p
		}
		d.say(p.Error())
	}
	if err := d.at.refuseWhilePaused(); err != nil {
		return err
	}
	if err := d.checkClock(ctx); err != nil {
		return err
	}
	if ps := board.CheckTeams(d.at.graph, d.at.cfg.Budget.Teams); len(ps) > 0 {
		return refuse("budget-team", "%v", ps[0])
	}
	return nil
}

// retryAct runs act, and runs it again on the board as it is then each time another commit came first.
func (d *drain) retryAct(ctx context.Context, act func(context.Context) error) error {
	err := d.retryRaces(ctx, d.readBoard, act)
	if errors.Is(err, repo.ErrMoved) {
		return refuseBusy("raced", "other commits came in %d times in a row while odd tried to write; run odd drain again", raceTries)
	}
	return err
}

// runTask claims a task and runs it. Of a task that is passed over, because a rule of history forbids its claim
// or it may not be drained any more, a note says why.
func (d *drain) runTask(ctx context.Context, t board.Task) (claimed bool, err error) {
	c, err := d.claim(ctx, t, 1)
	if d.Task == "" && errors.Is(err, repo.ErrForbidden) {
		d.addNote(fmt.Sprintf("%s: not claimed: %v", t.ID, err))
		return false, nil
	}
	if err != nil || c == nil {
		return false, err
	}
	d.say(fmt.Sprintf("%s: claimed, attempt %d", t.ID, c.task.Attempts))
	return true, d.runClaim(ctx, c)
}

// runClaim runs the sessions of a claim and commits what became of them.
func (d *drain) runClaim(ctx context.Context, c *claim) error {
	defer c.releaseBase(ctx)
	d.unrecorded = nil
	done := d.runSessions(ctx, c)
	for _, w := range done {
		if w.fault != nil {
			return c.notSaved(w.fault)
		}
	}
	err := d.settle(ctx, c, done...)
	d.unrecorded = nil // its ledger has told
	if repo.Faulty(err) {
		return c.notSaved(err)
	}
	return err
}
