package proof

import (
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
)

// claimLaw is the odd.toml that a proposal's session was claimed under: the
// board's, before the commit with the claim. A history without that commit has
// the default.
func (h *history) claimLaw(a *act) (config.Config, error) {
	held, err := h.claims(a.Parents[0], a.run, a.task)
	if err != nil || held {
		return a.law, err // made on the board, where nothing but the claim came between
	}
	if err := h.index(); err != nil {
		return a.law, err
	}
	for _, c := range h.acts[[2]string{a.run, a.task}] {
		has, err := h.claims(c.OID, a.run, a.task)
		if err != nil {
			return a.law, err
		}
		if has && len(c.Parents) > 0 {
			return h.lawAfter(c.Parents[0])
		}
	}
	return config.Default(), nil
}

// claims reports whether a commit holds the run's claim of the task.
func (h *history) claims(commit repo.OID, run, task string) (bool, error) {
	records, err := h.ledgerAt(commit, run)
	return slices.ContainsFunc(records, func(r ledger.Record) bool { return r.Kind == ledger.Claim && r.Task == task }), err
}

// index lists, once, the commits that carry Odd-Run and Odd-Task by the two, the
// oldest first: those of the range's last commit, then those of the branches.
func (h *history) index() error {
	if h.acts != nil {
		return nil
	}
	h.acts = map[[2]string][]repo.Commit{}
	seen := map[repo.OID]bool{}
	for _, tip := range append([]repo.OID{h.to}, h.tips...) {
		if seen[tip] {
			continue
		}
		var all []repo.Commit
		for c, err := range h.repo.Log(h.ctx, "", tip) {
			if err != nil {
				return err
			}
			if !seen[c.OID] {
				seen[c.OID], all = true, append(all, c)
			}
		}
		for _, c := range slices.Backward(all) {
			if k := [2]string{one(c, "Odd-Run"), one(c, "Odd-Task")}; k[0] != "" {
				h.acts[k] = append(h.acts[k], c)
			}
		}
	}
	return nil
}
