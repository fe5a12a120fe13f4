package verify

import (
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
// differently. Merges by odd sync are left out: a person merged those commits into the target before, where they are
// judged.
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
