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
	c, ok, err := h.claimed(a.run, a.task)
	if err != nil || !ok || len(c.Parents) == 0 {
		return config.Default(), err
	}
	return h.lawAfter(c.Parents[0])
}

// claimed is the commit with the run's claim of the task: of the range, or else of
// the branches or before it. ok is false where the clone has none.
func (h *history) claimed(run, task string) (c repo.Commit, ok bool, err error) {
	for range 2 {
		for _, k := range [][2]string{{run, task}, {run, ""}} {
			for _, c := range h.acts[k] {
				has, err := h.claims(c.OID, run, task)
				if has || err != nil {
					return c, has, err
				}
			}
		}
		if h.indexed {
			break
		}
		if err := h.index(); err != nil {
			return c, false, err
		}
	}
	return c, false, nil
}

// claims reports whether a commit holds the run's claim of the task.
func (h *history) claims(commit repo.OID, run, task string) (bool, error) {
	records, err := h.ledgerAt(commit, run)
	return slices.ContainsFunc(records, func(r ledger.Record) bool { return r.Kind == ledger.Claim && r.Task == task }), err
}

// note remembers a commit by its Odd-Run and Odd-Task.
func (h *history) note(c repo.Commit) {
	if k := [2]string{one(c, "Odd-Run"), one(c, "Odd-Task")}; k[0] != "" {
		h.acts[k] = append(h.acts[k], c)
	}
}

// index notes, once, the commits outside the range: those before its end, then
// those of the branches, the oldest first.
func (h *history) index() error {
	h.indexed = true
	seen := map[repo.OID]bool{}
	for _, c := range h.commits {
		seen[c.OID] = true
	}
	for _, tip := range append([]repo.OID{h.to}, h.tips...) {
		if seen[tip] && tip != h.to {
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
			h.note(c)
		}
	}
	return nil
}
