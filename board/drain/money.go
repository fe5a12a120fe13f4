package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/refusal"
)

// reservation returns the most a session for t may cost.
func (a authority) reservation(t board.Task) budget.MicroUSD {
	left := int64(math.MaxInt64)
	if a.requiresLease() {
		s, err := a.readGovernance()
		if limit := s.File.Lease.Budget; err == nil && limit > 0 {
			left = max(limit-s.Facts.Spent, 0)
		}
	}
	return budget.MicroUSD(risk.Reservation(a.cfg, t, left))
}

// The envelopes that are no team's, as alerts and tables name them.
const (
	Tenant        = "tenant"
	Unapportioned = "unapportioned"
)

// Purse is one envelope in one month.
type Purse struct {
	Name     string          `json:"envelope"` // Tenant, a team's id, or Unapportioned
	Month    string          `json:"month"`
	Limit    budget.MicroUSD `json:"limit_micro_usd"`
	Stop     budget.MicroUSD `json:"stop_micro_usd"`     // nothing is reserved past it
	Spent    budget.MicroUSD `json:"spent_micro_usd"`    // closed
	Reserved budget.MicroUSD `json:"reserved_micro_usd"` // by open claims
	Left     budget.MicroUSD `json:"left_micro_usd"`     // up to Stop, below 0 past it
	Level    string          `json:"level"`
	envelope budget.Envelope
}

// Purses are the envelopes of a month as the ledger has it: the tenant's, each
// team's by name, and what no team has where there are teams.
func Purses(e budget.Envelope, s event.Spend, month string) []Purse {
	out := []Purse{newPurse(e, s, month, "", true)}
	for _, team := range slices.Sorted(maps.Keys(e.Teams)) {
		out = append(out, newPurse(e, s, month, team, false))
	}
	if _, apportioned := e.Part(""); apportioned {
		out = append(out, newPurse(e, s, month, "", false))
	}
	return out
}

// newPurse returns one envelope: the tenant's if all is true, else that of a share.
func newPurse(e budget.Envelope, s event.Spend, month, share string, all bool) Purse {
	p := Purse{Name: Tenant, Month: month, envelope: e}
	in := s.In(month)
	counts := func(event.Record) bool { return true }
	if !all {
		counts = func(r event.Record) bool { return e.Share(r.Team) == share }
		part, _ := e.Part(share)
		p.Name, p.envelope = cmp.Or(share, Unapportioned), budget.Envelope{Monthly: part, AlertPct: e.AlertPct}
		if in = s.TeamIn(month, share); share == "" {
			in = s.ApartIn(month, func(team string) bool { return e.Share(team) != "" })
		}
	}
	reserved := s.Reserved(counts)
	p.Limit, p.Stop, p.Spent, p.Reserved = p.envelope.Monthly, p.envelope.Stop(), budget.MicroUSD(in-reserved), budget.MicroUSD(reserved)
	p.Left, p.Level = p.Stop-p.total(), p.decide(0).String()
	return p
}

func (p Purse) total() budget.MicroUSD { return p.Spent + p.Reserved }

// decide returns the level of the envelope if more is spent.
func (p Purse) decide(more budget.MicroUSD) budget.Level {
	return budget.Decide(p.envelope, p.total(), more)
}

// pursesOf returns the envelopes that a task of a team is paid from.
func (a authority) pursesOf(team string) []Purse {
	m, e := event.Month(a.now), a.cfg.Budget
	out := []Purse{a.tenantPurse()}
	if _, apportioned := e.Part(e.Share(team)); apportioned {
		out = append(out, newPurse(e, a.spend, m, e.Share(team), false))
	}
	return out
}

// tenantPurse returns the envelope of the whole board.
func (a authority) tenantPurse() Purse {
	return newPurse(a.cfg.Budget, a.spend, event.Month(a.now), "", true)
}

// requireBudget refuses a configuration that can cost money and has none.
func requireBudget(cfg config.Config) error {
	if cfg.Free() || cfg.HasBudget {
		return nil
	}
	return refuse("no-budget", "odd.toml: the agent %q can cost money, and no budget is set; set [budget] monthly_usd, or free = true in [substrate.%[1]s]", cfg.Costly())
}

// checkAffordable refuses a task that no budget has room for, under a configuration with the budget that it
// requires.
func (a authority) checkAffordable(t board.Task) error {
	want := a.reservation(t)
	if want == 0 && !a.cfg.Free() {
		return refuse("no-budget", "task %s: there is no limit on its cost; set one with odd task edit %[1]s --budget-usd USD, or [session] max_usd in odd.toml", t.ID)
	}
	if !a.cfg.HasBudget {
		return nil
	}
	for _, p := range a.pursesOf(t.Team) {
		if p.decide(want) != budget.Stop {
			continue
		}
		if p.Name == Tenant {
			return refuse("budget", "task %s: it may cost $%s, and with $%s spent or reserved this month that is more than the limit of $%s; raise [budget] monthly_usd in odd.toml, or wait for next month", t.ID, want, p.total(), p.Stop)
		}
		return refuse("budget-team", "task %s: it may cost $%s, and with $%s spent or reserved that is more than %s $%s; raise it in [budget.teams] in odd.toml, or wait for next month", t.ID, want, p.total(), p.describeOwner(), p.Limit)
	}
	return nil
}

