package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// recorder plans the commits that record what sessions came to.
type recorder struct {
	*boardWriter
	notes
	person    string // who asks for an override, "" for nobody
	given     *Given // what an invocation works on instead of the board; nil for none
	authority func() authority
}

func (d *drain) recorder() recorder {
	return recorder{&d.boardWriter, d.notes, d.Person, d.given, d.authority}
}

// settle commits what became of a claim's sessions: the proposal of a task on its review branch, then
// the result on the board, in one transaction. It runs to its end even when
// the person has interrupted the session.
//
// A result that cannot be written, for what is in it or because the remote declines it,
// is put aside: the work is blocked with the reason, and the drain goes on. What the
// session said stays among the run's artifacts.
func (d *drain) settle(ctx context.Context, c *claim, done ...work) error {
	stopped := ctx.Err()
	if d.Watch != nil {
		stopped = nil // which is how a person ends it
	}
	ctx = context.WithoutCancel(ctx)
	err := d.save(ctx, c, done)
	if !isUnwritable(err) || c.isRefresh() {
		return cmp.Or(err, stopped)
	}
	d.addNote(fmt.Sprintf("%s: the result could not be written: %v", c.task.ID, err))
	for i, w := range done {
		done[i].lastSession = w.asVoid(fmt.Sprintf("the result could not be written: %s; it is kept in %s%s", oneLine(err.Error()), runRefs+d.Run, c.tryAgain()))
	}
	return cmp.Or(d.save(ctx, c, done), stopped)
}

// unwritten is the reason why a result can never be written, however often it is tried.
type unwritten struct{ error }

// Unwrap is the reason itself.
func (u unwritten) Unwrap() error { return u.error }

// isUnwritable reports an error that the result itself causes. A full disk, a lock that is taken or
// a lost race is none.
func isUnwritable(err error) bool {
	return errors.As(err, new(unwritten)) && !repo.Faulty(err) && !errors.Is(err, repo.ErrBusy) && !errors.Is(err, repo.ErrMoved) && !errors.Is(err, context.Canceled)
}

// result is what the result of a claim is planned from. A plan leaves it as it is.
type result struct {
	proposal
	c         *claim
	done      []work         // one a session; a task has one
	artifacts repo.RefUpdate // of what the run keeps
	out       Outcome        // unless something comes between; without a task it has the cost alone
	held      hindrance      // of a change that was to land with it and waits after all
}

func (d *drain) save(ctx context.Context, c *claim, done []work) error {
	if !isOffBoard(c.task) { // else what is shown is of a drain beside it
		defer func() { _ = d.repo.Show(nil) }() // what is committed needs no showing
	}
	for i, w := range done {
		if why := w.findEmergency(); why != "" {
			done[i].lastSession = w.asVoid("emergency: " + why)
			d.stop = refuse("lease-emergency-open", "%s: its session reported an emergency: %s; a person runs odd gate emergency, or odd gate proposals reject", c.task.ID, why)
		} else if w.tampered {
			d.stop = refuse("tampered-repository", "%s: %s", c.task.ID, w.reason)
		}
	}
	r, err := d.recorder().beginResult(ctx, c, done)
	if err != nil {
		return err
	}
	for i, w := range r.done {
		dir := ArtifactDir(c.task)
		if isOffBoard(c.task) {
			dir = fmt.Sprintf("session.%d", i+1)
		}
		d.keepSession(dir, w, agent.Lent(d.at.cfg, d.Environ))
		if err := w.change.keepFiles(ctx); err != nil {
			return unwritten{err}
		}
	}
	if r.artifacts, err = d.artifacts.storeTree(ctx, &d.boardWriter); err != nil {
		return err
	}
	var end result
	err = d.landResult(ctx, c, func(barred error) (p *draft) {
		p, end = d.recorder().planResult(ctx, r, barred)
		return p
	})
	if err != nil {
		return err
	}
	if isOffBoard(c.task) {
		for _, w := range end.done {
			d.report.Said = append(d.report.Said, *d.at.spokenBy(w))
		}
		return nil
	}
	if end.held.code != "" {
		d.say(end.held.describe(c.task.ID))
	}
	d.report.Tasks = append(d.report.Tasks, end.out)
	d.say(fmt.Sprintf("%s: %s", c.task.ID, joinDetail(string(end.out.State), cmp.Or(end.out.Reason, end.out.describeLanding()))))
	return nil
}

