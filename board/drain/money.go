package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
)

// reserve is the most a session for t may cost.
func (d *drain) reserve(t board.Task) budget.MicroUSD {
	left := int64(math.MaxInt64)
	if d.requiresLease() {
		s, err := d.slow(d.at)
		if limit := s.File.Lease.Budget; err == nil && limit > 0 {
			left = max(limit-s.Facts.Spent, 0)
		}
	}
	return budget.MicroUSD(risk.Reservation(d.at.cfg, t, left))
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
	share    string
	level    budget.Level
}

// Purses are the envelopes of a month as the ledger has it: the tenant's, each
// team's by name, and what no team has where there are teams.
func Purses(e budget.Envelope, s event.Spend, month string) ([]Purse, error) {
	all, err := purse(e, s, month, "", true)
	out := []Purse{all}
	for _, team := range slices.Sorted(maps.Keys(e.Teams)) {
		if err == nil {
			var p Purse
			p, err = purse(e, s, month, team, false)
			out = append(out, p)
		}
	}
	if _, apportioned := e.Part(""); apportioned && err == nil {
		var p Purse
		p, err = purse(e, s, month, "", false)
		out = append(out, p)
	}
	return out, err
}

// purse is one of them: the tenant's (all), or that of a share.
func purse(e budget.Envelope, s event.Spend, month, share string, all bool) (Purse, error) {
	p := Purse{Name: Tenant, Month: month, Limit: e.Monthly, Stop: e.Stop(), share: share}
	in, err := s.In(month)
	counts := func(event.Record) bool { return true }
	if !all {
		counts = func(r event.Record) bool { return e.Share(r.Team) == share }
		p.Name = or(share, Unapportioned)
		p.Limit, _ = e.Part(share)
		p.Stop = p.Limit
		if in, err = s.TeamIn(month, share); share == "" {
			in, err = s.ApartIn(month, func(team string) bool { return e.Share(team) != "" })
		}
	}
	if err != nil {
		return p, err
	}
	held, err := s.Reserved(counts)
	p.Spent, p.Reserved, p.Left = budget.MicroUSD(in-held), budget.MicroUSD(held), p.Stop-budget.MicroUSD(in)
	if p.level = budget.Decide(e, p.sum(), 0); !all {
		p.level = budget.DecideShare(e, share, p.sum(), 0)
	}
	p.Level = p.level.String()
	return p, err
}

// sum is what counts against the envelope.
func (p Purse) sum() budget.MicroUSD { return p.Spent + p.Reserved }

// purses are those that the team of a task spends from, on the board as s has it.
func (d *drain) purses(s *snapshot, team string) ([]Purse, error) {
	m, e := event.Month(d.Now()), s.cfg.Budget
	all, err := purse(e, s.spend, m, "", true)
	out := []Purse{all}
	if _, apportioned := e.Part(e.Share(team)); apportioned && err == nil {
		var p Purse
		p, err = purse(e, s.spend, m, e.Share(team), false)
		out = append(out, p)
	}
	if err != nil {
		return nil, refuse("ledger", "%s: %v; the sums in the ledger are wrong, restore it from git history", m, err)
	}
	return out, nil
}

// spentThisMonth returns what counts against this month: closed spending and open reservations.
func (d *drain) spentThisMonth() (budget.MicroUSD, error) {
	p, err := d.purses(d.at, "")
	if err != nil {
		return 0, err
	}
	return p[0].sum(), nil
}

// requireBudget refuses a configuration that can cost money and has none.
func requireBudget(cfg config.Config) error {
	if cfg.Free() || cfg.HasBudget {
		return nil
	}
	return refuse("no-budget", "odd.toml: the agent %q can cost money, and no budget is set; set [budget] monthly_usd, or free = true in [substrate.%[1]s]", cfg.Costly())
}

// afford says why t's reservation does not fit under the envelopes.
func (d *drain) afford(t board.Task) error {
	cfg := d.at.cfg
	if err := requireBudget(cfg); err != nil {
		return err
	}
	want := d.reserve(t)
	if want == 0 && !cfg.Free() {
		return refuse("no-budget", "task %s: there is no limit on its cost; set one with odd task edit %[1]s --budget-usd USD, or [session] max_usd in odd.toml", t.ID)
	}
	all, err := d.purses(d.at, t.Team)
	if err != nil {
		return err
	}
	if spent := all[0].sum(); cfg.Allows(spent, want) == budget.Stop {
		return refuse("budget", "task %s: it may cost $%s, and with $%s spent or reserved this month that is more than the limit of $%s; raise [budget] monthly_usd in odd.toml, or wait for next month", t.ID, want, spent, cfg.Budget.Stop())
	}
	for _, p := range all[1:] {
		if budget.DecideShare(cfg.Budget, p.share, p.sum(), want) == budget.Stop {
			return refuse("budget-team", "task %s: it may cost $%s, and with $%s spent or reserved that is more than %s $%s; raise it in [budget.teams] in odd.toml, or wait for next month", t.ID, want, p.sum(), p.whose(), p.Limit)
		}
	}
	return nil
}

