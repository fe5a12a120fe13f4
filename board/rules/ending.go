package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// waitingTask is a changed task file that was in review before the act or is after it.
type waitingTask struct {
	path     string
	line     int
	id, kind string
	was, now board.State
	blob     repo.OID     // now
	waited   board.Result // before
	result   board.Result // now
}

var endingRule = Rule{Row{
	N: 15, Name: "One ending", Unit: "ops",
	Promise:  "Every op ends in exactly one record.",
	Reads:    "op and op_end records in every ledger of a commit; the claims and outcomes they stand between; the task's state and result; what people made of results of its kind; Odd-Approved-By, Odd-Rejected-By, Odd-Approval and Odd-Proposal; review_ttl and auto_apply in odd.toml",
	Compares: "Every op is replayed by the table of phases. Each record has its own id and, in version 1, the hash of the record before it. No phase is skipped or tried too often, and no tier is lowered. What was judged does not change after the gate. Every ref moves once, in the phase that may move it. There is one ending, and nothing after it. An op without an ending waits while its task is in review for the commit that it moved its branch to, or while its run's claim is open. An op that a claim announced is recorded when that claim is closed, by the run itself or by the run that takes the claim back. A change lands by itself where odd.toml says auto_apply, on the branch and for a kind of task that it names, unless people rejected the last three results of that kind, with NOTIFY_APPLY only after a person saw it. Its task goes to review. A merge or a rejection is recorded in that person's commit. An expiry is recorded when review_ttl is over, with the task back in backlog.",
	Attested: "that the refs moved when the records say; what the phases found; who saw a preview",
	Remedy:   "end the change with odd op cancel OP, or odd reject TASK",
	Broken:   "The records of a change have no end, two ends, or a step that is not possible.",
}, judgeEndings, false}

func judgeEndings(j *judge) {
	tasks := j.waitingTasks()
	if !j.hasOps(tasks) {
		return
	}
	now := j.readOps(j.OID, tasks)
	j.checkNewProblems(now, tasks)
	for _, s := range now.stories {
		if slices.Contains(j.redone, s.Op().Task) {
			continue
		}
		j.checkOp(s, now, tasks)
	}
	j.checkAnnouncements(now)
}

// waitingTasks returns the tasks that the act moves into review, out of it or changes in it.
func (j *judge) waitingTasks() []waitingTask {
	var out []waitingTask
	for _, f := range j.Files {
		if f.Rel == "" || path.Ext(f.Rel) != ".md" {
			continue
		}
		var side [2]board.Task
		for i, v := range [2]struct {
			oid  repo.OID
			mode string
		}{{f.Old, f.OldMode}, {f.New, f.NewMode}} {
			b := j.ReadFile(v.oid, v.mode)
			if !bytes.Contains(b, []byte(board.Type)) {
				continue
			}
			if a, _ := ParseAtom(f.Rel, b); IsTask(a) {
				side[i], _ = board.Parse(a)
			}
		}
		was, now := side[0], side[1]
		if was.State != board.Review && now.State != board.Review {
			continue
		}
		w := waitingTask{path: f.Path, line: 1, id: string(was.ID), kind: was.Kind, was: was.State, now: now.State, blob: f.New, waited: was.Result, result: now.Result}
		if now.Atom != nil {
			w.id, w.line = string(now.ID), now.Atom.Line("state")
		}
		if i := slices.IndexFunc(out, func(o waitingTask) bool { return o.id == w.id }); i < 0 {
			out = append(out, w)
		} else if w.now == "" { // it moved from here to there
			out[i].was, out[i].waited = w.was, w.waited
		} else if out[i].now == "" {
			w.was, w.waited = out[i].was, out[i].waited
			out[i] = w
		}
	}
	return out
}

// hasOps reports an act that may begin, continue or end an op. Most acts do not, and reading every ledger of a long
// history is slow.
func (j *judge) hasOps(tasks []waitingTask) bool {
	var runs []string
	for _, l := range j.Lines {
		switch {
		case isOpRecord(l.Record):
			return true
		case l.Record.Kind == event.Outcome:
			runs = append(runs, l.Record.Run)
		case l.Record.Kind == event.Abandoned:
			runs = append(runs, l.Record.DeadRun)
		}
	}
	for _, w := range tasks {
		runs = append(runs, w.waited.Run)
	}
	for _, run := range runs {
		records := j.ReadLedger(j.OID, run)
		if slices.ContainsFunc(records, isOpRecord) || slices.ContainsFunc(records, announcesOp) {
			return true
		}
	}
	return false
}

