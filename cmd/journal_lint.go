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

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
)

func journalLint(env Env) *cli.Command {
	return verb("lint [FILE...]", "find malformed journal rows; exit 1 if there are any",
		"odd journal lint\n"+
			"odd journal lint --fix old/2026-05-10-split.tsv\n\n"+
			"A warning is a broken convention, such as a long title or a quality that does\n"+
			"not add up.",
		do(env, runJournalLint),
		&cli.BoolFlag{Name: "fix", Usage: "remove doubled tabs; the other findings are only listed"},
		&cli.BoolFlag{Name: "strict", Usage: "exit 1 for warnings too"},
		bundleFlag(),
		jsonFlag())
}

// journalFinding is a finding as odd journal lint --json prints it. A file that
// cannot be read as a journal at all has one, on the line where reading ended.
type journalFinding struct {
	File string `json:"file"`
	journal.Problem
}

func runJournalLint(c *cli.Context, env Env) error {
	d, err := openDiary(c, env, c.Args().Slice()...)
	if err != nil {
		return err
	}
	if c.Bool("fix") {
		if err := d.fixFiles(env); err != nil {
			return err
		}
	}
	var found []journalFinding
	located := func(all []journal.Located) {
		for _, l := range all {
			found = append(found, journalFinding{l.File, journal.Problem{Line: l.Line, Message: l.Text}})
		}
	}
	located(d.canon)
	for _, f := range d.files {
		problems, err := d.types.Lint(f.Name, f.Bytes)
		if err != nil {
			problems = []journal.Problem{{Line: 1, Message: err.Error()}}
		}
		for _, p := range problems {
			found = append(found, journalFinding{f.Place, p})
		}
	}
	if !d.named { // links lead to other files
		located(d.types.Book(d.files).Links)
	}
	return printLint(c, env, found)
}

func printLint(c *cli.Context, env Env, found []journalFinding) error {
	var rows [][]string
	bad := false
	for _, f := range found {
		text := f.Message
		if f.Warning {
			text = "warning: " + text
		}
		bad = bad || !f.Warning || c.Bool("strict")
		rows = append(rows, []string{fmt.Sprintf("%s:%d", f.File, f.Line), text})
	}
	return orFault(show(env, c.Bool("json"), orEmpty(found), rows...), bad)
}

// fixFiles repairs the files on disk, each whole or not at all, says which rows it
// changed, and leaves the repaired bytes in the diary.
func (d journalFiles) fixFiles(env Env) error {
	for i, f := range d.files {
		fixed, rows, err := journal.Fix(f.Bytes)
		if err != nil || len(rows) == 0 {
			continue // what cannot be read is a finding
		}
		file := filepath.Join(d.root, filepath.FromSlash(f.Name))
		if d.named {
			file = env.absPath(f.Place)
		}
		if err := renameio.WriteFile(file, fixed, 0o644, renameio.WithExistingPermissions()); err != nil {
			return err
		}
		d.files[i].Bytes = fixed
		for _, row := range rows {
			talk(env, "%s:%d: removed a doubled tab", f.Place, row)
		}
	}
	return nil
}

func journalConvert(env Env) *cli.Command {
	return verb("convert FILE", "print a journal without a header as odd writes journals",
		"odd journal convert old/2026-05-12-split.tsv\n"+
			"odd journal convert old/2026-05-12-split.tsv --write\n\n"+
			"odd names on stderr each row that it cannot read.",
		do(env, runJournalConvert),
		&cli.BoolFlag{Name: "write", Usage: "commit the result as a new journal file"},
		&cli.StringFlag{Name: "date", Usage: "use `DATE`, YYYY-MM-DD, in the new name (default: the one in FILE)"},
		&cli.StringFlag{Name: "slug", Usage: "use `NAME` in the new name (default: the name of FILE)"},
		jsonFlag())
}

func runJournalConvert(c *cli.Context, env Env) error {
	file := c.Args().First()
	d, err := openDiary(c, env, file)
	if err != nil {
		return err
	}
	entries, problems, err := d.types.Parse(d.files[0].Bytes)
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

// convertedName returns the name of the new file: its day and its slug, from the flags or the old name.
func convertedName(c *cli.Context) (string, error) {
	stem, _, _ := strings.Cut(filepath.Base(c.Args().First()), ".")
	said := c.String("date")
	if m := dated().FindStringSubmatch(stem); m != nil {
		stem, said = strings.TrimPrefix(stem, m[0]), or(said, m[1])
	}
	day, err := time.Parse(time.DateOnly, said)
	if err != nil {
		return "", usage("journal convert: the name of the file has no date; give --date YYYY-MM-DD")
	}
	return journal.Path(day, strings.ToLower(or(c.String("slug"), stem))), nil
}

func writeConverted(c *cli.Context, env Env, b []byte, entries []journal.Entry) error {
	name, err := convertedName(c)
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
