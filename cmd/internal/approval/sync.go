package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// SyncVerb declares odd sync.
func SyncVerb(env console.Env) *cli.Command {
	return verb.New("sync", "fetch the board; mark tasks done whose proposals were merged",
		"odd sync\n\n"+
			"With [board] remote, odd fetches the board branch and fast-forwards to it.\n"+
			"With [board] target, it merges the target branch into the board. A task is\n"+
			"then done if the target holds its proposal, for example through a merged pull\n"+
			"request. Squash and rebase merges count, and the review branch may be deleted.\n"+
			"odd also lists the tasks whose proposals were merged without odd approve.",
		verb.On(env, workspace.OpenShared, runSync))
}

// syncResult is what became of one task in review.
type syncResult struct {
	Task     string `json:"task"`
	State    string `json:"state"` // done, review
	Approval string `json:"approval,omitempty"`
	By       string `json:"by,omitempty"`
	Note     string `json:"note,omitempty"` // what it still waits for
}

func runSync(c *cli.Context, env console.Env, v *workspace.Board) error {
	if v.Line.Remote != "" {
		if err := v.Line.Follow(c.Context, v.Tip); err != nil {
			return fmt.Errorf("%s: it cannot follow its remote: %w; merge or rebase it with git, then git push", v.Line.Name(), err)
		}
	}
	var out []syncResult
	var err error
	if _, elsewhere := v.TargetBranch(); elsewhere {
		out, err = syncTarget(c.Context, v)
	} else {
		out, err = syncHere(c.Context, v)
	}
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range out {
		rows = append(rows, []string{s.Task, s.State, s.By, cmp.Or(s.Note, s.Approval)})
	}
	return console.Show(env, c.Bool("json"), map[string]any{"board": v.Line.Name(), "tip": v.Tip, "tasks": out}, rows...)
}

// syncHere returns the tasks in review whose files somebody merged into the board by hand.
func syncHere(ctx context.Context, v *workspace.Board) ([]syncResult, error) {
	out := []syncResult{}
	for _, row := range v.InReview() {
		if says, err := LandedAnyway(ctx, v, row.ID); err != nil {
			return out, err
		} else if says != "" {
			out = append(out, syncResult{Task: string(row.ID), State: string(board.Review), Note: says})
		}
	}
	return out, nil
}