// whose says in words whose monthly money it is.
func (p Purse) whose() string {
	switch p.Name {
	case Tenant:
		return "this month's budget of"
	case Unapportioned:
		return "the month's budget without the teams' shares,"
	}
	return "the monthly budget of team " + p.Name + ","
}

// solvent says why the money ends a session of c which has cost so much so far:
// the envelopes as s has them, where another drain may have spent since. What it
// cost above its reservation counts already.
func (d *drain) solvent(c *claim, s *snapshot, cost budget.MicroUSD) error {
	all, err := d.purses(s, c.task.Team)
	if err != nil {
		return err
	}
	over := max(cost-c.each(), 0)
	if sum := all[0].sum() + over; s.cfg.Allows(sum, 0) == budget.Stop {
		d.broke = past(sum, s)
		return errors.New("budget: " + d.broke)
	}
	for _, p := range all[1:] {
		if sum := p.sum() + over; budget.DecideShare(s.cfg.Budget, p.share, sum, 0) == budget.Stop {
			return fmt.Errorf("budget: $%s is spent or reserved this month, more than %s $%s; raise it in [budget.teams] in odd.toml", sum, p.whose(), p.Limit)
		}
	}
	return nil
}

// alert is the envelopes whose alert is due with so much more than the board has,
// and tells of them: once a month each.
func (d *drain) alert(team string, more budget.MicroUSD) (due []string, err error) {
	all, err := d.purses(d.at, team)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		sum := p.sum() + more
		level := budget.DecideShare(d.at.cfg.Budget, p.share, sum, 0)
		if p.Name == Tenant {
			level = budget.Decide(d.at.cfg.Budget, sum, 0)
		}
		if level == budget.OK || d.at.spend.Alerted(p.Month, p.Name) {
			continue
		}
		due = append(due, p.Name)
		d.noteOnce(fmt.Sprintf("budget: $%s is spent or reserved of %s $%s", sum, p.whose(), p.Limit))
	}
	return due, nil
}

// chargeOutcome notes in an outcome the alerts that it causes, and what its sessions cost above
// what was reserved for them: that is charged as it is.
func (d *drain) chargeOutcome(data *event.OutcomeData, c *claim, cost budget.MicroUSD) (err error) {
	if over := cost - c.reserved; over > 0 {
		data.Over = int64(over)
		if d.at.cfg.Free() {
			d.noteOnce(fmt.Sprintf("%s: the agent says that it cost $%s, and odd.toml says that it is free; the cost counts. Set [budget] monthly_usd to limit it", c.task.ID, cost))
		} else {
			d.noteOnce(fmt.Sprintf("%s: it cost $%s, $%s more than reserved; all of it counts", c.task.ID, cost, over))
		}
	}
	data.Alert, err = d.alert(c.task.Team, cost-c.reserved)
	return err
}

// past says that a sum is past the hard stop of a board.
func past(sum budget.MicroUSD, s *snapshot) string {
	return fmt.Sprintf("$%s is spent or reserved this month, more than the limit of $%s", sum, s.cfg.Budget.Stop())
}

// money stops the board for good when the month is past its hard stop, or was
// while a session ran: it commits pause.toml, so that every later drain halts until a person resumes.
func (d *drain) money(ctx context.Context) error {
	spent, err := d.spentThisMonth()
	why := d.broke
	switch {
	case err != nil:
		return err
	case !d.at.cfg.HasBudget:
		return requireBudget(d.at.cfg)
	case d.at.cfg.Allows(spent, 0) == budget.Stop:
		why = past(spent, d.at)
	case why == "":
		return nil
	}
	if err := d.pause(ctx, why); err != nil {
		return err
	}
	return refuse("budget", "%s; drains are paused now: raise [budget] monthly_usd in odd.toml, commit it, then odd drain resume", why)
}

// reckon is money after a session: what it came to stands, and the drain ends.
func (d *drain) reckon(ctx context.Context) error {
	if d.refuseWhilePaused() != nil {
		return nil
	}
	err := d.persist(context.WithoutCancel(ctx), d.money)
	var no *Refusal
	if errors.As(err, &no) {
		d.stop, err = cmp.Or(d.stop, err), nil
	}
	return err
}

// pause commits the pause sentinel.
func (d *drain) pause(ctx context.Context, why string) error {
	p := d.newDraft()
	if err := p.record(event.Record{Kind: event.Paused, Data: event.StopData{Reason: why}}); err != nil {
		return err
	}
	p.changes[d.at.file("pause.toml")] = board.PauseFile(why, d.agent().Name, d.Now().UTC().Truncate(time.Second))
	p.message = d.boardMessage("board: pause", why)
	return d.land(ctx, p)
}

// boardMessage is the message of a commit that belongs to no task.
func (d *drain) boardMessage(subject, body string) string {
	return message(subject, body, [2]string{"Odd-Run", d.Run}, [2]string{"Odd-Lease", d.under})
}
