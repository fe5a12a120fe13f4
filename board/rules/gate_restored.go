package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// isWithdrawn reports a person who takes back their own ending of an op, as git revert of an approval does. The deleted
// file holds only such endings, and the same commit puts their tasks back in review. Invariant 15 checks with what they
// wait.
func (j *judge) isWithdrawn(rel string, was repo.Change) bool {
	if j.Kind != Person || len(j.Parents) != 1 || !strings.HasPrefix(LedgerRun(rel), "op-") {
		return false
	}
	records, broken := event.Read(j.ReadFile(was.Old, was.OldMode))
	tasks := j.waitingTasks()
	if broken != nil {
		return false
	}
	return !slices.ContainsFunc(records, func(r event.Record) bool {
		return r.Kind != event.OpEnd || !slices.ContainsFunc(tasks, func(w waitingTask) bool { return w.id == r.Task && w.now == board.Review })
	})
}

// isRestored reports a person's commit that repeats an earlier decision of the history byte for byte, as the revert of
// a revert or git cherry-pick does. name and blob are the task's file, and result is what the task waited with.
func (j *judge) isRestored(name string, blob repo.OID, task string, result board.Result) (is bool) {
	if j.Kind != Person || result.Run == "" {
		return false
	}
	j.VisitRun(result.Run, task, func(c repo.Commit) bool {
		if c.OID == j.OID || len(c.Parents) == 0 || !isDecision(c) && len(c.Trailer("Odd-Approval")) == 0 {
			return false
		}
		is = j.repeatsDecision(c, name, blob)
		return is
	})
	if is {
		j.redone = append(j.redone, task)
	}
	return is
}

// repeatsDecision reports an act that makes every file, and the task's among them, what the decision c made it. Indexes
// may differ, because odd writes them anew.
func (j *judge) repeatsDecision(c repo.Commit, name string, blob repo.OID) bool {
	changes := j.Diff(c.Parents[0], c.OID)
	made := func(all []repo.Change, path string, oid repo.OID, mode string) bool {
		return slices.ContainsFunc(all, func(ch repo.Change) bool {
			return ch.Path == path && ch.New == oid && (mode == "" || ch.NewMode == mode)
		})
	}
	if !made(changes, name, blob, "") {
		return false
	}
	return !slices.ContainsFunc(changes, func(ch repo.Change) bool {
		return path.Base(ch.Path) != "index.md" && !made(j.Sides[0], ch.Path, ch.New, ch.NewMode)
	})
}

// isBroughtBack reports a file that the parent lacks and that an earlier commit had with the same bytes.
func (j *judge) isBroughtBack(name string) bool {
	i := slices.IndexFunc(j.Files, func(f *File) bool { return f.Path == name && f.Old == "" })
	if i < 0 || j.Kind != Person || len(j.Parents) != 1 {
		return false
	}
	all := j.ReadVersions(j.Parents[0])
	return slices.Contains(all[j.Files[i].Rel], j.Files[i].New)
}
