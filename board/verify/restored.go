package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// isWithdrawn reports a person who takes back their own ending of an op, as git revert of an
// approval does. The deleted file holds only such endings, and the same commit puts their
// tasks back in review. Invariant 15 checks with what they wait.
func (j *judge) isWithdrawn(rel string, was repo.Change) (bool, error) {
	if j.kind != person || len(j.Parents) != 1 || !strings.HasPrefix(ledgerRun(rel), "op-") {
		return false, nil
	}
	b, err := j.readFile(was.Old, was.OldMode)
	if err != nil {
		return false, err
	}
	records, broken := j.repoFacts.lines.Read(b)
	tasks, err := j.waitingTasks()
	if err != nil || broken != nil {
		return false, err
	}
	return !slices.ContainsFunc(records, func(r event.Record) bool {
		return r.Kind != event.OpEnd || !slices.ContainsFunc(tasks, func(w waitingTask) bool { return w.id == r.Task && w.now == board.Review })
	}), nil
}

// isRestored reports a person's commit that repeats an earlier decision of the history byte
// for byte, as the revert of a revert or git cherry-pick does. name and blob are the task's
// file, and result is what the task waited with.
func (j *judge) isRestored(name string, blob repo.OID, task string, result board.Result) (is bool, err error) {
	if j.kind != person || result.Run == "" {
		return false, nil
	}
	j.own = true // the branches matter too
	err = j.visitRunCommits(result.Run, task, func(c repo.Commit) (bool, error) {
		if c.OID == j.OID || len(c.Parents) == 0 || !isDecision(c) && len(c.Trailer("Odd-Approval")) == 0 {
			return false, nil
		}
		is, err = j.repeatsDecision(c, name, blob)
		return is, err
	})
	if is {
		j.redone = append(j.redone, task)
	}
	return is, err
}

// repeatsDecision reports an act that makes every file, and the task's among them, what the
// decision c made it. Indexes may differ, because odd writes them anew.
func (j *judge) repeatsDecision(c repo.Commit, name string, blob repo.OID) (bool, error) {
	changes, err := j.trees.Diff(j.ctx, c.Parents[0], c.OID)
	made := func(all []repo.Change, path string, oid repo.OID, mode string) bool {
		return slices.ContainsFunc(all, func(ch repo.Change) bool {
			return ch.Path == path && ch.New == oid && (mode == "" || ch.NewMode == mode)
		})
	}
	if err != nil || !made(changes, name, blob, "") {
		return false, err
	}
	return !slices.ContainsFunc(changes, func(ch repo.Change) bool {
		return path.Base(ch.Path) != "index.md" && !made(j.sides[0], ch.Path, ch.New, ch.NewMode)
	}), nil
}

// isBroughtBack reports a file that the parent lacks and that an earlier commit had with the
// same bytes.
func (j *judge) isBroughtBack(name string) (bool, error) {
	i := slices.IndexFunc(j.files, func(f *file) bool { return f.Path == name && f.Old == "" })
	if i < 0 || j.kind != person || len(j.Parents) != 1 {
		return false, nil
	}
	all, err := j.readVersions(j.Parents[0])
	return slices.Contains(all[j.files[i].rel], j.files[i].New), err
}
