package proof

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// spending sums ledgers at commits. Files are remembered by blob, months by
// tree, so a claim costs what its month changed.
type spending struct {
	repo   *repo.Repo
	trees  *repo.Reader
	lines  *event.Reader
	files  *recall[event.FileSum]
	months *recall[event.FileSum]
	sums   *recall[event.Spend] // by the ledger's tree
}

func newSpending(r *repo.Repo, trees *repo.Reader) spending {
	return spending{r, trees, &event.Reader{}, recalling[event.FileSum](manyFiles), recalling[event.FileSum](someLedgers), recalling[event.Spend](fewTrees)}
}

// at is what the ledgers of a commit say was spent and reserved.
func (s spending) at(ctx context.Context, commit repo.OID, root string) (event.Spend, error) {
	dir := root + "/ledger"
	tree, mode, err := s.trees.Find(commit, dir)
	if err != nil || mode != folder {
		return event.Spend{}, err
	}
	if sum, ok := s.sums.get(tree); ok {
		return sum, nil
	}
	files, err := s.repo.Tree(tree)
	if err != nil {
		return event.Spend{}, err
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return event.Spend{}, err
	}
	var months []event.FileSum
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		oid, _, err := s.trees.Find(tree, e.Name())
		if err != nil {
			return event.Spend{}, err
		}
		m, err := s.month(ctx, oid)
		if err != nil {
			return event.Spend{}, fmt.Errorf("%s/%s/%w", dir, e.Name(), err)
		}
		months = append(months, m)
	}
	sum, err := event.Combine(months...)
	if err == nil {
		s.sums.put(tree, sum)
	}
	return sum, err
}

// month adds the files of one month into the sum of one file that held them all.
func (s spending) month(ctx context.Context, tree repo.OID) (event.FileSum, error) {
	if sum, ok := s.months.get(tree); ok {
		return sum, nil
	}
	files, err := s.trees.Diff(ctx, "", tree)
	if err != nil {
		return event.FileSum{}, err
	}
	var out event.FileSum
	for _, c := range files {
		if !ledgerFile(c) {
			continue
		}
		f, err := s.file(c.New)
		if err == nil {
			out, err = out.Merge(f)
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	s.months.put(tree, out)
	return out, nil
}

func (s spending) file(oid repo.OID) (event.FileSum, error) {
	if f, ok := s.files.get(oid); ok {
		return f, nil
	}
	b, err := s.trees.Blob(oid)
	if err != nil {
		return event.FileSum{}, err
	}
	f, err := s.lines.SumFile(b)
	if err == nil {
		s.files.put(oid, f)
	}
	return f, err
}

// clockFrom is the moment before which no claim on a board may be dated: that of the
// last record of its ledgers, or where a clock was ahead then, that of a person's odd
// drain resume on top of it.
func (s spending) clockFrom(ctx context.Context, tip repo.OID, law config.Config) (time.Time, error) {
	now, err := s.at(ctx, tip, law.Root)
	if err != nil {
		return now.Last, err
	}
	for c, err := range s.repo.PathLog(ctx, tip, law.Root+"/pause.toml") {
		if err != nil {
			return now.Last, err
		}
		if len(c.Trailer("Odd-Resumed-By")) != 1 || len(c.Trailer("Odd-Run")) > 0 || ofAgent(c, &law) {
			continue
		}
		then, err := s.at(ctx, c.OID, law.Root)
		if err != nil || then.Last.Before(now.Last) || now.Last.Before(c.Author.When) {
			return now.Last, err // nothing was ahead when that person looked
		}
		return c.Author.When, nil
	}
	return now.Last, nil
}
