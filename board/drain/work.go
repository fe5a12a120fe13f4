package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// work is what became of a claimed task before anything of it is committed. It is a value: a later step returns
// a changed copy. A change of files may take several sessions.
type work struct {
	attempt
	lastSession
	earlier  earlier
	log      pipeline.Log // of its change; empty where the task asks for no change of files
	proposal *proposal    // of its change, once apply made it
	change   *change      // that ended with it, and is only read from then on; nil where log is empty
}

// earlier is what the sessions of a work before its last one came to.
type earlier struct {
	turns   int
	paid    budget.MicroUSD
	records []event.Record
}

// lastSession is what the last session of a work came to, and why the work does not go to review
// if it does not.
type lastSession struct {
	brief    invoke.Brief
	ran      bool            // it started, so it costs
	spent    budget.MicroUSD // what it cost
	result   invoke.Result
	emission session.Emission  // the result's, and what became of it
	items    []reconcile.Item  // of its atoms
	handed   *handed           // nil: nothing is handed over
	left     left              // in its scratch repository
	tampered bool              // the repository was changed while it ran
	patch    []byte            // what it left, where that is dropped for it
	cut      pipeline.Reason   // what ended it, where a limit or a fault did
	leg      part              // its last leg
	failed   []event.Record    // its other legs
	relayed  budget.MicroUSD   // what those cost
	served   []event.ServerUse // what became of its servers, for the ledger
	died     string            // why the lease, or its permit, took the claim back while it ran
	reason   string            // why the work is blocked, "" where it may go to review
	fault    error             // of the disk: there is no result, and the claim is swept
}

// attempt is one session, or the sessions of one change, at work on what a claim holds, and what
// they are bound to. It does not change.
type attempt struct {
	d        *drain
	c        *claim
	member   int // which of the claim's sessions, from 1; 0 for its only one
	persona  persona.Persona
	bound    bound
	anchor   *handshake // nil where nothing binds it
	grant    policy.Grant
	declines []board.Decline // of people, for this task
}

// input is what one session of an attempt begins with.
type input struct {
	req    session.Request
	brief  invoke.Brief
	shown  []invoke.File   // that the brief names, some with their text
	before earlier         // the sessions of the same work before it
	begin  []repo.FileEdit // what its tree has that the base has not
}

// asBlocked is s with the reason why its work is blocked, which may quote the session. If the disk
// failed, it has a fault as well, because the task is not to blame.
func (s lastSession) asBlocked(format string, args ...any) lastSession {
	for _, a := range args {
		if err, ok := a.(error); ok && repo.Faulty(err) {
			s.fault = err
		}
	}
	s.reason = okf.Legible(string(secrets.Redact(fmt.Appendf(nil, format, args...))))
	return s
}

// asVoid is s, blocked and without all that it made.
func (s lastSession) asVoid(why string) lastSession {
	s = s.asBlocked("%s", why)
	s.items, s.handed = nil, nil
	return s
}

// cost is what all sessions of the work cost.
func (w work) cost() budget.MicroUSD { return w.earlier.paid + w.spent }

// newAttempt binds an attempt at what c holds, and makes what its first session begins with.
func newAttempt(ctx context.Context, d *drain, c *claim, member int) (a attempt, in input, err error) {
	a = attempt{d: d, c: c, member: member}
	if err = a.bind(ctx); err != nil {
		return a, in, err
	}
	if in.req, err = a.newRequest(); err != nil {
		return a, in, fmt.Errorf("brief: %w", err)
	}
	in.brief, in.shown = a.composeBrief(in.req)
	return a, in, nil
}

// publishes reports work that would go to review or hand something over.
func (c *claim) publishes(w work) bool { return w.reason == "" && !c.isRefresh() }

