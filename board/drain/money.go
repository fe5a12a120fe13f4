package drain

import (
	"context"
	"fmt"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
)

// free reports whether the configured substrate cannot cost money: the embedded
// ones cannot, another only where odd.toml says so.
func free(cfg config.Config) bool {
	switch cfg.Session.Substrate {
	case "extract", "replay":
		return true
	}
	return cfg.Substrates[cfg.Session.Substrate].Free
}

// reserve is the most a session for t may cost: what it asks for, and no more
// than the lease has left.
func (d *drain) reserve(t board.Task) budget.MicroUSD {
	want := d.at.cfg.Session.MaxCost
	switch {
	case free(d.at.cfg):
		return 0
	case t.Budget > 0:
		want = t.Budget
	}
	if !d.required() {
		return want
	}
	s, err := d.slow(d.at)
	if limit := s.File.Lease.Budget; err == nil && limit > 0 {
		want = min(want, budget.MicroUSD(max(limit-s.Facts.Spent, 0)))
	}
	return want
}

// spent is what counts against this month: closed spending and open reservations.
func (d *drain) spent(team string) (budget.MicroUSD, error) {
	m := ledger.Month(d.Now())
	n, err := d.at.spend.In(m)
	if team != "" {
		n, err = d.at.spend.TeamIn(m, team)
	}
	if err != nil {
		return 0, refuse("ledger", "%s: %v; the ledger's sums cannot be true, restore it from git history", m, err)
	}
	return budget.MicroUSD(n), nil
}

// afford says why t's reservation does not fit under the envelopes.
func (d *drain) afford(t board.Task) error {
	cfg := d.at.cfg
	if !free(cfg) && !cfg.HasBudget {
		return refuse("no-budget", "odd.toml: substrate %q can cost money and [budget] monthly_usd is not set; set it, or mark the substrate free = true", cfg.Session.Substrate)
	}
	want := d.reserve(t)
	if want == 0 && !free(cfg) {
		return refuse("no-budget", "task %s: nothing says what a session may cost; set [session] max_usd or the task's budget_usd", t.ID)
	}
	spent, err := d.spent("")
	if err != nil {
		return err
	}
	if budget.Decide(cfg.Budget, spent, want) == budget.Stop {
		return refuse("budget", "task %s: reserving $%s on top of $%s spent or reserved passes this month's hard stop of $%s; raise [budget] or wait", t.ID, want, spent, hardStop(cfg))
	}
	team, err := d.spent(t.Team)
	if err != nil {
		return err
	}
	if t.Team != "" && budget.DecideTeam(cfg.Budget, t.Team, team, want) == budget.Stop {
		return refuse("budget-team", "task %s: reserving $%s on top of $%s passes team %s's monthly $%s; raise [budget.teams] or wait", t.ID, want, team, t.Team, cfg.Budget.Teams[t.Team])
	}
	return nil
}

func hardStop(cfg config.Config) budget.MicroUSD {
	if cfg.Budget.HardStop > 0 {
		return cfg.Budget.HardStop
	}
	return cfg.Budget.Monthly
}

// money stops the board for good when the month is past its hard stop: it
// commits pause.toml, so that every later drain halts until a person resumes.
func (d *drain) money(ctx context.Context) error {
	spent, err := d.spent("")
	if err != nil {
		return err
	}
	switch budget.Decide(d.at.cfg.Budget, spent, 0) {
	case budget.Alert:
		d.note(fmt.Sprintf("budget: $%s of $%s is spent or reserved this month", spent, d.at.cfg.Budget.Monthly))
	case budget.Stop:
		why := fmt.Sprintf("$%s is spent or reserved this month, past the hard stop of $%s", spent, hardStop(d.at.cfg))
		if err := d.pause(ctx, why); err != nil {
			return err
		}
		return refuse("budget", "%s; the board is paused until a person runs odd resume", why)
	}
	return nil
}

// pause commits the pause sentinel.
func (d *drain) pause(ctx context.Context, why string) error {
	kept := d.keep()
	name, err := d.record(ledger.Record{Kind: ledger.Paused, Data: map[string]any{"reason": why}})
	if err != nil {
		return err
	}
	b := board.PauseFile(why, d.agent().Name, d.Now().UTC().Truncate(time.Second))
	ch := repo.Changes{d.at.file("pause.toml"): b, name: d.files[name]}
	if err := d.commit(ctx, "board: pause", why, ch); err != nil {
		d.restore(kept)
		return err
	}
	return nil
}

// commit lands changes that belong to no task on the board branch.
func (d *drain) commit(ctx context.Context, subject, body string, ch repo.Changes) error {
	return d.commitAs(ctx, message(subject, body, [2]string{"Odd-Run", d.Run}, [2]string{"Odd-Lease", d.under}), ch)
}

// commitAs lands changes on the board branch, with a whole message.
func (d *drain) commitAs(ctx context.Context, msg string, ch repo.Changes) error {
	next, err := d.make(ctx, d.at.tip, ch, msg)
	if err != nil {
		return err
	}
	if err := d.line.Land(ctx, d.at.tip, next); err != nil {
		return err
	}
	d.at, err = look(ctx, d.repo, next, d.at, d.Load)
	return err
}
