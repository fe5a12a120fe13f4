package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

// bringsRepository reports a person's merge that brings another repository, its i-th parent, in:
// of what only grows there, and was found to be gone, all is below one folder, as git
// subtree has it, or where it lay. It is that repository's to keep, and where it is now a
// person's files like others.
func (j *judge) bringsRepository(i int, gone []string) (bool, error) {
	if i == 0 || j.kind != person || len(gone) == 0 {
		return false, nil
	}
	if ours, err := j.isSameRepository(i); ours || err != nil {
		return false, err
	}
	if all, err := j.keepsAllBelow("", i, gone); all || err != nil {
		return all, err
	}
	for _, ch := range j.sides[i] {
		folder, is := strings.CutSuffix(ch.Path, "/"+gone[0])
		if !is || ch.New == "" {
			continue
		}
		if all, err := j.keepsAllBelow(folder+"/", i, gone); all || err != nil {
			return all, err
		}
	}
	return false, nil
}

// isSameRepository reports that the i-th parent is no other repository than the first: it holds
// what that began with, their bundles hold something in common that none has but by going
// on from the other, or it is the one that goes on from what the range stands on.
func (j *judge) isSameRepository(i int) (bool, error) {
	ours, err := j.findRoot(j.Parents[0])
	if err != nil {
		return false, err
	}
	if in, err := j.isAncestor(ours, j.Parents[i]); in || err != nil {
		return in, err
	}
	if in, err := j.sharesFiles(i); in || err != nil || j.from == "" {
		return in, err
	}
	j.own = true // whatever another range stands on
	if in, err := j.isAncestor(j.from, j.Parents[0]); in || err != nil {
		return false, err
	}
	return j.isAncestor(j.from, j.Parents[i])
}

// sharesFiles reports a ledger of the same run in the bundles of the first and the i-th parent,
// or the same task or file that only grows.
func (j *judge) sharesFiles(i int) (bool, error) {
	ours, err := j.listFiles(j.Parents[0], strings.TrimSuffix(j.roots[0], "/"))
	if err != nil {
		return false, err
	}
	theirs, err := j.listFiles(j.Parents[i], strings.TrimSuffix(j.roots[i], "/"))
	if err != nil {
		return false, err
	}
	blobs := map[string]repo.OID{}
	for _, f := range ours {
		blobs[strings.TrimPrefix(f.Path, j.roots[0])] = f.New
	}
	return slices.ContainsFunc(theirs, func(f repo.Change) bool {
		rel := strings.TrimPrefix(f.Path, j.roots[i])
		blob, both := blobs[rel]
		run := strings.HasPrefix(ledgerRun(rel), "run-")
		return both && (run || blob == f.New && (appendOnly(rel) || path.Dir(rel) == board.Folder))
	}), nil
}

// keepsAllBelow reports that every file that is gone of the i-th parent is behind a prefix, and has grown at most.
func (j *judge) keepsAllBelow(prefix string, i int, gone []string) (bool, error) {
	for _, name := range gone {
		was, err := j.findBlob(j.Parents[i], name)
		if err != nil {
			return false, err
		}
		is, err := j.findBlob(j.OID, prefix+name)
		if err != nil || is == "" {
			return false, err
		}
		b, err := j.trees.Blob(repo.OID(is))
		if err != nil {
			return false, err
		}
		if _, grown, err := j.countKeptLines(b, []repo.OID{repo.OID(was)}); err != nil || !grown {
			return false, err
		}
	}
	return true, nil
}

// findRoot is the root commit that the first parents of a commit lead to.
func (h *history) findRoot(at repo.OID) (repo.OID, error) {
	for {
		c, err := h.readCommit(at)
		if err != nil || len(c.Parents) == 0 {
			return at, err
		}
		at = c.Parents[0]
	}
}
