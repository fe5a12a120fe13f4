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
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// work is what became of a claimed task before anything of it is committed. A change of files may
// take several sessions.
type work struct {
	lastSession
	verdict         board.Verdict
	reason          string // why it is blocked
	persona         persona.Persona
	bound           bound
	anchor          *handshake // nil where nothing binds it
	grant           policy.Grant
	declines        []board.Decline // of people, for this task
	change          *change         // nil where the task asks for no change of files
	cost            budget.MicroUSD
	paid            budget.MicroUSD // of that, for sessions before the last
	turned          int             // turns of those
	earlierSessions []event.Record  // those sessions, and the legs of the last one that failed
	dir             string          // of the run's tree; "" is the task's
	fault           error           // of the disk: there is no result, and the claim is swept

	judgedAgain bool // judged again without a session: the task stays in review
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

// block ends the work with a reason, which may quote the session. If the disk failed, the
// work has a fault instead, because the task is not to blame.
func (w *work) block(format string, args ...any) *work {
	for _, a := range args {
		if err, ok := a.(error); ok && repo.Faulty(err) {
			w.fault = err
		}
	}
	w.verdict, w.reason = board.ToBlocked, okf.Legible(string(secrets.Redact(fmt.Appendf(nil, format, args...))))
	return w
}

// prepare binds the contract, begins the handshake and makes the request. If ok is false, w
// is blocked and says why.
func (d *drain) prepare(ctx context.Context, c *claim, w *work, bind func(board.Task) (bound, error)) (req session.Request, ok bool) {
	b, err := bind(c.task)
	if err != nil {
		w.block("contract: %s", describeRefusals(err))
		return req, false
	}
	w.bound = b
	if w.anchor, err = d.beginHandshake(c.task, b.Contract, anchor.Mode(d.at.cfg.Anchor.Mode)); err != nil {
		w.block("anchor: %s", oneLine(err.Error()))
		return req, false
	}
	w.grant = d.compileGrant(c, w)
	if req, err = d.newRequest(ctx, c, w); err != nil {
		w.block("brief: %v", err)
		return req, false
	}
	return req, true
}

// releasePermit ends the session's permit, if it still has one.
func (w *work) releasePermit() { w.anchor.releasePermit(releaseReason(w)) }

// isPublishable reports work that would go to review or hand something over.
func (w *work) isPublishable() bool { return w.verdict == board.ToReview && !w.judgedAgain }

// runWork runs the session of a claimed task and decides its verdict. Whatever goes wrong
// blocks this task and not the drain.
func (d *drain) runWork(ctx context.Context, c *claim) *work {
	w := &work{verdict: board.ToReview}
	if why := d.at.compilePersona(w, c.task.Role); why != "" {
		return w.block("%s", why)
	}
	defer w.releasePermit()
	req, ok := d.prepare(ctx, c, w, d.contracts().checkSpawnable)
	if !ok {
		return w
	}
	c.anchor = w.anchor
	if d.at.changes(c.task) {
		d.runChange(ctx, &change{d: d, c: c, w: w, req: req, brief: w.brief})
	} else {
		d.runSubstrate(ctx, c, w, req)
		d.authority().judgeEmission(w, c.task, req.Graph, d.By)
	}
	if w.verdict == board.ToReview && !w.change.isProposed() {
		d.encodeHandoff(w, board.Slug(c.task.ID), "")
		w.requireResult(c.task.ID)
	}
	return w
}

// requireResult blocks work that has nothing to review: no atom, no change, no handoff.
func (w *work) requireResult(id okf.ID) {
	held := func(it reconcile.Item) bool {
		return it.Effect.Lands() || isKeptOut(it.Effect) && it.Effect != reconcile.Declined
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
		for _, open := range first(openNotes(w.emission.Notes), 2) {
			why += "; " + open
		}
		if strings.Contains(why, session.KnownAlready) {
			why = strings.Replace(why, "nothing to propose", "nothing new", 1)
			break // it can read them, and has nothing new to say
		}
		way = "the reader reads English, and finds rules with must or never, numbered steps, lists or tables of terms (**Word**: meaning), decision records and roles; add one to the documents, or name an agent with odd config set session.substrate NAME; then commit and run odd task ready " + string(id) + ", or delete the task's file"
	}
	w.block("nothing to review: %s; %s", oneLine(clean(why)), way)
}

// compilePersona compiles the persona of a work role. It returns why the role may not work,
// "" if it may.
func (s *snapshot) compilePersona(w *work, role string) string {
	if role == "" {
		return "the task has no role; set one with odd task edit TASK --role ROLE"
	}
	p, err := persona.Compile(s.graph, role)
	if err != nil {
		return fmt.Sprintf("role: %v", err)
	}
	p.Commit = string(s.tip)
	w.persona = p
	f := s.cfg.Floor
	if short := p.Below(persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}); len(short) > 0 {
		return persona.Lacks(role, short)
	}
	return ""
}

