package cmd

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
)

func journalOpens(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "opens",
		Usage: "list open questions, by priority and then by age",
		Description: "odd journal opens\n\n" +
			"The columns are priority, age in days, place, owner and title. To close one,\n" +
			"add an entry with --closes PLACE, see odd help journal add.",
		Flags:  []cli.Flag{bundleFlag(), jsonFlag()},
		Action: do(env, runJournalOpens),
	})
}

// openJSON is an open question: Age is in whole days, nil where its file's name has no date.
type openJSON struct {
	journalRow
	Priority string `json:"priority,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Age      *int   `json:"age_days"`
}

func runJournalOpens(c *cli.Context, env Env) error {
	d, err := openDiary(c.Context, env, c.String("bundle"), nil)
	if err != nil {
		return err
	}
	list := []openJSON{}
	var rows [][]string
	for _, e := range d.types.Book(d.files).Opens() {
		o := openJSON{rowOf(d.types, e), e.Get("priority"), e.Get("owner"), nil}
		days, old := age(env, e)
		if old != "" {
			o.Age = &days
		}
		list = append(list, o)
		rows = append(rows, []string{or(o.Priority, "-"), or(old, "-"), place(e), or(o.Owner, "-"), e.Title})
	}
	if c.Bool("json") {
		return printJSON(env, list)
	}
	if len(rows) == 0 {
		return none(env, false, nil, "no entry is open")
	}
	return printRows(env, rows)
}

// age is how old an entry is by the date of its file, also as "3d"; that is ""
// where the file has no date.
func age(env Env, e journal.Noted) (days int, text string) {
	if e.Date.IsZero() {
		return 0, ""
	}
	days = max(0, int(env.Now().UTC().Sub(e.Date)/(24*time.Hour)))
	return days, fmt.Sprintf("%dd", days)
}
