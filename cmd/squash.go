package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

// squashed looks for the commit by which a squash or a rebase put p on the
// target: not a merge, not the agent's, changing every recorded path from its
// recorded blob to its recorded result, and nothing else. Later edits do not
// undo it. A commit that does all that and more is told in extra.
func (v *view) squashed(ctx context.Context, p review.Proposal, tip repo.OID) (landed bool, extra string, err error) {
	if len(p.Paths) == 0 {
		return false, "", nil
	}
	read := v.repo.Reader()
	for c, err := range v.repo.Log(ctx, repo.OID(p.Base), tip) {
		if err != nil {
			return false, "", err
		}
		if len(c.Parents) != 1 || strings.EqualFold(c.Committer.Email, v.cfg.AgentEmail) {
			continue
		}
		changes, err := read.Diff(ctx, c.Parents[0], c.OID)
		if err != nil {
			return false, "", err
		}
		all, others := p.MadeBy(changed(changes))
		switch {
		case all && len(others) == 0:
			return true, "", nil
		case all && extra == "":
			extra = fmt.Sprintf("the commit %s also changes %s, which nobody reviewed; review it, then odd reject %s --reason \"why\"", short(c.OID), others[0], p.Task)
		}
	}
	return false, extra, nil
}

// changed is what a commit changes, for review. A link or an executable is no
// atom, whatever its bytes: such a path has no result.
func changed(changes []repo.Change) []review.Path {
	out := make([]review.Path, len(changes))
	for i, c := range changes {
		out[i] = review.Path{Path: c.Path, Base: string(c.Old), Result: string(c.New)}
		if c.NewMode != "100644" && c.NewMode != c.OldMode {
			out[i].Result = ""
		}
	}
	return out
}
