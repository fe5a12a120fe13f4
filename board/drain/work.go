package drain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// work is what became of a claimed task before anything of it is committed. A change of files may
// take several sessions.
type work struct {
	terms
	lastSession
	verdict         board.Verdict
	reason          string  // why it is blocked
	died            string  // why the lease, or the session's permit, took the claim back while its session ran
	change          *change // nil where the task asks for no change of files
	cost            budget.MicroUSD
	paid            budget.MicroUSD // of that, for sessions before the last
	turned          int             // turns of those
	earlierSessions []event.Record  // those sessions, and the legs of the last one that failed
	fault           error           // of the disk: there is no result, and the claim is swept
}

// lastSession is what the last session of a work came to. Each session begins with the zero value.
type lastSession struct {
	brief    invoke.Brief
	ran      bool // it started, so it costs
	result   invoke.Result
	emission session.Emission  // the result's, and what became of it
	items    []reconcile.Item  // of its atoms
	handed   *handed           // nil: nothing is handed over
	left     left              // in its scratch repository
	tampered bool              // the repository was changed while it ran
	patch    []byte            // what it left, where that is dropped for it
	cut      pipeline.Reason   // what ended it, where a limit or a fault did
	leg      part              // its last leg
	relayed  budget.MicroUSD   // what its other legs cost
	served   []event.ServerUse // what became of its servers, for the ledger
}

// attempt is one session, or the sessions of one change, at work on what a claim holds.
type attempt struct {
	d *drain
	c *claim
	w *work
}

func (d *drain) attempt(c *claim) *attempt {
	return &attempt{d, c, &work{verdict: board.ToReview}}
}

// blockWork ends the work with a reason, which may quote the session. If the disk failed, the
// work has a fault instead, because the task is not to blame.
func (w *work) blockWork(format string, args ...any) *work {
	for _, a := range args {
		if err, ok := a.(error); ok && repo.Faulty(err) {
			w.fault = err
		}
	}
	w.verdict, w.reason = board.ToBlocked, okf.Legible(string(secrets.Redact(fmt.Appendf(nil, format, args...))))
	return w
}

// prepareRequest settles the terms and makes the request. If ok is false, w is blocked and says why.
func (a *attempt) prepareRequest(ctx context.Context, bind func(board.Task) (bound, error)) (req session.Request, ok bool) {
	var err error
	if a.w.terms, err = a.compileTerms(ctx, bind); err != nil {
		a.w.blockWork("%v", err)
		return req, false
	}
	if req, err = a.newRequest(ctx); err != nil {
		a.w.blockWork("brief: %v", err)
		return req, false
	}
	return req, true
}

// releasePermit ends the session's permit, if it still has one.
func (w *work) releasePermit() { w.anchor.releasePermit(releaseReason(w)) }

// publishes reports work that would go to review or hand something over.
func (c *claim) publishes(w *work) bool { return w.verdict == board.ToReview && !c.isRefresh() }

// runWork runs the session of a claimed task and decides its verdict. Whatever goes wrong
// blocks this task and not the drain.
func (a *attempt) runWork(ctx context.Context) {
	w := a.w
	if a.c.task.Role == "" {
		w.blockWork("the task has no role; set one with odd task edit TASK --role ROLE")
		return
	}
	defer w.releasePermit()
	req, ok := a.prepareRequest(ctx, a.d.contracts().checkSpawnable)
	if !ok {
		return
	}
	a.c.anchor = w.anchor
	if a.d.at.changesFiles(a.c.task) {
		runChange(ctx, &change{asking: asking{attempt: a, req: req, brief: w.brief}})
	} else {
		a.runSubstrate(ctx, req)
		a.d.authority().judgeEmission(w, req.Graph, a.d.By)
	}
	if w.verdict == board.ToReview && !w.change.isProposed() {
		a.encodeHandoff(board.Slug(a.c.task.ID))
		w.requireResult(a.c.task.ID)
	}
}

