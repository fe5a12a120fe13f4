package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// findUnnamedAgents returns the commits that count as a person's under the odd.toml before them, but have the agent's
// address of another odd.toml of the range.
func (h *history) findUnnamedAgents() map[repo.OID]bool {
	laws, out := map[string]*config.Config{}, map[repo.OID]bool{}
	for _, law := range h.laws {
		laws[law.AgentEmail] = law
	}
	for _, c := range h.commits {
		for _, law := range laws {
			if !h.machines[c.OID] && rules.IsByAgent(c, law) {
				out[c.OID] = true
			}
		}
	}
	return out
}

// learnMaker learns the odd.toml in force after c and whether a machine made c.
func (h *history) learnMaker(c repo.Commit) {
	if _, settled := h.machines[c.OID]; settled {
		return
	}
	h.learnRuled(c)
	laws := h.agentLaws(c)
	h.machines[c.OID] = slices.ContainsFunc(laws, func(law *config.Config) bool { return rules.IsByAgent(c, law) })
	if len(c.Trailer("Odd-Run")) > 0 && len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) == 0 {
		h.machines[c.OID] = true
	}
}

// agentLaws returns the configurations that decide who the agent of a commit is: those of its parents. A root commit
// has its own and the default, which it cannot override.
func (h *history) agentLaws(c repo.Commit) []*config.Config {
	own := h.LawAt(c.OID)
	if len(c.Parents) == 0 {
		return []*config.Config{own, h.unruled}
	}
	var out []*config.Config
	for _, p := range c.Parents {
		out = append(out, h.LawAt(p))
	}
	return out
}

// learnRuled learns whether c or a commit before it has an odd.toml.
func (h *history) learnRuled(c repo.Commit) {
	_, mode := h.Find(c.OID, "odd.toml")
	ruled := strings.HasPrefix(mode, "100")
	for _, p := range c.Parents {
		if _, known := h.ruled[p]; !known {
			h.learnRuledBefore(p)
		}
		ruled = ruled || h.ruled[p]
	}
	h.ruled[c.OID] = ruled
}

// learnRuledBefore is learnRuled for a commit outside the range. It reads no commit twice.
func (h *history) learnRuledBefore(oid repo.OID) {
	type visit struct {
		oid  repo.OID
		todo []repo.OID // parents not visited yet
	}
	var way []visit // from oid down to where the walk is
	for at := oid; at != ""; {
		ruled, known := h.ruled[at]
		if !known {
			h.walked++
			c := h.ReadCommit(at)
			_, mode := h.Find(c.Tree, "odd.toml")
			must(h.ctx.Err())
			ruled = strings.HasPrefix(mode, "100")
			h.ruled[at] = ruled
			way = append(way, visit{at, c.Parents})
		}
		if ruled { // then so are its descendants
			for _, v := range way {
				h.ruled[v.oid] = true
			}
			return
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
}

// LawAt returns the odd.toml in force after a commit, inside or outside the range. Where a commit has no readable
// odd.toml, the one of its first parent stays in force, also across the edge of the range. So nobody can change who
// counts as the agent by deleting odd.toml in a push of its own.
func (h *history) LawAt(oid repo.OID) *config.Config {
	law, without := h.unruled, []repo.OID{}
	for at := oid; at != ""; {
		if known, ok := h.laws[at]; ok {
			law = known
			break
		}
		own := h.ReadLaw(at, nil)
		without = append(without, at)
		if own != nil {
			law = own
			break
		}
		c := h.ReadCommit(at)
		at = ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
	}
	for _, at := range without {
		h.laws[at] = law
	}
	return law
}

// ReadLaw parses the odd.toml of a commit. It returns before if that is missing or unreadable.
func (h *history) ReadLaw(oid repo.OID, before *config.Config) *config.Config {
	blob, mode := h.Find(oid, "odd.toml")
	if !strings.HasPrefix(mode, "100") {
		return before
	}
	if law, ok := h.parsed[blob]; ok {
		return law
	}
	law, err := config.Parse("odd.toml", h.Blob(blob))
	if _, ok := errors.AsType[*config.Newer](err); ok {
		must(fmt.Errorf("commit %s: %w", rules.ShortID(string(oid)), err))
	}
	if err != nil {
		return before
	}
	h.parsed[blob] = &law
	return &law
}

// IsMachine reports a commit, of the range or not, that a machine made.
func (h *history) IsMachine(c repo.Commit) bool {
	h.learnMaker(c)
	return h.machines[c.OID]
}

// IsRuled reports that a commit or one before it has an odd.toml.
func (h *history) IsRuled(oid repo.OID) bool { return h.ruled[oid] }
