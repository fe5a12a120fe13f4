package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func journalTypes(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "types",
		Usage: "list the types of journal entries and their fields",
		Description: "odd journal types\n\n" +
			"A document with the tag encoding-type adds or changes a type, with the tables\n" +
			"Type Identity, Field Schema, Trigger Words and Quality Criteria.",
		Flags:  []cli.Flag{bundleFlag(), jsonFlag()},
		Action: do(env, runJournalTypes),
	})
}

// typeJSON is a type of entry.
type typeJSON struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Fields   []string        `json:"fields"`
	Triggers []string        `json:"triggers"`
	Criteria []criterionJSON `json:"criteria"`
	Source   string          `json:"source,omitempty"`
}

// criterionJSON is what one point of quality asks for.
type criterionJSON struct {
	Name   string `json:"name"`
	Check  string `json:"check"`
	Scored bool   `json:"scored"`
}

func runJournalTypes(c *cli.Context, env Env) error {
	d, err := openDiary(c, env)
	if err != nil {
		return err
	}
	tellCanon(env, d.canon)
	var list []typeJSON
	var rows [][]string
	for _, t := range d.types {
		j := typeJSON{t.ID(), t.Name, orEmpty(t.Own()), orEmpty(t.Triggers), []criterionJSON{}, t.Source}
		scored := 0
		for _, c := range t.Criteria {
			j.Criteria = append(j.Criteria, criterionJSON{c.Name, c.Check, c.Scored()})
			if c.Scored() {
				scored++
			}
		}
		list = append(list, j)
		quality := fmt.Sprintf("%d of %d scored", scored, len(t.Criteria))
		if scored == 0 {
			quality = "not scored"
		}
		rows = append(rows, []string{j.ID, j.Name, or(strings.Join(j.Fields, " "), "-"), quality, or(t.Source, "odd")})
	}
	return show(env, c.Bool("json"), list, rows...)
}
