package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalScore(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "score",
		Usage:     "compute the quality of entries, and list what each lacks",
		ArgsUsage: "[FILE:LINE...]",
		Description: "odd journal score\n" +
			"odd journal score 2026-03-02-ann.tsv:2\n\n" +
			"Without an argument: one line an entry, with the quality in the row and the\n" +
			"one computed. With FILE:LINE: one line a criterion, met, missed or not scored,\n" +
			"and why.",
		Flags:  []cli.Flag{bundleFlag(), jsonFlag()},
		Action: do(env, runJournalScore),
	})
}

// scoreJSON is an entry with its quality.
type scoreJSON struct {
	journalRow
	Quality journal.Quality `json:"quality"`
}

func runJournalScore(c *cli.Context, env Env) error {
	refs := c.Args().Slice()
	d, err := openDiary(c.Context, env, c.String("bundle"), nil)
	if err != nil {
		return err
	}
	tellCanon(env, d.canon)
	book := d.types.Book(d.files)
	entries := book.Entries
	if len(refs) > 0 {
		entries = nil
	}
	for _, ref := range refs {
		e, err := d.one(book, ref)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	list := []scoreJSON{}
	var rows [][]string
	for _, e := range entries {
		q := d.types.Score(e.Entry)
		list = append(list, scoreJSON{rowOf(d.types, e), q})
		if len(refs) == 0 {
			rows = append(rows, []string{place(e), d.types.ID(e.Entry), asserted(e.Entry), q.String(), e.Title})
			continue
		}
		for _, v := range q.Criteria {
			rows = append(rows, []string{place(e), d.types.ID(e.Entry), v.Name, verdictWord(v), v.Reason})
		}
		talk(env, "%s: %v", place(e), q)
	}
	return show(env, c.Bool("json"), list, rows...)
}

// asserted is the quality a row claims, "-" for none.
func asserted(e journal.Entry) string {
	if e.Score == "" && e.Max == "" {
		return "-"
	}
	return e.Score + " of " + e.Max + ", " + e.Level
}

func verdictWord(v journal.Verdict) string {
	switch {
	case v.Met:
		return "met"
	case v.Scored:
		return "missed"
	}
	return "not scored"
}