// runSession runs the session of c, or that of several which member names, and says what became of the
// work. Sessions of one claim share nothing but their input: each has its own brief, tree and handoff.
// Whatever goes wrong blocks this work and not the drain.
func (d *drain) runSession(ctx context.Context, c *claim, member int) (w work) {
	defer func() { w.anchor.releasePermit(releaseReason(w.lastSession)) }()
	a, in, err := newAttempt(ctx, d, c, member)
	if err != nil {
		return work{attempt: a, lastSession: lastSession{}.asBlocked("%v", err)}
	}
	if d.at.changesFiles(c.task) {
		w = runChange(ctx, &change{asking: asking{attempt: a, input: in, made: pipeline.Made{Seen: true}}})
	} else {
		w = work{attempt: a, lastSession: a.judgeEmission(a.runSubstrate(ctx, in), in.req.Graph)}
	}
	if w.reason == "" && !w.log.Proposed() {
		w.lastSession = a.encodeHandoff(w)
		w.lastSession = w.requireResult(c.task)
	}
	return w
}

// requireResult blocks work that has nothing to review: no atom, no change, no handoff.
func (w work) requireResult(t board.Task) lastSession {
	isNew := func(it reconcile.Item) bool {
		return it.Effect != reconcile.Unchanged && it.Effect != reconcile.Declined
	}
	if isOffBoard(t) || w.reason != "" || w.handed != nil || w.emission.Deliverable != nil || slices.ContainsFunc(w.items, isNew) {
		return w.lastSession
	}
	why := "the agent proposed no atom and no change"
	way := "if that is right, delete the task's file, otherwise change the task and run odd task ready " + string(t.ID)
	switch {
	case w.log.Op().Reason == pipeline.Noop:
		why = cmp.Or(w.log.Op().Last().Note, why)
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
		way = "the reader reads English, and finds rules with must or never, numbered steps, lists or tables of terms (**Word**: meaning), decision records and roles; add one to the documents, or name an agent with odd config set session.substrate NAME; then commit and run odd task ready " + string(t.ID) + ", or delete the task's file"
	}
	return w.asBlocked("nothing to review: %s; %s", oneLine(cleanText(why)), way)
}

func (a attempt) newRequest() (session.Request, error) {
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
		Run: a.d.Run, Task: string(t.ID), Member: a.member, Inputs: t.Inputs, Files: files, Graph: g, BundleRoot: cfg.Root,
		By: a.d.By, Now: a.d.Now().UTC(), MaxTurns: limits.Turns, MaxCost: int64(a.c.costOfEach()),
		Timeout: min(limits.Timeout, max(a.c.until.Sub(a.d.Now()), time.Second)), MaxAtoms: cfg.Session.MaxAtoms, Declined: board.DeclinedBefore(a.declines),
		Progress: func(s string) { a.d.say(string(t.ID) + ": " + s) },
	}
	if a.d.given != nil {
		req.Files = a.d.given.Files
	}
	return req, nil
}

func (a attempt) composeBrief(req session.Request) (b invoke.Brief, shown []invoke.File) {
	in := a.briefInput(req)
	if g := a.d.given; g != nil { // in the place of what the board says
		in.Artifacts, in.Canon, in.Prompts = g.Artifacts, g.Canon, g.Prompts
	}
	if shown = in.Inputs; in.Change != nil {
		shown = slices.Concat(in.Change.Files, in.Inputs)
	}
	return invoke.Compose(in).Anchored(a.anchor.briefPart()), shown
}

// revocation is why the lease, or the session's permit, takes a claim back.
type revocation string

func (r revocation) Error() string { return string(r) }

// checkTurn refuses a session's next turn if its lease, claim or permit has ended, the board
// is paused, somebody changed the task, or the month's budget is spent.
func (a attempt) checkTurn(ctx context.Context, cost budget.MicroUSD) error {
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
	if why := now.whyRevoked(a.c); why != "" {
		return revocation(why)
	}
	if !now.now.Before(a.c.until) {
		return errors.New("the claim on the task ended")
	}
	if isOffBoard(a.c.task) {
		return now.checkSolvent(a.c, cost)
	}
	if why := a.anchor.whyLapsed(s); why != "" {
		return revocation(why)
	}
	if s != a.d.at {
		if t, ok := board.Find(s.tasks(), a.c.task.ID); !ok || t.Blob != a.c.task.Blob {
			return errors.New("somebody changed the task while its session ran")
		}
	}
	return now.checkSolvent(a.c, cost)
}

