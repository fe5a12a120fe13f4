package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// missingApprovers returns the people that odd.toml asks to approve what p takes, beside who and those
// who endorsed the proposal of t. What a person edited nobody endorsed.
func missingApprovers(ctx context.Context, v *workspace.Board, t board.Task, p review.Part, who ...string) (out []risk.Missing, err error) {
	if len(v.Config.Approvers) == 0 {
		return nil, nil
	}
	endorsed, err := listEndorsers(ctx, v, t)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Paths {
		by := who
		if _, edited := p.Edits[w.Path]; !edited {
			by = append(slices.Clone(who), endorsed...)
		}
		var types []string
		if rel, in := strings.CutPrefix(w.Path, v.Config.Root+"/"); in {
			after, _ := v.Repo.Blob(repo.OID(w.Result))
			before, _ := v.Repo.Blob(repo.OID(w.Base))
			for _, b := range [][]byte{before, after, p.Edits[w.Path]} {
				if a, err := okf.Parse(rel, b); err == nil {
					types = append(types, a.Type)
				}
			}
		}
		out = append(out, risk.Approvers(v.Config, w.Path, types, by)...)
	}
	return out, nil
}

// listEndorsers returns the addresses of who endorsed the proposal of t: where signatures are
// required, in a commit that carries theirs.
func listEndorsers(ctx context.Context, v *workspace.Board, t board.Task) ([]string, error) {
	all := t.Endorsers()
	if !v.Config.RequireSigned || len(all) == 0 {
		return all, nil
	}
	signed := map[string]bool{}
	for c, err := range v.Repo.PathLog(ctx, v.Tip, v.RepoPath(t.Path)) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.Trailer("Odd-Endorsed-By"), "human:"+c.Author.Email) || !slices.Contains(c.Trailer("Odd-Proposal"), t.Result.Commit) {
			continue
		}
		why, err := land.WhyUnsigned(ctx, v, c.OID)
		if err != nil {
			return nil, err
		}
		signed[strings.ToLower(c.Author.Email)] = signed[strings.ToLower(c.Author.Email)] || why == ""
	}
	return slices.DeleteFunc(all, func(who string) bool { return !signed[strings.ToLower(who)] }), nil
}