// requireResult blocks work that has nothing to review: no atom, no change, no handoff.
func (w *work) requireResult(id okf.ID) {
	held := func(it reconcile.Item) bool {
		return it.Effect != reconcile.Unchanged && it.Effect != reconcile.Declined
	}
	if w.verdict != board.ToReview || w.handed != nil || w.emission.Deliverable != nil || slices.ContainsFunc(w.items, held) {
		return
	}
	why := "the agent proposed no atom and no change"
	way := "if that is right, delete the task's file, otherwise change the task and run odd task ready " + string(id)
	switch {
	case w.change != nil && w.change.op.Reason == pipeline.Noop:
		why = cmp.Or(w.change.op.Last().Note, why)
	case countEffects(w.items)[reconcile.Declined] > 0:
		why = fmt.Sprintf("nothing is new, and %d declined before while their sources said the same", countEffects(w.items)[reconcile.Declined])
	case len(w.items) > 0:
		why = "every atom is as it was"
	case w.leg.name == "extract" && len(w.emission.Notes) > 0:
		why = "the offline reader found nothing to propose: " + w.emission.Notes[0].Title // how many files it read
		for _, open := range firstOf(openNotes(w.emission.Notes), 2) {
			why += "; " + open
		}
		if w.emission.Known > 0 {
			why = strings.Replace(why, "nothing to propose", "nothing new", 1)
			break // it can read them, and has nothing new to say
		}
		way = "the reader reads English, and finds rules with must or never, numbered steps, lists or tables of terms (**Word**: meaning), decision records and roles; add one to the documents, or name an agent with odd config set session.substrate NAME; then commit and run odd task ready " + string(id) + ", or delete the task's file"
	}
	w.blockWork("nothing to review: %s; %s", oneLine(cleanText(why)), way)
}

func (a *attempt) newRequest(ctx context.Context) (session.Request, error) {
	cfg, t := a.d.at.cfg, a.c.task
	files, err := a.d.repo.Tree(a.c.base)
	if err != nil {
		return session.Request{}, err
	}
	g, err := a.d.baseGraph(a.c.base)
	if err != nil {
		return session.Request{}, err
	}
	limits := risk.Limits(cfg, t)
	req := session.Request{
		Run: a.d.Run, Task: string(t.ID), Inputs: t.Inputs, Files: files, Graph: g, BundleRoot: cfg.Root,
		By: a.d.By, Now: a.d.Now().UTC(), MaxTurns: limits.Turns, MaxCost: int64(a.c.costOfEach()),
		Timeout: min(limits.Timeout, max(a.c.until.Sub(a.d.Now()), time.Second)), MaxAtoms: cfg.Session.MaxAtoms, Declined: board.DeclinedBefore(a.w.declines),
		Turn: func(u session.Usage) error {
			u.Turns, u.Cost = u.Turns+a.w.turned, u.Cost+int64(a.w.paid)
			if a.d.Turned != nil {
				a.d.Turned(u)
			}
			return a.checkTurn(ctx, budget.MicroUSD(u.Cost))
		}, Progress: func(s string) { a.d.say(string(t.ID) + ": " + s) },
	}
	if a.d.given != nil {
		req.Files = a.d.given.Files
	}
	in := a.d.briefs().briefInput(a.c, a.w, req)
	if g := a.d.given; g != nil { // in the place of what the board says
		in.Artifacts, in.Canon, in.Prompts = g.Artifacts, g.Canon, g.Prompts
	}
	a.w.brief = invoke.Compose(in).Anchored(a.w.anchor.briefPart())
	return req, nil
}

