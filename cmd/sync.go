package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

func syncVerb(env Env) *cli.Command {
	return verb("sync", "fetch the board; mark tasks done whose proposals were merged",
		"odd sync\n\n"+
			"With [board] remote, odd fetches the board branch and fast-forwards to it.\n"+
			"With [board] target, it merges the target branch into the board. A task is\n"+
			"then done if the target holds its proposal, for example through a merged pull\n"+
			"request. Squash and rebase merges count, and the review branch may be deleted.\n"+
			"odd also lists the tasks whose proposals were merged without odd approve.",
		on(env, openShared, runSync))
}

// syncResult is what became of one task in review.
type syncResult struct {
	Task     string `json:"task"`
	State    string `json:"state"` // done, review
	Approval string `json:"approval,omitempty"`
	By       string `json:"by,omitempty"`
	Note     string `json:"note,omitempty"` // what it still waits for
}

func runSync(c *cli.Context, env Env, v *view) error {
	if v.line.Remote != "" {
		if err := v.line.Follow(c.Context, v.tip); err != nil {
			return fmt.Errorf("%s: it cannot follow its remote: %w; merge or rebase it with git, then git push", v.line.Name(), err)
		}
	}
	var out []syncResult
	var err error
	if _, elsewhere := v.targetBranch(); elsewhere {
		out, err = v.syncTarget(c.Context)
	} else {
		out, err = v.syncHere(c.Context)
	}
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range out {
		rows = append(rows, []string{s.Task, s.State, s.By, or(s.Note, s.Approval)})
	}
	return show(env, c.Bool("json"), map[string]any{"board": v.line.Name(), "tip": v.tip, "tasks": out}, rows...)
}

// syncHere returns the tasks in review whose files somebody merged into the board by hand.
func (v *view) syncHere(ctx context.Context) ([]syncResult, error) {
	out := []syncResult{}
	for _, row := range v.inReview() {
		if says, err := v.landedAnyway(ctx, row.ID); err != nil {
			return out, err
		} else if says != "" {
			out = append(out, syncResult{Task: string(row.ID), State: string(board.Review), Note: says})
		}
	}
	return out, nil
}

