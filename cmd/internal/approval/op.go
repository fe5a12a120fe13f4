package approval

import (
	"context"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// findDecidable returns the op that a person's word about p is the ending of, nil for none. It is refused
// where its records do not hold, where the proposal is not what was judged, and
// once its time is over.
func findDecidable(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, at LandingSite) (*pipeline.Op, error) {
	c, err := v.Repo.Commit(repo.OID(p.Commit))
	if err != nil {
		return nil, err
	}
	s, ok, err := v.State.Waiting(string(t.ID), t.Result.Commit)
	if err != nil {
		return nil, err
	}
	named, tier := strings.Join(c.Trailer("Odd-Op"), ", "), strings.Join(c.Trailer("Odd-Tier"), ", ")
	switch {
	case !ok && named == "":
		return nil, nil
	case !ok && at.landed != nil:
		if all := at.landed.Unbound(p.Commit, p.Branch, p.Base, named, tier); len(all) > 0 {
			return nil, verb.Refuse("unbound", "%s: the proposal is not the one that %s merged: %s; odd reject %[1]s --reason \"why\"", t.ID, at.landed.ID, strings.Join(all, "; "))
		}
		return nil, nil
	case !ok:
		return nil, verb.Refuse("state", "%s: its change %s no longer waits for approval; odd op show %[2]s says how it ended", t.ID, named)
	case !s.Sound:
		return nil, verb.Refuse("records", "%s: the ledger entries of its change %s are inconsistent; run odd check to see why", t.ID, s.Op().ID)
	}
	o := s.Op()
	if all := o.Unbound(p.Commit, p.Branch, p.Base, named, tier); len(all) > 0 {
		return nil, verb.Refuse("unbound", "%s: the proposal is not the one that was checked as %s: %s; odd reject %s --reason \"why\"", t.ID, o.ID, strings.Join(all, "; "), t.ID)
	}
	if until := o.Until; !v.Env.Now().Before(until) {
		return nil, verb.Refuse("expired", "%s: the time to approve it ended at %s; odd drain moves the task back to backlog, then odd task ready %[1]s tries again", t.ID, until.Format("2006-01-02 15:04Z"))
	}
	return &o, checkJudged(ctx, v, t, p, o, at)
}

// checkJudged refuses a proposal that is not the tree that was judged, was judged by
// other rules than hold now, or does not pass them any more on what is there now.
func checkJudged(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, o pipeline.Op, at LandingSite) error {
	tree, err := v.Repo.TreeOID(repo.OID(p.Commit), "")
	if err != nil {
		return err
	}
	if is := o.Fact(pipeline.FactCandidate); is != string(tree) {
		return verb.Refuse("unbound", "%s: its files (tree %s) are not those that were checked (tree %s); odd reject %s --reason \"why\"", t.ID, console.ShortID(tree), console.ShortID(repo.OID(is)), t.ID)
	}
	if rules := risk.Rules(v.Repo, repo.OID(p.Base), t, v.Config); rules != o.Fact(pipeline.FactRules) {
		return verb.Refuse("rules", "%s: the rules changed since it was checked (the task's paths, odd.toml or odd itself; hash %s, now %s); %s",
			t.ID, console.ShortID(repo.OID(o.Fact(pipeline.FactRules))), console.ShortID(repo.OID(rules)), wayOut(v.Repo, p))
	}
	l := newLanding(v, t, p, at)
	l.Made = o.Made()
	why, err := bench.Rejudge(ctx, v.Repo, l, o.Fact(pipeline.FactTier))
	if err == nil && len(why) > 0 {
		return verb.Refuse("moved", "%s: the files changed since it was checked, and now it would be refused: %s; %s", t.ID, strings.Join(why, "; "), makeAgain(v.Repo, p))
	}
	return err
}

// newLanding returns what drain needs to judge p where it would land.
func newLanding(v *workspace.Board, t board.Task, p review.Proposal, at LandingSite) bench.Landing {
	return bench.Landing{
		Task: t, Cfg: v.Config, Bundle: v.Graph, Base: repo.OID(p.Base), Tip: at.tip, Board: v.Tip, Proposal: repo.OID(p.Commit), Now: v.Env.Now(),
	}
}

// checkApproval returns what the checks say of the tree that the approval of p would make.
// A tree that does not pass them is refused, whoever wants it.
func checkApproval(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, o *pipeline.Op, at LandingSite) (bench.Checked, error) {
	if o == nil {
		return bench.Checked{}, nil
	}
	act := "approve " + string(t.ID)
	if err := land.MayDecide(ctx, v.Clone, act); err != nil {
		return bench.Checked{}, err // before minutes are spent
	}
	pr := console.NewProgress(v.Env)
	defer pr.ClearLine()
	c, err := bench.Check(ctx, v.Repo, newLanding(v, t, p, at), bench.Bench{
		Host: agent.Host{Temp: v.Env.Temp, Cage: v.Env.Cage, Environ: v.Env.Environ, Run: o.ID, Now: v.Env.Now}, Say: pr.SetLine,
	})
	if err == nil && c.Why != "" {
		return c, verb.Refuse(string(pipeline.VerifyFailed), "%s: the checks fail on the merged files: %s; %s", act, c.Why, makeAgain(v.Repo, p))
	}
	return c, err
}

// wayOut returns what a person does with a proposal that cannot land as it was judged.
func wayOut(r *repo.Repo, p review.Proposal) string {
	if !isChange(r, p) {
		return fmt.Sprintf("odd review --refresh %s checks it again on the current files, odd reject %[1]s --reason \"why\" turns it down", p.Task)
	}
	return fmt.Sprintf("odd review --refresh %s merges it with the current files and checks it again, odd reject %[1]s --retry --reason \"why\" has it made anew", p.Task)
}

// makeAgain returns what a person does with a proposal that would not pass again either.
func makeAgain(r *repo.Repo, p review.Proposal) string {
	if !isChange(r, p) {
		return wayOut(r, p)
	}
	return fmt.Sprintf("odd reject %s --retry --reason \"why\" has it made anew on the current files", p.Task)
}

func isChange(r *repo.Repo, p review.Proposal) bool {
	c, err := r.Commit(repo.OID(p.Commit))
	return err == nil && len(c.Trailer("Odd-Op")) > 0
}

// concludeOp adds the ending of an op on a person's word to the commit of the act:
// a file of the op's own, so that no run's is written by another.
func concludeOp(v *workspace.Board, ch repo.Changes, o *pipeline.Op, r pipeline.Reason, note string) error {
	if o == nil {
		return nil
	}
	now := v.Env.Now()
	end, err := pipeline.End(*o, o.ID, now, r, note)
	if err != nil {
		return err
	}
	rec := end.Record()
	rec.Seq = 1
	b, err := event.Append(nil, rec)
	if err != nil {
		return err
	}
	ch[v.RepoPath(event.Path(o.ID, now))] = b
	return nil
}

// endWaiting concludes the op that waits with t's proposal, however its records stand, and
// returns its id, "" for none: a person's no needs no more than that it can be told.
func endWaiting(v *workspace.Board, ch repo.Changes, t board.Task, r pipeline.Reason, note string) (id string, err error) {
	s, ok, err := v.State.Waiting(string(t.ID), t.Result.Commit)
	if err != nil || !ok {
		return "", err
	}
	o := s.Op()
	return o.ID, concludeOp(v, ch, &o, r, note)
}

// landedBy returns the op that landed by itself what t proposes, nil where none did: its
// records hold, and the branch that changes land on has the proposal.
func landedBy(ctx context.Context, v *workspace.Board, t board.Task) (*pipeline.Op, error) {
	if t.Result.Commit == "" {
		return nil, nil
	}
	c, err := v.Repo.Commit(repo.OID(t.Result.Commit))
	if err != nil || len(c.Trailer("Odd-Op")) == 0 {
		return nil, nil // whoever asks has its own word for a proposal that is not here
	}
	all, err := v.State.Stories(func(o *state.Op) bool {
		return o.Task == string(t.ID) && o.Reason == pipeline.Landed && o.Proposal == t.Result.Commit
	})
	if err != nil || len(all) == 0 || !all[0].Sound {
		return nil, err
	}
	_, tip, err := landsOn(v)
	if err != nil {
		return nil, err
	}
	if in, err := v.Repo.Ancestor(ctx, c.OID, tip); err != nil || !in {
		return nil, err
	}
	o := all[0].Op()
	return &o, nil
}

// landedOn says where an op's change is, and how it goes again.
func landedOn(o pipeline.Op) string {
	at := o.Moved[1]
	return fmt.Sprintf("%.10s on %s; git revert %.10s undoes it", at.New, strings.TrimPrefix(at.Ref, "refs/heads/"), at.New)
}
