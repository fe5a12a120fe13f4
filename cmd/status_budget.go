package cmd

import (
	"context"
	"fmt"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/event"
)

// noBudget is the level of a month that has no budget.
const noBudget = "none"

// runStatusBudget prints the envelopes of this month: what they have, what is
// spent, what is reserved and what is left up to where nothing more is reserved.
func runStatusBudget(ctx context.Context, env Env, asJSON bool) error {
	v, err := openFiles(ctx, env)
	if err != nil {
		return err
	}
	spend, err := v.state.Spend()
	if err != nil {
		return fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	purses, err := drain.Purses(v.cfg.Budget, spend, event.Month(env.Now()))
	if err != nil {
		return err
	}
	if !v.cfg.HasBudget {
		for i := range purses {
			purses[i].Level = noBudget
		}
	}
	rows := [][]string{{"envelope", "month", "limit", "stop", "spent", "reserved", "left", "level"}}
	for _, p := range purses {
		limit, stop, left := "$"+p.Limit.String(), "$"+p.Stop.String(), "$"+p.Left.String()
		if p.Level == noBudget {
			limit, stop, left = "-", "-", "-"
		}
		rows = append(rows, []string{p.Name, p.Month, limit, stop, "$" + p.Spent.String(), "$" + p.Reserved.String(), left, p.Level})
	}
	if !v.cfg.HasBudget && !asJSON {
		talk(env, "odd.toml sets no monthly budget, so runs that can cost money are refused; set monthly_usd below [budget] to allow them")
	}
	if !env.Terminal {
		rows = rows[1:]
	}
	return show(env, asJSON, purses, rows...)
}
