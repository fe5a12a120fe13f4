package proof

import (
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// readClaimLaw is the odd.toml that a proposal's session was claimed under: the
// board's, before the commit with the claim. A history without that commit has
// the default.
func (j *judge) readClaimLaw() (config.Config, error) {
	c, ok, err := j.findClaim(j.run, j.task)
	if err != nil || !ok || len(c.Parents) == 0 {
		return config.Default(), err
	}
	return j.lawAfter(c.Parents[0])
}

// findClaim returns the commit with the claim of a run on a task that the act goes on from,
// whatever else claims that for it: the one behind the act, or for a proposal upon
// another branch the one behind the result that records it. ok is false where the
// clone has none.
func (j *judge) findClaim(run, task string) (c repo.Commit, ok bool, err error) {
	if c, ok, err = j.findClaimBehind(j.OID, run, task); ok || err != nil {
		return c, ok, err
	}
	j.dependOn(claimQuestion(j.Commit, run, task))
	return j.findClaimAside(j.Commit, run, task)
}

// findClaimBehind is the commit that brought the claim of a run on a task which a commit
// has, the last where it has more; along its first parent, where that has it too.
func (h *history) findClaimBehind(oid repo.OID, run, task string) (c repo.Commit, ok bool, err error) {
	k := [3]string{string(oid), run, task}
	if c, ok = h.claimers[k]; ok {
		return c, ok, nil
	}
	n, err := h.countClaims(oid, run, task)
	if n == 0 || err != nil {
		return c, false, err
	}
	for oid != "" {
		if c, err = h.readCommit(oid); err != nil {
			return c, false, err
		}
		oid = ""
		for _, p := range c.Parents {
			m, err := h.countClaims(p, run, task)
			if err != nil {
				return c, false, err
			}
			if m >= n {
				oid = p
				break
			}
		}
		if oid == "" {
			if oid, err = h.findReturnedClaim(c, run, task, n); err != nil {
				return c, false, err
			}
		}
	}
	h.claimers[k] = c
	return c, true, nil
}

// findClaimAside is the claim of a run on a task that lies on another line than a proposal
// that came of it: behind the result that records the proposal, where there is one.
func (h *history) findClaimAside(proposal repo.Commit, run, task string) (c repo.Commit, ok bool, err error) {
	k := [3]string{string(proposal.OID), run, task}
	if c, ok = h.claimers[k]; ok {
		return c, ok, nil
	}
	recorded := false
	for _, end := range h.endCommits() {
		in, err := h.recordsProposal(end, proposal, run, task)
		if err != nil {
			return c, false, err
		}
		recorded = recorded || in
	}
	var some repo.OID // holds the claim
	err = h.visitRunCommits(run, task, func(c repo.Commit) (enough bool, err error) {
		if n, err := h.countClaims(c.OID, run, task); n == 0 || err != nil {
			return false, err
		}
		in, err := h.recordsProposal(c.OID, proposal, run, task)
		if some == "" || in {
			some = c.OID
		}
		return in || !recorded, err
	})
	if err != nil || some == "" {
		return c, false, err
	}
	if c, ok, err = h.findClaimBehind(some, run, task); ok {
		h.claimers[k] = c
	}
	return c, ok, err
}

// visitRunCommits has the commits of a run looked at that are about a task, or about none, until
// one is enough: those that are known, and then older ones.
func (h *history) visitRunCommits(run, task string, look func(repo.Commit) (enough bool, err error)) error {
	for _, c := range slices.Concat(h.acts[[2]string{run, task}], h.acts[[2]string{run, ""}]) {
		if enough, err := look(c); enough || err != nil {
			return err
		}
	}
	for {
		c, more, err := h.nextOlder()
		if err != nil || !more {
			return err
		}
		if t := singleTrailer(c, "Odd-Task"); singleTrailer(c, "Odd-Run") != run || t != task && t != "" {
			continue
		}
		if enough, err := look(c); enough || err != nil {
			return err
		}
	}
}

// recordsProposal reports whether the ledger of a run, as a commit has it, records a proposal
// for a task: by its commit, or made again by its trace.
func (h *history) recordsProposal(commit repo.OID, proposal repo.Commit, run, task string) (bool, error) {
	all, err := h.readLedger(commit, run)
	trace := singleTrailer(proposal, "Odd-Trace")
	return slices.ContainsFunc(all, func(r event.Record) bool {
		return r.Kind == event.Outcome && r.Task == task && (r.Outcome().Proposal == string(proposal.OID) || trace != "" && r.Trace == trace)
	}), err
}

// countClaims is how many claims of a task the ledger of a run holds in a commit.
func (h *history) countClaims(commit repo.OID, run, task string) (n int, err error) {
	records, err := h.readLedger(commit, run)
	for _, r := range records {
		if r.Opens() && r.Task == task {
			n++
		}
	}
	return n, err
}

// indexCommit remembers a commit by its Odd-Run and Odd-Task.
func (h *history) indexCommit(c repo.Commit) {
	if k := [2]string{singleTrailer(c, "Odd-Run"), singleTrailer(c, "Odd-Task")}; k[0] != "" {
		h.acts[k] = append(h.acts[k], c)
	}
}

// nextOlder is the next commit outside the range, the newest first: those of the branches,
// and those that the range stands on. It is noted. What a range is asked about lies a
// session's time before it, so that the cost of looking is not that of all history.
func (h *history) nextOlder() (c repo.Commit, more bool, err error) {
	if !h.indexed {
		h.indexed = true
		h.seen = map[repo.OID]bool{}
		for _, c := range h.commits {
			h.seen[c.OID] = true
		}
		for _, oid := range append(slices.Clone(h.edges), h.tips...) {
			if err := h.queueCommit(oid); err != nil {
				return c, false, err
			}
		}
		if len(h.commits) == 0 {
			if err := h.queueCommit(h.to); err != nil {
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
		if err := h.queueCommit(p); err != nil {
			return c, false, err
		}
	}
	h.indexCommit(c)
	return c, true, h.ctx.Err()
}

// queueCommit keeps a commit for older, by its moment.
func (h *history) queueCommit(oid repo.OID) error {
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
