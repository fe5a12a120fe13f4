package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile"
)

// proposal is what a result proposes.
type proposal struct {
	sessions *draft         // that records the sessions, and an op before it moved a ref
	ref      repo.RefUpdate // of the review branch: to a commit that names the trace of that draft
}

// propose drafts the records of a task's session, and makes the proposal that names their trace.
func (rec recorder) propose(ctx context.Context, c *claim, w work) (p proposal, err error) {
	p.sessions = rec.draftSessions(c, w)
	p.ref, err = rec.makeProposal(ctx, c, w, p.sessions.trace())
	return p, err
}

func (rec recorder) makeProposal(ctx context.Context, c *claim, w work, trace string) (repo.RefUpdate, error) {
	title := cmp.Or(c.task.Title, string(c.task.ID))
	of := traced{task: c.task.ID, lease: c.leaseID, trace: trace}
	var oid repo.OID
	var err error
	if ch := w.change; ch != nil && len(ch.candidate.files) > 0 {
		of.op, of.tier = ch.log.Op().ID, ch.risk.Tier
		oid, err = rec.repo.MakeEdits(ctx, []repo.OID{c.base}, ch.candidate.files, rec.agentSignature(), rec.log.message("propose: "+title, summarizeFiles(ch.candidate.Files)+listItems(w.items), of))
	} else {
		oid, err = rec.makeCommit(ctx, c.base, w.proposedChanges(rec.at), rec.agentSignature(), rec.log.message("propose: "+title, cmp.Or(strings.TrimRight(listItems(w.items), "\n"), "Nothing new: every atom is as it was.")+leftOut(w.emission.Notes), of))
	}
	if err != nil {
		return repo.RefUpdate{}, err
	}
	stem := "odd/review/" + board.Slug(c.task.ID) + "."
	n := c.task.Attempts
	for {
		taken, err := rec.branchExists(fmt.Sprint(stem, n))
		if err != nil {
			return repo.RefUpdate{}, err
		}
		if !taken {
			return repo.RefUpdate{Name: fmt.Sprint("refs/heads/", stem, n), New: oid}, nil
		}
		n++
	}
}

func (rec recorder) branchExists(branch string) (bool, error) {
	for _, name := range []string{"refs/heads/" + branch, rec.line.Local(branch)} {
		if _, err := rec.repo.Ref(name); !errors.Is(err, repo.ErrNoRef) {
			return true, err
		}
	}
	return false, nil
}

// listItems returns one line for each atom that was written or kept out.
func listItems(items []reconcile.Item) string {
	var b strings.Builder
	for _, it := range items {
		if it.Effect == reconcile.Unchanged {
			continue
		}
		fmt.Fprintf(&b, "%-9s %s", it.Effect, it.Path)
		if it.Reason != "" {
			fmt.Fprintf(&b, " (%s)", it.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// summarizeFiles is the proposal's message body: one line a file, as for atoms.
func summarizeFiles(files []pipeline.Edit) string {
	var b strings.Builder
	for _, f := range files {
		word := "changed"
		switch {
		case f.Before == nil:
			word = "created"
		case f.After == nil:
			word = "deleted"
		}
		fmt.Fprintf(&b, "%-9s %s\n", word, f.Path)
	}
	return b.String()
}
