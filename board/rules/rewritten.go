package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// mergeIt is the way out of what a rebase did to a commit by odd or an agents.
const mergeIt = "odd's commits name other commits by their ids, so merge them and do not rebase: reset the branch to where it was (git reflog BRANCH shows that), then git pull --no-rebase. If it is pushed already, send the result back with odd reject TASK. With [board] remote, odd drain begins from what others have pushed"

// rewritten is the cause of all that a person made of commits when they made them again.
const rewritten = "rewritten"

// squashed is the cause of the finding about a squash.
const squashed = "squashed"

// explainRewrite returns who made a claim's commit again, and notes the way out; "" if nobody did. git rebase, git
// cherry-pick and git filter-branch make commits again. That is no forgery, but the session's evidence then names a
// commit that is not in the history.
func (j *judge) explainRewrite(claim repo.OID, run, task string) string {
	c := j.ReadCommit(claim)
	if len(c.Parents) == 0 {
		return ""
	}
	law := j.LawAt(c.Parents[0])
	if !IsAgent(c.Author, law) {
		return ""
	}
	by := c.Committer.Email
	if IsAgent(c.Committer, law) {
		old := j.findPermitHead(run, task)
		if old == claim || !j.isCopy(old, c) {
			return ""
		}
		by = "somebody"
	}
	j.way, j.cause = mergeIt, rewritten
	return fmt.Sprintf("%s rewrote the claim of %s as %s (git rebase, git cherry-pick or git filter-branch), so odd's records name a commit that is not in this history", by, task, ShortID(string(claim)))
}

// findPermitHead returns the commit that the run's permit for a task names, "" for none.
func (j *judge) findPermitHead(run, task string) (at repo.OID) {
	records := j.ReadLedger(j.OID, run)
	for i := range records {
		if r := &records[i]; r.Kind == event.Anchor && r.Task == task {
			at = repo.OID(readPermit(r).arm.Head)
		}
	}
	return at
}

// isCopy reports a commit that may be a copy of old: it has the same author and author date. If the clone no longer has
// old, it may be.
func (j *judge) isCopy(old repo.OID, now repo.Commit) bool {
	if old == "" {
		return false
	}
	c, known := j.FindCommit(old)
	return !known || c.Author.Email == now.Author.Email && c.Author.When.Equal(now.Author.When)
}

// explainRewrittenProposal returns the reason if an approval merges a rewritten copy of the proposal p, "" if not, ""
// if it does not.
func (j *judge) explainRewrittenProposal(p string) string {
	for _, parent := range j.Parents[min(1, len(j.Parents)):] {
		c := j.ReadCommit(parent)
		if Trailer(c, "Odd-Run") == j.Run && Trailer(c, "Odd-Task") == j.Task && j.isCopy(repo.OID(p), c) {
			j.way, j.cause = mergeIt, rewritten
			return fmt.Sprintf("set to done in a merge of %s, into which somebody rewrote the proposal %s (git rebase or git filter-branch)", ShortID(string(parent)), ShortID(p))
		}
	}
	return ""
}

// squashedRun returns the record that ended a run which the act adds whole: claim, session and outcome in one commit by
// somebody else than the agent. git merge --squash makes such commits, and so do forges; odd does not. It returns nil if
// a record is not as odd wrote it.
func (a *Act) squashedRun() (end *Line) {
	if len(a.Parents) != 1 || IsByAgent(a.Commit, a.Law) {
		return nil
	}
	for i := range a.Lines {
		l := &a.Lines[i]
		outcome := l.Record.Kind == event.Outcome
		if !l.Plain || outcome && l.Record.Trace != l.Trace || l.Record.Run != strings.TrimSuffix(path.Base(l.Path), ".jsonl") {
			return nil
		}
		if end == nil && outcome && l.Claim != nil && !l.Claim.Known && len(l.Claim.Sessions) > 0 {
			end = l
		}
	}
	return end
}

// IsSquash reports that the act adds a whole run, which no commit by odd does.
func (a *Act) IsSquash() bool { return a.squashedRun() != nil }

// foldSquash folds what a squash breaks of odd's promises in the records and tasks that it brings into one finding,
// which names their places. What it changed in older lines, and every finding about another file, stays.
func (a *Act) foldSquash(found []Finding) []Finding {
	end := a.squashedRun()
	if end == nil {
		return found
	}
	out := []Finding{{
		Invariant: growthRule.N, Commit: a.OID, Path: end.Path, Line: end.N, Cause: squashed,
		Message: fmt.Sprintf("this commit squashes commits by odd, such as the run of %s, so nobody can prove any more who claimed and approved what", end.Record.Task),
		Way: fmt.Sprintf("merge the branch itself: git reset --hard %s, then git merge --no-ff BRANCH. Where only squashes may be merged, set [board] branch and target in odd.toml. If it is pushed already, odd gate evaluation --acknowledge %s:%d --reason WHY",
			ShortID(string(a.Parents[0])), ShortID(string(a.OID)), growthRule.N),
	}}
	for _, f := range found {
		dir, _, _ := strings.Cut(strings.TrimPrefix(f.Path, a.Root), "/")
		if f.Cause == growthCause(a.OID) || !slices.Contains([]string{"ledger", "journal", "tasks"}, dir) {
			out = append(out, f)
			continue
		}
		out[0].Also = append(out[0].Also, f)
	}
	return out
}
