package verify

import (
	"strconv"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

// findOtherRootFiles returns files of a person's root commit that is not the beginning of
// this history. It returns those that the end of the range still has in its bundle,
// unchanged or grown. A merge brought them in, and nothing proves them.
func (j *judge) findOtherRootFiles(look func(*file) bool) []*file {
	if len(j.Parents) > 0 || j.kind != person {
		return nil
	}
	root := j.OID
	j.dependOn(func(h *history) string { return strconv.FormatBool(h.spine[root]) })
	if j.spine[root] {
		return nil
	}
	var out []*file
	for _, f := range j.files {
		if f.rel == "" || !strings.HasPrefix(f.NewMode, "100") || !look(f) {
			continue
		}
		j.own = true // another range may end with other files
		is := j.findBundleBlob(j.to, f.rel)
		if j.isExtension(f.New, repo.OID(is)) {
			out = append(out, f)
		}
	}
	return out
}

// checkOtherRootLedgers reports the ledgers of runs in such a root commit.
func (j *judge) checkOtherRootLedgers() {
	all := j.findOtherRootFiles(func(f *file) bool { return strings.HasPrefix(ledgerRun(f.rel), "run-") })
	for _, f := range all {
		j.addFinding(f.Path, 1, "is a ledger in a commit without parents, where this history does not begin; nothing proves it")
	}
}

// checkOtherRootDone reports the tasks in such a root commit that are done.
func (j *judge) checkOtherRootDone() {
	all := j.findOtherRootFiles(func(f *file) bool { return strings.HasSuffix(f.rel, ".md") })
	for _, f := range all {
		a := j.readAtom(f.New, f.NewMode, f.rel)
		if taskState(a) == board.Done {
			j.addFinding(f.Path, a.Line("state"), "done in a commit without parents, where this history does not begin; nothing proves its approval")
		}
	}
}
