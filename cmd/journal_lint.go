package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/handoff"
)

func journalLint(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "lint",
		Usage:     "find malformed journal rows; exit 1 if there are any",
		ArgsUsage: "[FILE...]",
		Description: "odd journal lint\n" +
			"odd journal lint --fix old/2026-05-10-split.tsv\n" +
			"odd journal lint --p0008 reviews/pr-30.md\n\n" +
			"A warning is a broken convention, such as a long title or a quality that does\n" +
			"not add up. A FILE that ends in .jsonl is read as a list of decisions or\n" +
			"learnings in JSON lines. --p0008 reads the markdown files that a validator\n" +
			"writes of a review.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "remove doubled tabs; the other findings are only listed"},
			&cli.BoolFlag{Name: "strict", Usage: "exit 1 for warnings too"},
			&cli.BoolFlag{Name: "p0008", Usage: "check review files (markdown) instead: sections, verdict, and evidence at the named commit"},
			bundleFlag(),
			jsonFlag(),
		},
		Action: do(env, runJournalLint),
	})
}

// journalFinding is a finding as odd journal lint --json prints it. A file that
// cannot be read as a journal at all has one, on the line where reading ended.
type journalFinding struct {
	File string `json:"file"`
	journal.Problem
}

func runJournalLint(c *cli.Context, env Env) error {
	if c.Bool("p0008") {
		return runReviewLint(c, env)
	}
	d, err := openDiary(c, env, c.Args().Slice()...)
	if err != nil {
		return err
	}
	if c.Bool("fix") {
		if err := d.fixFiles(env); err != nil {
			return err
		}
	}
	var found []journalFinding
	located := func(all []journal.Located) {
		for _, l := range all {
			found = append(found, journalFinding{l.File, journal.Problem{Line: l.Line, Message: l.Text}})
		}
	}
	located(d.canon)
	for _, f := range d.files {
		problems, err := d.lintFile(f)
		if err != nil {
			problems = []journal.Problem{{Line: 1, Message: err.Error()}}
		}
		for _, p := range problems {
			found = append(found, journalFinding{f.Place, p})
		}
	}
	if !d.named { // links lead to other files
		located(d.types.Book(d.files).Links)
	}
	return printLint(c, env, found)
}

func (d journalFiles) lintFile(f journal.File) ([]journal.Problem, error) {
	if filepath.Ext(f.Name) == ".jsonl" {
		_, problems, err := journal.ReadLines(f.Bytes)
		return problems, err
	}
	return d.types.Lint(f.Name, f.Bytes)
}

// printLint lists the findings, and fails when one is an error.
func printLint(c *cli.Context, env Env, found []journalFinding) error {
	var rows [][]string
	bad := false
	for _, f := range found {
		text := f.Message
		if f.Warning {
			text = "warning: " + text
		}
		bad = bad || !f.Warning || c.Bool("strict")
		rows = append(rows, []string{fmt.Sprintf("%s:%d", f.File, f.Line), text})
	}
	return orFault(show(env, c.Bool("json"), orEmpty(found), rows...), bad)
}

// fixFiles repairs the files on disk, each whole or not at all, says which rows it
// changed, and leaves the repaired bytes in the diary.
func (d journalFiles) fixFiles(env Env) error {
	for i, f := range d.files {
		fixed, rows, err := journal.Fix(f.Bytes)
		if err != nil || len(rows) == 0 {
			continue // what cannot be read is a finding
		}
		if err := renameio.WriteFile(d.filePath(env, f), fixed, 0o644, renameio.WithExistingPermissions()); err != nil {
			return err
		}
		d.files[i].Bytes = fixed
		for _, row := range rows {
			talk(env, "%s:%d: removed a doubled tab", f.Place, row)
		}
	}
	return nil
}

// runReviewLint lints the reviews of validators. Evidence is looked up in the
// repository env.Dir is in; outside of one that is a finding.
func runReviewLint(c *cli.Context, env Env) error {
	if c.Bool("fix") || c.NArg() == 0 {
		return usage("journal lint: --p0008 wants the files to read, and has nothing to fix")
	}
	var found []journalFinding
	for _, arg := range c.Args().Slice() {
		b, err := readFile(env, arg)
		if err != nil {
			return err
		}
		for _, p := range journal.LintReview(b, newEvidence(c.Context, env)) {
			found = append(found, journalFinding{arg, p})
		}
	}
	return printLint(c, env, found)
}

// newEvidence looks files up in commits of the repository.
func newEvidence(ctx context.Context, env Env) journal.Evidence {
	trees := map[string]fs.FS{}
	return func(commit, file string) (int, error) {
		tree, ok := trees[commit]
		if !ok {
			r, err := repo.Open(env.Dir, env.Environ)
			if err != nil {
				return 0, errors.New("no git repository to look it up in")
			}
			oid, err := r.Resolve(ctx, commit)
			if err != nil {
				return 0, fmt.Errorf("commit %s is not in this repository", commit)
			}
			if tree, err = r.Tree(oid); err != nil {
				return 0, err
			}
			trees[commit] = tree
		}
		b, err := fs.ReadFile(tree, file)
		if err != nil {
			return 0, fmt.Errorf("no such file in %s", commit)
		}
		return handoff.LineCount(b), nil
	}
}
