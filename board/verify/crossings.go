package verify

import (
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// # Branches that bring decisions from before a rule
//
// A merge brings in commits that were made under the rules of their own branch. Where the merge's parents differ in who
// must sign, or may, a decision of the one side must also stand under the signatures that the other side requires: else
// a branch from before require_signed, or from before a key was taken out, brings in what that branch refuses.

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

// findCrossings maps a commit to the other parents of the merges that join it with a line which requires signatures
// differently. Merges by odd sync are left out: what they bring is judged on the target branch.
func (h *history) findCrossings() map[repo.OID][]repo.OID {
	out := map[repo.OID][]repo.OID{}
	for _, m := range h.commits {
		if len(m.Parents) < 2 {
			continue
		}
		asks := make([]signing, len(m.Parents))
		for i, p := range m.Parents {
			asks[i] = h.readSigning(p)
		}
		for i, p := range m.Parents {
			for k, other := range m.Parents {
				if i == k || asks[i] == asks[k] || !asks[k].required || h.isSynced(m, h.LawAt(other)) {
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

// crossingsQuestion asks which lines with other signature rules a commit is merged with.
func crossingsQuestion(oid repo.OID) question {
	return func(h *history) string {
		var all string
		for _, other := range h.crossed[oid] {
			all += string(other) + " "
		}
		return all
	}
}

// FindCrossed returns the other parents of the merges that join a commit with a line which requires signatures
// differently.
func (h *history) FindCrossed(oid repo.OID) []repo.OID {
	h.dependOn(crossingsQuestion(oid))
	return h.crossed[oid]
}
