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
	d, err := openDiary(c, env)
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
	list, rows := []scoreJSON{}, [][]string{}
	for _, e := range entries {
		j := scoreJSON{rowOf(d.types, e), d.types.Score(e.Entry)}
		list = append(list, j)
		if len(refs) == 0 {
			rows = append(rows, []string{j.place(), j.id, asserted(e.Entry), j.Quality.String(), e.Title})
			continue
		}
		for _, v := range j.Quality.Criteria {
			rows = append(rows, []string{j.place(), j.id, v.Name, verdictWord(v), v.Reason})
		}
		talk(env, "%s: %v", j.place(), j.Quality)
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