// beginResult drafts the records of a task's session, unless the step apply of a change has done so
// already, and makes the proposal. Sessions without a task propose nothing. After a failed verify the
// branch is still made, because the ledger records it; the outcome does not name it, so nobody
// reviews it.
func (rec recorder) beginResult(ctx context.Context, c *claim, done []work) (r result, err error) {
	r = result{c: c, done: slices.Clone(done)}
	for _, w := range done {
		r.out.Cost += w.cost()
	}
	if isOffBoard(c.task) {
		return r, nil
	}
	w := &r.done[0]
	if *w, err = rec.dropConverted(ctx, c, *w); err != nil {
		return r, err
	}
	if w.reason != "" && w.log.Proposed() { // it may no longer wait for a person
		w.log = w.log.Rescind(rec.log.id, rec.log.now(), w.reason)
	}
	switch _, behind := w.log.Split(); {
	case len(behind) > 0:
		r.proposal = *w.proposal
	case w.reason != "":
		r.sessions = rec.draftSessions(c, *w)
	default:
		if r.proposal, err = rec.propose(ctx, c, *w); err != nil {
			return r, unwritten{err}
		}
	}
	r.out = Outcome{Task: c.task.ID, State: board.Blocked, Reason: w.reason, Cost: r.out.Cost, Effects: countEffects(w.items), Notes: openNotes(w.emission.Notes), Trace: r.sessions.trace()}
	if w.reason == "" {
		r.out.State, r.out.Branch, r.out.Proposal = board.Review, strings.TrimPrefix(r.ref.Name, "refs/heads/"), r.ref.New
		if w.change != nil {
			r.out.Files = len(w.change.candidate.Files)
		}
	}
	return r, nil
}

// planResult plans the result commit of a claim on the board as it is now, and returns the result as it is
// with it. barred is why the target did not take the change that was to land with it, nil where that was not tried.
func (rec recorder) planResult(ctx context.Context, r result, barred error) (*draft, result) {
	r, err := rec.recheck(r)
	p := r.sessions.clone()
	p.fail(err)
	if r.done[0].log.Lands() {
		rec.addLanding(ctx, p, &r, barred)
	}
	if r.ref.Name != "" {
		p.refs = append(p.refs, r.ref)
	}
	p.refs = append(p.refs, r.artifacts)
	c, of := r.c, traced{task: r.c.task.ID, lease: r.c.leaseID, trace: r.out.Trace}
	var e ending
	if isOffBoard(c.task) {
		e, of.task = rec.endSessions(r.done), ""
	} else {
		e = rec.endTask(p, &r)
	}
	e.data.Artifacts = string(r.artifacts.New)
	rec.recordOutcome(p, c, r.out.Cost, r.out.Trace, e.data)
	rec.recordOpBehind(p, r.done[0])
	p.message = rec.log.message(e.subject, e.body, of)
	p.tellJournal("O", e.title, e.content)
	if !c.isRefresh() { // else the run before has the words of the session
		for _, w := range r.done {
			rec.addRemarks(p, c, w)
		}
		rec.addAppeals(p, c, r.done...)
	}
	rec.addHandoffs(p, r.done...)
	rec.overrideEnds(p, c.override, e.title+", "+e.content)
	return p, r
}

// ending is how a result is told.
type ending struct {
	data           event.OutcomeData
	subject, body  string // of the commit
	title, content string // of the journal's entry
}

// recheck is r on the board as it is now. What was made under a claim, a lease or a permit that has
// ended meanwhile is not published: the sessions are recorded anew, without it.
func (rec recorder) recheck(r result) (result, error) {
	r.done = slices.Clone(r.done)
	lost, err := rec.whyLost(&r)
	now, late, onBoard := rec.authority(), rec.describeDelay(r), !isOffBoard(r.c.task)
	anew := !onBoard || lost != "" || late != "" && !r.c.isRefresh()
	for i, w := range r.done {
		why := cmp.Or(lost, now.whyRevoked(r.c))
		if onBoard || w.handed != nil {
			why = cmp.Or(why, w.anchor.whyLapsed(rec.at))
		}
		switch why = cmp.Or(why, late); {
		case onBoard && lost != "": // what it came to stays as it is
			r.out.State, r.out.Reason, r.done[i].handed = "", lost, nil
		case why != "" && r.c.publishes(w):
			anew, r.done[i].lastSession = true, w.asVoid(why)
			r.out.State, r.out.Reason, r.out.Effects = board.Blocked, why, nil
		}
	}
	if anew {
		r.out.Branch, r.out.Proposal, r.out.Files = "", "", 0
		r.done[0].log = r.done[0].log.Rescind(rec.log.id, rec.log.now(), r.out.Reason)
		r.proposal = proposal{sessions: rec.draftSessions(r.c, r.done...)}
		r.out.Trace = r.sessions.trace()
	}
	return r, err
}

