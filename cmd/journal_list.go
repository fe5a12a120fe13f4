package cmd

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "list",
		Usage:     "list journal entries, oldest file first",
		ArgsUsage: "[FILE...]",
		Description: "odd journal list\n" +
			"odd journal list --type O-open --since 2026-03-01\n\n" +
			"The columns are place, type, open or closed (for entries that can be closed),\n" +
			"and title. --json also names the entry that closed it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "list only entries of `TYPE`: a letter or O-open"},
			&cli.StringFlag{Name: "since", Usage: "list only files of `DATE`, YYYY-MM-DD, and later"},
			&cli.BoolFlag{Name: "full", Usage: "print the content too"},
			bundleFlag(),
			jsonFlag(),
		},
		Action: do(env, runJournalList),
	})
}

func runJournalList(c *cli.Context, env Env) error {
	want, since := c.String("type"), time.Time{}
	if s := c.String("since"); s != "" {
		var err error
		if since, err = time.Parse(time.DateOnly, s); err != nil {
			return usage("journal list: --since %q; want YYYY-MM-DD", s)
		}
	}
	d, err := openDiary(c, env, c.Args().Slice()...)
	if err != nil {
		return err
	}
	tellCanon(env, d.canon)
	book := d.types.Book(d.files)
	var list []journalRow
	for _, e := range book.Entries {
		if id := d.types.ID(e.Entry); (want == "" || want == id || want == e.Type) && !e.Date.Before(since) {
			list = append(list, rowOf(d.types, e))
		}
	}
	if len(list) == 0 && !knows(d.types, want) {
		return unknownType("journal list: --type", d.types, want)
	}
	if n := len(book.Read) + len(book.Links); n > 0 {
		talk(env, "journal list: %s; odd journal lint lists them", count(n, "finding"))
	}
	nothing := "journal list: the journal is empty; odd journal add O \"TITLE\" \"TEXT\" adds an observation"
	if n := len(book.Entries); n > 0 {
		nothing = "journal list: none of " + count(n, "row") + " matches; leave out --type or --since"
	}
	return showList(env, c.Bool("json"), list, nothing, func(r journalRow) []string {
		row := []string{r.place(), r.id, r.State, r.Title}
		if c.Bool("full") {
			row = append(row, journal.Compose(r.Content, r.More))
		}
		return row
	})
}

// knows reports whether a person's word is a type's ID or letter; "" is every type.
func knows(r journal.Registry, want string) bool {
	return want == "" || slices.ContainsFunc(r, func(t journal.Type) bool { return t.ID() == want || t.Letter == want })
}

// unknownType says what a person may have meant.
func unknownType(where string, r journal.Registry, id string) error {
	if near := r.Suggest(id); near != "" {
		return usage("%s: unknown type %q; did you mean %s? known are %s", where, id, near, r.Letters())
	}
	return usage("%s: unknown type %q; known are %s", where, id, r.Letters())
}
