package proof

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// findUnnamedAgents are the commits of the range that are a person's by the odd.toml before
// them, and by an address that another odd.toml has for the agent.
func (h *history) findUnnamedAgents() map[repo.OID]bool {
	laws, out := map[string]*config.Config{}, map[repo.OID]bool{}
	for _, law := range h.laws {
		laws[law.AgentEmail] = law
	}
	for _, c := range h.commits {
		for _, law := range laws {
			if len(laws) > 1 && !h.machines[c.OID] && isByAgent(c, law) {
				out[c.OID] = true
			}
		}
	}
	return out
}

// learnMaker learns the law after c and whether a machine made c.
func (h *history) learnMaker(c repo.Commit) error {
	if _, settled := h.machines[c.OID]; settled {
		return nil
	}
	if err := h.learnRuled(c); err != nil {
		return err
	}
	laws, err := h.agentLaws(c)
	if err != nil {
		return err
	}
	h.machines[c.OID] = slices.ContainsFunc(laws, func(law *config.Config) bool { return isByAgent(c, law) })
	if len(c.Trailer("Odd-Run")) > 0 && len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) == 0 {
		h.machines[c.OID] = true
	}
	return nil
}

// agentLaws are the laws that say who is the agent of a commit: its parents', or a root
// commit's own, and that of no odd.toml, which it cannot take back. Its own is read in
// any case.
func (h *history) agentLaws(c repo.Commit) ([]*config.Config, error) {
	own, err := h.lawAt(c.OID)
	if err != nil || len(c.Parents) == 0 {
		return []*config.Config{own, h.unruled}, err
	}
	var out []*config.Config
	for _, p := range c.Parents {
		law, err := h.lawAt(p)
		if err != nil {
			return nil, err
		}
		out = append(out, law)
	}
	return out, nil
}

// isByAgent reports a commit that the agent of a law made, or that it committed.
func isByAgent(c repo.Commit, law *config.Config) bool {
	return isAgent(c.Author, law) || isAgent(c.Committer, law)
}

// isAgent reports the agent's address, however it is written.
func isAgent(who repo.Signature, law *config.Config) bool {
	return strings.EqualFold(strings.TrimSpace(who.Email), law.AgentEmail)
}

// learnRuled learns whether an odd.toml stands in c, or stood before it.
func (h *history) learnRuled(c repo.Commit) error {
	_, mode, err := h.trees.Find(c.OID, "odd.toml")
	if err != nil {
		return err
	}
	ruled := strings.HasPrefix(mode, "100")
	for _, p := range c.Parents {
		if _, known := h.ruled[p]; !known {
			if err := h.learnRuledBefore(p); err != nil {
				return err
			}
		}
		ruled = ruled || h.ruled[p]
	}
	h.ruled[c.OID] = ruled
	return nil
}

// learnRuledBefore is rule of a commit that the range stands on, and of what it has to ask
// before that. No commit is read twice, however many ways lead to it.
func (h *history) learnRuledBefore(oid repo.OID) error {
	type visit struct {
		oid  repo.OID
		todo []repo.OID // parents not asked yet
	}
	var way []visit // from oid down to where the walk is
	for at := oid; at != ""; {
		ruled, known := h.ruled[at]
		if !known {
			h.walked++
			c, err := h.repo.Commit(at)
			if err != nil {
				return err
			}
			_, mode, err := h.trees.Find(c.Tree, "odd.toml")
			if err := errors.Join(err, h.ctx.Err()); err != nil {
				return err
			}
			ruled = strings.HasPrefix(mode, "100")
			h.ruled[at] = ruled
			way = append(way, visit{at, c.Parents})
		}
		if ruled { // and so is whatever comes after it
			for _, v := range way {
				h.ruled[v.oid] = true
			}
			return nil
		}
		for at = ""; at == "" && len(way) > 0; {
			last := &way[len(way)-1]
			if len(last.todo) == 0 {
				way = way[:len(way)-1]
				continue
			}
			at, last.todo = last.todo[0], last.todo[1:]
		}
	}
	return nil
}

// lawAfter is the odd.toml in force after a commit, of the range or at its edge.
func (h *history) lawAfter(oid repo.OID) (config.Config, error) {
	law, err := h.lawAt(oid)
	if err != nil {
		return config.Config{}, err
	}
	return *law, nil
}

// lawAt is lawAfter, one for all commits that have it. Where none stands, or it does not
// read, that of the first parent stays in force, be it of the range or not: taking the
// rules away, in a push of its own, must not change who is who.
func (h *history) lawAt(oid repo.OID) (*config.Config, error) {
	law, without := h.unruled, []repo.OID{}
	for at := oid; at != ""; {
		if known, ok := h.laws[at]; ok {
			law = known
			break
		}
		own, err := h.readLaw(at, nil)
		if err != nil {
			return nil, err
		}
		without = append(without, at)
		if own != nil {
			law = own
			break
		}
		c, err := h.repo.Commit(at)
		if err != nil {
			return nil, err
		}
		at = ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
	}
	for _, at := range without {
		h.laws[at] = law
	}
	return law, nil
}

// readLaw reads odd.toml in a commit; before, where it is missing or does not read.
func (h *history) readLaw(oid repo.OID, before *config.Config) (*config.Config, error) {
	blob, mode, err := h.trees.Find(oid, "odd.toml")
	if err != nil || !strings.HasPrefix(mode, "100") {
		return before, err
	}
	if law, ok := h.parsed[blob]; ok {
		return law, nil
	}
	b, err := h.trees.Blob(blob)
	if err != nil {
		return before, err
	}
	law, err := config.Parse("odd.toml", b)
	var newer *config.Newer
	if errors.As(err, &newer) {
		return before, fmt.Errorf("commit %s: %w", shortID(string(oid)), err)
	}
	if err != nil {
		return before, nil
	}
	h.parsed[blob] = &law
	return &law, nil
}
