package cmd

import (
	"fmt"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalLint(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "lint",
		Usage:       "find rows that are not as odd writes them; exit 1 when there are any",
		ArgsUsage:   "[FILE...]",
		Description: "odd journal lint\nodd journal lint --fix old/2026-05-10-split.tsv",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "take out doubled tabs, and nothing else; the rest is still listed"},
			&cli.StringFlag{Name: "bundle", Usage: bundleHelp},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			files, err := journalFiles(env, c.String("bundle"), c.Args().Slice())
			if err != nil {
				return err
			}
			if c.Bool("fix") {
				if err := fixJournal(env, files); err != nil {
					return err
				}
			}
			return runJournalLint(env, files, c.Bool("json"))
		},
	})
}

// journalFinding is a finding as odd journal lint --json prints it. A file that
// cannot be read as a journal at all has one, on the line where reading ended.
type journalFinding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Fixable bool   `json:"fixable,omitempty"`
}

func runJournalLint(env Env, files []journalFile, asJSON bool) error {
	found := []journalFinding{}
	var rows [][]string
	for _, f := range files {
		_, problems, err := journal.Parse(f.bytes)
		if err != nil {
			problems = []journal.Problem{{Line: 1, Message: err.Error()}}
		}
		for _, p := range problems {
			found = append(found, journalFinding{f.name, p.Line, p.Message, p.Fixable})
			rows = append(rows, []string{fmt.Sprintf("%s:%d", f.name, p.Line), p.Message})
		}
	}
	var err error
	if asJSON {
		err = printJSON(env, found)
	} else {
		err = printRows(env, rows)
	}
	if err == nil && len(found) > 0 {
		err = exitCode(exitFault)
	}
	return err
}

// fixJournal repairs the files on disk, each whole or not at all, says which
// rows it changed, and leaves the repaired bytes in files.
func fixJournal(env Env, files []journalFile) error {
	for i, f := range files {
		fixed, rows, err := journal.Fix(f.bytes)
		if err != nil || len(rows) == 0 {
			continue // what cannot be read is a finding
		}
		if err := renameio.WriteFile(f.path, fixed, 0o644, renameio.WithExistingPermissions()); err != nil {
			return err
		}
		files[i].bytes = fixed
		for _, row := range rows {
			talk(env, "%s:%d: took out a doubled tab", f.name, row)
		}
	}
	return nil
}
