package cmd

import (
	"fmt"
	"os"
	"path"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "journal",
		Usage:       "keep the notes of what was decided, observed and learned",
		Description: "odd journal add L \"Tides win\" \"Slack water is the only time beginners stay dry.\"\nodd journal list --type D\nodd journal lint --fix",
		Subcommands: []*cli.Command{journalAdd(env), journalList(env), journalLint(env)},
	})
}

func journalList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "list",
		Usage:       "list the entries, oldest file first",
		ArgsUsage:   "[FILE...]",
		Description: "odd journal list --type O-open --full",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "only entries of `TYPE`: a letter, or O-open"},
			&cli.BoolFlag{Name: "full", Usage: "the content too"},
			&cli.StringFlag{Name: "bundle", Usage: bundleHelp},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			files, err := journalFiles(env, c.String("bundle"), c.Args().Slice())
			if err != nil {
				return err
			}
			return runJournalList(env, files, c.String("type"), c.Bool("full"), c.Bool("json"))
		},
	})
}

// journalRow is an entry as odd journal list --json prints it.
type journalRow struct {
	File    string          `json:"file"`
	Line    int             `json:"line"`
	Type    string          `json:"type"`
	Facet   string          `json:"facet,omitempty"`
	Name    string          `json:"type_name,omitempty"`
	Score   string          `json:"quality_score,omitempty"`
	Max     string          `json:"quality_max,omitempty"`
	Level   string          `json:"quality_level,omitempty"`
	Title   string          `json:"title"`
	Content string          `json:"content,omitempty"`
	More    []journal.Field `json:"more,omitempty"`
}

func runJournalList(env Env, files []journalFile, want string, full, asJSON bool) error {
	list := []journalRow{}
	var rows [][]string
	findings := 0
	for _, f := range files {
		entries, problems, err := journal.Parse(f.bytes)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		findings += len(problems)
		for _, e := range entries {
			id := e.ID()
			if want != "" && want != id && want != e.Type {
				continue
			}
			list = append(list, journalRow{f.name, e.Line, e.Type, e.Facet, e.TypeName, e.Score, e.Max, e.Level, e.Title, e.Content, e.More})
			row := []string{fmt.Sprintf("%s:%d", f.name, e.Line), id, e.Title}
			if full {
				row = append(row, e.Content)
			}
			rows = append(rows, row)
		}
	}
	if findings > 0 {
		talk(env, "journal list: %d findings; odd journal lint lists them", findings)
	}
	if asJSON {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}

// journalFile is one file of entries: name is what messages call it, path
// where it lies.
type journalFile struct {
	name, path string
	bytes      []byte
}

// journalFiles reads the files named, or every one of the bundle.
func journalFiles(env Env, dir string, args []string) ([]journalFile, error) {
	var files []journalFile
	for _, arg := range args {
		b, err := os.ReadFile(env.path(arg))
		if err != nil {
			return nil, err
		}
		files = append(files, journalFile{arg, env.path(arg), b})
	}
	if len(args) > 0 {
		return files, nil
	}
	root, prefix, err := bundleDir(env, dir)
	if err != nil {
		return nil, err
	}
	err = journal.Walk(os.DirFS(root), func(file string, b []byte) error {
		files = append(files, journalFile{path.Join(prefix, file), env.path(path.Join(root, file)), b})
		return nil
	})
	return files, err
}
