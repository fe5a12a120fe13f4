package verify

import (
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// # Branches that bring decisions from before a rule
//
// A merge brings in commits that were made under the rules of their own branch. Where
// the merge's parents differ in who must sign, or may, a decision of the one side must
// also stand under the signatures that the other side requires: else a branch from before
// require_signed, or from before a key was taken out, brings in what that branch refuses.

// signing is what a commit's odd.toml requires of signatures.
type signing struct {
	required bool
	signers  repo.OID // the blob of allowed_signers
}

func (h *history) readSigning(commit repo.OID) signing {
	law := h.lawAt(commit)
	if !law.RequireSigned {
		return signing{}
	}
	if law.AllowedSigners == "" {
		return signing{required: true}
	}
	blob, _ := h.find(commit, law.AllowedSigners)
	return signing{true, blob}
}

// findCrossings maps a commit to the other parents of the merges that join it with a line
// which requires signatures differently. Merges by odd sync are left out: a person merged
// those commits into the target before, where they are judged.
func (h *history) findCrossings() map[repo.OID][]repo.OID {
	out := map[repo.OID][]repo.OID{}
	for _, m := range h.commits {
		if len(m.Parents) < 2 || h.machines[m.OID] {
			continue
		}
		asks := make([]signing, len(m.Parents))
		for i, p := range m.Parents {
			asks[i] = h.readSigning(p)
		}
		for i, p := range m.Parents {
			for k, other := range m.Parents {
				if i == k || asks[i] == asks[k] || !asks[k].required {
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

// whyUnsignedBeyond returns what a decision lacks of the signatures that the other side of a
// merge requires. A key that was added only on the decision's own side counts.
func (h *history) whyUnsignedBeyond(c repo.Commit) string {
	for _, other := range h.crossed[c.OID] {
		law := h.lawAt(other)
		why := h.whyUnsigned(c, *law, other)
		if why == "" {
			continue
		}
		if h.isKeyAddedHere(c, law, other) {
			continue
		}
		return why + ", as " + shortID(string(other)) + " has it, which is merged with it"
	}
	return ""
}

// isKeyAddedHere reports a decision that is signed as its own side requires, with a key that
// the merge base did not know.
func (h *history) isKeyAddedHere(c repo.Commit, law *config.Config, other repo.OID) bool {
	own := h.lawAfter(c.Parents[0])
	if !own.RequireSigned {
		return false
	}
	if why := h.whyUnsigned(c, own, c.Parents[0]); why != "" {
		return false
	}
	base, err := h.repo.MergeBase(h.ctx, c.OID, other)
	if err != nil || base == "" {
		must(err)
		return false
	}
	why := h.whyUnsigned(c, *law, base)
	return why != ""
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