// checkTurn refuses a session's next turn if its lease, claim or permit has ended, the board
// is paused, somebody changed the task, or the month's budget is spent.
func (a *attempt) checkTurn(ctx context.Context, cost budget.MicroUSD) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.d.shared != nil {
		if err := a.d.shared.Renew(ctx, a.d.Now()); err != nil {
			return err
		}
	}
	tip, err := a.d.line.Latest(ctx)
	if err != nil {
		return err
	}
	s, err := readSnapshot(a.d.repo, tip, a.d.at)
	if err != nil {
		return err
	}
	if why, paused := board.ReadPause(s.files, s.pathOf("pause.toml")); paused {
		return fmt.Errorf("drains were paused: %s", why)
	}
	now := a.d.authorityAt(s)
	if a.w.died = now.whyRevoked(a.c); a.w.died != "" {
		return errors.New(a.w.died)
	}
	if !now.now.Before(a.c.until) {
		return errors.New("the claim on the task ended")
	}
	if a.w.died = a.c.anchor.whyLapsed(s); a.w.died != "" {
		return errors.New(a.w.died)
	}
	if s != a.d.at && a.c.task.Path != "" {
		if t, ok := board.Find(s.tasks(), a.c.task.ID); !ok || t.Blob != a.c.task.Blob {
			return errors.New("somebody changed the task while its session ran")
		}
	}
	return a.checkMoney(now, cost)
}

// checkMoney refuses a turn of c's session that no budget allows, and remembers how the month
// is past its hard stop.
func (a *attempt) checkMoney(now authority, cost budget.MicroUSD) error {
	err := now.checkSolvent(a.c, cost)
	var past overspent
	if errors.As(err, &past) {
		a.d.broke = string(past)
	}
	return err
}

// runSubstrate runs one session and reads its outcome. The verdict comes from what the
// session declared, never from an exit code.
func (a *attempt) runSubstrate(ctx context.Context, req session.Request) {
	desk := &desk{d: a.d, base: a.c.base, of: a.w.change}
	sub, why, err := a.newRelay(desk)
	switch {
	case err != nil:
		a.w.blockWork("agent: %v", err)
		return
	case why != "":
		a.w.blockWork("agent: %s; run odd task ready %s to try again", why, a.c.task.ID)
		return
	}
	a.equipSession(&req, desk)
	was, blind := a.d.repo.Fingerprint()
	if blind != nil {
		a.w.blockWork("session: the git directory cannot be read: %v", blind)
		return
	}
	served, why := a.startServers(ctx, &req, sub)
	defer served.stopServers(a.w)
	if why != "" {
		a.w.blockWork("mcp: %s", why)
		return
	}
	a.w.ran, a.w.leg.name = true, sub.currentName()
	a.w.cost = a.c.costOfEach() // until the session says what it cost
	a.d.say(fmt.Sprintf("%s: %s works as %s", req.Task, agentName(sub.currentName()), cmp.Or(a.c.task.Role, string(a.w.bound.Role))))
	a.w.result, err = invoke.Run(ctx, invoke.Session{Contract: a.w.bound.Contract, Brief: a.w.brief, Request: req, Substrate: sub, Reply: a.d.Reply, Watch: a.d.Watch, Prove: a.w.anchor.newProver()})
	served.stopServers(a.w)
	a.w.anchor.markRead()
	a.w.left = desk.takeLeft(ctx)
	if why := a.d.place().checkFingerprint(req.Task, was); why != "" {
		a.w.died, a.w.tampered = why, true
		a.w.patch = a.leftPatch(context.WithoutCancel(ctx))
	}
	if a.w.change == nil {
		a.w.left.report(a.d.say, req.Task)
	} else if products := a.w.left.describeProducts(); products != "" {
		a.d.say(req.Task + ": " + products)
	}
	switch {
	case err != nil && a.w.tampered:
		a.w.voidWork(a.w.died)
		return
	case err != nil:
		if errors.As(err, new(*cage.NotStarted)) || errors.As(err, new(*cage.Unheld)) {
			a.w.cost = a.w.paid
		}
		a.w.blockWork("session: %v", err)
		return
	}
	a.w.emission = a.w.result.Emission
	if u := a.w.emission.Usage; u.CostKnown {
		a.w.cost = a.w.paid + budget.MicroUSD(u.Cost)
	}
	failed, relayed := a.d.recorder().failedLegs(a.c, a.w, sub)
	a.w.earlierSessions, a.w.relayed, a.w.leg = append(a.w.earlierSessions, failed...), relayed, sub.parts[len(sub.parts)-1]
	a.readOutcome(ctx)
}

