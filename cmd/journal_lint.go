package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalLint(env Env) *cli.Command {
	return verb("lint [FILE...]", "find malformed journal rows; exit 1 if there are any",
		"odd journal lint\n"+
			"odd journal lint --fix old/2026-05-10-split.tsv\n\n"+
			"A warning is a broken convention, such as a long title or a quality that does\n"+
			"not add up.",
		do(env, runJournalLint),
		&cli.BoolFlag{Name: "fix", Usage: "remove doubled tabs; the other findings are only listed"},
		&cli.BoolFlag{Name: "strict", Usage: "exit 1 for warnings too"},
		bundleFlag(),
		jsonFlag())
}

// journalFinding is a finding as odd journal lint --json prints it. A file that
// cannot be read as a journal at all has one, on the line where reading ended.
type journalFinding struct {
	File string `json:"file"`
	journal.Problem
}

func runJournalLint(c *cli.Context, env Env) error {
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
		problems, err := d.types.Lint(f.Name, f.Bytes)
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
		file := filepath.Join(d.root, filepath.FromSlash(f.Name))
		if d.named {
			file = env.absPath(f.Place)
		}
		if err := renameio.WriteFile(file, fixed, 0o644, renameio.WithExistingPermissions()); err != nil {
			return err
		}
		d.files[i].Bytes = fixed
		for _, row := range rows {
			talk(env, "%s:%d: removed a doubled tab", f.Place, row)
		}
	}
	return nil
}
