package verify

import (
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// # Branches that bring decisions from before a rule
//
// A merge brings in commits that were made under the rules of their own branch. Where the merge's parents differ in who
// must sign, or may, a decision of the one side must also stand under the signatures that the other side requires: else
// a branch from before require_signed, or from before a key was taken out, brings in what that branch refuses. The same
// holds for the ready tasks of odd sense, where [sense] of the parents differs.

// signing is what a commit's odd.toml requires of signatures.
type signing struct {
	required bool
	signers  repo.OID // the blob of allowed_signers
}

func (h *history) readSigning(commit repo.OID) signing {
	law := h.LawAt(commit)
	if !law.RequireSigned {
		return signing{}
	}
	if law.AllowedSigners == "" {
		return signing{required: true}
	}
	blob, _ := h.Find(commit, law.AllowedSigners)
	return signing{true, blob}
}

// findCrossings maps a commit to the other parents of the merges that join it with another line, where crosses says so
// of a merge and the two parents.
func (h *history) findCrossings(crosses func(m repo.Commit, from, onto repo.OID) bool) map[repo.OID][]repo.OID {
	out := map[repo.OID][]repo.OID{}
	for _, m := range h.commits {
		for _, p := range m.Parents {
			for _, other := range m.Parents {
				if p == other || !crosses(m, p, other) {
					continue
				}
				beyond := h.reachableFrom(other)
				for oid := range h.reachableFrom(p) {
					if !beyond[oid] {
						out[oid] = append(out[oid], other)
					}
				}
			}
		}
	}
	return out
}

// crossesSigning reports a merge with a line that requires signatures differently. Merges by odd sync are left out:
// what they bring is judged on the target branch.
func (h *history) crossesSigning(m repo.Commit, from, onto repo.OID) bool {
	asks := h.readSigning(onto)
	return asks.required && asks != h.readSigning(from) && !h.isSynced(m, h.LawAt(onto))
}

// crossesSense reports a merge with a line that lets odd sense file other tasks as ready. A person answers for a merge
// of theirs, unless it would have to be signed. odd sync merges the target, whose odd.toml is not the board's.
func (h *history) crossesSense(m repo.Commit, from, onto repo.OID) bool {
	was, is := h.LawAt(from), h.LawAt(onto)
	same := was == is || slices.Equal(was.Sense.Ready, is.Sense.Ready) && was.Sense.Role == is.Sense.Role && slices.Equal(was.Sense.Paths, is.Sense.Paths)
	return !same && (h.machines[m.OID] || is.RequireSigned) && (onto == m.Parents[0] || !h.isSynced(m, is))
}

// isSynced reports a merge as odd sync makes it: of what the target branch has, which gets no such merge itself, or of
// an approval. The law is that of the parent whose signatures the merge would evade.
func (h *history) isSynced(m repo.Commit, law *config.Config) bool {
	switch {
	case !h.machines[m.OID] || len(m.Parents) != 2:
		return false
	case keepsApproval(m):
		return h.bringsReviewAlone(m)
	case law.Target == "" || law.Target == law.Branch || !h.isOnTargetNow(law, m.Parents[1]):
		return false
	}
	return !slices.ContainsFunc(h.branchTips(law.Target, law.Remote), func(tip repo.OID) bool { return h.IsAncestor(m.OID, tip) })
}

// bringsReviewAlone reports a merge whose second parent is two commits on what its first parent has, a proposal and its
// approval, that leave the signature rules as they were.
func (h *history) bringsReviewAlone(m repo.Commit) bool {
	at := m.Parents[1]
	for range 2 {
		c := h.ReadCommit(at)
		if len(c.Parents) != 1 {
			return false
		}
		at = c.Parents[0]
	}
	return h.readSigning(at) == h.readSigning(m.Parents[1]) && h.IsAncestor(at, m.Parents[0])
}

// reachableFrom returns the commits of the range that are tip or its ancestors.
func (h *history) reachableFrom(tip repo.OID) map[repo.OID]bool {
	seen := map[repo.OID]bool{}
	for todo := []repo.OID{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n, in := h.place[at]
		if !in || seen[at] {
			continue
		}
		seen[at] = true
		todo = append(todo, h.commits[n].Parents...)
	}
	return seen
}

// joinedQuestion asks which lines with another law a commit is merged with.
func joinedQuestion(oid repo.OID, of func(*history) map[repo.OID][]repo.OID) question {
	return func(h *history) string { return fmt.Sprint(of(h)[oid]) }
}

// FindCrossed returns the other parents of the merges that crossesSigning reports.
func (h *history) FindCrossed(oid repo.OID) []repo.OID {
	h.dependOn(joinedQuestion(oid, func(h *history) map[repo.OID][]repo.OID { return h.crossed }))
	return h.crossed[oid]
}

// FindSenseCrossed returns the other parents of the merges that crossesSense reports.
func (h *history) FindSenseCrossed(oid repo.OID) []repo.OID {
	h.dependOn(joinedQuestion(oid, func(h *history) map[repo.OID][]repo.OID { return h.sensed }))
	return h.sensed[oid]
}
