package proof

import (
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

// broughtIn reports a person's merge that brings another repository, its i-th parent, into
// a folder of its own, as git subtree does: the two have not begun alike, and of what
// only grows there, and was found to be gone, all is below that folder. It is that
// repository's to keep, and where it is now a person's files like others.
func (j *judge) broughtIn(i int, gone []string) (bool, error) {
	if i == 0 || j.kind != person || len(gone) == 0 {
		return false, nil
	}
	ours, err := j.beginning(j.Parents[0])
	if err != nil {
		return false, err
	}
	if theirs, err := j.beginning(j.Parents[i]); err != nil || theirs == ours {
		return false, err
	}
	for _, ch := range j.sides[i] {
		folder, is := strings.CutSuffix(ch.Path, "/"+gone[0])
		if !is || ch.New == "" {
			continue
		}
		if all, err := j.below(folder, i, gone); all || err != nil {
			return all, err
		}
	}
	return false, nil
}

// below reports that every file that is gone of the i-th parent is below a folder, and has grown at most.
func (j *judge) below(folder string, i int, gone []string) (bool, error) {
	for _, name := range gone {
		was, err := j.blobAt(j.Parents[i], name)
		if err != nil {
			return false, err
		}
		is, err := j.blobAt(j.OID, folder+"/"+name)
		if err != nil || is == "" {
			return false, err
		}
		b, err := j.trees.Blob(repo.OID(is))
		if err != nil {
			return false, err
		}
		if _, grown, err := j.kept(b, []repo.OID{repo.OID(was)}); err != nil || !grown {
			return false, err
		}
	}
	return true, nil
}

// beginning is the root commit that the first parents of a commit lead to.
func (h *history) beginning(at repo.OID) (repo.OID, error) {
	for {
		c, err := h.commit(at)
		if err != nil || len(c.Parents) == 0 {
			return at, err
		}
		at = c.Parents[0]
	}
}
