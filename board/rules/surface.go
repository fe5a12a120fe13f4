package rules

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

// Folders and types that only a person writes; reconcile keeps the same list for what is emitted.
var (
	peoplesFolders = []string{"canon", "personas", "handoffs", "journal", "ledger", "proposals", "governance"}
	peoplesTypes   = []string{"canon", "constraint", "principle", "method", "definition", "persona", "handoff", "journal"}
)

// Keys of a task that a run's board commit and a sync's may change.
var (
	runKeys  = []string{"state", "claimed_by", "lease_expires", "attempts", "result", "blocked_reason"}
	syncKeys = []string{"state", "tags", "verified", "excepted", "declined"}
)

var surfaceRule = Rule{Row{
	N: 2, Name: "One write surface", Unit: "files",
	Promise:  "Every kind of machine commit writes only its own files, and a proposal exactly what its run recorded.",
	Reads:    "the paths, modes and blobs of every machine commit; the outcome in the run's ledger",
	Compares: "A proposal holds only atoms of the bundle, and exactly the paths and blobs that its run recorded. A board commit changes only its own task's state keys, and its run's ledger, journal and proposals; it may add a pause.toml. A merge by odd or an agent is the one that git makes. It brings in nothing that an agent made before an odd.toml named that agent.",
	Attested: "that the recorded files are what odd made of the agent's output",
	Remedy:   "undo the extra change in a commit of your own",
	Broken:   "A run changed a file that it may not write.",
}, judgeSurface, true}

func judgeSurface(j *judge) {
	if j.Kind == Person {
		return
	}
	if j.Unmerged {
		j.addFinding(j.anyPath(), 1, "a merge by odd or an agent had a conflict, or more than two parents; only a person merges these")
		return
	}
	for _, f := range j.Files {
		j.checked++
		if why := j.whyForbidden(f); why != "" {
			j.addFinding(f.Path, 1, "%s", why)
		}
	}
	switch j.Kind {
	case Proposal:
		j.checkRecorded()
		return
	case Merge:
		j.checkUnnamedTakenIn()
		return
	}
}

// checkUnnamedTakenIn reports a machine's merge of commits that the agent made before an odd.toml named it. No rules
// applied to those commits, so only a person may merge them.
func (j *judge) checkUnnamedTakenIn() {
	if !j.HasUnnamed() {
		return
	}
	for i, p := range j.Parents {
		law := j.LawAt(p)
		for c := range j.Log(p, j.Parents[1-i]) {
			if !j.IsUnnamed(c.OID) || !IsByAgent(c, law) {
				continue
			}
			j.addFinding(j.anyPath(), 1, "a machine merges %s, which the agent made where no odd.toml named it yet; only a person takes that in", ShortID(string(c.OID)))
		}
	}
}

// whyForbidden returns why a commit of the act's kind may not change f so.
func (a *Act) whyForbidden(f *File) string {
	if a.isOpFile(f) {
		return "" // invariant 13 checks it
	}
	if f.New != "" && f.NewMode != "100644" && f.NewMode != f.OldMode {
		return "a commit by odd or an agent makes a file of mode " + f.NewMode
	}
	switch a.Kind {
	case Board:
		return a.checkBoardFile(f)
	case Proposal:
		return checkProposalFile(f)
	case Sync:
		if strings.HasPrefix(LedgerRun(f.Rel), "op-") {
			return "" // invariant 14 checks it
		}
		if a.Task == "" {
			return "a commit with Odd-Approval, as sync makes them, names no task in Odd-Task"
		}
		if !IsTask(f.Was) || string(f.Was.ID) != a.Task {
			return "a sync commit writes more than its task " + a.Task
		}
		return findOtherKey(f, syncKeys)
	case Merge:
		return "a merge by odd or an agent differs from what git makes of its parents"
	}
	if f.Old == "" && IsTask(f.Is) {
		return whyNotFileable(f.Is)
	}
	return "the agent's commit belongs to no run: it has no trailer Odd-Run"
}