func (d *drain) newRequest(ctx context.Context, c *claim, w *work) (session.Request, error) {
	cfg, t := d.at.cfg, c.task
	files, err := d.repo.Tree(c.base)
	if err != nil {
		return session.Request{}, err
	}
	if w.declines, err = d.findDeclines(ctx, t, c.base); err != nil {
		return session.Request{}, err
	}
	g, err := d.baseGraph(c.base)
	if err != nil {
		return session.Request{}, err
	}
	limits := risk.Limits(cfg, t)
	req := session.Request{
		Run: d.Run, Task: string(t.ID), Inputs: t.Inputs, Files: files, Graph: g, BundleRoot: cfg.Root,
		By: d.By, Now: d.Now().UTC(), MaxTurns: limits.Turns, MaxCost: int64(c.each()),
		Timeout: min(limits.Timeout, max(c.until.Sub(d.Now()), time.Second)), MaxAtoms: cfg.Session.MaxAtoms, Declined: board.DeclinedBefore(w.declines),
		Turn: func(u session.Usage) error {
			u.Turns, u.Cost = u.Turns+w.turned, u.Cost+int64(w.paid)
			if d.Turned != nil {
				d.Turned(u)
			}
			return d.checkTurn(ctx, c, budget.MicroUSD(u.Cost))
		}, Progress: func(s string) { d.say(string(t.ID) + ": " + s) },
	}
	if d.given != nil {
		req.Files = d.given.Files
	}
	in := d.briefs().briefInput(c, w, req)
	if g := d.given; g != nil { // in the place of what the board says
		in.Artifacts, in.Canon, in.Prompts = g.Artifacts, g.Canon, g.Prompts
	}
	w.brief = invoke.Compose(in).Anchored(w.anchor.briefPart())
	return req, nil
}

// checkTurn refuses a session's next turn if its lease, claim or permit has ended, the board
// is paused, somebody changed the task, or the month's budget is spent.
func (d *drain) checkTurn(ctx context.Context, c *claim, cost budget.MicroUSD) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.died = d.authority().whyRevoked(c); c.died != "" {
		return errors.New(c.died)
	}
	if !d.Now().Before(c.until) {
		return errors.New("the claim on the task ended")
	}
	if c.died = c.anchor.whyLapsed(d.at); c.died != "" {
		return errors.New(c.died)
	}
	if d.shared != nil {
		if err := d.shared.Renew(ctx, d.Now()); err != nil {
			return err
		}
	}
	tip, err := d.line.Latest(ctx)
	switch {
	case err != nil:
		return err
	case tip == d.at.tip:
		return d.checkMoney(d.authority(), c, cost)
	}
	s, err := readSnapshot(d.repo, tip, d.at)
	if err != nil {
		return err
	}
	if why, paused := readPause(s.files, s.file("pause.toml")); paused {
		return fmt.Errorf("drains were paused: %s", why)
	}
	if t, ok := board.Find(s.tasks(), c.task.ID); c.task.Path != "" && (!ok || t.Blob != c.task.Blob) {
		return errors.New("somebody changed the task while its session ran")
	}
	now := d.authorityAt(s)
	if c.died = now.whyLapsed(c); c.died != "" {
		return errors.New(c.died)
	}
	return d.checkMoney(now, c, cost)
}

