package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

// bringsRepository reports a person's merge that brings in another repository as its i-th parent. All append-only files
// in gone are then below one folder, as git subtree puts them, or where they were. They are that repository's records,
// and here they are ordinary files.
func (j *judge) bringsRepository(i int, gone []string) bool {
	if i == 0 || j.Kind != Person || len(gone) == 0 {
		return false
	}
	if j.isSameRepository(i) {
		return false
	}
	if all := j.keepsAllBelow("", i, gone); all {
		return all
	}
	for _, ch := range j.Sides[i] {
		folder, is := strings.CutSuffix(ch.Path, "/"+gone[0])
		if !is || ch.New == "" {
			continue
		}
		if all := j.keepsAllBelow(folder+"/", i, gone); all {
			return all
		}
	}
	return false
}

// isSameRepository reports that the i-th parent is of the same repository as the first. They share the first one's root
// commit or files of their bundles, or only the i-th continues from the start of the range.
func (j *judge) isSameRepository(i int) bool {
	if j.IsAncestor(j.findRoot(j.Parents[0]), j.Parents[i]) || j.sharesFiles(i) {
		return true
	}
	from := j.Start()
	return from != "" && !j.IsAncestor(from, j.Parents[0]) && j.IsAncestor(from, j.Parents[i])
}

// sharesFiles reports bundles with a ledger of the same run, or with the same task or append-only file.
func (j *judge) sharesFiles(i int) bool {
	ours := j.ListFiles(j.Parents[0], strings.TrimSuffix(j.Roots[0], "/"))
	theirs := j.ListFiles(j.Parents[i], strings.TrimSuffix(j.Roots[i], "/"))
	blobs := map[string]repo.OID{}
	for _, f := range ours {
		blobs[strings.TrimPrefix(f.Path, j.Roots[0])] = f.New
	}
	return slices.ContainsFunc(theirs, func(f repo.Change) bool {
		rel := strings.TrimPrefix(f.Path, j.Roots[i])
		blob, both := blobs[rel]
		run := strings.HasPrefix(LedgerRun(rel), "run-")
		return both && (run || blob == f.New && (IsAppendOnly(rel) || path.Dir(rel) == board.Folder))
	})
}

// keepsAllBelow reports that every file in gone is below prefix now, with all its lines.
func (j *judge) keepsAllBelow(prefix string, i int, gone []string) bool {
	for _, name := range gone {
		was := j.FindFile(j.Parents[i], name)
		is := j.FindFile(j.OID, prefix+name)
		if is == "" {
			return false
		}
		if _, grown := j.CountKeptLines(j.Blob(repo.OID(is)), []repo.OID{repo.OID(was)}); !grown {
			return false
		}
	}
	return true
}

// findRoot returns the root commit that the first parents of a commit lead to.
func (j *judge) findRoot(at repo.OID) repo.OID {
	for {
		c := j.ReadCommit(at)
		if len(c.Parents) == 0 {
			return at
		}
		at = c.Parents[0]
	}
}