// isOpFile reports a file outside the bundle that a proposal changes for an op.
func (a *Act) isOpFile(f *File) bool {
	return a.Kind == Proposal && f.Rel == "" && Trailer(a.Commit, "Odd-Op") != ""
}

// whyNotFileable returns why a machine may not file the task.
func whyNotFileable(a *okf.Atom) string {
	t, err := board.Parse(a)
	switch {
	case err != nil:
		return "odd or an agent adds a task that cannot be read: " + err.Error()
	case len(t.Commands) > 0:
		return "odd or an agent adds a task with commands; only a person says what odd runs"
	}
	return ""
}

func (a *Act) checkBoardFile(f *File) string {
	day := strings.ToLower(a.Run) + ".tsv"
	own := strings.HasPrefix(a.Run, "run-") // another name may be a person's
	dir, name := path.Split(f.Rel)
	switch {
	case LedgerRun(f.Rel) != "": // invariant 14 checks whose it is
		return ""
	case own && dir == "journal/" && (name == day || strings.HasSuffix(name, "-"+day)):
		return ""
	case own && f.Rel == "proposals/"+a.Run+".jsonl":
		return ""
	case dir == "handoffs/":
		return a.checkOwnHandoff(f, name)
	case f.Rel == "pause.toml":
		return checkPause(f)
	}
	return a.checkTaskFile(f)
}

// checkPause returns why a run may not change pause.toml so. It may only add it.
func checkPause(f *File) string {
	switch {
	case f.New == "":
		return "a run lifts the pause; only a person does"
	case f.Old != "":
		return "a run rewrites the pause that stands; it only adds one"
	}
	return ""
}

// checkTaskFile returns why a board commit may not change a file that is none of a run's own. Only the run's task is
// left.
func (a *Act) checkTaskFile(f *File) string {
	switch {
	case !IsTask(f.Was):
		return "a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"
	case a.Task != "" && string(f.Was.ID) != a.Task:
		return "a board commit of " + a.Task + " changes another task"
	case a.Task == "" && taskState(f.Was) != board.InProgress:
		return "a sweep changes a task that nobody holds"
	}
	return findOtherKey(f, runKeys)
}

// checkOwnHandoff returns why a board commit may not write the handoff. A run writes only new handoffs that bear its
// name.
func (a *Act) checkOwnHandoff(f *File, name string) string {
	switch {
	case f.Old != "" || f.New == "":
		return "a run changes a handoff that is there; it writes only its own, once"
	case !strings.HasPrefix(name, strings.ToLower(a.Run)+"-"):
		return "a run writes a handoff that does not bear its name"
	case f.Is == nil:
		return "a run's handoff does not read: " + f.whyNoAtom()
	case f.Is.Type != "handoff" || f.Is.Text("run") != a.Run:
		return "a run's handoff is not a handoff of " + a.Run
	}
	return ""
}

// findOtherKey returns a finding about the first change of a task besides the allowed keys.
func findOtherKey(f *File, allowed []string) string {
	if f.Is == nil {
		return "a commit by odd or an agent takes the task away, or leaves it unreadable"
	}
	if !bytes.Equal(f.Was.Body(), f.Is.Body()) {
		return "a commit by odd or an agent changes the task's text"
	}
	for _, side := range [][2]*okf.Atom{{f.Was, f.Is}, {f.Is, f.Was}} {
		for _, k := range side[0].Fields {
			other, ok := side[1].Field(k.Key)
			if !slices.Contains(allowed, k.Key) && (!ok || !reflect.DeepEqual(k.Value, other.Value)) {
				return "a commit by odd or an agent changes the task's key " + k.Key
			}
		}
	}
	return ""
}

// checkProposalFile returns why a proposal may not change f, by its path or its content.
func checkProposalFile(f *File) string {
	first, _, deep := strings.Cut(strings.ToLower(f.Rel), "/")
	base := strings.ToLower(path.Base(f.Rel))
	switch {
	case f.Rel == "" || path.Ext(f.Rel) != ".md":
		return "a proposal writes a file that is no atom of the bundle"
	case base == "index.md" || base == "log.md":
		return "a proposal writes a reserved file"
	case deep && slices.Contains(peoplesFolders, first):
		return "a proposal writes where only a person does"
	case f.New == "":
		return "a proposal deletes an atom"
	case f.Is == nil:
		return "a proposal holds no atom here: " + f.whyNoAtom()
	}
	return checkProposedAtom(f)
}