// whyLost says why the claim is no longer this run's, "" while it is: somebody changed the task, or a sweep
// took the claim back. Another clone may have done so while this computer slept.
func (rec recorder) whyLost(r *result) (why string, err error) {
	if isOffBoard(r.c.task) {
		if !slices.ContainsFunc(rec.at.spend.Open, func(e event.Record) bool { return e.Run == rec.log.id }) {
			why = "another drain ended this session's claim before its result was saved; run it again"
		}
		return why, nil
	}
	c := *r.c
	r.c = &c
	now, ok := board.Find(rec.at.tasks(), c.task.ID)
	if ok && now.Blob == c.task.Blob {
		c.task.Path = now.Path // a person may have moved it meanwhile
		return "", nil
	}
	s, err := rec.at.findStory(c.op)
	if s.Told != nil { // another run ended the op, and has the last word on it
		c.op, r.done[0].log = "", nil
	}
	return "result discarded: somebody changed the task while its session ran", err
}

// stillness is how old a record may be when it is committed. odd check accepts records up to
// an hour older than their commit.
const stillness = 45 * time.Minute

// describeDelay says how long the records of a task's session have waited for their commit, "" if that
// is less than stillness. The usual reason is a computer that slept.
func (rec recorder) describeDelay(r result) string {
	if r.sessions == nil || r.sessions.began.IsZero() || rec.log.now().Sub(r.sessions.began) < stillness {
		return ""
	}
	return fmt.Sprintf("the computer slept for %s before the result was saved%s", rec.log.now().Sub(r.sessions.began).Round(time.Second), r.c.tryAgain())
}

func countEffects(items []reconcile.Item) map[reconcile.Effect]int {
	m := map[reconcile.Effect]int{}
	for _, it := range items {
		m[it.Effect]++
	}
	return m
}

// draftSessions returns a draft that records the sessions, their permits and what reconcile
// did with their atoms.
func (rec recorder) draftSessions(c *claim, list ...work) *draft {
	p := rec.newDraft()
	if c.startDraft != nil {
		p = c.startDraft.clone()
	}
	for _, w := range list {
		for _, r := range rec.sessionRecords(c, w) {
			p.record(r)
		}
		tellAnchor(p, w.anchor)
		if len(w.items) > 0 {
			p.record(event.Record{Kind: event.Reconcile, Task: string(c.task.ID), Data: rec.reconcileData(w.items)})
		}
		rec.recordOp(p, c, w)
	}
	return p
}

// sessionRecords are the records of all sessions of w so far.
func (rec recorder) sessionRecords(c *claim, w work) []event.Record {
	all := slices.Concat(w.earlier.records, w.failed)
	if w.ran {
		all = append(all, rec.sessionRecord(c, w))
	}
	return all
}

func (rec recorder) reconcileData(items []reconcile.Item) event.ReconcileData {
	data := event.ReconcileData{Counts: map[string]int64{}}
	for k, v := range countEffects(items) {
		data.Counts[string(k)] = int64(v)
	}
	for _, it := range items {
		if isKeptOut(it.Effect) {
			data.Held = append(data.Held, event.Held{Effect: string(it.Effect), ID: string(it.ID), Path: rec.at.pathOf(it.Path), Reason: it.Reason})
		}
	}
	return data
}

// isKeptOut reports an effect that keeps an atom out of the proposal. A person is told.
func isKeptOut(e reconcile.Effect) bool {
	return !e.Lands() && e != reconcile.Unchanged
}

// describeLanding names the branch that a change was merged into without approval, "" for
// none.
func (o Outcome) describeLanding() string {
	if o.Landed == "" {
		return ""
	}
	return "landed on " + o.Landed + " by itself, and waits for its approval"
}

