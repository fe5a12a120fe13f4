package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

var growthRule = Rule{Row{
	N: 14, Name: "Append-only", Unit: "files and records",
	Promise:  "Append-only files only grow, and a ledger has only its own run's records.",
	Reads:    "ledger/**.jsonl, journal/*.tsv, proposals/*.jsonl and governance/*.jsonl in every commit, against each parent",
	Compares: "The old bytes begin the new ones, and no file is deleted. A person may remove a doubled tab, restore what was rewritten or deleted, and take back the end of a change that they decided, as git revert of an approval does. The files of another repository that a person's merge brings in are kept, in a folder or where they lay. That it is another repository is seen from its commits, ledgers and tasks, and from what the range stands on. A folder that becomes the bundle is judged as if the bundle had moved there. A root commit beside the first brings in no ledger. A run has one ledger file, in the month it began in. It holds the run's own records, added by that run and encoded as odd encodes them. A file that was deleted and comes back has new records only at its end. An outcome's trace is the SHA-256 of the bytes before it, and the Odd-Trace of its commits.",
	Attested: "that a branch was not rewritten before this clone fetched it; for a check from the first commit, which of two repositories goes on, where one took the other into a folder",
	Remedy:   "put the old file back in a commit of your own: git checkout COMMIT^ -- FILE",
	Broken:   "A file that may only grow was shortened, edited or deleted.",
}, judgeGrowth, true}

func judgeGrowth(j *judge) {
	for i, side := range j.Sides {
		if len(j.Parents) == 0 {
			break
		}
		before := len(j.found)
		gone := j.checkAppendOnly(side, j.Roots[i])
		if j.bringsRepository(i, gone) {
			j.found = j.found[:before]
		}
	}
	for i := range j.found { // one act, so one finding for all its files
		if j.found[i].Cause = growthCause(j.OID); len(j.found) > 1 && len(j.Parents) == 1 {
			j.found[i].Way = fmt.Sprintf("put them back: git revert %s", ShortID(string(j.OID)))
		}
	}
	if len(j.Parents) == 0 && j.Kind == Person {
		j.checkOtherRootLedgers()
		return // checks nothing where the history begins
	}
	j.checkReadable()
	j.checkOneLedger()
	for _, l := range j.Lines {
		j.checked++
		j.checkLine(l)
	}
	if j.Kind != Proposal {
		return
	}
	r := j.findOutcome()
	if got := Trailer(j.Commit, "Odd-Trace"); r.Record != nil && got != r.Trace {
		j.addFinding(j.anyPath(), 1, "the proposal's Odd-Trace is %s, the trace of its outcome %s", cmp.Or(ShortID(got), "missing"), ShortID(r.Trace))
	}
}

// growthCause is the cause of what a commit did to the old lines of append-only files.
func growthCause(commit repo.OID) string { return "grown " + string(commit) }

// IsAppendOnly reports whether a file, named below the bundle root, is append-only.
func IsAppendOnly(rel string) bool {
	switch dir, name := path.Split(rel); dir {
	case "journal/":
		return strings.HasSuffix(name, ".tsv")
	case "proposals/", "governance/":
		return strings.HasSuffix(name, ".jsonl")
	}
	return strings.HasPrefix(rel, "ledger/") && strings.HasSuffix(rel, ".jsonl")
}

// checkAppendOnly compares the append-only files that differ from one parent, whose bundle was at root. It returns the
// parent's files for which it has a finding. If the whole bundle moved, it compares file by file.
func (j *judge) checkAppendOnly(side []repo.Change, root string) (gone []string) {
	now := map[string]repo.Change{}
	for _, ch := range side {
		if rel, ok := strings.CutPrefix(ch.Path, j.Root); ok && IsAppendOnly(rel) && ch.New != "" {
			now[rel] = ch
		}
	}
	for _, was := range side {
		rel, ok := strings.CutPrefix(was.Path, root)
		if !ok || !IsAppendOnly(rel) || was.Old == "" {
			continue
		}
		found := len(j.found)
		j.checkGrows(rel, was, now)
		if len(j.found) > found {
			gone = append(gone, was.Path)
		}
	}
	return gone
}

// checkGrows compares one append-only file with its successor in now. A person may restore governance/ as the last gate
// left it, even if the file gets shorter.
func (j *judge) checkGrows(rel string, was repo.Change, now map[string]repo.Change) {
	if strings.HasPrefix(rel, "governance/") {
		if j.restoresGovernance() {
			return
		}
	}
	j.checked++
	is, ok := now[rel]
	if !ok {
		if j.isWithdrawn(rel, was) {
			return
		}
		j.addFinding(was.Path, 1, "is append-only and was deleted")
		j.suggestCheckout(was.Path)
		return
	}
	j.checkPrefix(rel, was, is)
}

// checkPrefix reports a file that does not begin with its old bytes. A person may repair a journal, merge journals by
// union, or put back an earlier version.
func (j *judge) checkPrefix(rel string, was, is repo.Change) {
	old := j.ReadFile(was.Old, was.OldMode)
	b := j.ReadFile(is.New, is.NewMode)
	if bytes.HasPrefix(b, old) && b != nil {
		return
	}
	if j.Kind == Person && path.Ext(is.Path) == ".tsv" {
		if fixed, _, err := journal.Fix(old); err == nil && bytes.HasPrefix(b, fixed) {
			return
		}
		if j.isUnion(old, b, is.Path) {
			return
		}
	}
	if !strings.HasPrefix(rel, "governance/") { // may only be put back as the last gate left it
		if good := j.FindPutBack(j.Commit, rel, is); good != "" {
			return
		}
	}
	j.addFinding(is.Path, firstDifference(old, b), "is append-only, and old lines of it were changed")
	j.suggestCheckout(is.Path)
}

