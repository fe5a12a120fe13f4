package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

// bringsRepository reports a person's merge that brings in another repository as its i-th
// parent. All append-only files in gone are then below one folder, as git subtree puts them,
// or where they were. They are that repository's records, and here they are ordinary files.
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

// isSameRepository reports that the i-th parent is of the same repository as the first. They
// share the first one's root commit or files of their bundles, or only the i-th continues
// from the start of the range.
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
	j.own = true // another range may start elsewhere
	if in, err := j.isAncestor(j.from, j.Parents[0]); in || err != nil {
		return false, err
	}
	return j.isAncestor(j.from, j.Parents[i])
}

// sharesFiles reports bundles with a ledger of the same run, or with the same task or
// append-only file.
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

// keepsAllBelow reports that every file in gone is below prefix now, with all its lines.
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

// findRoot returns the root commit that the first parents of a commit lead to.
func (h *history) findRoot(at repo.OID) (repo.OID, error) {
	for {
		c, err := h.readCommit(at)
		if err != nil || len(c.Parents) == 0 {
			return at, err
		}
		at = c.Parents[0]
	}
}
