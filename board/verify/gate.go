package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

func gateRule() rule {
	return rule{Row{
		Invariant: 3, Name: "Human gate", Unit: "transitions",
		Way:        "set the task's state back to what it was, in a commit of your own; only odd approve TASK sets done",
		Evidence:   "a task's state before and after; parents, author and trailers of the commit that says done; the recorded proposal; the approval Odd-Approval names",
		Recomputed: "With require_signed, every decision of a person, and every change of what a person verified, is signed by a key that allowed_signers gives its author. A task becomes done only from review: in a person's merge of the recorded proposal, or by a person's commit on top of it that has landed. Either leaves out, edits and verifies exactly the atoms that it names. A root commit beside the first marks no task done. The people whom [governance] approvers names approved the proposal, or endorsed it in commits of their own. A machine moves a task only as the outcome beside the move says, and changes nothing else of it. A claim is of a task that odd drain may take and whose dependencies are done. It counts one attempt and ends within [drain] lease; other steps count none. A proposal lands only under a person's commit, or by an op that says so.",
		Attested:   "that the person read what they approved, and typed the confirmation; that the atoms they verified were shown to them; that a person who deleted a task, or filed its id twice, meant to; without allowed_signers, whose a signature is",
	}, judgeGate}
}

// judgeGate checks invariant 3: only an approval sets a task to done, and machines make only
// their own moves.
func judgeGate(j *judge) {
	for _, f := range j.files {
		if !isTask(f.old) && !isTask(f.new) || f.new == nil {
			continue
		}
		j.checked++
		why := j.checkMove(f)
		why = cmp.Or(why, j.checkEndorsement(f))
		if why != "" {
			j.addFinding(f.Path, f.new.Line("state"), "%s", why)
			if taskState(f.new) == board.Done && j.cause == "" {
				j.cause = j.doneCause(string(f.new.ID))
			}
		}
		j.applyNotes()
	}
	j.checkOtherRootDone()
	j.checkSignatures(false)
}

// checkMove returns what is wrong with the step that a task takes, "" for nothing. Of a
// person's steps it checks only the one to done.
func (j *judge) checkMove(f *file) string {
	if j.kind != person {
		return j.checkMachineMove(f)
	}
	if taskState(f.new) != board.Done {
		return ""
	}
	if j.wasDone(f) {
		return ""
	}
	why := j.checkApproval(f)
	if why == "" {
		return ""
	}
	t, broken := board.Parse(f.new)
	if broken != nil {
		return why
	}
	if j.isRestored(f.Path, f.New, string(t.ID), t.Result) {
		j.way, j.cause = "", ""
		return ""
	}
	return why
}

// wasDone reports a task that was done before the act, in a parent or under another path.
func (j *judge) wasDone(f *file) bool {
	for _, oid := range j.parentBlobs(f) {
		b := j.blob(oid)
		if old, _ := parseAtom(f.rel, b); taskState(old) == board.Done {
			return true
		}
	}
	if slices.ContainsFunc(j.sides[0], func(ch repo.Change) bool { return ch.New == "" && ch.Old == f.New }) {
		return true // renamed without a change
	}
	for _, ch := range j.sides[0] {
		rel, ok := strings.CutPrefix(ch.Path, j.roots[0])
		if !ok || ch.New != "" || !strings.HasSuffix(rel, ".md") {
			continue
		}
		b := j.readFile(ch.Old, ch.OldMode)
		old, _ := parseAtom(rel, b)
		if taskState(old) == board.Done && old.ID == f.new.ID {
			return true
		}
	}
	return false
}