func agentName(substrate string) string {
	if substrate == "extract" {
		return "the built-in offline reader"
	}
	return substrate
}

func (a *attempt) readOutcome(ctx context.Context) {
	switch e := a.w.emission; {
	case ctx.Err() != nil && a.c.task.Path == "" && a.d.Watch == nil:
		a.w.blockWork("cancelled: interrupted")
	case a.w.died != "":
		a.w.voidWork(a.w.died)
	case ctx.Err() != nil && a.d.Watch == nil:
		a.w.blockWork("%s", describeStop(ctx, a.c.task))
	case e.Failure == invoke.Yielded:
		a.w.blockWork("the agent asks a question and waits for an answer: %s", e.Detail)
	case e.Outcome == session.Failed:
		var way string
		if a.w.cut, way = a.explainCut(e); a.w.cut != "" {
			a.w.blockWork("%s: %s", a.w.cut, way)
			return
		}
		a.w.blockWork("session failed: %s", joinDetail(e.Failure, e.Detail))
	case e.Outcome == session.HandoffInsufficient:
		a.w.blockWork("%s", whyInsufficient(a.w))
	case e.Outcome != session.Completed:
		a.w.blockWork("session ended: %s", joinDetail(string(e.Outcome), e.Detail))
	case e.Change != nil && a.w.change == nil:
		a.w.blockWork("change-not-asked: the agent changed files, and the task allows none; a person can allow some outside of %s with odd task edit %s --path GLOB", a.d.at.cfg.Root, a.c.task.ID)
	}
}

// explainCut returns the code of the limit or fault that ended a failed session, with what
// happened and what to do. The code is "" if the agent itself gave up or answered wrongly.
func (a *attempt) explainCut(e session.Emission) (code pipeline.Reason, text string) {
	edit := func(what, flag string) string {
		if a.c.task.Path == "" {
			return fmt.Sprintf("%s; raise [session] %s in odd.toml", what, map[string]string{"--max-turns N": "max_turns", "--budget-usd USD": "max_usd"}[flag])
		}
		return fmt.Sprintf("%s; run odd task edit %s %s for more, then odd task ready %[2]s", what, a.c.task.ID, flag)
	}
	again := "; run odd task ready " + string(a.c.task.ID) + " to try again"
	if a.c.task.Path == "" {
		again = ""
	}
	timed := e.Failure == session.Timeout || e.Failure == session.TurnRefused
	switch {
	case timed && !a.d.Now().Before(a.c.until):
		return pipeline.LeaseExpired, fmt.Sprintf("the claim on the task ended at %s; raise [drain] lease in odd.toml", a.c.until.UTC().Format(time.RFC3339)) + strings.Replace(again, "; run", ", then", 1)
	case e.Failure == session.Timeout:
		return pipeline.SessionTimeout, fmt.Sprintf("the session had %s; raise %s in odd.toml", risk.Limits(a.d.at.cfg, a.c.task).Timeout, a.d.at.timeKey(a.c.task)) + strings.Replace(again, "; run", ", then", 1)
	case e.Failure == session.OverBudget && a.c.reserved < risk.Limits(a.d.at.cfg, a.c.task).MaxCost: // the commitment lease had no more left
		return pipeline.CostCapExceeded, e.Detail + "; the lease has no more money, odd gate evaluation --renew starts its counts anew"
	case e.Failure == session.OverBudget:
		return pipeline.CostCapExceeded, edit(e.Detail, "--budget-usd USD")
	case e.Failure == session.TurnLimit:
		return pipeline.TurnLimit, edit(e.Detail, "--max-turns N")
	case e.Failure == toolbox.Degenerate:
		return pipeline.DegenerateLoop, e.Detail + again
	case e.Failure == session.Silent:
		if again != "" && len(e.Raw) > 0 {
			again = fmt.Sprintf("; odd review %s --emission shows what it printed", a.c.task.ID) + again
		}
		return pipeline.NoOutcome, cmp.Or(e.Detail, "the agent ended without the block odd.finish.1") + again
	case e.Failure == session.Transport:
		return pipeline.TransportFailed, joinDetail("the agent or its model could not be reached, or broke off", e.Detail) + again
	}
	return "", ""
}