// syncTarget merges the target into the board, then writes done for every task
// whose approved proposal the target holds, one commit each.
func (v *view) syncTarget(ctx context.Context) ([]syncResult, error) {
	target, tip, err := v.landsOn()
	if err != nil {
		return nil, err
	}
	if err := v.mergeTarget(ctx, target, tip); err != nil {
		return nil, err
	}
	if v.line.Remote != "" {
		if err := v.repo.Fetch(ctx, v.line.Remote, "+refs/odd/approval/*:refs/odd/approval/*"); err != nil {
			return nil, err
		}
	}
	out := []syncResult{}
	for _, row := range v.inReview() {
		t, err := v.taskOf(row.ID)
		if err != nil {
			return out, err
		}
		s, err := v.syncTask(ctx, t, target, tip)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// machineIdentity returns the identity of commits that only write down what people did.
func (v *view) machineIdentity() repo.Signature {
	return repo.Signature{Name: v.cfg.AgentName, Email: v.cfg.AgentEmail, When: v.env.Now()}
}

func (v *view) mergeTarget(ctx context.Context, target string, tip repo.OID) error {
	if has, err := v.repo.Ancestor(ctx, tip, v.tip); err != nil || has {
		return err
	}
	tree, conflicts, err := v.repo.MergeTree(ctx, v.tip, tip)
	if errors.Is(err, repo.ErrConflict) {
		return refuse("conflict", "%s and %s conflict in %s; run git switch %[1]s && git merge %[2]s, resolve the conflict, commit, then odd sync again", v.line.Name(), target, strings.Join(conflicts, ", "))
	}
	if err != nil {
		return err
	}
	msg := commitMessage(fmt.Sprintf("board: merge %s", target), "")
	oid, err := v.repo.MakeOn(ctx, []repo.OID{v.tip, tip}, tree, nil, v.machineIdentity(), msg)
	if err != nil {
		return err
	}
	return v.landMachine(ctx, oid)
}

func (v *view) landMachine(ctx context.Context, oid repo.OID) error {
	if err := v.line.Land(ctx, v.tip, oid); err != nil {
		if errors.Is(err, repo.ErrMoved) {
			return refuse("moved", "%s got new commits meanwhile; run odd sync again", v.line.Name())
		}
		return err
	}
	v.tip = oid
	return v.readTip()
}

// syncTask writes done for t if the target holds its approved proposal.
func (v *view) syncTask(ctx context.Context, t board.Task, target string, tip repo.OID) (syncResult, error) {
	s := syncResult{Task: string(t.ID), State: string(board.Review)}
	p, err := v.readProposal(t)
	if err != nil {
		s.Note = err.Error()
		return s, nil
	}
	a, err := v.findApproval(ctx, p, tip)
	if err != nil {
		return s, err
	}
	if a.OID == "" {
		if s.Note, err = v.landedAnyway(ctx, t.ID); err != nil || s.Note != "" {
			return s, err
		}
		s.Note = fmt.Sprintf("not approved yet; odd review %s shows it, then odd approve %[1]s or odd reject %[1]s --reason \"why\"", t.ID)
		return s, nil
	}
	take, _, err := v.readPartTaken(ctx, a, p)
	if err != nil {
		return s, err
	}
	p = take.Proposal
	if why, err := v.whyUnsigned(ctx, a.OID); err != nil || why != "" {
		s.Note = fmt.Sprintf("approval %s by %s %s; import the key, or odd reject %s --reason \"why\"", shortID(a.OID), a.Author.Email, why, t.ID)
		return s, err
	}
	m, err := v.missingApprovers(ctx, t, take, a.Author.Email)
	if err != nil {
		return s, err
	}
	if len(m) > 0 {
		s.Note = fmt.Sprintf("approved by %s; %s", a.Author.Email, waitsFor(m))
		return s, nil
	}
	if s.Note, err = v.whyNotMerged(ctx, t, p, a, target, tip); err != nil || s.Note != "" {
		return s, err
	}
	by := "human:" + a.Author.Email
	b, err := review.Synced(t, string(a.OID), by, a.Author.When, take.declines)
	if err != nil {
		return s, err
	}
	ch := repo.Changes{v.repoPath(t.Path): b}
	op, err := v.endWaiting(ch, t, pipeline.Merged, "approved by "+by)
	if err != nil {
		return s, err
	}
	msg := commitMessage(fmt.Sprintf("board: %s to done", t.ID), "", "Odd-Task", string(t.ID), "Odd-Run", p.Run, "Odd-Proposal", p.Commit, "Odd-Op", op, "Odd-Approval", string(a.OID))
	// With the approval as a parent every clone of the board has it, whatever becomes of the
	// review branch. The tree is the board's.
	parents := []repo.OID{v.tip}
	if in, err := v.repo.Ancestor(ctx, a.OID, v.tip); err != nil {
		return s, err
	} else if !in {
		parents = append(parents, a.OID)
	}
	oid, err := v.repo.Make(ctx, parents, ch, v.machineIdentity(), msg)
	if err != nil {
		return s, err
	}
	s.State, s.Approval, s.By = string(board.Done), shortID(a.OID), by
	return s, v.landMachine(ctx, oid)
}

// findApproval finds the person's approval commit of p: in the target's history, or
// on the review branch. The zero Commit means there is none.
func (v *view) findApproval(ctx context.Context, p review.Proposal, tip repo.OID) (repo.Commit, error) {
	tips := []repo.OID{tip}
	for _, ref := range []string{v.line.Local(p.Branch), "refs/heads/" + p.Branch, review.KeptApproval(p.Branch)} {
		if oid, err := v.repo.Ref(ref); err == nil {
			tips = append(tips, oid)
		}
	}
	for _, to := range tips {
		for c, err := range v.repo.Log(ctx, repo.OID(p.Base), to) {
			if err != nil {
				return repo.Commit{}, err
			}
			if v.isApproval(ctx, c, p) {
				return c, nil
			}
		}
	}
	return repo.Commit{}, nil
}

// isApproval reports whether c is a person's approval of exactly p: a commit on top of it
// that names it, and changes only the atoms that it says it leaves out.
func (v *view) isApproval(ctx context.Context, c repo.Commit, p review.Proposal) bool {
	names := c.Trailer("Odd-Proposal")
	by := c.Trailer("Odd-Approved-By")
	if len(names) != 1 || names[0] != p.Commit || len(by) != 1 || by[0] != "human:"+c.Author.Email {
		return false
	}
	if strings.EqualFold(c.Author.Email, v.cfg.AgentEmail) || len(c.Parents) != 1 || string(c.Parents[0]) != p.Commit {
		return false
	}
	_, ok, err := v.readPartTaken(ctx, c, p)
	return err == nil && ok
}

// whyNotMerged says what is missing until the target holds exactly what was approved,
// "" when nothing is. Neither a merge nor a squash may bring a path that was not
// reviewed; a squash or a rebase is known by the bytes it changed.
func (v *view) whyNotMerged(ctx context.Context, t board.Task, p review.Proposal, a repo.Commit, target string, tip repo.OID) (string, error) {
	if o, err := v.landedBy(ctx, t); err != nil || o != nil {
		return "", err // the target held it before it was approved
	}
	in, err := v.repo.Ancestor(ctx, a.OID, tip)
	if err != nil {
		return "", err
	}
	at := tip
	if in {
		m, err := v.mergeOf(ctx, a.OID, tip)
		if err != nil {
			return "", err
		}
		at = m.OID
		from := repo.OID(p.Base)
		if len(m.Parents) > 1 {
			from = m.Parents[0]
		}
		if _, extra, err := v.broughtBy(ctx, p, from, m); err != nil || extra != "" {
			return extra, err
		}
	} else if landed, extra, err := v.findSquash(ctx, p, tip); err != nil || landed || extra != "" {
		return extra, err
	}
	blob, err := v.blobReader(at)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(p.Paths, func(w review.Path) bool { return blob(w.Path) != w.Result })
	switch {
	case i < 0 && (len(p.Paths) > 0 || in):
		return "", nil
	case i >= 0 && in:
		return fmt.Sprintf("%s was merged with other content than was approved; review it, then odd reject %s --reason \"why\"", p.Paths[i].Path, p.Task), nil
	case i >= 0:
		if held, err := v.wasHeld(ctx, p, tip); err != nil || held {
			return fmt.Sprintf("%s was merged into %s and edited before odd sync ran, so the approval can no longer be proved; odd reject %s --reason \"why\", and run odd sync right after merges", p.Paths[i].Path, target, p.Task), err
		}
	}
	return fmt.Sprintf("approved by %s; merge %s into %s, then run odd sync", a.Author.Email, p.Branch, target), nil
}

// wasHeld reports whether a commit of the target since the proposal's base had
// every path as it was approved, as after a squash or a rebase.
func (v *view) wasHeld(ctx context.Context, p review.Proposal, tip repo.OID) (bool, error) {
	for c, err := range v.repo.Log(ctx, repo.OID(p.Base), tip) {
		if err != nil {
			return false, err
		}
		blob, err := v.blobReader(c.OID)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(p.Paths, func(w review.Path) bool { return blob(w.Path) != w.Result }) {
			return true, nil
		}
	}
	return false, nil
}

// mergeOf returns the commit on the first-parent line of tip that brought oid in.
func (v *view) mergeOf(ctx context.Context, oid, tip repo.OID) (repo.Commit, error) {
	for {
		c, err := v.repo.Commit(tip)
		if err != nil || len(c.Parents) == 0 || c.OID == oid {
			return c, err
		}
		before, err := v.repo.Ancestor(ctx, oid, c.Parents[0])
		if err != nil || !before {
			return c, err
		}
		tip = c.Parents[0]
	}
}

// broughtBy reports whether a commit, compared with from, made every path of p as it was approved, and
// says which other path it changes.
func (v *view) broughtBy(ctx context.Context, p review.Proposal, from repo.OID, c repo.Commit) (all bool, extra string, err error) {
	changes, err := v.repo.Diff(ctx, from, c.OID)
	if err != nil {
		return false, "", err
	}
	all, others := p.MadeBy(changedPaths(changes))
	if len(others) > 0 {
		extra = fmt.Sprintf("the commit %s also changes %s, which nobody reviewed; review it, then odd reject %s --reason \"why\"", shortID(c.OID), others[0], p.Task)
	}
	return all, extra, nil
}

// findSquash looks for the commit by which a squash or a rebase put p on the
// target: not a merge, not the agent's, changing every recorded path from its
// recorded blob to its recorded result, and nothing else. Later edits do not
// undo it. A commit that does all that and more is told in extra.
func (v *view) findSquash(ctx context.Context, p review.Proposal, tip repo.OID) (landed bool, extra string, err error) {
	if len(p.Paths) == 0 {
		return false, "", nil
	}
	for c, err := range v.repo.Log(ctx, repo.OID(p.Base), tip) {
		if err != nil {
			return false, "", err
		}
		if len(c.Parents) != 1 || strings.EqualFold(c.Committer.Email, v.cfg.AgentEmail) {
			continue
		}
		all, more, err := v.broughtBy(ctx, p, c.Parents[0], c)
		if err != nil || all && more == "" {
			return err == nil, "", err
		}
		if all {
			extra = or(extra, more)
		}
	}
	return false, extra, nil
}

// changedPaths returns what a commit changes, for review. A link or an executable is no
// atom, whatever its bytes: such a path has no result.
func changedPaths(changes []repo.Change) []review.Path {
	out := make([]review.Path, len(changes))
	for i, c := range changes {
		out[i] = review.Path{Path: c.Path, Base: string(c.Old), Result: string(c.New)}
		if c.NewMode != "100644" && c.NewMode != c.OldMode {
			out[i].Result = ""
		}
	}
	return out
}