// checkNewProblems reports problems of op records that the parents do not have.
func (j *judge) checkNewProblems(now ops, tasks []waitingTask) {
	var before []pipeline.Problem
	for _, p := range j.Parents {
		before = append(before, j.readOps(p, tasks).problems...)
	}
	for _, p := range now.problems {
		o := now.findOp(p.Op)
		if !slices.Contains(before, p) && (o == nil || !slices.Contains(j.redone, o.Task)) {
			at, n, _ := j.locateOpRecord(o, p.Run, p.Seq)
			j.addFinding(at, n, "%s", p.Text)
			if o != nil {
				j.setDoneCause(o.Task, tasks)
			}
		}
	}
}

// checkOp checks one op, if the act concerns it.
func (j *judge) checkOp(s pipeline.Story, now ops, tasks []waitingTask) {
	o := s.Op()
	r := s.Told[len(s.Told)-1].Record
	at, n, fresh := j.locateOpRecord(now.findOp(o.ID), r.Run, r.Seq)
	var task *waitingTask
	if i := slices.IndexFunc(tasks, func(w waitingTask) bool { return w.id == o.Task }); i >= 0 {
		task = &tasks[i]
	}
	if !fresh && task == nil && !j.closesClaim(o) {
		return
	}
	j.checked++
	why := j.checkEnding(o, r.Run, fresh, task)
	if why != "" && fresh && task != nil && j.isPersonsEnding(r) {
		again := j.isRestored(task.path, task.blob, o.Task, task.waited)
		if again {
			return
		}
	}
	switch {
	case why != "" && !fresh && task != nil:
		j.addFinding(task.path, task.line, "%s", why)
	case why != "":
		j.addFinding(at, n, "%s", why)
	}
	if why != "" {
		j.setDoneCause(o.Task, tasks)
	}
}

// setDoneCause marks the last finding as caused by the act setting the task to done, so that it folds into the finding
// of invariant 3.
func (j *judge) setDoneCause(task string, tasks []waitingTask) {
	if slices.ContainsFunc(tasks, func(w waitingTask) bool { return w.id == task && w.now == board.Done }) {
		j.found[len(j.found)-1].Cause = j.doneCause(task)
	}
}

// doneCause is the cause of all findings about how the act set a task to done.
func (j *judge) doneCause(task string) string { return "done " + task + " " + string(j.OID) }

func (j *judge) closesClaim(o pipeline.Op) bool {
	return slices.ContainsFunc(j.Lines, func(l Line) bool {
		r := l.Record
		return r.Task == o.Task && (r.Kind == event.Outcome && r.Run == o.Run || r.Kind == event.Abandoned && r.DeadRun == o.Run)
	})
}

// checkEnding returns what is wrong with an op after the act. fresh reports that the act adds the op's last record, in
// the ledger of writer.
func (j *judge) checkEnding(o pipeline.Op, writer string, fresh bool, task *waitingTask) string {
	switch {
	case fresh && o.At.Sub(j.Author.When) > Skew:
		return fmt.Sprintf("%s is told at %s, in a commit of %s", o.ID, formatTime(o.At), formatTime(j.Author.When))
	case o.Ended() && fresh && o.Reason == pipeline.Landed && j.Kind == Board:
		return j.checkAutoLanding(o, task)
	case o.Ended() && fresh:
		return j.checkEndedBy(o, writer, task)
	case o.Ended():
		return ""
	case o.Phase == pipeline.Waiting:
		return j.checkWaiting(o, fresh, task)
	}
	return j.checkUnended(o)
}

// checkUnended reports an op without an ending whose run no longer has the task claimed.
func (j *judge) checkUnended(o pipeline.Op) string {
	spent, err := j.ReadSpend(j.OID)
	if err != nil {
		j.Must(IgnoreDamaged(err))
		return ""
	}
	if slices.ContainsFunc(spent.Open, func(r event.Record) bool { return r.Run == o.Run && r.Task == o.Task }) {
		return ""
	}
	return fmt.Sprintf("%s never ended: its last phase is %s, and the claim of %s on %s is closed", o.ID, o.Phase, o.Run, o.Task)
}

// checkWaiting returns what is wrong with an op that waits for a person. Its task must be in review with the commit
// that the op moved its branch to, for as long as odd.toml says.
func (j *judge) checkWaiting(o pipeline.Op, fresh bool, task *waitingTask) string {
	switch {
	case task == nil && fresh:
		return fmt.Sprintf("%s waits for a person, and its commit does not put %s in review", o.ID, o.Task)
	case task == nil:
		return ""
	case task.now != board.Review:
		return fmt.Sprintf("%s waits for a person without an ending, and its task is %s", o.ID, cmp.Or(string(task.now), "gone"))
	}
	r, moved := task.result, o.Moved[0]
	if r.Commit != moved.New || "refs/heads/"+r.Branch != moved.Ref {
		return fmt.Sprintf("%s waits with %s on %s, its task with %s on %s", o.ID, ShortID(moved.New), moved.Ref, cmp.Or(ShortID(r.Commit), "nothing"), cmp.Or(r.Branch, "no branch"))
	}
	if !fresh {
		return ""
	}
	ttl := o.Until.Sub(o.At)
	_, then, ok := j.readClaimedTask(o.Run, o.Task)
	if ttl == j.Law.ReviewTTL || ok && ttl == then.ReviewTTL {
		return ""
	}
	return fmt.Sprintf("%s may wait %s, odd.toml says %s", o.ID, ttl.Round(time.Millisecond), j.Law.ReviewTTL)
}

