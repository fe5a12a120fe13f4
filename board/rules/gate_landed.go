package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
)

// checkLanded reports a proposal that became part of the history without a person. A person's commit must be built on
// it; on the first-parent line of the board that commit must be its approval. A commit that a person or a forge
// committed again needs no other: its committer decided.
func (j *judge) checkLanded(own, recorded bool) {
	if !recorded && !strings.EqualFold(j.Committer.Email, j.Law.AgentEmail) {
		return // findUnapproved checks it at the end of the range
	}
	if j.IsTaken(j.Commit, own) || j.IsOpenEnd(j.OID) {
		return
	}
	if j.IsWaiting(j.OID) {
		return
	}
	if j.landedByItself(j.Commit) {
		return
	}
	j.found = append(j.found, Finding{Invariant: 3, Commit: j.OID, Path: j.anyPath(), Line: 1, Message: "a proposal is on the branch, and no person merged or approved it"})
}

// LandedByItself reports a proposal that its op landed without a person, by sound records. Of the act it reads commit,
// run and task.
func LandedByItself(proposal *Act, h History) bool {
	return (&judge{History: h, Act: proposal}).landedByItself(proposal.Commit)
}

// landedByItself reports a proposal that its op landed without a person, by sound records. Whether the op was allowed
// to is checked by invariants 13 and 15.
func (j *judge) landedByItself(p repo.Commit) bool {
	id := Trailer(p, "Odd-Op")
	if id == "" {
		return false
	}
	s, ok := j.findStory(id)
	if !ok || !s.Sound {
		return false
	}
	o := s.Op()
	return o.Reason == pipeline.Landed && o.Task == j.Task && len(o.Moved) == 2 && o.Moved[1].New == string(p.OID)
}

// checkAutoLanding returns what is wrong with an op that the act records as landed without a person. odd.toml must
// allow it and name the branch, and the task must be in review with that commit. If the branch is the board, the board
// must contain the commit.
func (j *judge) checkAutoLanding(o pipeline.Op, task *waitingTask) string {
	if !j.Law.Pipeline.AutoApply {
		return fmt.Sprintf("%s landed by itself, and odd.toml does not say auto_apply", o.ID)
	}
	moved := o.Moved[1]
	target := cmp.Or(j.Law.Target, j.Law.Branch)
	switch {
	case target != "" && moved.Ref != "refs/heads/"+target:
		return fmt.Sprintf("%s landed by itself on %s; changes land on %s", o.ID, moved.Ref, target)
	case task != nil && !j.Law.Pipeline.LandsAlone(task.kind):
		return fmt.Sprintf("%s landed by itself for a task of kind %s, which auto_kinds in odd.toml does not name", o.ID, task.kind)
	case task != nil && j.isDistrusted(task.kind):
		return fmt.Sprintf("%s landed by itself for a task of kind %s, whose last three results people rejected", o.ID, task.kind)
	case task == nil || task.now != board.Review || task.result.Commit != moved.New:
		return fmt.Sprintf("%s landed by itself, and its commit does not put %s in review with it", o.ID, o.Task)
	case target != cmp.Or(j.Law.Branch, target):
		return "" // the target is another branch than the board
	}
	in := j.IsAncestor(repo.OID(moved.New), j.OID)
	if !in {
		return fmt.Sprintf("%s landed %s by itself, which the board does not hold", o.ID, ShortID(moved.New))
	}
	return ""
}

// isDistrusted reports a kind of task whose last results people rejected, before the act.
func (j *judge) isDistrusted(kind string) bool {
	for _, p := range j.Parents {
		tasks, _, err := j.ReadState(p).Tasks()
		j.Must(err)
		if gate.Distrusted(state.Results(tasks), kind) {
			return true
		}
	}
	return false
}

// checkLandedTier reports an op that landed by itself although it has an atom, or although the rules of today give its
// bytes too high a tier.
func (j *judge) checkLandedTier(o pipeline.Op, now pipeline.Verdict) {
	if o.Reason != pipeline.Landed {
		return
	}
	if i := slices.IndexFunc(j.Files, func(f *File) bool { return f.Rel != "" }); i >= 0 {
		j.addFinding(j.Files[i].Path, 1, "%s landed an atom by itself; what agents know becomes known by an approval alone", o.ID)
	}
	if !pipeline.MayLand(string(now.Tier)) {
		j.addFinding(j.anyPath(), 1, "%s landed by itself as %s; by the rules there are its bytes make it %s, %s", o.ID, o.Fact(pipeline.FactTier), now.Tier, now.Code)
	}
}
