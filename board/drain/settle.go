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
	person    string             // who asks for an override, "" for nobody
	override  *contract.Override // as resolved; nil for none
	given     *Given             // what an invocation works on instead of the board; nil for none
	authority func() authority
}

func (d *drain) recorder() recorder {
	return recorder{&d.boardWriter, d.notes, d.Person, d.override, d.given, d.authority}
}

// settleTask commits what became of a task: the proposal on its review branch, then
// the result on the board, in one transaction. It runs to its end even when
// the person has interrupted the session.
//
// A result that cannot be written, for what is in it or because the remote declines it,
// is put aside: the task is blocked with the reason, and the drain goes on. What the
// session said stays among the run's artifacts.
func (a *attempt) settleTask(ctx context.Context) error {
	stopped := ctx.Err()
	ctx = context.WithoutCancel(ctx)
	err := a.saveResult(ctx)
	if !isUnwritable(err) || a.c.isRefresh() {
		return cmp.Or(err, stopped)
	}
	a.d.addNote(fmt.Sprintf("%s: the result could not be written: %v", a.c.task.ID, err))
	a.w.voidWork(fmt.Sprintf("the result could not be written: %s; it is kept in %s; run odd task ready %s to try again", oneLine(err.Error()), runRefs+a.d.Run, a.c.task.ID))
	return cmp.Or(a.saveResult(ctx), stopped)
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

func (a *attempt) saveResult(ctx context.Context) error {
	defer func() { _ = a.d.repo.Show(nil) }() // what is committed needs no showing
	a.heedEmergency()
	if err := a.dropConverted(ctx); err != nil {
		return err
	}
	out := Outcome{Task: a.c.task.ID, State: board.Blocked, Reason: a.w.reason, Cost: a.w.cost, Effects: countEffects(a.w.items), Notes: openNotes(a.w.emission.Notes)}
	if err := a.d.recorder().tellSession(a.c, a.w); err != nil {
		return unwritten{err}
	}
	out.Trace = a.c.resultDraft.trace()
	refs, err := a.d.recorder().proposalRefs(ctx, a.c, a.w, &out)
	if err != nil {
		return unwritten{err}
	}
	a.keepArtifacts(ArtifactDir(a.c.task))
	if err := a.w.change.keepFiles(ctx); err != nil {
		return unwritten{err}
	}
	art, err := a.d.artifacts.storeTree(ctx, &a.d.boardWriter)
	if err != nil {
		return err
	}
	refs = append(refs, art)
	if err := a.d.landResult(ctx, a.c, func() (*draft, error) { return a.d.recorder().planResult(ctx, a.c, a.w, &out, refs) }); err != nil {
		return err
	}
	if role := a.w.bound.Role; role != "" && role != contract.General { // whose contract promises something
		out.Session = a.d.at.spokenBy(a.w)
	}
	if out.State == board.Blocked {
		out.Code = a.w.blockCode()
	}
	a.d.report.Tasks = append(a.d.report.Tasks, out)
	a.d.say(fmt.Sprintf("%s: %s", a.c.task.ID, joinDetail(string(out.State), cmp.Or(out.Reason, out.describeLanding()))))
	return nil
}

// tellSession drafts the records of a claim's session; the step apply of a change has done
// so already. An op that may no longer wait for a person is ended.
func (rec recorder) tellSession(c *claim, w *work) (err error) {
	if ch := w.change; ch != nil && ch.sealed != nil {
		if w.verdict == board.ToReview || !ch.isProposed() {
			c.resultDraft = ch.sealed.draft
			return nil
		}
		ch.rescindProposal(rec.log.id, rec.log.now(), w.reason)
	}
	c.resultDraft, err = rec.draftSessions(c, w)
	return err
}

// planResult plans the result commit on the board as it is now. The last of refs keeps the
// run's artifacts.
func (rec recorder) planResult(ctx context.Context, c *claim, w *work, out *Outcome, refs []repo.RefUpdate) (*draft, error) {
	artifacts := refs[len(refs)-1]
	now, ok := board.Find(rec.at.tasks(), c.task.ID)
	if !ok || now.Blob != c.task.Blob {
		return rec.recordLost(c, w, out, artifacts)
	}
	c.task.Path = now.Path // a person may have moved it meanwhile
	p := c.resultDraft.clone()
	late := rec.describeDelay(p, c)
	if why := cmp.Or(rec.authority().whyLapsed(c), late); why != "" && c.publishes(w) {
		w.voidWork(why)
		out.State, out.Reason, out.Effects, out.Files = board.Blocked, why, nil, 0
		return rec.planUnpublished(c, w, out, artifacts)
	}
	if late != "" && !c.isRefresh() || c.unpublished {
		return rec.planUnpublished(c, w, out, artifacts)
	}
	onto, moves, err := w.change.settleLanding(ctx, out, refs)
	if err != nil {
		return nil, err
	}
	if p.onto = onto; out.Landed != "" {
		p.landing = w.change
	}
	return p, rec.completeResult(p, c, w, *out, moves)
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
	return fmt.Sprintf("the computer slept for %s before the result was saved; run odd task ready %s to try again", still.Round(time.Second), c.task.ID)
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
func (rec recorder) draftSessions(c *claim, list ...*work) (*draft, error) {
	p := rec.newDraft()
	if c.startDraft != nil {
		p = c.startDraft.clone()
	}
	for _, w := range list {
		if err := rec.recordWork(p, c, w); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (rec recorder) recordWork(p *draft, c *claim, w *work) error {
	sessions := w.earlierSessions
	if w.ran {
		sessions = append(slices.Clip(sessions), rec.sessionRecord(c, w))
	}
	for _, r := range sessions {
		if err := p.record(r); err != nil {
			return err
		}
	}
	if err := tellAnchor(p, w.anchor); err != nil {
		return err
	}
	if len(w.items) == 0 {
		return rec.tellOp(p, c, w)
	}
	data := event.ReconcileData{Counts: map[string]int64{}}
	for k, v := range countEffects(w.items) {
		data.Counts[string(k)] = int64(v)
	}
	for _, it := range w.items {
		if isKeptOut(it.Effect) {
			data.Held = append(data.Held, event.Held{Effect: string(it.Effect), ID: string(it.ID), Path: rec.at.pathOf(it.Path), Reason: it.Reason})
		}
	}
	if err := p.record(event.Record{Kind: event.Reconcile, Task: string(c.task.ID), Data: data}); err != nil {
		return err
	}
	return rec.tellOp(p, c, w)
}

// isKeptOut reports an effect that keeps an atom out of the proposal. A person is told.
func isKeptOut(e reconcile.Effect) bool {
	return !e.Lands() && e != reconcile.Unchanged
}

// proposalRefs returns the ref of the task's proposal and names it in out. A change's commit was made by
// apply. After a failed verify the branch is still made, because the ledger records it; out does not name
// it, so nobody reviews it.
func (rec recorder) proposalRefs(ctx context.Context, c *claim, w *work, out *Outcome) ([]repo.RefUpdate, error) {
	var u repo.RefUpdate
	var err error
	switch ch := w.change; {
	case ch != nil && ch.sealed != nil:
		u = ch.sealed.effect
	case w.verdict != board.ToReview:
		return nil, nil
	default:
		if u, err = rec.makeProposal(ctx, c, w, out.Trace); err != nil {
			return nil, err
		}
	}
	if w.verdict == board.ToReview {
		out.State, out.Branch, out.Proposal = board.Review, strings.TrimPrefix(u.Name, "refs/heads/"), u.New
		if w.change != nil {
			out.Files = len(w.change.candidate.Files)
		}
	}
	return []repo.RefUpdate{u}, nil
}

func (rec recorder) makeProposal(ctx context.Context, c *claim, w *work, trace string) (repo.RefUpdate, error) {
	title := c.task.Title
	if title == "" {
		title = string(c.task.ID)
	}
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

func (bw *boardWriter) branchExists(branch string) (bool, error) {
	for _, name := range []string{"refs/heads/" + branch, bw.line.Local(branch)} {
		if _, err := bw.repo.Ref(name); !errors.Is(err, repo.ErrNoRef) {
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

// runRefs is the folder of refs that keep the artifacts of runs.
const runRefs = "refs/odd/run/"

// artifacts are what a run keeps of its sessions.
type artifacts struct {
	stored repo.OID     // those so far, as a tree
	landed repo.OID     // of stored, what a result has landed with
	tree   repo.Changes // those that are not in it yet
}

// storeTree writes the run's artifacts as a tree and returns the move of
// refs/odd/run/RUN that lands with the result. With a remote it sets the local ref at once,
// so that a network failure loses nothing.
func (a *artifacts) storeTree(ctx context.Context, bw *boardWriter) (repo.RefUpdate, error) {
	u := repo.RefUpdate{Name: runRefs + bw.log.id, Old: a.landed}
	var err error
	if u.New, err = bw.repo.WriteTree(ctx, a.stored, a.tree); err != nil {
		return u, err
	}
	a.stored, a.tree = u.New, repo.Changes{}
	if bw.line.Remote == "" {
		return u, nil
	}
	here, err := bw.repo.Ref(u.Name)
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return u, err
	}
	return u, bw.repo.Update(ctx, repo.RefUpdate{Name: u.Name, Old: here, New: u.New})
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
// and handoffs. The last of refs keeps the run's artifacts.
func (rec recorder) completeResult(p *draft, c *claim, w *work, out Outcome, refs []repo.RefUpdate) error {
	p.refs = refs
	if out.State != "" {
		b, err := rec.finishTask(c, w, out)
		if err != nil {
			return err
		}
		p.changes[rec.at.pathOf(c.task.Path)] = b
	}
	data := rec.outcomeData(c, w, out, refs[len(refs)-1].New)
	if err := rec.chargeOutcome(&data, c, out.Cost); err != nil {
		return err
	}
	err := p.record(event.Record{
		Kind: event.Outcome, Task: string(c.task.ID), Role: c.task.Role, Team: c.task.Team, Cost: int64(out.Cost), Trace: out.Trace, Data: data,
	})
	if err != nil {
		return err
	}
	if err := w.change.writeLaterRecords(p); err != nil {
		return err
	}
	subject, title := fmt.Sprintf("board: %s to %s", out.Task, out.State), fmt.Sprintf("%s: %s", out.Task, out.State)
	if out.State == "" {
		subject, title = fmt.Sprintf("board: %s was lost", out.Task), fmt.Sprintf("%s: claim lost", out.Task)
	}
	p.message = rec.log.message(subject, out.Reason, traced{task: c.task.ID, lease: c.leaseID, trace: out.Trace})
	return rec.tellResult(p, c, title, resultContent(c, out), w)
}

// tellResult adds to p the journal entries, gate proposals and handoffs of the sessions, and
// the end of an override.
func (rec recorder) tellResult(p *draft, c *claim, title, content string, list ...*work) error {
	if err := p.tellJournal("O", "", title, content); err != nil {
		return err
	}
	if !c.isRefresh() { // else the run before has the words of the session
		for _, w := range list {
			rec.addRemarks(p, c, w)
		}
		if err := rec.addAppeals(p, c, list...); err != nil {
			return err
		}
	}
	if err := rec.addHandoffs(p, list...); err != nil {
		return err
	}
	return rec.overrideEnds(p, title+", "+content)
}

func (rec recorder) finishTask(c *claim, w *work, out Outcome) ([]byte, error) {
	if c.isRefresh() {
		return okf.Edit(c.task.Atom.Bytes(), okf.Set{Key: "result", Value: map[string]any{"run": rec.log.id, "branch": out.Branch, "commit": string(out.Proposal)}})
	}
	return board.Finish(c.task, rec.log.id, w.verdict, board.Result{Run: rec.log.id, Branch: out.Branch, Commit: string(out.Proposal), Reason: out.Reason})
}

func (rec recorder) outcomeData(c *claim, w *work, out Outcome, artifacts repo.OID) event.OutcomeData {
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
	if ch := w.change; ch.isProposed() {
		data.Paths = append(data.Paths, proposedPaths(ch.candidate.Files)...)
		data.Op = ch.op.ID
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

// heedEmergency ends the work of a session that proposed an emergency, and with it the drain.
func (a *attempt) heedEmergency() {
	if a.w.tampered {
		a.d.stop = refuse("tampered-repository", "%s: %s", cmp.Or(string(a.c.task.ID), "odd agent run"), a.w.reason)
	}
	why := a.w.findEmergency()
	if why == "" {
		return
	}
	a.w.voidWork("emergency: " + why)
	a.d.stop = refuse("lease-emergency-open", "%s: its session reported an emergency: %s; a person runs odd gate emergency, or odd gate proposals reject", a.c.task.ID, why)
}

// sessionRecord is the last session of w as the ledger has it.
func (rec recorder) sessionRecord(c *claim, w *work) event.Record {
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
	return event.Record{Kind: event.Session, Task: string(c.task.ID), Cost: int64(w.cost - w.paid - w.relayed), Data: data}
}

// billedTokens is what was billed, nil where nobody said.
func billedTokens(t session.Tokens) *event.Tokens {
	n := event.Tokens{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite}
	if n == (event.Tokens{}) {
		return nil
	}
	return &n
}