// checkProposedAtom returns why a proposal may not hold this atom.
func checkProposedAtom(f *File) string {
	switch {
	case f.Old == "" && f.Is.ExplicitID && path.Base(string(f.Is.ID))+".md" != path.Base(f.Rel):
		return "a proposal writes " + string(f.Is.ID) + " where no atom of that id lands"
	case isPeoplesType(f.Is) || isPeoplesType(f.Was):
		return "a proposal writes a " + f.Is.Type + ", which only a person does"
	case IsTask(f.Was):
		return "a proposal changes a task"
	case IsTask(f.Is):
		return whyNotFileable(f.Is)
	}
	return ""
}

// whyNoAtom returns why a file does not parse as an atom.
func (f *File) whyNoAtom() string {
	var p okf.Problem
	switch {
	case errors.As(f.Fault, &p):
		return p.Message
	case f.Fault != nil:
		return f.Fault.Error()
	}
	return "mode " + f.NewMode
}

func isPeoplesType(a *okf.Atom) bool {
	return a != nil && slices.Contains(peoplesTypes, strings.ToLower(strings.TrimSpace(a.Type)))
}

// checkRecorded compares a proposal with its record in the run's ledger. A proposal that has not landed may be on a
// branch without that ledger.
func (j *judge) checkRecorded() {
	r := j.findOutcome()
	if r.Record == nil {
		waits := j.IsWaiting(j.OID)
		if !waits {
			j.addFinding(j.anyPath(), 1, "a proposal of %s for %q that no ledger records", j.Run, j.Task)
		}
		return
	}
	want := map[string][2]string{}
	for _, p := range PathsOf(r.Record) {
		want[p[0]] = [2]string{p[1], p[2]}
	}
	exact := r.Outcome().Proposal == string(j.OID) // otherwise a forge rebased it
	for _, f := range j.Files {
		w, ok := want[f.Path]
		delete(want, f.Path)
		switch {
		case !ok:
			j.addFinding(f.Path, 1, "is in the proposal and not in the record of %s", j.Run)
		case w[1] != string(f.New):
			j.addFinding(f.Path, 1, "is blob %s, %s recorded %s", ShortID(string(f.New)), j.Run, ShortID(w[1]))
		case exact && w[0] != string(f.Old):
			j.addFinding(f.Path, 1, "was made on blob %s, %s recorded %s", cmp.Or(ShortID(string(f.Old)), "none"), j.Run, cmp.Or(ShortID(w[0]), "none"))
		}
	}
	for _, p := range SortedKeys(want) {
		j.addFinding(p, 1, "is in the record of %s and not in the proposal", j.Run)
	}
	j.checkLanded(r.Own, exact)
}

// findOutcome returns the record of this proposal: the one with its commit, or else the one of the same run and task
// with its trace.
func (j *judge) findOutcome() Outcome {
	all := j.FindOutcomes(j.Run, j.Task)
	var rebased Outcome
	for _, r := range all {
		if r.Outcome().Proposal == string(j.OID) {
			return r
		}
		if r.Outcome().Proposal != "" && rebased.Record == nil && r.Trace == Trailer(j.Commit, "Odd-Trace") {
			rebased = r
		}
	}
	return rebased
}

// PathsOf returns path, base blob and result blob of every file that an outcome records.
func PathsOf(r *event.Record) [][3]string {
	var out [][3]string
	for _, p := range r.Outcome().Paths {
		out = append(out, [3]string{p.Path, p.Base, p.Result})
	}
	return out
}

// anyPath returns a path for a finding about the whole commit.
func (a *Act) anyPath() string {
	if len(a.Files) > 0 {
		return a.Files[0].Path
	}
	return strings.TrimSuffix(a.Root, "/")
}

// SortedKeys returns the keys of m in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