func (p Purse) describeOwner() string {
	switch p.Name {
	case Tenant:
		return "this month's budget of"
	case Unapportioned:
		return "the month's budget without the teams' shares,"
	}
	return "the monthly budget of team " + p.Name + ","
}

// overspent says how a month is past its hard stop.
type overspent string

func (o overspent) Error() string { return "budget: " + string(o) }

// checkSolvent refuses a further turn of a session of c if an envelope is spent: by other
// drains since, or by what this session cost above its reservation. Where that is the whole
// board's, the error is overspent.
func (a authority) checkSolvent(c *claim, cost budget.MicroUSD) error {
	if !a.cfg.HasBudget {
		return requireBudget(a.cfg)
	}
	over := max(cost-c.costOfEach(), 0)
	for _, p := range a.pursesOf(c.task.Team) {
		if p.Spent += over; p.decide(0) != budget.Stop {
			continue
		}
		if p.Name == Tenant {
			return overspent(p.describeOverspend())
		}
		return fmt.Errorf("budget: $%s is spent or reserved this month, more than %s $%s; raise it in [budget.teams] in odd.toml", p.total(), p.describeOwner(), p.Limit)
	}
	return nil
}

// dueAlerts returns the envelopes whose alert is due if more is spent, and notes them. An
// envelope alerts once a month.
func (rec recorder) dueAlerts(team string, more budget.MicroUSD) (due []string) {
	if !rec.at.cfg.HasBudget {
		return nil
	}
	for _, p := range rec.authority().pursesOf(team) {
		p.Spent += more
		if p.decide(0) == budget.OK || rec.at.spend.Alerted(p.Month, p.Name) {
			continue
		}
		due = append(due, p.Name)
		rec.noteOnce(fmt.Sprintf("budget: $%s is spent or reserved of %s $%s", p.total(), p.describeOwner(), p.Limit))
	}
	return due
}

// recordOutcome records the outcome of c with what it cost, the alerts it causes and the cost above the
// reservation, which counts in full.
func (rec recorder) recordOutcome(p *draft, c *claim, cost budget.MicroUSD, trace string, data event.OutcomeData) {
	if over := cost - c.reserved; over > 0 {
		data.Over = int64(over)
		if rec.at.cfg.Free() {
			rec.noteOnce(fmt.Sprintf("%s: the agent says that it cost $%s, and odd.toml says that it is free; the cost counts. Set [budget] monthly_usd to limit it", c.task.ID, cost))
		} else {
			rec.noteOnce(fmt.Sprintf("%s: it cost $%s, $%s more than reserved; all of it counts", c.task.ID, cost, over))
		}
	}
	data.Alert = rec.dueAlerts(c.task.Team, cost-c.reserved)
	p.record(event.Record{Kind: event.Outcome, Task: string(c.task.ID), Role: c.task.Role, Team: c.task.Team, Cost: int64(cost), Trace: trace, Data: data})
}

func (p Purse) describeOverspend() string {
	return fmt.Sprintf("$%s is spent or reserved this month, more than the limit of $%s", p.total(), p.Stop)
}

// stopOverspent pauses the board if the month is past its hard stop, or was while a session
// ran. Drains stay paused until a person resumes them.
func (d *drain) stopOverspent(ctx context.Context) error {
	all, why := d.authority().tenantPurse(), d.overspent
	switch {
	case !d.at.cfg.HasBudget:
		return requireBudget(d.at.cfg)
	case all.decide(0) == budget.Stop:
		why = all.describeOverspend()
	case why == "":
		return nil
	}
	if err := d.land(ctx, d.planPause(why)); err != nil {
		return err
	}
	return refuse("budget", "%s; drains are paused now: raise [budget] monthly_usd in odd.toml, commit it, then odd drain resume", why)
}

// reckonMoney is stopOverspent after a session. The session's result stays; the drain ends.
func (d *drain) reckonMoney(ctx context.Context) error {
	if d.at.refuseWhilePaused() != nil {
		return nil
	}
	err := d.retryAct(context.WithoutCancel(ctx), d.stopOverspent)
	var no *refusal.Refusal
	if errors.As(err, &no) {
		d.stop, err = cmp.Or(d.stop, err), nil
	}
	return err
}
