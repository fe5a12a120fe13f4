package cmd

import (
	"context"
	"fmt"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/ledger"
)

// runStatusBudget prints the envelopes of this month: what they have, what is
// spent, what is reserved and what is left up to where nothing more is reserved.
func runStatusBudget(ctx context.Context, env Env, asJSON bool) error {
	v, err := openFiles(ctx, env)
	if err != nil {
		return err
	}
	spend, err := ledger.Sum(v.bundle)
	if err != nil {
		return fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	purses, err := drain.Purses(v.cfg.Budget, spend, ledger.Month(env.Now()))
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, purses)
	}
	if !v.cfg.HasBudget {
		talk(env, "odd.toml has no [budget] monthly_usd: what can cost money is refused")
	}
	rows := [][]string{{"envelope", "month", "limit", "stop", "spent", "reserved", "left", "level"}}
	for _, p := range purses {
		rows = append(rows, []string{p.Name, p.Month, "$" + p.Limit.String(), "$" + p.Stop.String(), "$" + p.Spent.String(), "$" + p.Reserved.String(), "$" + p.Left.String(), p.Level})
	}
	if !env.Terminal {
		rows = rows[1:]
	}
	return printRows(env, rows)
}
