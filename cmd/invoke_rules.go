package cmd

import (
	"strings"

	"github.com/odd-cli/odd/persona/contract"
)

// contractRules are the tables that every contract rests on: the points where the
// runtime holds to canon, and what the contract's mode may never pass for.
type contractRules struct {
	Points []contract.Point `json:"enforcement_points,omitempty"`
	Never  []contract.Rule  `json:"non_collapse,omitempty"`
}

// rulesOf returns the rules for a mode; a role without one has no mode to pass for
// another.
func rulesOf(m contract.Mode) contractRules {
	r := contractRules{Points: contract.Points()}
	for _, n := range contract.NonCollapse() {
		if n.Mode == m {
			r.Never = append(r.Never, n)
		}
	}
	return r
}

// ruleRows returns the rules in the columns of --explain: what, its sort, the reason
// codes that refuse what breaks it, and why.
func (r contractRules) ruleRows() [][]string {
	var rows [][]string
	for _, p := range r.Points {
		rows = append(rows, []string{p.Name, "point", strings.Join(p.Codes, ","), p.Where})
	}
	for _, n := range r.Never {
		why := "never " + n.Never
		if len(n.Hints) > 0 {
			why += "; noticed, not refused: " + strings.Join(n.Hints, ", ")
		}
		rows = append(rows, []string{string(n.Mode), "never", strings.Join(n.Codes, ","), why})
	}
	return rows
}
