package verify

import (
	"slices"
	"strconv"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// boardAndTargetTips returns the tips of the board branch and of the target branch that the last odd.toml names. If it
// names none, both are the branch of HEAD.
func (h *history) boardAndTargetTips() []repo.OID {
	law := h.endLaw()
	return append(h.boardTips(), h.branchTips(law.Target, law.Remote)...)
}

func (h *history) boardTips() []repo.OID {
	law := h.endLaw()
	board := law.Branch
	if board == "" {
		board, _ = h.repo.Branch()
	}
	return h.branchTips(board, law.Remote)
}

// endLaw returns the odd.toml at the end of the range, an empty one if the range was not read.
func (h *history) endLaw() *config.Config {
	if law := h.laws[h.to]; law != nil {
		return law
	}
	return &config.Config{}
}

// branchTips returns where a branch is, in this clone and on the remote. A ref that is about to move is taken at its
// new place.
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

// IsWaiting reports a proposal that no known branch contains. If no branch is known, only the end of the range can
// wait, or the proposal that it approves.
func (h *history) IsWaiting(p repo.OID) bool {
	h.dependOn(func(h *history) string { return strconv.FormatBool(h.isWaitingNow(p)) })
	return h.isWaitingNow(p)
}

func (h *history) isWaitingNow(p repo.OID) bool {
	last := h.commits[len(h.commits)-1]
	if len(h.tips) == 0 {
		return p == last.OID || string(p) == rules.Trailer(last, "Odd-Proposal")
	}
	return !slices.ContainsFunc(h.tips, func(tip repo.OID) bool { return h.IsAncestor(p, tip) })
}

// IsAncestor reports whether a is b or an ancestor of b. Inside the range it uses the commits already read, elsewhere
// it asks git.
func (h *history) IsAncestor(a, b repo.OID) bool {
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

// isTakenByPerson reports a person's commit on the proposal p, or on empty commits on p.
func (h *history) isTakenByPerson(p repo.Commit, own bool) bool {
	seen := map[repo.OID]bool{p.OID: true}
	for todo := []repo.Commit{p}; len(todo) > 0; todo = todo[1:] {
		on := todo[0].OID
		for _, n := range h.children[on] {
			c := h.commits[n]
			strict := own && h.spine[on] && c.Parents[0] == on
			switch {
			case h.machines[c.OID]:
				if c.Tree == p.Tree && !seen[c.OID] {
					seen[c.OID], todo = true, append(todo, c)
				}
			case !strict || rules.Trailer(c, "Odd-Proposal") == string(p.OID):
				return true
			}
		}
	}
	return false
}

// isOnTargetNow reports whether the target branch has a commit. If this clone lacks the branch, it is believed.
func (h *history) isOnTargetNow(law *config.Config, oid repo.OID) bool {
	tips := h.branchTips(law.Target, law.Remote)
	for _, tip := range tips {
		if on := h.IsAncestor(oid, tip); on {
			return on
		}
	}
	return len(tips) == 0
}

// IsTaken is isTakenByPerson for a rule.
func (h *history) IsTaken(p repo.Commit, own bool) bool {
	h.dependOn(takenQuestion(p, own))
	return h.isTakenByPerson(p, own)
}

// IsOpenEnd reports that a commit is the end of the range and of no branch, so that what is built on it is outside the
// range.
func (h *history) IsOpenEnd(oid repo.OID) bool {
	h.own = true
	return oid == h.to && !slices.Contains(h.tips, h.to)
}

// BeginsHere reports whether the history of the end of the range begins with a root commit, along first parents.
func (h *history) BeginsHere(root repo.OID) bool {
	h.dependOn(func(h *history) string { return strconv.FormatBool(h.spine[root]) })
	return h.spine[root]
}

// End returns the last commit of the range.
func (h *history) End() repo.OID {
	h.own = true // another range ends elsewhere
	return h.to
}

// Start returns the commit that the range goes on from, "" for none.
func (h *history) Start() repo.OID {
	if h.from != "" {
		h.own = true // another range may start elsewhere
	}
	return h.from
}

// IsUnnamed reports a commit of the range that findUnnamedAgents found.
func (h *history) IsUnnamed(oid repo.OID) bool {
	h.dependOn(func(h *history) string { return strconv.FormatBool(h.unnamed[oid]) })
	return h.unnamed[oid]
}

// HasUnnamed reports that there is any.
func (h *history) HasUnnamed() bool {
	h.dependOn(func(h *history) string { return strconv.FormatBool(len(h.unnamed) > 0) })
	return len(h.unnamed) > 0
}

// FindRef returns where a ref is, or is about to be; "" for nowhere.
func (h *history) FindRef(name string) repo.OID {
	h.dependOn(func(h *history) string { return string(h.refNow(name)) })
	return h.refNow(name)
}

func (h *history) refNow(name string) repo.OID {
	if oid, moves := h.moving[name]; moves {
		return oid
	}
	oid, asked := h.refs[name]
	if !asked {
		oid, _ = h.repo.Ref(name)
		h.refs[name] = oid
	}
	return oid
}

// IsOnTarget is isOnTargetNow for a rule.
func (h *history) IsOnTarget(law *config.Config, oid repo.OID) bool {
	h.dependOn(onTargetQuestion(law, oid))
	return h.isOnTargetNow(law, oid)
}
