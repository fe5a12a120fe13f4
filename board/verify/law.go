package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// findUnnamedAgents returns the commits that count as a person's under the odd.toml before
// them, but have the agent's address of another odd.toml of the range.
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

// learnMaker learns the odd.toml in force after c and whether a machine made c.
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

// agentLaws returns the configurations that decide who the agent of a commit is: those of
// its parents. A root commit has its own and the default, which it cannot override.
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

// isByAgent reports a commit whose author or committer is the agent of law.
func isByAgent(c repo.Commit, law *config.Config) bool {
	return isAgent(c.Author, law) || isAgent(c.Committer, law)
}

// isAgent compares addresses without regard to case and surrounding space.
func isAgent(who repo.Signature, law *config.Config) bool {
	return strings.EqualFold(strings.TrimSpace(who.Email), law.AgentEmail)
}

// learnRuled learns whether c or a commit before it has an odd.toml.
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

// learnRuledBefore is learnRuled for a commit outside the range. It reads no commit twice.
func (h *history) learnRuledBefore(oid repo.OID) error {
	type visit struct {
		oid  repo.OID
		todo []repo.OID // parents not visited yet
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
		if ruled { // then so are its descendants
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

// lawAfter returns the odd.toml in force after a commit, inside or outside the range.
func (h *history) lawAfter(oid repo.OID) (config.Config, error) {
	law, err := h.lawAt(oid)
	if err != nil {
		return config.Config{}, err
	}
	return *law, nil
}

// lawAt is lawAfter without the copy. Where a commit has no readable odd.toml, the one of
// its first parent stays in force, also across the edge of the range. So nobody can change
// who counts as the agent by deleting odd.toml in a push of its own.
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

// readLaw parses the odd.toml of a commit. It returns before if that is missing or
// unreadable.
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
