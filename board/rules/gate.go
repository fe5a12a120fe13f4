package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

var gateRule = Rule{Row{
	N: 3, Name: "Human gate", Unit: "transitions",
	Promise:  "Only an approval sets a task to done, and machines make only their own moves.",
	Reads:    "a task's state before and after; parents, author and trailers of the commit that says done; the recorded proposal; the approval Odd-Approval names",
	Compares: "With require_signed, every decision of a person, and every change of what a person verified, is signed by a key that allowed_signers gives its author. A task becomes done only from review: in a person's merge of the recorded proposal, or by a person's commit on top of it that has landed. Either leaves out, edits and verifies exactly the atoms that it names. A root commit beside the first marks no task done. The people whom [governance] approvers names approved the proposal, or endorsed it in commits of their own. A machine moves a task only as the outcome beside the move says, and changes nothing else of it. A claim is of a task that odd drain may take and whose dependencies are done. odd sense files a task in ready only as [sense] allows, on every line that a machine merges it with. It counts one attempt and ends within [drain] lease; other steps count none. A proposal lands only under a person's commit, or by an op that says so.",
	Attested: "that the person read what they approved, and typed the confirmation; that the atoms they verified were shown to them; that a person who deleted a task, or filed its id twice, meant to; who added pause.toml, which needs no signature; that odd sense found what a ready task of its says, and kept to [sense] run, day and open; without allowed_signers, whose a signature is",
	Remedy:   "set the task's state back to what it was, in a commit of your own",
	Broken:   "A task was marked done without a person's approval of exactly these files.",
}, judgeGate, true}

func judgeGate(j *judge) {
	for _, f := range j.Files {
		if !IsTask(f.Was) && !IsTask(f.Is) || f.Is == nil {
			continue
		}
		j.checked++
		why := j.checkMove(f)
		why = cmp.Or(why, j.checkEndorsement(f))
		if why != "" {
			j.addFinding(f.Path, f.Is.Line("state"), "%s", why)
			if taskState(f.Is) == board.Done && j.cause == "" {
				j.cause = j.doneCause(string(f.Is.ID))
			}
		}
		j.applyNotes()
	}
	j.checkOtherRootDone()
	j.checkSignatures(false)
}

// checkMove returns what is wrong with the step that a task takes, "" for nothing. Of a person's steps it checks only
// the one to done.
func (j *judge) checkMove(f *File) string {
	if j.Kind != Person {
		return j.checkMachineMove(f)
	}
	if taskState(f.Is) != board.Done {
		return ""
	}
	if j.wasDone(f) {
		return ""
	}
	why := j.checkApproval(f)
	if why == "" {
		return ""
	}
	t, broken := board.Parse(f.Is)
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
func (j *judge) wasDone(f *File) bool {
	for _, oid := range j.ParentBlobs(f) {
		b := j.Blob(oid)
		if old, _ := ParseAtom(f.Rel, b); taskState(old) == board.Done {
			return true
		}
	}
	if slices.ContainsFunc(j.Sides[0], func(ch repo.Change) bool { return ch.New == "" && ch.Old == f.New }) {
		return true // renamed without a change
	}
	for _, ch := range j.Sides[0] {
		rel, ok := strings.CutPrefix(ch.Path, j.Roots[0])
		if !ok || ch.New != "" || !strings.HasSuffix(rel, ".md") {
			continue
		}
		old, _ := ParseAtom(rel, j.ReadFile(ch.Old, ch.OldMode))
		if taskState(old) == board.Done && old.ID == f.Is.ID {
			return true
		}
	}
	return false
}