func waitsFor(m []risk.Missing) string {
	s := fmt.Sprintf("%s must be approved by %s ([governance.approvers] %s)", m[0].Path, strings.Join(m[0].People, " or "), m[0].Of)
	if m[0].More > 1 {
		s = fmt.Sprintf("%s must be approved by %d of %s ([governance.approvers] %s)", m[0].Path, m[0].More, strings.Join(m[0].People, ", "), m[0].Of)
	}
	if n := len(m) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// checkApprovers reports that what the person approves waits for others too, who must approve as
// much; who may not approve it at all is refused.
func checkApprovers(ctx context.Context, v *workspace.Board, t board.Task, p review.Part, o approval) (others []risk.Missing, err error) {
	who, err := v.Repo.Identity(ctx)
	if err != nil {
		return nil, err
	}
	without, err := missingApprovers(ctx, v, t, p)
	if err != nil {
		return nil, err
	}
	with, err := missingApprovers(ctx, v, t, p, who.Email)
	if err != nil {
		return nil, err
	}
	counts := func(m risk.Missing) bool {
		return slices.ContainsFunc(m.People, func(s string) bool { return strings.EqualFold(s, who.Email) })
	}
	switch {
	case len(with) == 0:
		return nil, nil
	case !slices.ContainsFunc(without, counts):
		return nil, verb.Refuse("approvers", "approve %s: %s, and you are %s; they run odd approve %[1]s, or you leave it out with --without ID", t.ID, waitsFor(with), who.Email)
	case len(p.Left)+len(p.Edits)+len(o.verify.Only) > 0 || o.verify.All:
		return nil, verb.Refuse("approvers", "approve %s: %s too, and who approves first approves all of it as it was proposed; run odd approve %[1]s --no-walk without other flags", t.ID, waitsFor(with))
	}
	return with, nil
}

// commitEndorsement commits the person's approval, which waits for others; the proposal stays in review.
func commitEndorsement(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, h review.Human) (repo.OID, error) {
	b, err := review.Endorse(t, h, v.Env.Now())
	if err != nil {
		return "", err
	}
	msg := land.Message("endorse: "+cmp.Or(t.Title, string(t.ID)), "", "Odd-Task", string(t.ID), "Odd-Proposal", p.Commit, "Odd-Endorsed-By", h.By())
	return land.CommitFiles(ctx, v, repo.Changes{v.RepoPath(t.Path): b}, msg)
}

// landsOn returns the branch that approved proposals land on, and where it is.
func landsOn(v *workspace.Board) (name string, tip repo.OID, err error) {
	target, elsewhere := v.TargetBranch()
	if !elsewhere {
		return v.Line.Name(), v.Tip, nil
	}
	if tip, err = v.Repo.Ref(v.Line.Local(target)); err != nil {
		err = fmt.Errorf("target branch %s: %w; create it with git branch, or change [board] target in odd.toml", target, err)
	}
	return target, tip, err
}

// findUnapproved returns the commit that brought what t proposes, byte for byte, to the branch that
// it lands on, though no person approved it: by a merge by hand, or a rebase that left the
// approval out. It is the zero commit where none did.
func findUnapproved(ctx context.Context, v *workspace.Board, t board.Task) (repo.Commit, error) {
	none := repo.Commit{}
	p, err := v.ReadProposal(t)
	if err != nil {
		return none, nil // odd check says why
	}
	_, tip, err := landsOn(v)
	if err != nil {
		return none, err
	}
	by, err := verify.Unapproved(ctx, v.Repo, tip, bytesOf(p))
	if err != nil || by == "" {
		return none, err
	}
	if o, err := landedBy(ctx, v, t); err != nil || o != nil {
		return none, err
	}
	if _, elsewhere := v.TargetBranch(); elsewhere {
		if a, err := findApproval(ctx, v, p, tip); err != nil || a.OID != "" {
			return none, err
		}
	}
	return v.Repo.Commit(by)
}

// isMerged reports a proposal of which each file is, byte for byte, on the branch that it would land on, though it did
// not land there.
func isMerged(v *workspace.Board, p review.Proposal, at LandingSite) (bool, error) {
	now, err := v.BlobReader(at.tip)
	if err != nil {
		return false, err
	}
	all := bytesOf(p)
	for path, blob := range all {
		if now(path) != blob {
			return false, nil
		}
	}
	return len(all) > 0 && at.landed == nil, nil
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

// LandedAnyway says of a task in review that its files are there without an approval, and
// the two ways out; "" where they are not.
func LandedAnyway(ctx context.Context, v *workspace.Board, id okf.ID) (string, error) {
	t, err := v.TaskOf(id)
	if err != nil {
		return "", nil // odd check says why
	}
	c, err := findUnapproved(ctx, v, t)
	if err != nil || c.OID == "" {
		return "", err
	}
	name, tip, err := landsOn(v)
	if err != nil {
		return "", err
	}
	where := fmt.Sprintf("its files are on %s without your approval, since %s by %s", name, console.ShortID(c.OID), c.Committer.Email)
	if p, err := v.ReadProposal(t); err == nil && checkBasis(ctx, v.Repo, p, tip) != nil {
		return fmt.Sprintf("%s: odd's commits were rebased, which drops approvals with what they edited or left out; git reset --hard to where %s was (git reflog %[2]s shows it) and merge instead, or start again with odd review %s --refresh", where, name, t.ID), nil
	}
	return fmt.Sprintf("%s; odd approve %s approves them as proposed, %s takes them out; where a rebase dropped an approval, git reflog has it, with what was edited or left out", where, t.ID, verify.TakeOut(c)), nil
}

// DescribeTakenBack says who approved the proposal of a task that waits again, and who took the approval back; "" where
// nobody did.
func DescribeTakenBack(ctx context.Context, v *workspace.Board, id okf.ID) (string, error) {
	t, err := v.TaskOf(id)
	if err != nil {
		return "", nil // odd check says why
	}
	proposal := t.Result.Commit
	if merged, err := v.Repo.Ancestor(ctx, repo.OID(proposal), v.Tip); err != nil || !merged {
		return "", err
	}
	var after repo.Commit // the oldest change of the task since
	for c, err := range v.Repo.PathLog(ctx, v.Tip, v.RepoPath(t.Path)) {
		if err != nil {
			return "", err
		}
		if len(c.Trailer("Odd-Approved-By")) > 0 && slices.Contains(c.Trailer("Odd-Proposal"), proposal) && after.OID != "" {
			act := func(c repo.Commit) string {
				return fmt.Sprintf("by %s on %s (%s)", console.OneLine(c.Author.Name), c.Author.When.Format(time.DateOnly), console.ShortID(c.OID))
			}
			return fmt.Sprintf("approved %s, taken back %s", act(c), act(after)), nil
		}
		after = c
	}
	return "", nil
}

// TellUnapproved has a person told of every task in review whose files have landed.
func TellUnapproved(ctx context.Context, w *workspace.Clone) {
	v, err := w.ReadCurrent(ctx)
	if err != nil {
		return
	}
	var waiting []board.Task
	for _, row := range v.InReview() {
		if t, err := v.TaskOf(row.ID); err == nil {
			waiting = append(waiting, t)
		}
	}
	slices.SortStableFunc(waiting, func(a, b board.Task) int { return cmp.Compare(a.Result.Run, b.Result.Run) }) // reads each ledger once
	for _, t := range waiting {
		if says, err := LandedAnyway(ctx, v, t.ID); err == nil && says != "" {
			console.Talk(w.Env, "%s: %s", t.ID, says)
		}
	}
}