// syncTarget merges the target into the board, then writes done for every task
// whose approved proposal the target holds, one commit each.
func syncTarget(ctx context.Context, v *workspace.Board) ([]syncResult, error) {
	target, tip, err := landsOn(v)
	if err != nil {
		return nil, err
	}
	if err := mergeTarget(ctx, v, target, tip); err != nil {
		return nil, err
	}
	if v.Line.Remote != "" {
		if err := v.Repo.Fetch(ctx, v.Line.Remote, "+refs/odd/approval/*:refs/odd/approval/*"); err != nil {
			return nil, err
		}
	}
	out := []syncResult{}
	for _, row := range v.InReview() {
		t, err := v.TaskOf(row.ID)
		if err != nil {
			return out, err
		}
		s, err := syncTask(ctx, v, t, target, tip)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

func mergeTarget(ctx context.Context, v *workspace.Board, target string, tip repo.OID) error {
	if has, err := v.Repo.Ancestor(ctx, tip, v.Tip); err != nil || has {
		return err
	}
	tree, conflicts, err := v.Repo.MergeTree(ctx, v.Tip, tip)
	if errors.Is(err, repo.ErrConflict) {
		return verb.Refuse("conflict", "%s and %s conflict in %s; run git switch %[1]s && git merge %[2]s, resolve the conflict, commit, then odd sync again", v.Line.Name(), target, strings.Join(conflicts, ", "))
	}
	if err != nil {
		return err
	}
	msg := land.Message(fmt.Sprintf("board: merge %s", target), "")
	oid, err := v.Repo.MakeOn(ctx, []repo.OID{v.Tip, tip}, tree, nil, land.MachineIdentity(v), msg)
	if err != nil {
		return err
	}
	return landMachine(ctx, v, oid)
}

func landMachine(ctx context.Context, v *workspace.Board, oid repo.OID) error {
	if err := v.Line.Land(ctx, v.Tip, oid); err != nil {
		if errors.Is(err, repo.ErrMoved) {
			return verb.Refuse("moved", "%s got new commits meanwhile; run odd sync again", v.Line.Name())
		}
		return err
	}
	v.Tip = oid
	return v.ReadTip()
}

// syncTask writes done for t if the target holds its approved proposal.
func syncTask(ctx context.Context, v *workspace.Board, t board.Task, target string, tip repo.OID) (syncResult, error) {
	s := syncResult{Task: string(t.ID), State: string(board.Review)}
	p, err := v.ReadProposal(t)
	if err != nil {
		s.Note = err.Error()
		return s, nil
	}
	a, err := findApproval(ctx, v, p, tip)
	if err != nil {
		return s, err
	}
	if a.OID == "" {
		if s.Note, err = LandedAnyway(ctx, v, t.ID); err != nil || s.Note != "" {
			return s, err
		}
		s.Note = fmt.Sprintf("not approved yet; odd review %s shows it, then odd approve %[1]s or odd reject %[1]s --reason \"why\"", t.ID)
		return s, nil
	}
	take, _, err := readPartTaken(ctx, v, a, p)
	if err != nil {
		return s, err
	}
	p = take.Proposal
	if why, err := land.WhyUnsigned(ctx, v, a.OID); err != nil || why != "" {
		s.Note = fmt.Sprintf("approval %s by %s %s; import the key, or odd reject %s --reason \"why\"", console.ShortID(a.OID), a.Author.Email, why, t.ID)
		return s, err
	}
	m, err := missingApprovers(ctx, v, t, take, a.Author.Email)
	if err != nil {
		return s, err
	}
	if len(m) > 0 {
		s.Note = fmt.Sprintf("approved by %s; %s", a.Author.Email, waitsFor(m))
		return s, nil
	}
	if s.Note, err = whyNotMerged(ctx, v, t, p, a, target, tip); err != nil || s.Note != "" {
		return s, err
	}
	by := "human:" + a.Author.Email
	b, err := review.Synced(t, string(a.OID), by, a.Author.When, take.Declines)
	if err != nil {
		return s, err
	}
	ch := repo.Changes{v.RepoPath(t.Path): b}
	op, err := endWaiting(v, ch, t, pipeline.Merged, "approved by "+by)
	if err != nil {
		return s, err
	}
	msg := land.Message(fmt.Sprintf("board: %s to done", t.ID), "", "Odd-Task", string(t.ID), "Odd-Run", p.Run, "Odd-Proposal", p.Commit, "Odd-Op", op, "Odd-Approval", string(a.OID))
	// With the approval as a parent every clone of the board has it, whatever becomes of the
	// review branch. The tree is the board's.
	parents := []repo.OID{v.Tip}
	if in, err := v.Repo.Ancestor(ctx, a.OID, v.Tip); err != nil {
		return s, err
	} else if !in {
		parents = append(parents, a.OID)
	}
	oid, err := v.Repo.Make(ctx, parents, ch, land.MachineIdentity(v), msg)
	if err != nil {
		return s, err
	}
	s.State, s.Approval, s.By = string(board.Done), console.ShortID(a.OID), by
	return s, landMachine(ctx, v, oid)
}

// findApproval finds the person's approval commit of p: in the target's history, or
// on the review branch. The zero Commit means there is none.
func findApproval(ctx context.Context, v *workspace.Board, p review.Proposal, tip repo.OID) (repo.Commit, error) {
	tips := []repo.OID{tip}
	for _, ref := range []string{v.Line.Local(p.Branch), "refs/heads/" + p.Branch, review.KeptApproval(p.Branch)} {
		if oid, err := v.Repo.Ref(ref); err == nil {
			tips = append(tips, oid)
		}
	}
	for _, to := range tips {
		for c, err := range v.Repo.Log(ctx, repo.OID(p.Base), to) {
			if err != nil {
				return repo.Commit{}, err
			}
			if isApproval(ctx, v, c, p) {
				return c, nil
			}
		}
	}
	return repo.Commit{}, nil
}

// isApproval reports whether c is a person's approval of exactly p: a commit on top of it
// that names it, and changes only the atoms that it says it leaves out.
func isApproval(ctx context.Context, v *workspace.Board, c repo.Commit, p review.Proposal) bool {
	names := c.Trailer("Odd-Proposal")
	by := c.Trailer("Odd-Approved-By")
	if len(names) != 1 || names[0] != p.Commit || len(by) != 1 || by[0] != "human:"+c.Author.Email {
		return false
	}
	if strings.EqualFold(c.Author.Email, v.Config.AgentEmail) || len(c.Parents) != 1 || string(c.Parents[0]) != p.Commit {
		return false
	}
	_, ok, err := readPartTaken(ctx, v, c, p)
	return err == nil && ok
}

// whyNotMerged says what is missing until the target holds exactly what was approved,
// "" when nothing is. Neither a merge nor a squash may bring a path that was not
// reviewed; a squash or a rebase is known by the bytes it changed.
func whyNotMerged(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, a repo.Commit, target string, tip repo.OID) (string, error) {
	if o, err := landedBy(ctx, v, t); err != nil || o != nil {
		return "", err // the target held it before it was approved
	}
	in, err := v.Repo.Ancestor(ctx, a.OID, tip)
	if err != nil {
		return "", err
	}
	at := tip
	if in {
		m, err := mergeOf(ctx, v.Repo, a.OID, tip)
		if err != nil {
			return "", err
		}
		at = m.OID
		from := repo.OID(p.Base)
		if len(m.Parents) > 1 {
			from = m.Parents[0]
		}
		if _, extra, err := broughtBy(ctx, v.Repo, p, from, m); err != nil || extra != "" {
			return extra, err
		}
	} else if landed, extra, err := findSquash(ctx, v, p, tip); err != nil || landed || extra != "" {
		return extra, err
	}
	blob, err := v.BlobReader(at)
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
		if held, err := wasHeld(ctx, v, p, tip); err != nil || held {
			return fmt.Sprintf("%s was merged into %s and edited before odd sync ran, so the approval can no longer be proved; odd reject %s --reason \"why\", and run odd sync right after merges", p.Paths[i].Path, target, p.Task), err
		}
	}
	return fmt.Sprintf("approved by %s; merge %s into %s, then run odd sync", a.Author.Email, p.Branch, target), nil
}

// wasHeld reports whether a commit of the target since the proposal's base had
// every path as it was approved, as after a squash or a rebase.
func wasHeld(ctx context.Context, v *workspace.Board, p review.Proposal, tip repo.OID) (bool, error) {
	for c, err := range v.Repo.Log(ctx, repo.OID(p.Base), tip) {
		if err != nil {
			return false, err
		}
		blob, err := v.BlobReader(c.OID)
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
func mergeOf(ctx context.Context, r *repo.Repo, oid, tip repo.OID) (repo.Commit, error) {
	for {
		c, err := r.Commit(tip)
		if err != nil || len(c.Parents) == 0 || c.OID == oid {
			return c, err
		}
		before, err := r.Ancestor(ctx, oid, c.Parents[0])
		if err != nil || !before {
			return c, err
		}
		tip = c.Parents[0]
	}
}

// broughtBy reports whether a commit, compared with from, made every path of p as it was approved, and
// says which other path it changes.
func broughtBy(ctx context.Context, r *repo.Repo, p review.Proposal, from repo.OID, c repo.Commit) (all bool, extra string, err error) {
	changes, err := r.Diff(ctx, from, c.OID)
	if err != nil {
		return false, "", err
	}
	all, others := p.MadeBy(changedPaths(changes))
	if len(others) > 0 {
		extra = fmt.Sprintf("the commit %s also changes %s, which nobody reviewed; review it, then odd reject %s --reason \"why\"", console.ShortID(c.OID), others[0], p.Task)
	}
	return all, extra, nil
}

// findSquash looks for the commit by which a squash or a rebase put p on the
// target: not a merge, not the agent's, changing every recorded path from its
// recorded blob to its recorded result, and nothing else. Later edits do not
// undo it. A commit that does all that and more is told in extra.
func findSquash(ctx context.Context, v *workspace.Board, p review.Proposal, tip repo.OID) (landed bool, extra string, err error) {
	if len(p.Paths) == 0 {
		return false, "", nil
	}
	for c, err := range v.Repo.Log(ctx, repo.OID(p.Base), tip) {
		if err != nil {
			return false, "", err
		}
		if len(c.Parents) != 1 || strings.EqualFold(c.Committer.Email, v.Config.AgentEmail) {
			continue
		}
		all, more, err := broughtBy(ctx, v.Repo, p, c.Parents[0], c)
		if err != nil || all && more == "" {
			return err == nil, "", err
		}
		if all {
			extra = cmp.Or(extra, more)
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
