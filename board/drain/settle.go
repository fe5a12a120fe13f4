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

func (d *drain) save(ctx context.Context, c *claim, done []work) error {
	for i, w := range done {
		var stop error
		done[i], stop = w.heedEmergency(c.task.ID)
		d.stop = cmp.Or(stop, d.stop)
	}
	if isOffBoard(c.task) {
		return d.saveSessions(ctx, c, done)
	}
	return d.saveResult(ctx, c, done[0])
}

// unwritten is the reason why a result can never be written, however often it is tried.
type unwritten struct{ error }

// Unwrap is the reason itself.
func (u unwritten) Unwrap() error { return u.error }

// isUnwritable reports an error that the result itself causes. A full disk, a held lock or
// a lost race is none.
func isUnwritable(err error) bool {
	return errors.As(err, new(unwritten)) && !repo.Faulty(err) && !errors.Is(err, repo.ErrBusy) && !errors.Is(err, repo.ErrMoved) && !errors.Is(err, context.Canceled)
}

// result is what the result of a task is planned from. A plan leaves it as it is.
type result struct {
	c         *claim
	w         work
	sessions  *draft           // that records them
	proposal  []repo.RefUpdate // of its review branch; none where nothing is proposed
	artifacts repo.RefUpdate   // of what the run keeps
	out       Outcome          // unless something comes between
}

func (d *drain) saveResult(ctx context.Context, c *claim, w work) error {
	defer func() { _ = d.repo.Show(nil) }() // what is committed needs no showing
	w, err := d.recorder().dropConverted(ctx, c, w)
	if err != nil {
		return err
	}
	r, err := d.recorder().beginResult(ctx, c, w)
	if err != nil {
		return unwritten{err}
	}
	d.keepSession(ArtifactDir(c.task), r.w, agent.Lent(d.at.cfg, d.Environ))
	if err := r.w.change.keepFiles(ctx); err != nil {
		return unwritten{err}
	}
	if r.artifacts, err = d.artifacts.storeTree(ctx, &d.boardWriter); err != nil {
		return err
	}
	var p *draft
	var out Outcome
	err = d.landResult(ctx, c, func(barred error) *draft {
		p, out = d.recorder().planResult(ctx, r, barred)
		return p
	})
	if err != nil {
		return err
	}
	if p.held != "" {
		d.say(p.held)
	}
	d.report.Tasks = append(d.report.Tasks, out)
	d.say(fmt.Sprintf("%s: %s", c.task.ID, joinDetail(string(out.State), cmp.Or(out.Reason, out.describeLanding()))))
	return nil
}

// beginResult drafts the records of a claim's sessions, unless the step apply of a change has done so
// already, and makes the proposal. An op that may no longer wait for a person is ended.
func (rec recorder) beginResult(ctx context.Context, c *claim, w work) (r result, err error) {
	r = result{c: c, w: w}
	switch {
	case w.sealed != nil && (w.reason == "" || !w.isProposed()):
		r.sessions = w.sealed.draft
	case w.sealed != nil:
		r.w.opLog = w.asRescinded(rec.log.id, rec.log.now(), w.reason)
		fallthrough
	default:
		r.sessions = rec.draftSessions(c, r.w)
	}
	r.out = Outcome{Task: c.task.ID, State: board.Blocked, Reason: w.reason, Cost: w.cost(), Effects: countEffects(w.items), Notes: openNotes(w.emission.Notes), Trace: r.sessions.trace()}
	return r, rec.addProposal(ctx, &r)
}

// planResult plans the result commit on the board as it is now, and says what becomes of the task with
// it. barred is why the target did not take the change that was to land with it, nil where that was not tried.
func (rec recorder) planResult(ctx context.Context, r result, barred error) (*draft, Outcome) {
	now, ok := board.Find(rec.at.tasks(), r.c.task.ID)
	if !ok || now.Blob != r.c.task.Blob {
		return rec.planLost(r)
	}
	if now.Path != r.c.task.Path { // a person moved it meanwhile
		c := *r.c
		r.c, c.task.Path = &c, now.Path
	}
	p := r.sessions.clone()
	late := rec.describeDelay(p, r.c)
	why := cmp.Or(rec.authority().whyLapsed(r.c, r.w.anchor), late)
	switch {
	case why != "" && r.c.publishes(r.w):
		r.w.lastSession = r.w.asVoid(why)
		r.out.State, r.out.Reason, r.out.Effects = board.Blocked, why, nil
		return rec.planUnpublished(r)
	case late != "" && !r.c.isRefresh():
		return rec.planUnpublished(r)
	case r.w.isLanding():
		rec.addLanding(ctx, p, &r, barred)
	}
	return rec.completeResult(p, r)
}

