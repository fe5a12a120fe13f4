package verify

import (
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// boardAndTargetTips returns the tips of the board branch and of the target branch that the
// last odd.toml names. If it names none, both are the branch of HEAD.
func (h *history) boardAndTargetTips() []repo.OID {
	law := h.endLaw()
	return append(h.boardTips(), h.branchTips(law.Target, law.Remote)...)
}

// boardTips returns the tips of the board branch.
func (h *history) boardTips() []repo.OID {
	law := h.endLaw()
	board := law.Branch
	if board == "" {
		board, _ = h.repo.Branch()
	}
	return h.branchTips(board, law.Remote)
}

// endLaw returns the odd.toml at the end of the range, an empty one if the range was not
// read.
func (h *history) endLaw() *config.Config {
	if law := h.laws[h.to]; law != nil {
		return law
	}
	return &config.Config{}
}

// branchTips returns where a branch is, in this clone and on the remote. A ref that is about
// to move is taken at its new place.
func (h *history) branchTips(name, remote string) []repo.OID {
	var out []repo.OID
	for _, prefix := range []string{"refs/heads/", "refs/remotes/" + remote + "/"} {
		if oid, moves := h.moving[prefix+name]; moves {
			out = append(out, oid)
		} else if oid, err := h.repo.Ref(prefix + name); name != "" && err == nil {
			out = append(out, oid)
		}
	}
	return out
}

// isWaiting reports a proposal that no known branch contains. If no branch is known, only
// the end of the range can wait, or the proposal that it approves.
func (h *history) isWaiting(p repo.OID) bool {
	last := h.commits[len(h.commits)-1]
	if len(h.tips) == 0 {
		return p == last.OID || string(p) == singleTrailer(last, "Odd-Proposal")
	}
	for _, tip := range h.tips {
		if h.isAncestor(p, tip) {
			return false
		}
	}
	return true
}

// isAncestor reports whether a is b or an ancestor of b. Inside the range it uses the
// commits already read, elsewhere it asks git.
func (h *history) isAncestor(a, b repo.OID) bool {
	from, in := h.place[a]
	at, known := h.place[b]
	if !in || !known {
		is, err := h.repo.Ancestor(h.ctx, a, b)
		must(err)
		return is
	}
	seen := map[int]bool{}
	for todo := []int{at}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == from {
			return true
		}
		for _, p := range h.commits[n].Parents {
			if i, ok := h.place[p]; ok && i >= from && !seen[i] {
				seen[i] = true
				todo = append(todo, i)
			}
		}
	}
	return false
}
