package drain

import (
	"fmt"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/policy"
)

// misplacedFiles lists the files that a candidate adds where the base has no room for
// them: below a file, and under the name that another has where neither case nor
// the composition of letters counts, as on a Mac. There Knowledge/terms/x.md would
// be an atom.
func (ch *change) misplacedFiles(c pipeline.Candidate) (no pipeline.Unusable, err error) {
	for _, e := range c.Files {
		if e.Before != nil || e.After == nil {
			continue
		}
		why, err := ch.whatIsInTheWay(e.Path)
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
func (ch *change) whatIsInTheWay(name string) (string, error) {
	dir := ""
	for part := range strings.SplitSeq(name, "/") {
		here := path.Join(dir, part)
		oid, mode, err := ch.d.repo.Find(ch.c.base, here)
		if err != nil {
			return "", err
		}
		if oid == "" {
			return ch.findLikeName(dir, part)
		}
		if here != name && !strings.HasPrefix(mode, "4") {
			return fmt.Sprintf("is below %q, which is a file", here), nil
		}
		dir = here
	}
	return "", nil
}

// findLikeName names what a folder of the base has under a name that is part but for case.
func (ch *change) findLikeName(dir, part string) (string, error) {
	names, err := ch.d.repo.Names(ch.c.base, dir)
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
