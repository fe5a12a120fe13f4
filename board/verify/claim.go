package verify

import (
	"slices"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// FindClaim returns the commit of the claim that the act continues. It is an ancestor of the act, or for a proposal on
// another branch an ancestor of the result that records it. ok is false if this clone has none.
func (h *history) FindClaim(of repo.Commit, run, task string) (c repo.Commit, ok bool) {
	if c, ok = h.findClaimBehind(of.OID, run, task); ok {
		return c, ok
	}
	h.dependOn(claimQuestion(of, run, task))
	return h.findClaimAside(of, run, task)
}

// findClaimBehind returns the ancestor of a commit that added the run's last claim of a task. It follows first parents
// where they have the claim too.
func (h *history) findClaimBehind(oid repo.OID, run, task string) (c repo.Commit, ok bool) {
	k := [3]string{string(oid), run, task}
	if c, ok = h.claimers[k]; ok {
		return c, ok
	}
	n := h.countClaims(oid, run, task)
	if n == 0 {
		return c, false
	}
	for oid != "" {
		c = h.ReadCommit(oid)
		oid = ""
		for _, p := range c.Parents {
			m := h.countClaims(p, run, task)
			if m >= n {
				oid = p
				break
			}
		}
		if oid == "" {
			oid = h.findReturnedClaim(c, run, task, n)
		}
	}
	h.claimers[k] = c
	return c, true
}

// findClaimAside returns the claim behind a proposal that lies on another line than the claim. It prefers the claim
// behind the result that records the proposal.
func (h *history) findClaimAside(proposal repo.Commit, run, task string) (c repo.Commit, ok bool) {
	var some repo.OID // a commit whose ledger has the claim
	h.visitRunCommits(run, task, func(c repo.Commit) (enough bool) {
		if n := h.countClaims(c.OID, run, task); n == 0 {
			return false
		}
		in := h.recordsProposal(c.OID, proposal, run, task)
		if some == "" || in {
			some = c.OID
		}
		return in
	})
	if some == "" {
		return c, false
	}
	return h.findClaimBehind(some, run, task)
}

// visitRunCommits calls look with the commits of a run that name the task until look has enough. It starts with the
// commits already indexed and then reads older ones.
func (h *history) visitRunCommits(run, task string, look func(repo.Commit) (enough bool)) {
	if slices.ContainsFunc(h.acts[[2]string{run, task}], look) {
		return
	}
	for {
		c, more := h.nextOlder()
		if !more {
			return
		}
		if rules.Trailer(c, "Odd-Run") == run && rules.Trailer(c, "Odd-Task") == task && look(c) {
			return
		}
	}
}

// recordsProposal reports whether a run's ledger in a commit records a proposal for a task. It compares the commit id,
// or the trace if somebody rebased the proposal.
func (h *history) recordsProposal(commit repo.OID, proposal repo.Commit, run, task string) bool {
	all := h.ReadLedger(commit, run)
	trace := rules.Trailer(proposal, "Odd-Trace")
	return slices.ContainsFunc(all, func(r event.Record) bool {
		return r.Kind == event.Outcome && r.Task == task && (r.Outcome().Proposal == string(proposal.OID) || trace != "" && r.Trace == trace)
	})
}

// countClaims returns how many claims of a task a run's ledger holds in a commit.
func (h *history) countClaims(commit repo.OID, run, task string) (n int) {
	for _, r := range h.ReadLedger(commit, run) {
		if r.Opens() && r.Task == task {
			n++
		}
	}
	return n
}

// indexCommit remembers a commit by its Odd-Run and Odd-Task.
func (h *history) indexCommit(c repo.Commit) {
	if k := [2]string{rules.Trailer(c, "Odd-Run"), rules.Trailer(c, "Odd-Task")}; k[0] != "" {
		h.acts[k] = append(h.acts[k], c)
	}
}

// nextOlder indexes and returns the newest commit outside the range that it has not returned yet. It starts at the
// branches and at the range's edges. A range depends on commits that are one session older at most, so few calls are
// needed however long the history is.
func (h *history) nextOlder() (c repo.Commit, more bool) {
	if !h.indexed {
		h.indexed = true
		h.seen = map[repo.OID]bool{}
		for _, c := range h.commits {
			h.seen[c.OID] = true
		}
		for _, oid := range append(slices.Clone(h.edges), h.tips...) {
			h.queueCommit(oid)
		}
	}
	if len(h.before) == 0 {
		return c, false
	}
	last := len(h.before) - 1
	c, h.before = h.before[last], h.before[:last]
	for _, p := range c.Parents {
		h.queueCommit(p)
	}
	h.indexCommit(c)
	must(h.ctx.Err())
	return c, true
}

// queueCommit adds a commit to the queue of nextOlder, which is sorted by time.
func (h *history) queueCommit(oid repo.OID) {
	if h.seen[oid] {
		return
	}
	h.seen[oid] = true
	c := h.ReadCommit(oid)
	i, _ := slices.BinarySearchFunc(h.before, c, func(a, b repo.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	h.before = slices.Insert(h.before, i, c)
}

// findClaimBeside returns a commit that makes the same claim on a parallel line, the first by id.
func (h *history) findClaimBeside(claim repo.Commit, run, task string) (out repo.OID) {
	note := func(c repo.Commit) {
		if out == "" || c.OID < out {
			out = c.OID
		}
	}
	for _, c := range slices.Concat(h.acts[[2]string{run, task}], h.acts[[2]string{run, ""}]) {
		if _, in := h.place[c.OID]; !in || len(c.Parents) == 0 || !h.areParallel(c, claim) {
			continue // of most commits that much is known without their ledgers
		}
		if h.countClaims(c.OID, run, task) > h.countClaims(c.Parents[0], run, task) {
			note(c)
		}
	}
	for _, edge := range h.edges {
		if c, ok := h.findClaimBehind(edge, run, task); ok && h.areParallel(c, claim) {
			note(c)
		}
	}
	return out
}

// areParallel reports two commits of which neither is an ancestor of the other. A copy that a person made of one, as
// git rebase does, counts as the same commit.
func (h *history) areParallel(a, b repo.Commit) bool {
	if a.OID == b.OID {
		return false
	}
	if a.Author.Email == b.Author.Email && a.Author.When.Equal(b.Author.When) {
		for _, c := range []repo.Commit{a, b} {
			law := h.LawAt(c.OID)
			if !rules.IsAgent(c.Committer, law) {
				return false
			}
		}
	}
	for _, p := range [][2]repo.OID{{a.OID, b.OID}, {b.OID, a.OID}} {
		if h.IsAncestor(p[0], p[1]) {
			return false
		}
	}
	return true
}

// FindSameClaim is findClaimBeside for a rule.
func (h *history) FindSameClaim(claim repo.Commit, run, task string) repo.OID {
	h.dependOn(claimBesideQuestion(claim, run, task))
	return h.findClaimBeside(claim, run, task)
}

// VisitRun is visitRunCommits for a rule. What there is to visit depends on the branches.
func (h *history) VisitRun(run, task string, look func(repo.Commit) (enough bool)) {
	h.own = true
	h.visitRunCommits(run, task, look)
}