// checkMoney refuses a turn of c's session that no budget allows, and remembers how the month
// is past its hard stop.
func (d *drain) checkMoney(now authority, c *claim, cost budget.MicroUSD) error {
	err := now.checkSolvent(c, cost)
	var past overspent
	if errors.As(err, &past) {
		d.broke = string(past)
	}
	return err
}

// runSubstrate runs one session and reads its outcome. The verdict comes from what the
// session declared, never from an exit code.
func (d *drain) runSubstrate(ctx context.Context, c *claim, w *work, req session.Request) {
	desk := &desk{d: d, base: c.base, of: w.change}
	sub, why, err := d.newRelay(c.task, desk)
	switch {
	case err != nil:
		w.block("agent: %v", err)
		return
	case why != "":
		w.block("agent: %s; run odd task ready %s to try again", why, c.task.ID)
		return
	}
	d.equipSession(c, w, &req, desk)
	was, blind := d.repo.Fingerprint()
	if blind != nil {
		w.block("session: the git directory cannot be read: %v", blind)
		return
	}
	served, why := d.startServers(ctx, c, w, &req, sub)
	defer served.stopServers(w)
	if why != "" {
		w.block("mcp: %s", why)
		return
	}
	w.ran, w.leg.name = true, sub.currentName()
	w.cost = c.each() // until the session says what it cost
	d.say(fmt.Sprintf("%s: %s works as %s", req.Task, agentName(sub.currentName()), cmp.Or(c.task.Role, string(w.bound.Role))))
	w.result, err = invoke.Run(ctx, invoke.Session{Contract: w.bound.Contract, Brief: w.brief, Request: req, Substrate: sub, Reply: d.Reply, Watch: d.Watch, Prove: w.anchor.newProver()})
	served.stopServers(w)
	w.anchor.markRead()
	w.left = desk.takeLeft(ctx)
	if why := d.checkFingerprint(req.Task, was); why != "" {
		c.died, w.tampered = why, true
		d.keepLeft(context.WithoutCancel(ctx), c, w)
	}
	if w.change == nil {
		w.left.report(d.say, req.Task)
	} else if products := w.left.describeProducts(); products != "" {
		d.say(req.Task + ": " + products)
	}
	switch {
	case err != nil && w.tampered:
		w.void(c.died)
		return
	case err != nil:
		if errors.As(err, new(*cage.NotStarted)) || errors.As(err, new(*cage.Unheld)) {
			w.cost = w.paid
		}
		w.block("session: %v", err)
		return
	}
	w.emission = w.result.Emission
	if u := w.emission.Usage; u.CostKnown {
		w.cost = w.paid + budget.MicroUSD(u.Cost)
	}
	d.recorder().recordFailedLegs(c, w, sub)
	d.readOutcome(ctx, c, w)
}

func agentName(substrate string) string {
	if substrate == "extract" {
		return "the built-in offline reader"
	}
	return substrate
}

func (d *drain) readOutcome(ctx context.Context, c *claim, w *work) {
	switch e := w.emission; {
	case ctx.Err() != nil && c.task.Path == "" && d.Watch == nil:
		w.block("cancelled: interrupted")
	case c.died != "":
		w.void(c.died)
	case ctx.Err() != nil && d.Watch == nil:
		w.block("%s", describeStop(ctx, c.task))
	case e.Failure == invoke.Yielded:
		w.block("the agent asks a question and waits for an answer: %s", e.Detail)
	case e.Outcome == session.Failed:
		var way string
		if w.cut, way = d.explainCut(c, e); w.cut != "" {
			w.block("%s: %s", w.cut, way)
			return
		}
		w.block("session failed: %s", joinDetail(e.Failure, e.Detail))
	case e.Outcome == session.HandoffInsufficient:
		w.block("%s", whyInsufficient(w))
	case e.Outcome != session.Completed:
		w.block("session ended: %s", joinDetail(string(e.Outcome), e.Detail))
	case e.Change != nil && w.change == nil:
		w.block("change-not-asked: the agent changed files, and the task allows none; a person can allow some outside of %s with odd task edit %s --path GLOB", d.at.cfg.Root, c.task.ID)
	}
}

