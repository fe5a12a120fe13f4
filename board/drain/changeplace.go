package drain

import (
	"fmt"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

// baseFiles are the files that a change is made on.
type baseFiles struct {
	repo   *repo.Repo
	commit repo.OID
}

func (ch *change) base() baseFiles { return baseFiles{ch.d.repo, ch.c.base} }

// misplaced lists the files that a candidate adds where the base has no room for
// them: below a file, and under the name that another has where neither case nor
// the composition of letters counts, as on a Mac. There Knowledge/terms/x.md would
// be an atom.
func (b baseFiles) misplaced(c pipeline.Candidate) (no pipeline.Unusable, err error) {
	for _, e := range c.Files {
		if e.Before != nil || e.After == nil {
			continue
		}
		why, err := b.whatIsInTheWay(e.Path)
		if err != nil {
			return nil, err
		}
		if why != "" {
			no = append(no, pipeline.Fault{Code: "path_taken", At: e.Path, Text: why, Fix: "choose another path"})
		}
	}
	return no, nil
}

// whatIsInTheWay says what of the base is in the way of a new file, "" for nothing.
func (b baseFiles) whatIsInTheWay(name string) (string, error) {
	dir := ""
	for part := range strings.SplitSeq(name, "/") {
		here := path.Join(dir, part)
		oid, mode, err := b.repo.Find(b.commit, here)
		if err != nil {
			return "", err
		}
		if oid == "" {
			return b.findLikeName(dir, part)
		}
		if here != name && !strings.HasPrefix(mode, "4") {
			return fmt.Sprintf("is below %q, which is a file", here), nil
		}
		dir = here
	}
	return "", nil
}

// findLikeName names what a folder of the base has under a name that is part but for case.
func (b baseFiles) findLikeName(dir, part string) (string, error) {
	names, err := b.repo.Names(b.commit, dir)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if other := path.Join(dir, n); n != part && policy.FoldPath(n) == policy.FoldPath(part) {
			return fmt.Sprintf("differs from %q only in upper and lower case", other), nil
		}
	}
	return "", nil
}
