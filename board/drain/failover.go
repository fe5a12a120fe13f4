package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

// agentChain returns the configurations that a session for t may have, in order.
func (s *snapshot) agentChain(t board.Task) []config.Config {
	lane, _, _ := risk.Lane(s.cfg.Root, t)
	return s.cfg.Chain(string(lane))
}

func substrateNames(chain []config.Config) []string {
	var out []string
	for _, c := range chain {
		out = append(out, c.Session.Substrate)
	}
	return out
}

// checkHealth returns which agents of t's chain may be tried now, by the ledger and by what
// this run has not recorded yet.
func (ad admission) checkHealth(t board.Task) (failover.Health, error) {
	return checkChain(ad.at.agentChain(t), ad.Now(), func() ([]failover.Try, error) {
		var err error
		if ad.at.tries == nil {
			ad.at.tries, err = ad.at.state.Tries(ad.Now())
		}
		return slices.Concat(ad.at.tries, ad.unrecorded), err
	})
}

// checkChain returns which agents of a chain may be tried now. One that is alone always may.
func checkChain(chain []config.Config, now time.Time, past func() ([]failover.Try, error)) (failover.Health, error) {
	var tries []failover.Try
	var err error
	if len(chain) > 1 {
		tries, err = past()
	}
	return failover.Check(substrateNames(chain), tries, now), err
}

// Health returns which agents of the standard lane's chain may be tried now.
func Health(cfg config.Config, st *state.State, now time.Time) (failover.Health, error) {
	return checkChain(cfg.Chain(string(pipeline.LaneStandard)), now, func() ([]failover.Try, error) { return st.Tries(now) })
}

func (ad admission) checkReachable(t board.Task) error {
	h, err := ad.checkHealth(t)
	if err != nil || h.State != failover.Queue {
		return err
	}
	return refuseBusy("queue-only", "task %s: no agent can work now: %s; run odd drain again after %s", t.ID, h.Why(), h.Next.UTC().Format(time.RFC3339))
}

// pickSubstrate returns the agent that would run t now, and why if it is not the first.
func (ad admission) pickSubstrate(t board.Task) (name, why string) {
	h, err := ad.checkHealth(t)
	switch {
	case err != nil:
		return "", err.Error()
	case len(h.Use) == 0:
		return "", h.Why()
	}
	if lane, _, _ := risk.Lane(ad.at.cfg.Root, t); ad.at.cfg.Routes[string(lane)].Substrate != "" {
		why = "lane " + string(lane)
	}
	return h.Use[0], strings.Trim(why+"; "+h.Why(), "; ")
}

// leg is one agent of a session's chain.
type leg struct {
	cfg config.Config
	sub session.Substrate
}

// part is the result of one leg over all its calls in a session.
type part struct {
	name  string
	e     session.Emission // its last call's; Usage is the sum
	ended time.Time
}

// relay is the substrate of one session: the first leg of a chain that may be
// tried and, where its transport fails, the next, within what is left of the same
// request. What a session says is never a reason to ask another.
type relay struct {
	d     *drain
	task  string
	desk  *desk
	legs  []leg // the first is at work
	parts []part
}

// newRelay returns the substrate of a session for t. If none may be tried, why says so.
func (a attempt) newRelay(k *desk) (r *relay, why string, err error) {
	t := a.c.task
	h, err := a.d.admission().checkHealth(t)
	if err != nil {
		return nil, "", err
	}
	if len(h.Use) == 0 {
		return nil, h.Why(), nil
	}
	pick := a.d.Substrate
	if pick == nil {
		pick = a.d.computer().newSubstrate
	}
	r = &relay{d: a.d, task: string(t.ID), desk: k}
	for _, cfg := range a.d.at.agentChain(t) {
		if !slices.Contains(h.Use, cfg.Session.Substrate) {
			continue
		}
		sub, err := pick(cfg, a.d.at.files)
		if err != nil {
			return nil, "", err
		}
		r.legs = append(r.legs, leg{cfg, sub})
	}
	r.beginLeg()
	return r, "", nil
}

func (r *relay) currentName() string { return r.legs[0].cfg.Session.Substrate }

func (r *relay) beginLeg() {
	r.parts = append(r.parts, part{name: r.currentName(), e: session.Emission{Usage: session.Usage{CostKnown: true}}})
}

// Run implements session.Substrate.
func (r *relay) Run(ctx context.Context, q session.Request) (session.Emission, error) {
	all := session.Emission{Usage: session.Usage{CostKnown: true}, Seen: true}
	for {
		e, err := r.callLeg(ctx, q, all.Usage)
		if err != nil {
			return session.Emission{}, err
		}
		all = joinLegs(all, e)
		if !r.fallsOver(ctx, e, q, all.Usage) {
			return all, nil
		}
		if err := r.desk.resetTree(); err != nil {
			return session.Emission{}, err
		}
		q.Thread = "" // it was the other's
		r.beginLeg()
		r.d.noteOnce(fmt.Sprintf("%s: %s takes over, because %s", r.task, r.currentName(), all.Detail))
	}
}