// explainCut returns the code of the limit or fault that ended a failed session, with what
// happened and what to do. The code is "" if the agent itself gave up or answered wrongly.
func (d *drain) explainCut(c *claim, e session.Emission) (code pipeline.Reason, text string) {
	edit := func(what, flag string) string {
		if c.task.Path == "" {
			return fmt.Sprintf("%s; raise [session] %s in odd.toml", what, map[string]string{"--max-turns N": "max_turns", "--budget-usd USD": "max_usd"}[flag])
		}
		return fmt.Sprintf("%s; run odd task edit %s %s for more, then odd task ready %[2]s", what, c.task.ID, flag)
	}
	again := "; run odd task ready " + string(c.task.ID) + " to try again"
	if c.task.Path == "" {
		again = ""
	}
	timed := e.Failure == session.Timeout || e.Failure == session.TurnRefused
	switch {
	case timed && !d.Now().Before(c.until):
		return pipeline.LeaseExpired, fmt.Sprintf("the claim on the task ended at %s; raise [drain] lease in odd.toml", c.until.UTC().Format(time.RFC3339)) + strings.Replace(again, "; run", ", then", 1)
	case e.Failure == session.Timeout:
		return pipeline.SessionTimeout, fmt.Sprintf("the session had %s; raise %s in odd.toml", risk.Limits(d.at.cfg, c.task).Timeout, d.at.timeKey(c.task)) + strings.Replace(again, "; run", ", then", 1)
	case e.Failure == session.OverBudget && c.reserved < risk.Limits(d.at.cfg, c.task).MaxCost: // the commitment lease had no more left
		return pipeline.CostCapExceeded, e.Detail + "; the lease has no more money, odd gate evaluation --renew starts its counts anew"
	case e.Failure == session.OverBudget:
		return pipeline.CostCapExceeded, edit(e.Detail, "--budget-usd USD")
	case e.Failure == session.TurnLimit:
		return pipeline.TurnLimit, edit(e.Detail, "--max-turns N")
	case e.Failure == toolbox.Degenerate:
		return pipeline.DegenerateLoop, e.Detail + again
	case e.Failure == session.Silent:
		if again != "" && len(e.Raw) > 0 {
			again = fmt.Sprintf("; odd review %s --emission shows what it printed", c.task.ID) + again
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

// keepArtifacts adds the task's brief, emission and guarded files to the run's
// tree, redacted.
func (d *drain) keepArtifacts(c *claim, w *work) {
	dir := w.dir
	if dir == "" {
		dir = ArtifactDir(c.task)
	}
	hide := lentSecrets(d.at.cfg, d.Environ)
	put := func(name string, b []byte) {
		if len(b) > 0 {
			d.tree[path.Join(dir, name)] = secrets.Redact(hide.hide(b))
		}
	}
	put("brief.md", w.brief.Text)
	put("left.patch", w.patch)
	if m, err := json.MarshalIndent(w.brief.Manifest, "", "  "); err == nil && len(w.brief.Manifest) > 0 {
		put("brief.json", append(m, '\n'))
	}
	for i, b := range w.result.Briefs {
		if i > 0 { // the first is the brief itself
			put(fmt.Sprintf("brief.%d.md", i+1), b.Text)
		}
	}
	if v, err := json.MarshalIndent(w.result.Verdict, "", "  "); err == nil && w.bound.Role != "" {
		put("surface.json", append(v, '\n'))
	}
	if v, err := json.MarshalIndent(w.bound.Contract, "", "  "); err == nil && w.bound.Role != "" {
		put("contract.json", append(v, '\n'))
	}
	put("emission.md", w.emission.Raw)
	put("transcript.txt", w.emission.Transcript)
	put("calls.jsonl", encodeCalls(w.emission.Calls))
	for _, it := range w.items {
		if isKeptOut(it.Effect) {
			put("kept/"+it.Path, it.Bytes)
		}
	}
	if items, err := json.MarshalIndent(w.items, "", "  "); err == nil && len(w.items) > 0 {
		put("reconcile.json", append(items, '\n'))
	}
}

// void blocks the work and drops everything it made.
func (w *work) void(why string) {
	w.block("%s", why)
	w.items, w.handed = nil, nil
}
