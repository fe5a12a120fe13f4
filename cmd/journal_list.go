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

type listOptions struct {
	dir        string
	args       []string
	want       string
	since      time.Time
	full, json bool
}

func runJournalList(c *cli.Context, env Env) error {
	o := listOptions{dir: c.String("bundle"), args: c.Args().Slice(), want: c.String("type"), full: c.Bool("full"), json: c.Bool("json")}
	if s := c.String("since"); s != "" {
		var err error
		if o.since, err = time.Parse(time.DateOnly, s); err != nil {
			return usage("journal list: --since %q; want YYYY-MM-DD", s)
		}
	}
	d, err := openDiary(c.Context, env, o.dir, o.args)
	if err != nil {
		return err
	}
	tellCanon(env, d.canon)
	book := d.types.Book(d.files)
	list := []journalRow{}
	var rows [][]string
	for _, e := range book.Entries {
		id := d.types.ID(e.Entry)
		if o.want != "" && o.want != id && o.want != e.Type || e.Date.Before(o.since) {
			continue
		}
		list = append(list, rowOf(d.types, e))
		row := []string{place(e), id, stateOf(d.types, e), e.Title}
		if o.full {
			row = append(row, journal.Compose(e.Content, e.More))
		}
		rows = append(rows, row)
	}
	if known := knows(d.types, o.want); len(list) == 0 && !known {
		return unknownType("journal list: --type", d.types, o.want)
	}
	if n := len(book.Read) + len(book.Links); n > 0 {
		talk(env, "journal list: %s; odd journal lint lists them", count(n, "finding"))
	}
	if o.json {
		return printJSON(env, list)
	}
	nothing := "journal list: the journal is empty; odd journal add O \"TITLE\" \"TEXT\" adds an observation"
	if n := len(book.Entries); n > 0 {
		nothing = "journal list: none of " + count(n, "row") + " matches; leave out --type or --since"
	}
	return printList(env, rows, nothing)
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