// newTurn returns the check before each turn of a session that others came before. Whether it took the
// claim back is in died, and how the month is past its hard stop in the drain.
func (a attempt) newTurn(ctx context.Context, before earlier, died *string) func(session.Usage) error {
	return func(u session.Usage) error {
		u.Turns, u.Cost = u.Turns+before.turns, u.Cost+int64(before.paid)
		if a.d.BeforeTurn != nil {
			a.d.BeforeTurn(u)
		}
		err := a.checkTurn(ctx, budget.MicroUSD(u.Cost))
		var why revocation
		if errors.As(err, &why) {
			*died = string(why)
		}
		var past overspent
		if errors.As(err, &past) {
			a.d.overspent = string(past)
		}
		return err
	}
}

// runSubstrate runs one session and reads its outcome. What becomes of the work follows from what the
// session declared, never from an exit code.
func (a attempt) runSubstrate(ctx context.Context, in input) lastSession {
	s := lastSession{brief: in.brief}
	desk := &desk{d: a.d, base: a.c.base, begin: in.begin}
	sub, why, err := a.newRelay(desk)
	switch {
	case err != nil:
		return s.asBlocked("agent: %v", err)
	case why != "":
		return s.asBlocked("agent: %s%s", why, a.c.tryAgain())
	}
	req := a.equipSession(in, desk)
	req.Turn = a.newTurn(ctx, in.before, &s.died)
	was, err := a.d.repo.Fingerprint()
	if err != nil {
		return s.asBlocked("session: the git directory cannot be read: %v", err)
	}
	served, why := a.startServers(ctx, sub, desk)
	defer served.stopServers()
	for _, lost := range served.lost {
		s.brief = s.brief.Lacking(lost)
	}
	if why != "" {
		return s.asBlocked("mcp: %s", why)
	}
	req.Extra = served.tools()
	s.ran, s.leg.name = true, sub.currentName()
	s.spent = max(a.c.costOfEach()-in.before.paid, 0) // until the session says what it cost
	a.d.say(fmt.Sprintf("%s: %s works as %s", req.Task, cmp.Or(map[string]string{"extract": "the built-in offline reader"}[sub.currentName()], sub.currentName()), cmp.Or(a.c.task.Role, string(a.bound.Role))))
	s.result, err = invoke.Run(ctx, invoke.Session{Contract: a.bound.Contract, Brief: s.brief, Request: req, Substrate: sub, Reply: a.d.Reply, Watch: a.d.Watch, Prove: a.anchor.newProver()})
	s.served = served.stopServers()
	a.anchor.markRead()
	s.left = desk.takeLeft(ctx)
	if why := a.d.computer().checkFingerprint(req.Task, was); why != "" {
		s.died, s.tampered = why, true
		s.patch = a.leftPatch(context.WithoutCancel(ctx), s.left)
	}
	mayChange := a.d.at.changesFiles(a.c.task)
	if !mayChange {
		s.left.report(a.d.say, req.Task)
	} else if products := s.left.describeProducts(); products != "" {
		a.d.say(req.Task + ": " + products)
	}
	switch {
	case err != nil && s.tampered:
		return s.asVoid(s.died)
	case err != nil:
		if errors.As(err, new(*cage.NotStarted)) || errors.As(err, new(*cage.Unheld)) {
			s.spent = 0
		}
		return s.asBlocked("session: %v", err)
	}
	s.emission = s.result.Emission
	if u := s.emission.Usage; u.CostKnown {
		s.spent = budget.MicroUSD(u.Cost)
	}
	s.failed, s.relayed = a.d.recorder().failedLegs(a.c, work{attempt: a, lastSession: s}, sub.parts)
	s.leg = sub.parts[len(sub.parts)-1]
	return a.readOutcome(ctx, s, mayChange)
}

