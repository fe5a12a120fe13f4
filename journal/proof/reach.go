package proof

import (
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// boardAndTargetTips are the tips of the board branch and of the target that the last odd.toml
// names; without names the branch that HEAD is on is both.
func (h *history) boardAndTargetTips() []repo.OID {
	law := h.endLaw()
	return append(h.boardTips(), h.branchTips(law.Target, law.Remote)...)
}

// boardTips are the tips of the board branch alone.
func (h *history) boardTips() []repo.OID {
	law := h.endLaw()
	board := law.Branch
	if board == "" {
		board, _ = h.repo.Branch()
	}
	return h.branchTips(board, law.Remote)
}

// endLaw is the last odd.toml of the range; of an empty one nothing was read.
func (h *history) endLaw() *config.Config {
	if law := h.laws[h.to]; law != nil {
		return law
	}
	return &config.Config{}
}

// branchTips is where a branch is, here and on a remote, as far as that is known. Refs
// that are about to move are taken where they will be.
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

// isWaiting reports a proposal that is on no line yet. Where no line is known, only
// the end of the range can wait, or what it approves: that is of this range alone.
func (h *history) isWaiting(p repo.OID) (bool, error) {
	last := h.commits[len(h.commits)-1]
	if len(h.tips) == 0 {
		return p == last.OID || string(p) == singleTrailer(last, "Odd-Proposal"), nil
	}
	for _, tip := range h.tips {
		if in, err := h.isAncestor(p, tip); in || err != nil {
			return false, err
		}
	}
	return true, nil
}

// isAncestor reports whether a is an ancestor of b, or is b: within the range from what
// was read of it, elsewhere by asking git. What the range stands on holds nothing of it.
func (h *history) isAncestor(a, b repo.OID) (bool, error) {
	from, in := h.place[a]
	at, known := h.place[b]
	if !in || !known {
		return h.repo.Ancestor(h.ctx, a, b)
	}
	seen := map[int]bool{}
	for todo := []int{at}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == from {
			return true, nil
		}
		for _, p := range h.commits[n].Parents {
			if i, ok := h.place[p]; ok && i >= from && !seen[i] {
				seen[i] = true
				todo = append(todo, i)
			}
		}
	}
	return false, nil
}
