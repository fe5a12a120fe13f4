package verify

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

func surfaceRule() rule {
	return rule{Row{
		Invariant: 2, Name: "One write surface", Unit: "files",
		Way:        "undo the extra change in a commit of your own",
		Evidence:   "the paths, modes and blobs of every machine commit; the outcome in the run's ledger",
		Recomputed: "A proposal holds only atoms of the bundle, and exactly the paths and blobs that its run recorded. A board commit changes only its own task's state keys, and its run's ledger, journal and proposals; it may add a pause.toml. A merge by odd or an agent is the one that git makes. It brings in nothing that an agent made before an odd.toml named that agent.",
		Attested:   "that the recorded files are what odd made of the agent's output",
	}, judgeSurface}
}

// judgeSurface checks invariant 2: every kind of machine commit writes only its own files.
func judgeSurface(j *judge) {
	if j.kind == person {
		return
	}
	if j.unmerged {
		j.addFinding(j.anyPath(), 1, "a merge by odd or an agent had a conflict, or more than two parents; only a person merges these")
		return
	}
	for _, f := range j.files {
		j.checked++
		if why := j.whyForbidden(f); why != "" {
			j.addFinding(f.Path, 1, "%s", why)
		}
	}
	switch j.kind {
	case proposal:
		j.checkRecorded()
		return
	case mergeCommit:
		j.checkUnnamedTakenIn()
		return
	}
}

// checkUnnamedTakenIn reports a machine's merge of commits that the agent made before an
// odd.toml named it. No rules applied to those commits, so only a person may merge them.
func (j *judge) checkUnnamedTakenIn() {
	if len(j.unnamed) == 0 {
		return
	}
	for i, p := range j.Parents {
		law := j.lawAt(p)
		for c, err := range j.repo.Log(j.ctx, p, j.Parents[1-i]) {
			must(err)
			if !j.unnamed[c.OID] || !isByAgent(c, law) {
				continue
			}
			j.addFinding(j.anyPath(), 1, "a machine merges %s, which the agent made where no odd.toml named it yet; only a person takes that in", shortID(string(c.OID)))
		}
	}
}

// whyForbidden returns why a commit of the act's kind may not change f so.
func (a *act) whyForbidden(f *file) string {
	if a.isOpFile(f) {
		return "" // invariant 13 checks it
	}
	if f.New != "" && f.NewMode != "100644" && f.NewMode != f.OldMode {
		return "a commit by odd or an agent makes a file of mode " + f.NewMode
	}
	switch a.kind {
	case boardCommit:
		return a.checkBoardFile(f)
	case proposal:
		return checkProposalFile(f)
	case syncCommit:
		if strings.HasPrefix(ledgerRun(f.rel), "op-") {
			return "" // invariant 14 checks it
		}
		if a.task == "" {
			return "a commit with Odd-Approval, as sync makes them, names no task in Odd-Task"
		}
		if !isTask(f.old) || string(f.old.ID) != a.task {
			return "a sync commit writes more than its task " + a.task
		}
		return findOtherKey(f, syncKeys)
	case mergeCommit:
		return "a merge by odd or an agent differs from what git makes of its parents"
	}
	if f.Old == "" && isTask(f.new) {
		return whyNotFileable(f.new)
	}
	return "the agent's commit belongs to no run: it has no trailer Odd-Run"
}

