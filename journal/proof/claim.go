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
	for _, p := range a.Parents[:min(1, len(a.Parents))] {
		if held, err := h.claims(p, a.run, a.task); err != nil || held {
			return a.law, err // made on the board, where nothing but the claim came between
		}
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
	h.ask(claimBy(run, task))
	return h.claimIn(run, task)
}

// claimIn is claimed by what this range knows.
func (h *history) claimIn(run, task string) (c repo.Commit, ok bool, err error) {
	k := [2]string{run, task}
	if c, ok = h.claimers[k]; ok {
		return c, ok, nil
	}
	if c, ok, err = h.claimer(run, task); ok {
		h.claimers[k] = c
	} else {
		h.own = true // another range may know of it
	}
	return c, ok, err
}

func (h *history) claimer(run, task string) (repo.Commit, bool, error) {
	for _, k := range [][2]string{{run, task}, {run, ""}} {
		for _, c := range h.acts[k] {
			if first, err := h.begins(c, run, task); first || err != nil {
				return c, first, err
			}
		}
	}
	for {
		c, more, err := h.older()
		if err != nil || !more {
			return c, false, err
		}
		if t := one(c, "Odd-Task"); one(c, "Odd-Run") != run || t != task && t != "" {
			continue
		}
		if first, err := h.begins(c, run, task); first || err != nil {
			return c, first, err
		}
	}
}

// begins reports that a commit holds the run's claim of the task, and its first
// parent does not.
func (h *history) begins(c repo.Commit, run, task string) (bool, error) {
	has, err := h.claims(c.OID, run, task)
	if !has || err != nil || len(c.Parents) == 0 {
		return has, err
	}
	had, err := h.claims(c.Parents[0], run, task)
	return !had, err
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

// older is the next commit outside the range, the newest first: those of the branches,
// and those that the range stands on. It is noted. What a range is asked about lies a
// session's time before it, so that the cost of looking is not that of all history.
func (h *history) older() (c repo.Commit, more bool, err error) {
	if !h.indexed {
		h.indexed = true
		h.seen = map[repo.OID]bool{}
		for _, c := range h.commits {
			h.seen[c.OID] = true
		}
		for _, oid := range append(slices.Clone(h.edges), h.tips...) {
			if err := h.queue(oid); err != nil {
				return c, false, err
			}
		}
		if len(h.commits) == 0 {
			if err := h.queue(h.to); err != nil {
				return c, false, err
			}
		}
	}
	if len(h.before) == 0 {
		return c, false, nil
	}
	last := len(h.before) - 1
	c, h.before = h.before[last], h.before[:last]
	for _, p := range c.Parents {
		if err := h.queue(p); err != nil {
			return c, false, err
		}
	}
	h.note(c)
	return c, true, h.ctx.Err()
}

// queue keeps a commit for older, by its moment.
func (h *history) queue(oid repo.OID) error {
	if h.seen[oid] {
		return nil
	}
	h.seen[oid] = true
	c, err := h.repo.Commit(oid)
	if err != nil {
		return err
	}
	i, _ := slices.BinarySearchFunc(h.before, c, func(a, b repo.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	h.before = slices.Insert(h.before, i, c)
	return nil
}