// stillness is how old a record may be when it is committed. odd check accepts records up to
// an hour older than their commit.
const stillness = 45 * time.Minute

// describeDelay says how long the records of p have waited for their commit, "" if that is
// less than stillness. The usual reason is a computer that slept.
func (rec recorder) describeDelay(p *draft, c *claim) string {
	still := rec.log.now().Sub(p.began)
	if p.began.IsZero() || still < stillness {
		return ""
	}
	return fmt.Sprintf("the computer slept for %s before the result was saved%s", still.Round(time.Second), c.tryAgain())
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
		rec.recordWork(p, c, w)
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

func (rec recorder) recordWork(p *draft, c *claim, w work) {
	for _, r := range rec.sessionRecords(c, w) {
		p.record(r)
	}
	tellAnchor(p, w.anchor)
	if len(w.items) > 0 {
		p.record(event.Record{Kind: event.Reconcile, Task: string(c.task.ID), Data: rec.reconcileData(w.items)})
	}
	rec.tellOp(p, c, w)
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

// addProposal adds the ref of the task's proposal, and names it in the outcome. A change's commit was made
// by apply. After a failed verify the branch is still made, because the ledger records it; the outcome does
// not name it, so nobody reviews it.
func (rec recorder) addProposal(ctx context.Context, r *result) (err error) {
	w := r.w
	var u repo.RefUpdate
	switch {
	case w.sealed != nil:
		u = w.sealed.effect
	case w.reason != "":
		return nil
	default:
		if u, err = rec.makeProposal(ctx, r.c, w, r.out.Trace); err != nil {
			return err
		}
	}
	if r.proposal = []repo.RefUpdate{u}; w.reason == "" {
		r.out.State, r.out.Branch, r.out.Proposal = board.Review, strings.TrimPrefix(u.Name, "refs/heads/"), u.New
		if w.change != nil {
			r.out.Files = len(w.change.candidate.Files)
		}
	}
	return nil
}

func (rec recorder) makeProposal(ctx context.Context, c *claim, w work, trace string) (repo.RefUpdate, error) {
	title := cmp.Or(c.task.Title, string(c.task.ID))
	of := traced{task: c.task.ID, lease: c.leaseID, trace: trace}
	var oid repo.OID
	var err error
	if ch := w.change; ch != nil && len(ch.files) > 0 {
		of.op, of.tier = ch.op.ID, ch.risk.Tier
		oid, err = rec.repo.MakeEdits(ctx, []repo.OID{c.base}, ch.files, rec.agentSignature(), rec.log.message("propose: "+title, summarizeFiles(ch.candidate.Files)+listItems(w.items), of))
	} else {
		oid, err = rec.makeCommit(ctx, c.base, w.proposedChanges(rec.at), rec.agentSignature(), rec.log.message("propose: "+title, cmp.Or(strings.TrimRight(listItems(w.items), "\n"), "Nothing new: every atom is as it was.")+leftOut(w.emission.Notes), of))
	}
	if err != nil {
		return repo.RefUpdate{}, err
	}
	stem := "odd/review/" + board.Slug(c.task.ID) + "."
	n := c.task.Attempts
	for {
		taken, err := rec.branchExists(fmt.Sprint(stem, n))
		if err != nil {
			return repo.RefUpdate{}, err
		}
		if !taken {
			return repo.RefUpdate{Name: fmt.Sprint("refs/heads/", stem, n), New: oid}, nil
		}
		n++
	}
}

func (rec recorder) branchExists(branch string) (bool, error) {
	for _, name := range []string{"refs/heads/" + branch, rec.line.Local(branch)} {
		if _, err := rec.repo.Ref(name); !errors.Is(err, repo.ErrNoRef) {
			return true, err
		}
	}
	return false, nil
}

// listItems returns one line for each atom that was written or kept out.
func listItems(items []reconcile.Item) string {
	var b strings.Builder
	for _, it := range items {
		if it.Effect == reconcile.Unchanged {
			continue
		}
		fmt.Fprintf(&b, "%-9s %s", it.Effect, it.Path)
		if it.Reason != "" {
			fmt.Fprintf(&b, " (%s)", it.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describeLanding names the branch that a change was merged into without approval, "" for
// none.
func (o Outcome) describeLanding() string {
	if o.Landed == "" {
		return ""
	}
	return "landed on " + o.Landed + " by itself, and waits for its approval"
}

// completeResult adds to p the rest of a task's result: the task, the outcome, the journal
// and handoffs.
func (rec recorder) completeResult(p *draft, r result) (*draft, Outcome) {
	c, w, out := r.c, r.w, r.out
	p.refs = append(p.refs, append(slices.Clip(r.proposal), r.artifacts)...)
	if role := w.bound.Role; role != "" && role != contract.General { // whose contract promises something
		out.Session = rec.at.spokenBy(w)
	}
	if out.State == board.Blocked {
		out.Code = w.blockCode()
	}
	if out.State != "" {
		b, err := rec.finishTask(c, w, out)
		p.fail(err)
		p.changes[rec.at.pathOf(c.task.Path)] = b
	}
	rec.recordOutcome(p, c, out.Cost, out.Trace, rec.outcomeData(c, w, out, r.artifacts.New))
	rec.writeLaterRecords(p, w)
	subject, title := fmt.Sprintf("board: %s to %s", out.Task, out.State), fmt.Sprintf("%s: %s", out.Task, out.State)
	if out.State == "" {
		subject, title = fmt.Sprintf("board: %s was lost", out.Task), fmt.Sprintf("%s: claim lost", out.Task)
	}
	p.message = rec.log.message(subject, out.Reason, traced{task: c.task.ID, lease: c.leaseID, trace: out.Trace})
	rec.tellResult(p, c, title, resultContent(c, out), w)
	return p, out
}

// tellResult adds to p the journal entries, gate proposals and handoffs of the sessions, and
// the end of an override.
func (rec recorder) tellResult(p *draft, c *claim, title, content string, list ...work) {
	p.tellJournal("O", "", title, content)
	if !c.isRefresh() { // else the run before has the words of the session
		for _, w := range list {
			rec.addRemarks(p, c, w)
		}
		rec.addAppeals(p, c, list...)
	}
	rec.addHandoffs(p, list...)
	rec.overrideEnds(p, c.override, title+", "+content)
}

func (rec recorder) finishTask(c *claim, w work, out Outcome) ([]byte, error) {
	if c.isRefresh() {
		return okf.Edit(c.task.Atom.Bytes(), okf.Set{Key: "result", Value: map[string]any{"run": rec.log.id, "branch": out.Branch, "commit": string(out.Proposal)}})
	}
	verdict := board.ToReview
	if w.reason != "" {
		verdict = board.ToBlocked
	}
	return board.Finish(c.task, rec.log.id, verdict, board.Result{Run: rec.log.id, Branch: out.Branch, Commit: string(out.Proposal), Reason: out.Reason})
}

func (rec recorder) outcomeData(c *claim, w work, out Outcome, artifacts repo.OID) event.OutcomeData {
	verdict := string(out.State)
	if verdict == "" {
		verdict = "lost"
	}
	data := event.OutcomeData{Verdict: verdict, Artifacts: string(artifacts), Reason: out.Reason, Notes: out.Notes}
	if out.Proposal == "" {
		return data
	}
	data.Proposal, data.Branch, data.Base = string(out.Proposal), out.Branch, string(c.base)
	for _, it := range w.items {
		if it.Effect.Lands() {
			data.Paths = append(data.Paths, event.ProposedPath{Path: rec.at.pathOf(it.Path), Base: it.Prior, Result: okf.BlobID(it.Bytes)})
		}
	}
	if w.isProposed() {
		data.Paths = append(data.Paths, proposedPaths(w.change.candidate.Files)...)
		data.Op = w.op.ID
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

// heedEmergency returns why the drain ends after a session that changed the repository, or that proposed an
// emergency, nil where it goes on. The work of an emergency comes back void.
func (w work) heedEmergency(task okf.ID) (_ work, stop error) {
	if w.tampered {
		stop = refuse("tampered-repository", "%s: %s", task, w.reason)
	}
	if why := w.findEmergency(); why != "" {
		w.lastSession = w.asVoid("emergency: " + why)
		stop = refuse("lease-emergency-open", "%s: its session reported an emergency: %s; a person runs odd gate emergency, or odd gate proposals reject", task, why)
	}
	return w, stop
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
