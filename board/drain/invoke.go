package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Invocation is a session that no task of the board asks for. The options'
// Call says under which contract.
type Invocation struct {
	Title    string // what is asked, in a line
	Sessions int    // of one role on one input, kept apart; 0 is one
	Given    *Given // what it works on when that is not on the board; nil is the board
}

// Spoken is what one session came to.
type Spoken struct {
	Role        contract.Role        `json:"role"`
	Mode        contract.Mode        `json:"mode,omitempty"`
	Outcome     string               `json:"outcome"` // completed, yielded, failed, handoff_insufficient or refused
	Reason      string               `json:"reason,omitempty"`
	Handoff     string               `json:"handoff,omitempty"` // in the repository
	Deliverable *deliver.Deliverable `json:"deliverable,omitempty"`
	Said        []deliver.Say        `json:"said,omitempty"`
	Hints       []contract.Hint      `json:"hints,omitempty"`
	Cost        budget.MicroUSD      `json:"cost_micro_usd"`
}

// spokenBy returns what the session of w came to.
func (s *snapshot) spokenBy(w work) *Spoken {
	c := w.bound.Contract
	out := &Spoken{Role: c.Role, Mode: c.Mode, Outcome: w.outcome(), Reason: w.reason, Deliverable: redactDeliverable(w.emission.Deliverable),
		Said: w.emission.Says, Hints: w.result.Verdict.Hints, Cost: w.cost()}
	if w.handed != nil {
		out.Handoff = s.pathOf(w.handed.Path)
	}
	return out
}

func (s lastSession) outcome() string {
	switch {
	case s.emission.Failure == invoke.Yielded:
		return invoke.Yielded
	case s.emission.Outcome == session.Completed && s.reason != "", s.emission.Outcome == "":
		return string(session.Failed)
	}
	return string(s.emission.Outcome)
}

// Invoke runs sessions that no task of the board asks for: for roles that hand
// over a text and no atoms, because atoms land only through a task's review. It
// keeps the rules of a drain, its clock, its money and its sweep. Drains and other
// sessions run beside it: it holds the drain lock only while it sweeps, and a lock of its
// own for as long as it lives.
// History after each step, and therefore after a crash at any instant:
//
//	engage  board branch: the reservation of all sessions, the start of an override
//	result  board branch: their handoffs, journal, ledger outcome, the end of an override
//
// Where it is killed, a later drain of this clone sweeps it, and one of another clone when
// its time is over. The error is a contract.Refusals, a refusal, a *Busy or a fault; nothing is
// written before a contract is resolved.
func Invoke(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (Report, error) {
	d, t, err := openInvocation(ctx, r, o, inv)
	if err != nil {
		return Report{Run: o.Run}, err
	}
	if _, no := d.contracts().checkBindable(t); len(no) > 0 {
		return d.report, no
	}
	if err := d.beginBeside(ctx); err != nil {
		return d.report, err
	}
	unlock, err := d.repo.LockRun(d.Run)
	if err != nil {
		return d.report, err
	}
	defer unlock()
	c, err := d.claim(ctx, t, max(inv.Sessions, 1))
	if err != nil {
		return d.report, d.countRefusal(err)
	}
	if err = d.runClaim(ctx, c); err == nil {
		err = d.reckonMoney(ctx)
	}
	return d.report, d.endDrain(ctx, err)
}

// beginBeside looks at the board for sessions that others work beside. They take the drain
// lock only to sweep what died, and leave that to the drain that has it.
func (d *drain) beginBeside(ctx context.Context) error {
	if err := d.readBoard(ctx); err != nil {
		return err
	}
	if err := d.checkComputer(ctx); err != nil {
		return err
	}
	d.computer().clearDesks()
	dead, _, err := d.repo.Orphans()
	if err != nil || len(dead) == 0 && !slices.ContainsFunc(d.at.spend.Open, func(c event.Record) bool {
		return recordsOf(d.repo, d.at).hasExpired(c, d.at.cfg.TaskLease, d.Now())
	}) {
		return err
	}
	unlock, err := d.lock(ctx)
	if errors.As(err, new(*Busy)) {
		return nil
	}
	if err == nil {
		defer unlock()
		err = d.retryAct(ctx, d.sweepClaims)
	}
	return err
}

// asTask returns the invocation as a task that is on no board; its id is the run's.
func (cs contracts) asTask(inv Invocation) board.Task {
	t := board.Task{Row: board.Row{ID: okf.ID(cs.Run), Title: string(secrets.Redact([]byte(inv.Title))), Role: cs.Call.WorkRole}, Attempts: 1}
	if !cs.at.cfg.Free() {
		t.Budget = cs.at.cfg.Session.MaxCost * budget.MicroUSD(max(inv.Sessions, 1))
	}
	return t
}

// checkBindable resolves t's contract for a person who asked for the session, and lists why it or the
// persona cannot be bound.
func (cs contracts) checkBindable(t board.Task) (bound, contract.Refusals) {
	b, no := cs.bindPersona(t)
	return b, append(no, agent.Speechless(cs.at.cfg, b.Role)...)
}

// endSessions says how the result of sessions without a task is told.
func (rec recorder) endSessions(done []work) ending {
	verdict, why := verdictOf(done)
	title := fmt.Sprintf("%s: %s", done[0].bound.Role, verdict)
	content := strings.Join(slices.DeleteFunc([]string{done[0].c.task.Title, listHandoffs(done), why}, func(s string) bool { return s == "" }), "; ")
	return ending{data: event.OutcomeData{Verdict: verdict, Reason: why}, subject: "board: " + title, body: content, title: title, content: cmp.Or(content, "nothing was asked in words")}
}

func listHandoffs(done []work) string {
	var out []string
	for _, w := range done {
		if w.handed != nil {
			out = append(out, w.handed.Path)
		}
	}
	return strings.Join(out, ", ")
}
