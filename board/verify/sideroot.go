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
func (j *judge) findOtherRootFiles(look func(*file) bool) ([]*file, error) {
	if len(j.Parents) > 0 || j.kind != person {
		return nil, nil
	}
	root := j.OID
	j.dependOn(func(h *history) (string, error) { return strconv.FormatBool(h.spine[root]), nil })
	if j.spine[root] {
		return nil, nil
	}
	var out []*file
	for _, f := range j.files {
		if f.rel == "" || !strings.HasPrefix(f.NewMode, "100") || !look(f) {
			continue
		}
		j.own = true // another range may end with other files
		is, err := j.findBundleBlob(j.to, f.rel)
		if err != nil {
			return nil, err
		}
		if stands, err := j.isExtension(f.New, repo.OID(is)); err != nil {
			return nil, err
		} else if stands {
			out = append(out, f)
		}
	}
	return out, nil
}

// checkOtherRootLedgers reports the ledgers of runs in such a root commit.
func (j *judge) checkOtherRootLedgers() error {
	all, err := j.findOtherRootFiles(func(f *file) bool { return strings.HasPrefix(ledgerRun(f.rel), "run-") })
	for _, f := range all {
		j.addFinding(f.Path, 1, "is a ledger in a commit without parents, where this history does not begin; nothing proves it")
	}
	return err
}

// checkOtherRootDone reports the tasks in such a root commit that are done.
func (j *judge) checkOtherRootDone() error {
	all, err := j.findOtherRootFiles(func(f *file) bool { return strings.HasSuffix(f.rel, ".md") })
	if err != nil {
		return err
	}
	for _, f := range all {
		a, err := j.readAtom(f.New, f.NewMode, f.rel)
		if err != nil {
			return err
		}
		if taskState(a) == board.Done {
			j.addFinding(f.Path, a.Line("state"), "done in a commit without parents, where this history does not begin; nothing proves its approval")
		}
	}
	return nil
}