// isOpFile reports a file outside the bundle that a proposal changes for an op.
func (a *act) isOpFile(f *file) bool {
	return a.kind == proposal && f.rel == "" && singleTrailer(a.Commit, "Odd-Op") != ""
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

func (a *act) checkBoardFile(f *file) string {
	day := strings.ToLower(a.run) + ".tsv"
	own := strings.HasPrefix(a.run, "run-") // another name may be a person's
	dir, name := path.Split(f.rel)
	switch {
	case ledgerRun(f.rel) != "": // invariant 14 checks whose it is
		return ""
	case own && dir == "journal/" && (name == day || strings.HasSuffix(name, "-"+day)):
		return ""
	case own && f.rel == "proposals/"+a.run+".jsonl":
		return ""
	case dir == "handoffs/":
		return a.checkOwnHandoff(f, name)
	case f.rel == "pause.toml":
		return checkPause(f)
	}
	return a.checkTaskFile(f)
}

// checkPause returns why a run may not change pause.toml so. It may only add it.
func checkPause(f *file) string {
	switch {
	case f.New == "":
		return "a run lifts the pause; only a person does"
	case f.Old != "":
		return "a run rewrites the pause that stands; it only adds one"
	}
	return ""
}

// checkTaskFile returns why a board commit may not change a file that is none of a run's
// own. Only the run's task is left.
func (a *act) checkTaskFile(f *file) string {
	switch {
	case !isTask(f.old):
		return "a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"
	case a.task != "" && string(f.old.ID) != a.task:
		return "a board commit of " + a.task + " changes another task"
	case a.task == "" && taskState(f.old) != board.InProgress:
		return "a sweep changes a task that nobody holds"
	}
	return findOtherKey(f, runKeys)
}

// checkOwnHandoff returns why a board commit may not write the handoff. A run writes only
// new handoffs that bear its name.
func (a *act) checkOwnHandoff(f *file, name string) string {
	switch {
	case f.Old != "" || f.New == "":
		return "a run changes a handoff that is there; it writes only its own, once"
	case !strings.HasPrefix(name, strings.ToLower(a.run)+"-"):
		return "a run writes a handoff that does not bear its name"
	case f.new == nil:
		return "a run's handoff does not read: " + f.whyNoAtom()
	case f.new.Type != "handoff" || f.new.Text("run") != a.run:
		return "a run's handoff is not a handoff of " + a.run
	}
	return ""
}

// findOtherKey returns a finding about the first change of a task besides the allowed keys.
func findOtherKey(f *file, allowed []string) string {
	if f.new == nil {
		return "a commit by odd or an agent takes the task away, or leaves it unreadable"
	}
	if !bytes.Equal(f.old.Body(), f.new.Body()) {
		return "a commit by odd or an agent changes the task's text"
	}
	for _, side := range [][2]*okf.Atom{{f.old, f.new}, {f.new, f.old}} {
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
func checkProposalFile(f *file) string {
	first, _, deep := strings.Cut(strings.ToLower(f.rel), "/")
	base := strings.ToLower(path.Base(f.rel))
	switch {
	case f.rel == "" || path.Ext(f.rel) != ".md":
		return "a proposal writes a file that is no atom of the bundle"
	case base == "index.md" || base == "log.md":
		return "a proposal writes a reserved file"
	case deep && slices.Contains(peoplesFolders, first):
		return "a proposal writes where only a person does"
	case f.New == "":
		return "a proposal deletes an atom"
	case f.new == nil:
		return "a proposal holds no atom here: " + f.whyNoAtom()
	}
	return checkProposedAtom(f)
}

// checkProposedAtom returns why a proposal may not hold this atom.
func checkProposedAtom(f *file) string {
	switch {
	case f.Old == "" && f.new.ExplicitID && path.Base(string(f.new.ID))+".md" != path.Base(f.rel):
		return "a proposal writes " + string(f.new.ID) + " where no atom of that id lands"
	case isPeoplesType(f.new) || isPeoplesType(f.old):
		return "a proposal writes a " + f.new.Type + ", which only a person does"
	case isTask(f.old):
		return "a proposal changes a task"
	case isTask(f.new):
		return whyNotFileable(f.new)
	}
	return ""
}

// whyNoAtom returns why a file does not parse as an atom.
func (f *file) whyNoAtom() string {
	var p okf.Problem
	switch {
	case errors.As(f.fault, &p):
		return p.Message
	case f.fault != nil:
		return f.fault.Error()
	}
	return "mode " + f.NewMode
}

func isPeoplesType(a *okf.Atom) bool {
	return a != nil && slices.Contains(peoplesTypes, strings.ToLower(strings.TrimSpace(a.Type)))
}

// checkRecorded compares a proposal with its record in the run's ledger. A proposal that has
// not landed may be on a branch without that ledger.
func (j *judge) checkRecorded() {
	r := j.findOutcome()
	if r.Record == nil {
		waits := j.isWaiting(j.OID)
		if !waits {
			j.addFinding(j.anyPath(), 1, "a proposal of %s for %q that no ledger records", j.run, j.task)
		}
		return
	}
	want := map[string][2]string{}
	for _, p := range pathsOf(r.Record) {
		want[p[0]] = [2]string{p[1], p[2]}
	}
	exact := r.Outcome().Proposal == string(j.OID) // otherwise a forge rebased it
	for _, f := range j.files {
		w, ok := want[f.Path]
		delete(want, f.Path)
		switch {
		case !ok:
			j.addFinding(f.Path, 1, "is in the proposal and not in the record of %s", j.run)
		case w[1] != string(f.New):
			j.addFinding(f.Path, 1, "is blob %s, %s recorded %s", shortID(string(f.New)), j.run, shortID(w[1]))
		case exact && w[0] != string(f.Old):
			j.addFinding(f.Path, 1, "was made on blob %s, %s recorded %s", cmp.Or(shortID(string(f.Old)), "none"), j.run, cmp.Or(shortID(w[0]), "none"))
		}
	}
	for _, p := range sortedKeys(want) {
		j.addFinding(p, 1, "is in the record of %s and not in the proposal", j.run)
	}
	j.checkLanded(r.own, exact)
}

// findOutcome returns the record of this proposal: the one with its commit, or else the one
// of the same run and task with its trace.
func (j *judge) findOutcome() outcome {
	all := j.findOutcomes(j.run, j.task)
	var rebased outcome
	for _, r := range all {
		if r.Outcome().Proposal == string(j.OID) {
			return r
		}
		if r.Outcome().Proposal != "" && rebased.Record == nil && r.Trace == singleTrailer(j.Commit, "Odd-Trace") {
			rebased = r
		}
	}
	return rebased
}

// pathsOf returns path, base blob and result blob of every file that an outcome records.
func pathsOf(r *event.Record) [][3]string {
	var out [][3]string
	for _, p := range r.Outcome().Paths {
		out = append(out, [3]string{p.Path, p.Base, p.Result})
	}
	return out
}

// anyPath returns a path for a finding about the whole commit.
func (a *act) anyPath() string {
	if len(a.files) > 0 {
		return a.files[0].Path
	}
	return strings.TrimSuffix(a.root, "/")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
