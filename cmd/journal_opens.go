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
	d, err := openDiary(c, env)
	if err != nil {
		return err
	}
	list := []openJSON{}
	for _, e := range d.types.Book(d.files).Opens() {
		list = append(list, openJSON{rowOf(d.types, e), e.Get("priority"), e.Get("owner"), age(env, e)})
	}
	return showList(env, c.Bool("json"), list, "no entry is open", func(o openJSON) []string {
		return []string{or(o.Priority, "-"), days(o.Age), o.place(), or(o.Owner, "-"), o.Title}
	})
}

// age is how many whole days old an entry is by the date of its file, nil where that has none.
func age(env Env, e journal.Noted) *int {
	if e.Date.IsZero() {
		return nil
	}
	n := max(0, int(env.Now().UTC().Sub(e.Date)/(24*time.Hour)))
	return &n
}

// days is an age in a row.
func days(age *int) string {
	if age == nil {
		return "-"
	}
	return fmt.Sprintf("%dd", *age)
}