// suggestCheckout gives the last finding a command that restores the file from the only parent.
func (j *judge) suggestCheckout(name string) {
	if len(j.Parents) == 1 && !strings.ContainsAny(name, " '\"$&;()*?[]`\\") {
		j.setWay(fmt.Sprintf("put it back: git checkout %s -- %s && git commit -m \"put it back\"", ShortID(string(j.Parents[0])), name))
	}
}

// isUnion reports a merge whose file is the union of its parents' lines, as .gitattributes asks.
func (j *judge) isUnion(old, b []byte, name string) bool {
	if len(j.Parents) < 2 {
		return false
	}
	theirs := map[string]bool{}
	for _, p := range j.Parents {
		oid := j.FindFile(p, name)
		if oid == "" {
			continue
		}
		for row := range bytes.SplitSeq(j.Blob(repo.OID(oid)), []byte("\n")) {
			theirs[string(row)] = true
		}
	}
	return keepsRows(old, b, theirs)
}

// keepsRows reports whether b has every line of old in order, and otherwise only lines of theirs. A missing last
// newline does not matter.
func keepsRows(old, b []byte, theirs map[string]bool) bool {
	left := bytes.Split(bytes.TrimSuffix(old, []byte("\n")), []byte("\n"))
	for row := range bytes.SplitSeq(b, []byte("\n")) {
		switch {
		case len(left) == 0:
			return true
		case bytes.Equal(row, left[0]):
			left = left[1:]
		case !theirs[string(row)]:
			return false
		}
	}
	return len(left) == 0
}

// firstDifference returns the line at which b stops being equal to old.
func firstDifference(old, b []byte) int {
	n := 0
	for n < len(old) && n < len(b) && old[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(old[:n], []byte("\n"))
}

// checkOneLedger reports a new ledger in a month where readers do not look for it, and a run's second ledger in another
// month.
func (j *judge) checkOneLedger() {
	for _, f := range j.Files {
		run := LedgerRun(f.Rel)
		if run == "" || f.Old != "" || f.New == "" {
			continue
		}
		j.checkLedgerMonth(f)
		for _, m := range j.Names(j.OID, j.Root+"ledger") {
			rel := "ledger/" + m + "/" + run + ".jsonl"
			if other := j.FindInBundle(j.OID, rel); other != "" && rel != f.Rel {
				j.addFinding(f.Path, 1, "is a second ledger file of %s, which has %s; a run keeps one, from its beginning", run, rel)
			}
		}
	}
}

// checkLedgerMonth reports a new ledger in the wrong folder. The right one is the month of its first record or its
// commit, or the month before, because a run may begin just before midnight.
func (j *judge) checkLedgerMonth(f *File) {
	month := path.Base(path.Dir(f.Rel))
	at, err := time.Parse("2006-01", month)
	i := slices.IndexFunc(j.Lines, func(l Line) bool { return l.Path == f.Path && l.N == 1 })
	if err == nil && i < 0 {
		return // it was moved, or holds no record
	}
	if err == nil {
		for _, began := range []time.Time{j.Lines[i].Record.TS, j.Author.When} {
			if is := event.Month(began); is == month || is == event.Month(at.AddDate(0, 1, 0)) {
				return
			}
		}
	}
	j.addFinding(f.Path, 1, "is a ledger in %s; a run's lies in the month it began in, or its records are not found", path.Dir(f.Rel))
}

// checkReadable reports the first unreadable line of a ledger.
func (j *judge) checkReadable() {
	for _, f := range j.Files {
		if f.Broken == nil {
			continue
		}
		j.addFinding(f.Path, f.BrokenAt, "%s", strings.TrimPrefix(f.Broken.Error(), fmt.Sprintf("line %d: ", f.BrokenAt)))
	}
}

// checkLine checks one new record: whether its commit may add it, and whether its trace is right.
func (j *judge) checkLine(l Line) {
	run := strings.TrimSuffix(path.Base(l.Path), ".jsonl")
	switch {
	case l.Record.Run != run:
		j.addFinding(l.Path, l.N, "is a record of %s in the file of %s", l.Record.Run, run)
	case (j.Kind == Person || j.Run != run) && !j.isPersonsEnding(l.Record):
		j.addFinding(l.Path, l.N, "is a record of %s that another commit than its own adds", run)
	case !l.Plain:
		j.addFinding(l.Path, l.N, "this record was not written by odd: odd writes keys in order, each once, no space between, nothing escaped without need")
	}
	if l.Record.Kind != event.Outcome {
		return
	}
	if l.Record.Trace != l.Trace {
		j.addFinding(l.Path, l.N, "the trace is %s, the bytes before it make %s", cmp.Or(ShortID(l.Record.Trace), "missing"), ShortID(l.Trace))
		return
	}
	if got := Trailer(j.Commit, "Odd-Trace"); got != l.Record.Trace {
		j.addFinding(l.Path, l.N, "the trace is %s, the commit's Odd-Trace %s", ShortID(l.Record.Trace), cmp.Or(ShortID(got), "missing"))
	}
}