// endTask adds to p what the task becomes, and says how its result is told.
func (rec recorder) endTask(p *draft, r *result) ending {
	c, w, out := r.c, r.done[0], &r.out
	if role := w.bound.Role; role != "" && role != contract.General { // whose contract promises something
		out.Session = rec.at.spokenBy(w)
	}
	if out.State == board.Blocked {
		out.Code = string(cmp.Or(w.log.Op().Reason, w.cut))
	}
	e := ending{data: rec.outcomeData(c, w, *out), body: out.Reason, content: resultContent(c, *out)}
	if out.State == "" {
		e.subject, e.title = fmt.Sprintf("board: %s was lost", out.Task), fmt.Sprintf("%s: claim lost", out.Task)
		return e
	}
	now := board.Result{Run: rec.log.id, Branch: out.Branch, Commit: string(out.Proposal), Reason: out.Reason}
	var b []byte
	var err error
	switch {
	case c.isRefresh():
		b, err = okf.Edit(c.task.Atom.Bytes(), okf.Set{Key: "result", Value: map[string]any{"run": now.Run, "branch": now.Branch, "commit": now.Commit}})
	case w.reason != "":
		b, err = board.Finish(c.task, now.Run, board.ToBlocked, now)
	default:
		b, err = board.Finish(c.task, now.Run, board.ToReview, now)
	}
	p.fail(err)
	p.changes[rec.at.pathOf(c.task.Path)] = b
	e.subject, e.title = fmt.Sprintf("board: %s to %s", out.Task, out.State), fmt.Sprintf("%s: %s", out.Task, out.State)
	return e
}

func (rec recorder) outcomeData(c *claim, w work, out Outcome) event.OutcomeData {
	verdict := string(out.State)
	if verdict == "" {
		verdict = "lost"
	}
	data := event.OutcomeData{Verdict: verdict, Reason: out.Reason, Notes: out.Notes}
	if out.Proposal == "" {
		return data
	}
	data.Proposal, data.Branch, data.Base = string(out.Proposal), out.Branch, string(c.base)
	for _, it := range w.items {
		if it.Effect.Lands() {
			data.Paths = append(data.Paths, event.ProposedPath{Path: rec.at.pathOf(it.Path), Base: it.Prior, Result: okf.BlobID(it.Bytes)})
		}
	}
	if w.log.Proposed() {
		data.Paths = append(data.Paths, proposedPaths(w.change.candidate.Files)...)
		data.Op = w.log.Op().ID
	}
	return data
}

func resultContent(c *claim, out Outcome) string {
	parts := []string{fmt.Sprintf("attempt %d as %s", c.task.Attempts, c.task.Role)}
	for _, e := range slices.Sorted(maps.Keys(out.Effects)) {
		parts = append(parts, fmt.Sprintf("%d %s", out.Effects[e], e))
	}
	switch out.Files {
	case 0:
	case 1:
		parts = append(parts, "1 file changed")
	default:
		parts = append(parts, fmt.Sprintf("%d files changed", out.Files))
	}
	if out.Branch != "" {
		parts = append(parts, "waits on "+out.Branch)
	}
	if s := out.describeLanding(); s != "" {
		parts = append(parts, s)
	}
	if out.Reason != "" {
		parts = append(parts, out.Reason)
	}
	return strings.Join(parts, "; ")
}

// sessionRecord is the last session of w as the ledger has it.
func (rec recorder) sessionRecord(c *claim, w work) event.Record {
	e := w.emission
	name, turns := rec.at.cfg.Session.Substrate, e.Usage.Turns
	if p := w.leg; p.name != "" {
		name, turns, e.Usage = p.name, p.e.Usage.Turns, p.e.Usage
	}
	data := event.SessionData{
		Substrate: name, Turns: int64(turns), Outcome: string(e.Outcome), Brief: okf.BlobID(w.brief.Text), Model: e.Usage.Model, Failure: cleanText(e.Failure),
		Class: string(e.Class), Tokens: billedTokens(e.Usage.Tokens), Servers: w.served, Sandbox: e.Sandbox, Scratch: w.left.scratchRecord(), Anchor: w.anchor.anchorRecord(),
	}
	tellActs(&data, e)
	rec.underContract(&data, w)
	return event.Record{Kind: event.Session, Task: string(c.task.ID), Cost: int64(w.spent - w.relayed), Data: data}
}

// billedTokens is what was billed, nil where nobody said.
func billedTokens(t session.Tokens) *event.Tokens {
	n := event.Tokens{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite}
	if n == (event.Tokens{}) {
		return nil
	}
	return &n
}
