package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// landsOn returns the branch that approved proposals land on, and where it is.
func (v *view) landsOn() (name string, tip repo.OID, err error) {
	target, elsewhere := v.targetBranch()
	if !elsewhere {
		return v.line.Name(), v.tip, nil
	}
	tip, err = v.repo.Ref(v.line.Local(target))
	return target, tip, err
}

// findUnapproved returns the commit that brought what t proposes, byte for byte, to the branch that
// it lands on, though no person approved it: by a merge by hand, or a rebase that left the
// approval out. It is the zero commit where none did.
func (v *view) findUnapproved(ctx context.Context, t board.Task) (repo.Commit, error) {
	none := repo.Commit{}
	p, err := v.readProposal(t)
	if err != nil {
		return none, nil // odd check says why
	}
	_, tip, err := v.landsOn()
	if err != nil {
		return none, err
	}
	by, err := verify.Unapproved(ctx, v.repo, tip, bytesOf(p))
	if err != nil || by == "" {
		return none, err
	}
	if o, err := v.landedBy(ctx, t); err != nil || o != nil {
		return none, err
	}
	if _, elsewhere := v.targetBranch(); elsewhere {
		if a, err := v.findApproval(ctx, p, tip); err != nil || a.OID != "" {
			return none, err
		}
	}
	return v.repo.Commit(by)
}

// bytesOf returns the blobs of what a proposal changes, by path.
func bytesOf(p review.Proposal) map[string]string {
	out := map[string]string{}
	for _, w := range p.Paths {
		if w.Base != w.Result {
			out[w.Path] = w.Result
		}
	}
	return out
}

// landedAnyway says of a task in review that its files are there without an approval, and
// the two ways out; "" where they are not.
func (v *view) landedAnyway(ctx context.Context, id okf.ID) (string, error) {
	t, err := v.taskOf(id)
	if err != nil {
		return "", nil // odd check says why
	}
	c, err := v.findUnapproved(ctx, t)
	if err != nil || c.OID == "" {
		return "", err
	}
	name, _, err := v.landsOn()
	return fmt.Sprintf("its files are on %s without your approval, since %s by %s; odd approve %s approves them, %s takes them out",
		name, shortID(c.OID), c.Committer.Email, t.ID, verify.TakeOut(c)), err
}

// tellUnapproved has a person told of every task in review whose files have landed.
func (w *workspace) tellUnapproved(ctx context.Context) {
	v, err := w.readCurrent(ctx)
	if err != nil {
		return
	}
	var waiting []board.Task
	for _, row := range v.inReview() {
		if t, err := v.taskOf(row.ID); err == nil {
			waiting = append(waiting, t)
		}
	}
	slices.SortStableFunc(waiting, func(a, b board.Task) int { return cmp.Compare(a.Result.Run, b.Result.Run) }) // reads each ledger once
	for _, t := range waiting {
		if says, err := v.landedAnyway(ctx, t.ID); err == nil && says != "" {
			talk(w.env, "%s: %s", t.ID, says)
		}
	}
}