// timeKey is the key of odd.toml that sets the time of a session for t.
func (s *snapshot) timeKey(t board.Task) string {
	if lane, _, _ := risk.Lane(s.cfg.Root, t); s.cfg.Routes[string(lane)].Timeout > 0 {
		return "[route." + string(lane) + "] timeout"
	}
	return "[session] timeout"
}

// ArtifactDir returns the folder of a task's attempt in the run's artifacts.
func ArtifactDir(t board.Task) string { return fmt.Sprintf("%s.%d", board.Slug(t.ID), t.Attempts) }

// keepArtifacts adds the brief, emission and guarded files of the last session to a folder of the
// run's tree, redacted.
func (a *attempt) keepArtifacts(dir string) {
	hide := lentSecrets(a.d.at.cfg, a.d.Environ)
	put := func(name string, b []byte) {
		if len(b) > 0 {
			a.d.tree[path.Join(dir, name)] = secrets.Redact(hide.hideValues(b))
		}
	}
	put("brief.md", a.w.brief.Text)
	put("left.patch", a.w.patch)
	if m, err := json.MarshalIndent(a.w.brief.Manifest, "", "  "); err == nil && len(a.w.brief.Manifest) > 0 {
		put("brief.json", append(m, '\n'))
	}
	for i, b := range a.w.result.Briefs {
		if i > 0 { // the first is the brief itself
			put(fmt.Sprintf("brief.%d.md", i+1), b.Text)
		}
	}
	if v, err := json.MarshalIndent(a.w.result.Verdict, "", "  "); err == nil && a.w.bound.Role != "" {
		put("surface.json", append(v, '\n'))
	}
	if v, err := json.MarshalIndent(a.w.bound.Contract, "", "  "); err == nil && a.w.bound.Role != "" {
		put("contract.json", append(v, '\n'))
	}
	put("emission.md", a.w.emission.Raw)
	put("transcript.txt", a.w.emission.Transcript)
	put("calls.jsonl", encodeCalls(a.w.emission.Calls))
	for _, it := range a.w.items {
		if isKeptOut(it.Effect) {
			put("kept/"+it.Path, it.Bytes)
		}
	}
	if items, err := json.MarshalIndent(a.w.items, "", "  "); err == nil && len(a.w.items) > 0 {
		put("reconcile.json", append(items, '\n'))
	}
}

// countTurns returns the turns of all sessions so far.
func (w *work) countTurns() int { return w.turned + w.emission.Usage.Turns }

// voidWork blocks the work and drops everything it made.
func (w *work) voidWork(why string) {
	w.blockWork("%s", why)
	w.items, w.handed = nil, nil
}

// proposedChanges is all that a proposal would hold, by repository path; nil is deleted.
func (w *work) proposedChanges(s *snapshot) repo.Changes {
	out := repo.Changes{}
	for _, it := range w.items {
		if it.Effect.Lands() {
			out[s.pathOf(it.Path)] = it.Bytes
		}
	}
	if w.change != nil {
		for _, f := range w.change.candidate.Files {
			out[f.Path] = f.After
		}
	}
	return out
}