// checkEndedBy returns why the act's commit may not end the op so. Only a person merges, rejects or cancels; only a run
// records other endings.
func (j *judge) checkEndedBy(o pipeline.Op, writer string, task *waitingTask) string {
	by := "human:" + j.Author.Email
	decided := slices.Contains([]pipeline.Reason{pipeline.Merged, pipeline.Rejected, pipeline.CancelledByPerson}, o.Reason)
	switch {
	case decided && j.Kind != Person && (o.Reason != pipeline.Merged || j.Kind != Sync):
		return fmt.Sprintf("a commit by odd or an agent ends %s as %s; only a person does", o.ID, o.Reason)
	case !decided && j.Kind != Board:
		return fmt.Sprintf("another commit than a run's ends %s as %s", o.ID, o.Reason)
	case decided && writer != o.ID:
		return fmt.Sprintf("%s is recorded as %s in the ledger of %s; a person's word stands in a file of the op's own", o.ID, o.Reason, writer)
	case o.Reason == pipeline.Merged:
		if why := j.checkMergedOp(o, by, task); why != "" {
			return why
		}
	case o.Reason == pipeline.Rejected && Trailer(j.Commit, "Odd-Rejected-By") != by:
		return fmt.Sprintf("%s is recorded as rejected, by %s in a commit by %s", o.ID, cmp.Or(Trailer(j.Commit, "Odd-Rejected-By"), "nobody"), j.Author.Email)
	}
	return j.checkLeavesReview(o, task)
}

// checkMergedOp returns why a commit does not merge what the op proposed.
func (j *judge) checkMergedOp(o pipeline.Op, by string, task *waitingTask) string {
	switch p := Trailer(j.Commit, "Odd-Proposal"); {
	case len(o.Moved) == 0 || p != o.Moved[0].New:
		return fmt.Sprintf("%s is recorded as merged, but this commit merges %s", o.ID, cmp.Or(ShortID(p), "nothing"))
	case j.Kind == Person && Trailer(j.Commit, "Odd-Approved-By") != by:
		return fmt.Sprintf("%s is recorded as merged, by %s in a commit by %s", o.ID, cmp.Or(Trailer(j.Commit, "Odd-Approved-By"), "nobody"), j.Author.Email)
	case j.Kind == Person && (Trailer(j.Commit, "Odd-Op") != o.ID || Trailer(j.Commit, "Odd-Tier") != o.Fact(pipeline.FactTier)):
		return fmt.Sprintf("%s is recorded as merged with tier %s, in a commit that says it merges %s with tier %s",
			o.ID, o.Fact(pipeline.FactTier), cmp.Or(Trailer(j.Commit, "Odd-Op"), "no op"), cmp.Or(Trailer(j.Commit, "Odd-Tier"), "none"))
	case task == nil || task.now != board.Done:
		return fmt.Sprintf("%s is recorded as merged, and its task is not done", o.ID)
	}
	return ""
}

// checkLeavesReview reports an op that waited and has ended while its task still waits.
func (j *judge) checkLeavesReview(o pipeline.Op, task *waitingTask) string {
	switch {
	case o.From != pipeline.Waiting:
		return ""
	case task == nil || task.was != board.Review:
		return fmt.Sprintf("%s is recorded as %s, and its commit does not take %s out of review", o.ID, o.Reason, o.Task)
	case task.now == board.Review && (o.Reason != pipeline.Superseded || task.result.Commit == o.Moved[0].New):
		return fmt.Sprintf("%s is recorded as %s, and its task still waits", o.ID, o.Reason)
	case o.Reason == pipeline.ReviewExpired && task.now != board.Backlog:
		return fmt.Sprintf("%s expired, and its task goes to %s; it returns to backlog", o.ID, task.now)
	}
	return ""
}

// expiresOp reports a run's commit that records the expiry of the task's op.
func (j *judge) expiresOp(task string) bool {
	return slices.ContainsFunc(j.Lines, func(l Line) bool {
		return l.Record.Kind == event.OpEnd && l.Record.Task == task && l.Record.Run == j.Run && l.Record.Op().Reason == string(pipeline.ReviewExpired)
	})
}

// isPersonsEnding reports a record that a person's commit, or odd sync for a person, may add: the ending of an op in
// the op's own file.
func (j *judge) isPersonsEnding(r event.Record) bool {
	return (j.Kind == Person || j.Kind == Sync) && r.Kind == event.OpEnd && strings.HasPrefix(r.Run, "op-") && r.Op().Op == r.Run
}
