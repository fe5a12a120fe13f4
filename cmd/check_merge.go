package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// twoHands are the files of a bundle that two people write, besides its atoms. A run's
// are its own; where they were merged all the same, git's index or their reader tells.
var twoHands = []string{"pause.toml", "governance/*", "proposals/*.jsonl"}

// merging is what there is to be said of merges in the work tree at top: files that one
// left unfinished, and what git should know for the next.
func (b bundle) merging(ctx context.Context, top string, cfg config.Config) ([]okf.Problem, error) {
	r, err := repo.Open(top)
	if err != nil || r.Root() == "" {
		return nil, nil // nothing is merged there
	}
	out := b.halfMerged(r.Unmerged(ctx))
	lines, err := missingUnions(ctx, r, cfg.Root)
	for _, line := range lines {
		out = append(out, okf.Problem{Code: "odd-merge-union", Severity: okf.Info, Path: attributesFile, Line: 1,
			Message: "lacks the line " + line + ": two clones that both add there conflict when they are merged",
			Hint:    "add it; odd init writes the file where there is none"})
	}
	return out, err
}

const (
	attributesFile = ".gitattributes"
	conflictCode   = "odd-conflict"
)

// halfMerged are the files that git's index has in conflict, and those with git's marks
// in them, but for what the bundle's own problems tell.
func (b bundle) halfMerged(conflicts []string) []okf.Problem {
	var out []okf.Problem
	seen := map[string]bool{}
	for _, p := range b.problems {
		seen[p.Path] = seen[p.Path] || p.Code == conflictCode
	}
	files := disk.Dir(b.root)
	add := func(file string, certain bool) {
		p := &okf.Problem{Code: conflictCode, Severity: okf.Error, Line: 1, Message: "a merge is not finished", Hint: "mend the conflict, git add it and git commit, or git merge --abort"}
		_ = files.ReadMany([]string{file}, func(_ string, text []byte) error { // no link, no pipe, nothing too large
			if marked := okf.Conflict(text); marked != nil {
				p, certain = marked, true
			}
			return nil
		})
		if p.Path = file; certain && !seen[file] {
			seen[file] = true
			out = append(out, *p)
		}
	}
	for _, pattern := range twoHands {
		names, _ := filepath.Glob(filepath.Join(b.root, filepath.FromSlash(pattern)))
		for _, name := range names {
			if st, err := os.Lstat(name); err == nil && st.Mode().IsRegular() {
				rel, _ := filepath.Rel(b.root, name)
				add(filepath.ToSlash(rel), false)
			}
		}
	}
	for _, name := range conflicts {
		if rel, in := strings.CutPrefix(name, b.prefix+"/"); in || b.prefix == "" {
			add(rel, true)
		}
	}
	return out
}
