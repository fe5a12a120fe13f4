package object

import (
	"context"
	"fmt"
)

// Blame returns git blame of the lines first to last of a file in commit: the commit, author and date of each line.
// Settings of the user or of the work tree do not change it.
func (db *DB) Blame(ctx context.Context, commit OID, path string, first, last int) ([]byte, error) {
	if err := commit.Check(); err != nil {
		return nil, err
	}
	oid, mode, err := db.Find(commit, path)
	if err != nil {
		return nil, err
	}
	if oid == "" || len(mode) == 0 || mode[0] != '1' {
		return nil, fmt.Errorf("%s: is no file of %s", path, commit)
	}
	return db.git.Read(ctx, "-c", "blame.ignoreRevsFile=", "blame", "--no-textconv", "--date=short", "--no-progress", "-L", fmt.Sprintf("%d,%d", max(first, 1), max(last, 1)), string(commit), "--", path)
}
