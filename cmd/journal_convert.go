package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
)

func journalConvert(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "convert",
		Usage:     "print a file of JSON lines, or another journal, as a journal",
		ArgsUsage: "FILE",
		Description: "odd journal convert old/decisions.jsonl\n" +
			"odd journal convert old/decisions.jsonl --write\n\n" +
			"odd names on stderr each line that it cannot read, or that deviates from its\n" +
			"format.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "write", Usage: "commit the result as a new journal file"},
			&cli.StringFlag{Name: "date", Usage: "use `DATE`, YYYY-MM-DD, in the new name (default: of the first entry, or in FILE)"},
			&cli.StringFlag{Name: "slug", Usage: "use `NAME` in the new name (default: the name of FILE)"},
			jsonFlag(),
		},
		Action: one("a file", do(env, runJournalConvert)),
	})
}

func runJournalConvert(c *cli.Context, env Env) error {
	file := c.Args().First()
	d, err := openDiary(c, env, file)
	if err != nil {
		return err
	}
	read := d.types.Parse
	if filepath.Ext(file) == ".jsonl" {
		read = journal.ReadLines
	}
	entries, problems, err := read(d.files[0].Bytes)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, p := range problems {
		talk(env, "%s:%d: %s", file, p.Line, p.Message)
	}
	b, err := d.types.Convert(entries)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case c.Bool("write"):
		return writeConverted(c, env, b, entries)
	case !c.Bool("json"):
		_, err = env.Stdout.Write(b)
		return err
	}
	list := []journalRow{}
	for _, e := range d.types.Book([]journal.File{{Name: "journal/" + filepath.Base(file), Place: file, Bytes: b}}).Entries {
		list = append(list, rowOf(d.types, e))
	}
	return printJSON(env, list)
}

// dated is the date in front of a file's name.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})-`) })

// convertedName returns the new file's: the day of the first entry, else of the file, and its slug.
func convertedName(c *cli.Context, entries []journal.Entry) (string, error) {
	stem, _, _ := strings.Cut(filepath.Base(c.Args().First()), ".")
	day, ok := journal.FirstDay(entries)
	said := c.String("date")
	if m := dated().FindStringSubmatch(stem); m != nil {
		stem = strings.TrimPrefix(stem, m[0])
		if !ok {
			said = or(said, m[1])
		}
	}
	if said != "" || !ok {
		var err error
		if day, err = time.Parse(time.DateOnly, said); err != nil {
			return "", usage("journal convert: no entry has a date; give --date YYYY-MM-DD")
		}
	}
	return journal.Path(day, strings.ToLower(or(c.String("slug"), stem))), nil
}

func writeConverted(c *cli.Context, env Env, b []byte, entries []journal.Entry) error {
	name, err := convertedName(c, entries)
	if err != nil {
		return err
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	file := ""
	oid, err := w.writeAsPerson(c.Context, func(v *view) (repo.Changes, string, error) {
		file = v.repoPath(name)
		if _, err := fs.Stat(v.bundle, name); !errors.Is(err, fs.ErrNotExist) {
			return nil, "", refuse("exists", "%s exists already; choose another --slug", file)
		}
		return repo.Changes{file: b}, commitMessage("journal: convert "+path.Base(filepath.ToSlash(c.Args().First())), ""), nil
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]any{"file": file, "entries": len(entries), "commit": string(oid)}, []string{file, fmt.Sprint(len(entries))})
}
