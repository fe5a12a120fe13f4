package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/sense"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkMachineMove returns why a machine's commit may not take this step.
func (j *judge) checkMachineMove(f *File) string {
	from, to := taskState(f.Was), taskState(f.Is)
	switch {
	case from == to && j.isIdleWrite(f): // otherwise invariant 2 reports it
		return fmt.Sprintf("a commit by odd or an agent changes a task in %s, and moves it nowhere", from)
	case from == to:
		return ""
	case f.Was == nil && to == board.Backlog && (j.Kind == Proposal || j.Kind == Stray):
		return ""
	case j.Kind == Sync && from == board.Review && to == board.Done:
		return j.checkSync(f)
	case f.Was == nil && to == board.Ready && j.Kind == Stray && isSensed(f, j.Law):
		for _, other := range j.FindSenseCrossed(j.OID) {
			if !isSensed(f, j.LawAt(other)) {
				return fmt.Sprintf("odd sense files a task in ready, which odd.toml does not allow in %s, which is merged with it", ShortID(string(other)))
			}
		}
		return ""
	case f.Was == nil:
		return fmt.Sprintf("a commit by odd or an agent files a task in %s; only backlog is its to say", to)
	}
	return j.checkRunMove(f, from, to)
}

// isSensed reports a task that odd sense may file in ready: of a sensor that [sense] ready of law names, with its role
// and its paths, and nothing else that odd sense does not write.
func isSensed(f *File, law *config.Config) bool {
	t, err := board.Parse(f.Is)
	if err != nil || f.Rel != board.Folder+"/"+string(t.ID)+".md" {
		return false
	}
	sensor, _ := sense.Find(sense.SensorOf(t.ID, f.Is.Tags))
	switch {
	case !slices.Contains(law.Sense.Ready, sensor.Name) || t.Role != law.Sense.Role || !slices.Equal(t.Paths, law.Sense.Paths),
		t.Kind != "fix" || t.Signal != sensor.Signal || !strings.HasPrefix(f.Is.Generated.By, "odd/"):
		return false
	}
	return !slices.ContainsFunc(f.Is.Fields, func(f okf.Field) bool {
		return !slices.Contains([]string{"type", "id", "title", "description", "tags", "confidence", "generated", "state", "kind", "priority", "role", "signal", "paths"}, f.Key)
	})
}

// isIdleWrite reports a write to a task that the commit may make and that changes no state.
func (j *judge) isIdleWrite(f *File) bool {
	return (j.Kind == Board || j.Kind == Sync) && !j.isJudgedAgain(f) && j.whyForbidden(f) == ""
}

// isJudgedAgain reports a task that stays in review with a new result of a run.
func (j *judge) isJudgedAgain(f *File) bool {
	return taskState(f.Is) == board.Review && j.hasOutcome(f.Is.ID, board.Review)
}

func (j *judge) hasOutcome(task okf.ID, to board.State) bool {
	return slices.ContainsFunc(j.Lines, func(l Line) bool {
		return l.Record.Kind == event.Outcome && l.Record.Task == string(task) && l.Record.Outcome().Verdict == string(to)
	})
}

// wasKilled reports that the act's ledger says that the run which held the task was killed. The drain that swept it had
// the lock of the same clone.
func (j *judge) wasKilled(t board.Task) bool {
	return slices.ContainsFunc(j.Lines, func(l Line) bool {
		r := &l.Record
		return r.DeadRun == t.ClaimedBy && r.Task == string(t.ID) && r.Abandoned().Killed
	})
}

// checkRunMove returns why a run's commit may not take this step.
func (j *judge) checkRunMove(f *File, from, to board.State) string {
	old, err := board.Parse(f.Was)
	if err != nil {
		return "a commit by odd or an agent moves a task that could not be read: " + err.Error()
	}
	if j.Kind != Board {
		return fmt.Sprintf("a commit by odd or an agent moves the task from %s to %s outside a run's claim, result or sweep", from, to)
	}
	if from == board.Review && to == board.Backlog && j.expiresOp(string(old.ID)) {
		return "" // invariant 15 checks whether its time was over
	}
	mover := board.Sweeper
	switch {
	case to == board.InProgress:
		mover = board.Claimer
	case old.ClaimedBy == j.Run:
		mover = board.Session
	}
	if board.Can(mover, from, to) != nil {
		return fmt.Sprintf("a commit by odd or an agent moves the task from %s to %s; only a person may do that", from, to)
	}
	if why := j.checkHolder(f, old, mover); why != "" {
		return why
	}
	if why := j.checkAttempts(f, old, mover); why != "" || mover != board.Claimer {
		return why
	}
	return j.checkEligible(old)
}