// callLeg calls the current leg with the limits that are left after before.
func (r *relay) callLeg(ctx context.Context, q session.Request, before session.Usage) (session.Emission, error) {
	if q.MaxTurns > 0 {
		q.MaxTurns -= before.Turns
	}
	if q.MaxCost > 0 && before.CostKnown {
		q.MaxCost -= before.Cost
	}
	begun := 0
	if ask := q.Turn; ask != nil {
		q.Turn = func(u session.Usage) error {
			err := ask(before.Plus(u))
			if err == nil {
				begun++
			}
			return err
		}
	}
	var e session.Emission
	var err error
	q = r.d.baton.guardRequest(q)
	r.d.baton.doWithout(func() { e, err = r.legs[0].sub.Run(ctx, q) })
	e = agent.Lent(r.legs[0].cfg, r.d.Environ).Clean(e)
	if slices.Contains([]string{session.TurnRefused, session.TurnLimit, session.OverBudget}, e.Failure) {
		e.Usage.CostKnown = e.Usage.CostKnown || begun == 0 // it never began
	}
	var never *cage.NotStarted
	if errors.As(err, &never) && r.d.at.cfg.Session.Fallback != nil {
		e, err = session.Fail(session.Transport, err.Error()), nil
		e.Class, e.Usage.CostKnown = session.Permanent, true // a program that never ran
	}
	p := &r.parts[len(r.parts)-1]
	used := p.e.Usage.Plus(e.Usage)
	p.e, p.ended = e, r.d.Now()
	p.e.Usage = used
	if err == nil {
		r.d.unrecorded = append(r.d.unrecorded, failover.Judge(p.name, string(e.Outcome), e.Failure, e.Class, p.ended))
	}
	if isTransportFailure(e) && len(r.parts)+len(r.legs) > 2 {
		e.Detail = p.name + ": " + e.Detail
	}
	return e, err
}

// isTransportFailure reports a failure of the agent's connection or program, not of its answer.
func isTransportFailure(e session.Emission) bool {
	return e.Outcome == session.Failed && e.Failure == session.Transport && e.Class != "" && e.Class != session.Content
}

// fallsOver reports whether another leg takes over, and makes it the current one. If the cost
// so far is unknown, only a leg that costs nothing may take over.
func (r *relay) fallsOver(ctx context.Context, e session.Emission, q session.Request, used session.Usage) bool {
	if !isTransportFailure(e) || ctx.Err() != nil || q.MaxTurns > 0 && used.Turns >= q.MaxTurns {
		return false
	}
	if q.MaxCost > 0 && used.Cost >= q.MaxCost {
		return false // no turn would be begun
	}
	for i, l := range r.legs[1:] {
		if used.CostKnown || q.MaxCost == 0 || l.cfg.FreeOf(l.cfg.Session.Substrate) {
			r.legs = r.legs[1+i:]
			return true
		}
	}
	return false
}

// joinLegs returns a session over two transports: what the later one said, what both
// cost, did and proposed, and why each failed.
func joinLegs(a, b session.Emission) session.Emission {
	if isTransportFailure(a) && b.Outcome == session.Failed {
		b.Detail = a.Detail + "; " + b.Detail
	}
	b.Seen = a.Seen && (b.Seen || b.Usage.Turns == 0 && len(b.Calls) == 0 && isTransportFailure(b))
	b.Usage, b.Calls = a.Usage.Plus(b.Usage), append(slices.Clip(a.Calls), b.Calls...)
	b.Proposals = append(slices.Clip(a.Proposals), b.Proposals...)
	if len(a.Transcript) > 0 {
		b.Transcript = fmt.Appendf(slices.Clip(a.Transcript), "\n== another took over: %s\n%s", a.Detail, b.Transcript)
	}
	return b
}

// failedLegs returns the sessions that the failed legs were, each with its cost, and what they
// cost together. A cost that no leg reported is charged to the first leg that reported none.
func (rec recorder) failedLegs(c *claim, w work, parts []part) (records []event.Record, cost budget.MicroUSD) {
	left := w.spent
	silent := -1
	for i, p := range parts {
		if p.e.Usage.CostKnown {
			left -= budget.MicroUSD(p.e.Usage.Cost)
		} else if silent < 0 {
			silent = i
		}
	}
	for i, p := range parts[:len(parts)-1] {
		own := budget.MicroUSD(p.e.Usage.Cost)
		if !p.e.Usage.CostKnown {
			own = 0
		}
		if i == silent {
			own = max(left, 0)
		}
		whole := rec.sessionRecord(c, w).Session()
		data := event.SessionData{
			Substrate: p.name, Turns: int64(p.e.Usage.Turns), Outcome: string(p.e.Outcome), Failure: p.e.Failure, Class: string(p.e.Class), Detail: cleanText(oneLine(p.e.Detail)),
			Brief: whole.Brief, Contract: whole.Contract, Model: p.e.Usage.Model, Tokens: billedTokens(p.e.Usage.Tokens),
		}
		records = append(records, event.Record{Kind: event.Session, Task: string(c.task.ID), Cost: int64(own), Data: data})
		cost += own
	}
	return records, cost
}
