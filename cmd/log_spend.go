package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/event"
)

// spending is what odd log --spend --json prints.
type spending struct {
	Receipts []event.Receipt `json:"receipts"`
	Total    budget.MicroUSD `json:"total_micro_usd"`
	Reserved budget.MicroUSD `json:"reserved_micro_usd"` // by claims that are open, whatever their month
}

// printSpending itemises what closed claims cost, a line a run, task, substrate and model.
func (v *view) printSpending(f logFilter, asJSON bool) error {
	s, err := v.spending(f)
	switch {
	case err != nil:
		return err
	case !asJSON && len(s.Receipts) == 0:
		talk(v.env, "log: no run has spent money; $%s is reserved for running tasks", s.Reserved)
		return nil
	case !asJSON:
		defer talk(v.env, "$%s spent, $%s reserved for running tasks", s.Total, s.Reserved)
	}
	return show(v.env, asJSON, s, s.rows(v.env.Terminal)...)
}

func (v *view) spending(f logFilter) (spending, error) {
	s := spending{Receipts: []event.Receipt{}}
	all, err := event.Receipts(v.bundle, f.month)
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	for _, r := range all {
		if (f.task == "" || r.Task == string(f.task)) && strings.HasSuffix(r.Run, f.run) {
			s.Receipts = append(s.Receipts, r)
			s.Total += budget.MicroUSD(r.Cost)
		}
	}
	sum, err := v.state.Spend()
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	held, err := sum.Reserved(func(r event.Record) bool {
		return (f.task == "" || r.Task == string(f.task)) && strings.HasSuffix(r.Run, f.run)
	})
	s.Reserved = budget.MicroUSD(held)
	return s, err
}

// rows are the receipts; tokens are input, output, and read from and written to a cache.
func (s spending) rows(heading bool) [][]string {
	var rows [][]string
	if heading {
		rows = [][]string{{"month", "run", "task", "team", "substrate", "model", "in", "out", "read", "written", "spent"}}
	}
	for _, r := range s.Receipts {
		row := []string{r.Month, r.Run, r.Task, or(r.Team, "-"), or(r.Substrate, "-"), or(r.Model, "-")}
		for _, n := range []int64{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, append(row, "$"+budget.MicroUSD(r.Cost).String()))
	}
	return rows
}
