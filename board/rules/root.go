package rules

import (
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

// findOtherRootFiles returns files of a person's root commit that is not the beginning of this history. It returns
// those that the end of the range still has in its bundle, unchanged or grown. A merge brought them in, and nothing
// proves them.
func (j *judge) findOtherRootFiles(look func(*File) bool) []*File {
	if len(j.Parents) > 0 || j.Kind != Person {
		return nil
	}
	if j.BeginsHere(j.OID) {
		return nil
	}
	var out []*File
	for _, f := range j.Files {
		if f.Rel == "" || !strings.HasPrefix(f.NewMode, "100") || !look(f) {
			continue
		}
		is := j.FindInBundle(j.End(), f.Rel)
		if j.IsExtension(f.New, repo.OID(is)) {
			out = append(out, f)
		}
	}
	return out
}

// checkOtherRootLedgers reports the ledgers of runs in such a root commit.
func (j *judge) checkOtherRootLedgers() {
	for _, f := range j.findOtherRootFiles(func(f *File) bool { return strings.HasPrefix(LedgerRun(f.Rel), "run-") }) {
		j.addFinding(f.Path, 1, "is a ledger in a commit without parents, where this history does not begin; nothing proves it")
	}
}

// checkOtherRootDone reports the tasks in such a root commit that are done.
func (j *judge) checkOtherRootDone() {
	for _, f := range j.findOtherRootFiles(func(f *File) bool { return strings.HasSuffix(f.Rel, ".md") }) {
		a := j.ReadAtom(f.New, f.NewMode, f.Rel)
		if taskState(a) == board.Done {
			j.addFinding(f.Path, a.Line("state"), "done in a commit without parents, where this history does not begin; nothing proves its approval")
		}
	}
}