// checkHolder returns why a run may not take the step: it sweeps a task that is still held, it has no outcome for it,
// or it claims for another run.
func (j *judge) checkHolder(f *File, old board.Task, mover board.Mover) string {
	switch {
	case mover == board.Sweeper && !old.Expired(j.Author.When) && !j.wasKilled(old):
		return fmt.Sprintf("%s sweeps a task that %s holds until %s", j.Run, cmp.Or(old.ClaimedBy, "a person"), old.LeaseExpires.UTC().Format("2006-01-02T15:04:05Z"))
	case mover == board.Session && !j.hasOutcome(f.Is.ID, taskState(f.Is)):
		return fmt.Sprintf("%s moves the task to %s, and no outcome of the commit says so", j.Run, taskState(f.Is))
	case mover == board.Claimer && f.Is.Text("claimed_by") != j.Run:
		return fmt.Sprintf("%s claims the task for %s", j.Run, cmp.Or(f.Is.Text("claimed_by"), "nobody"))
	}
	return ""
}

// checkEligible returns why no drain may claim the task, as the board was before the act.
func (j *judge) checkEligible(t board.Task) string {
	if why := board.Eligible(&t.Row, j.findDependencies(&t), j.Author.When); why != "" {
		return fmt.Sprintf("%s claims a task that no drain takes: %s", j.Run, why)
	}
	return ""
}

// findDependencies returns the tasks that t depends on, before the act, and resolves their names in t. It reads the
// whole bundle only if one of them is not simply done.
func (j *judge) findDependencies(t *board.Task) board.Index {
	all := board.Index{}
	for _, id := range t.Dependencies {
		dep := j.readTask(j.Parents[0], id)
		if dep.State == board.Done {
			all[id] = &dep.Row
		}
	}
	if !slices.ContainsFunc(t.Dependencies, func(id okf.ID) bool { return all[id] == nil }) {
		return all
	}
	g := j.ReadBundle(j.Parents[0], j.Law.Root)
	resolved, err := board.ReadTask(g, t.Atom)
	j.Must(err)
	*t = resolved
	return board.Behind(g, resolved)
}

// readTask returns a task by its id from the file where odd puts it, the zero Task for none.
func (j *judge) readTask(commit repo.OID, id okf.ID) board.Task {
	law := j.LawAt(commit)
	rel := board.Folder + "/" + path.Base(string(id)) + ".md"
	blob, mode := j.Find(commit, law.Root+"/"+rel)
	a := j.ReadAtom(blob, mode, rel)
	if !IsTask(a) || a.ID != id {
		return board.Task{}
	}
	t, err := board.Parse(a)
	if err != nil {
		return board.Task{} // an unreadable task is none
	}
	return t
}

// checkAttempts returns why a run may not leave the task's attempts or lease so. A claim adds one attempt and ends
// within [drain] lease; other steps add none.
func (j *judge) checkAttempts(f *File, old board.Task, mover board.Mover) string {
	now, err := board.Parse(f.Is)
	if err != nil {
		return "a commit by odd or an agent leaves a task that cannot be read: " + err.Error()
	}
	want := old.Attempts
	if mover == board.Claimer {
		want++
	}
	switch end := j.Author.When.Add(j.Law.TaskLease + Skew); {
	case now.Attempts != want:
		return fmt.Sprintf("%s says attempts %d, it is %d after %d", j.Run, now.Attempts, want, old.Attempts)
	case mover == board.Claimer && now.LeaseExpires.After(end):
		return fmt.Sprintf("%s claims the task until %s, longer than [drain] lease allows", j.Run, formatTime(now.LeaseExpires))
	}
	return ""
}