// readOutcome is s as its session ended. mayChange are those that may change files.
func (a attempt) readOutcome(ctx context.Context, s lastSession, mayChange bool) lastSession {
	switch e := s.emission; {
	case ctx.Err() != nil && isOffBoard(a.c.task) && a.d.Watch == nil:
		return s.asBlocked("cancelled: interrupted")
	case s.died != "":
		return s.asVoid(s.died)
	case ctx.Err() != nil && a.d.Watch == nil:
		return s.asBlocked("%s", describeStop(ctx, a.c.task))
	case e.Failure == invoke.Yielded:
		return s.asBlocked("the agent asks a question and waits for an answer: %s", e.Detail)
	case e.Outcome == session.Failed:
		var way string
		if s.cut, way = a.explainCut(e); s.cut != "" {
			return s.asBlocked("%s: %s", s.cut, way)
		}
		if e.Failure == session.BadExit {
			return s.asBlocked("the agent's program failed: %s%s", e.Detail, a.emissionHint(e)+a.c.tryAgain())
		}
		return s.asBlocked("session failed: %s", joinDetail(e.Failure, e.Detail))
	case e.Outcome == session.HandoffInsufficient:
		return s.asBlocked("%s", a.bound.whyInsufficient(e.Missing))
	case e.Outcome != session.Completed:
		return s.asBlocked("session ended: %s", joinDetail(string(e.Outcome), e.Detail))
	case e.Change != nil && !mayChange:
		return s.asBlocked("change-not-asked: the agent changed files, and the task allows none; a person can allow some outside of %s with odd task edit %s --path GLOB", a.d.at.cfg.Root, a.c.task.ID)
	}
	return s
}

// explainCut returns the code of the limit or fault that ended a failed session, with what
// happened and what to do. The code is "" if the agent itself gave up or answered wrongly.
func (a attempt) explainCut(e session.Emission) (code pipeline.Reason, text string) {
	edit := func(what, flag string) string {
		if isOffBoard(a.c.task) {
			return fmt.Sprintf("%s; raise [session] %s in odd.toml", what, map[string]string{"--max-turns N": "max_turns", "--budget-usd USD": "max_usd"}[flag])
		}
		return fmt.Sprintf("%s; run odd task edit %s %s for more, then odd task ready %[2]s", what, a.c.task.ID, flag)
	}
	again := a.c.tryAgain()
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
		return pipeline.NoOutcome, cmp.Or(e.Detail, "the agent ended without the block odd.finish.1") + a.emissionHint(e) + again
	case e.Failure == session.Transport:
		return pipeline.TransportFailed, joinDetail("the agent or its model could not be reached, or broke off", e.Detail) + again
	}
	return "", ""
}

// emissionHint says how to see what the agent printed, "" where it printed nothing.
func (a attempt) emissionHint(e session.Emission) string {
	if isOffBoard(a.c.task) || len(e.Raw) == 0 {
		return ""
	}
	return fmt.Sprintf("; odd review %s --emission shows what it printed", a.c.task.ID)
}

// timeKey is the key of odd.toml that sets the time of a session for t.
func (s *snapshot) timeKey(t board.Task) string {
	if lane, _, _ := risk.Lane(s.cfg.Root, t); s.cfg.Routes[string(lane)].Timeout > 0 {
		return "[route." + string(lane) + "] timeout"
	}
	return "[session] timeout"
}

// countTurns returns the turns of all sessions so far.
func (w work) countTurns() int { return w.earlier.turns + w.emission.Usage.Turns }

// proposedChanges is all that a proposal would hold, by repository path; nil is deleted.
func (w work) proposedChanges(s *snapshot) repo.Changes {
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
