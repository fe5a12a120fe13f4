package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// twoHands are the files of a bundle that two people write, besides its atoms. A run's
// are its own; where they were merged all the same, git's index or their reader tells.
var twoHands = []string{"pause.toml", "governance/*", "proposals/*.jsonl"}

// checkMerges returns findings about merges in the work tree that top, the folder of
// odd.toml, lies in: files that one left unfinished, and what git should know for the next.
func (b bundle) checkMerges(ctx context.Context, env Env, top string) ([]okf.Problem, error) {
	r, err := repo.Open(top, env.Environ)
	if err != nil || r.Root() == "" {
		return nil, nil // nothing is merged there
	}
	folder, in := pathBelow(r, top)
	lies, bundled := pathBelow(r, b.root)
	if !in || !bundled {
		return b.halfMerged(nil), nil // a link leads to where git merges nothing
	}
	out := b.halfMerged(namesBelow(lies, r.Unmerged(ctx)))
	lines, err := missingUnions(ctx, r, lies)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		out = append(out, okf.Problem{Code: "odd-merge-union", Severity: okf.Info, Path: "./" + attributesFile, Line: 1,
			Message: "lacks the line " + line + ": two clones that both add there conflict when they are merged",
			Hint:    "add it; odd init writes the file where there is none"})
	}
	converted, err := findConverted(ctx, r, lies)
	for _, c := range converted {
		p := okf.Problem{Code: "odd-converted", Severity: okf.Warn, Path: attributesFile, Line: 1, Message: c.Error(), Hint: "until then odd refuses to write such files"}
		if c.File != "" {
			p.Path, p.Line = seenFrom(r, folder, lies, c.File), c.Line
			p.Message = strings.TrimPrefix(p.Message, fmt.Sprintf("%s:%d: ", c.File, c.Line))
		}
		out = append(out, p)
	}
	return out, err
}

// seenFrom returns where a file is from the bundle that lies in a folder of r's work tree, for
// a finding. folder is the one of odd.toml, whose own file is named as it is from there.
func seenFrom(r *repo.Repo, folder, lies, file string) string {
	if path.Join(folder, attributesFile) == file {
		return attributesFile
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Root(), filepath.FromSlash(file))
	}
	rel, err := filepath.Rel(filepath.Join(r.Root(), filepath.FromSlash(lies)), file)
	if err != nil {
		return filepath.ToSlash(file) // on another drive
	}
	if rel == attributesFile {
		return "./" + rel // of the bundle itself, not the one beside odd.toml
	}
	return filepath.ToSlash(rel)
}

// findConverted returns the git attributes that would change the bytes of what odd writes.
// Each is named once.
func findConverted(ctx context.Context, r *repo.Repo, root string) (out []repo.Converted, err error) {
	head, err := r.Ref("HEAD")
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return nil, err
	}
	ch := repo.Changes{}
	for _, name := range []string{"tasks/a.md", "journal/a.tsv", "ledger/a/a.jsonl", "proposals/a.jsonl", "governance/gates.jsonl", "pause.toml"} {
		ch[path.Join(root, name)] = []byte{'\n'}
	}
	all, err := r.Converted(ctx, head, ch)
	said := map[string]bool{}
	for _, c := range all {
		if by := fmt.Sprint(c.File, c.Line, c.Has); !said[by] {
			said[by] = true
			out = append(out, c)
		}
	}
	return out, err
}

// pathBelow returns the path of a folder from the top of r's work tree, "." for the top itself;
// in is false where it lies outside.
func pathBelow(r *repo.Repo, dir string) (rel string, in bool) {
	real, err := filepath.EvalSymlinks(dir) // as the top is
	if err != nil {
		real = dir // the folder is not there yet
	}
	rel, err = filepath.Rel(r.Root(), real)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// namesBelow returns the files that lie below a folder, as they are named from there.
func namesBelow(folder string, files []string) []string {
	var out []string
	for _, name := range files {
		if rel, in := strings.CutPrefix(name, folder+"/"); in || folder == "." {
			out = append(out, rel)
		}
	}
	return out
}

const (
	attributesFile = ".gitattributes"
	conflictCode   = "odd-conflict"
)

// halfMerged returns the files of the bundle that git's index has in conflict, and those with
// git's marks in them, but for what the bundle's own problems tell.
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
		names, _ := fs.Glob(files, pattern)
		for _, name := range names {
			add(name, false)
		}
	}
	for _, name := range conflicts {
		add(name, true)
	}
	return out
}
