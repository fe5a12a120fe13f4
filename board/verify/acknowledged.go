package verify

import (
	"slices"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/rules"
)

// Known is a finding that a person acknowledged at a gate, because history cannot be changed.
type Known struct {
	rules.Finding
	Gate   string `json:"gate"` // the row of governance/gates.jsonl
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// splitAcknowledged moves acknowledged findings from r.Findings to r.Known. It reads the gates at the end of the range
// and on the branches. Whether a person passed those gates is invariant 8.
func (h *history) splitAcknowledged(r *Report) {
	rows := map[string]gate.Row{}
	for _, at := range h.endCommits() {
		if len(r.Findings) == 0 {
			return
		}
		for _, row := range h.ReadGovernance(at).Chain.Rows {
			for _, key := range row.Findings {
				rows[key] = row
			}
		}
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f rules.Finding) bool {
		row, known := rows[f.Key()]
		if known {
			r.Known = append(r.Known, Known{f, row.ID, row.By, row.Reason})
		}
		return known
	})
}
