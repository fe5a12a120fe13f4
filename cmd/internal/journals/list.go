package journals

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal"
)

func runJournalList(c *cli.Context, env console.Env, d journalFiles) error {
	want, since := c.String("type"), time.Time{}
	if s := c.String("since"); s != "" {
		var err error
		if since, err = time.Parse(time.DateOnly, s); err != nil {
			return verb.Usage("journal list: --since %q; want YYYY-MM-DD", s)
		}
	}
	tellCanon(env, d.canon)
	book := d.types.Book(d.entries)
	var list []journalRow
	for _, e := range book.Entries {
		if id := d.types.ID(e.Entry); (want == "" || want == id || want == e.Type) && !e.Date.Before(since) {
			list = append(list, rowOf(d.types, e))
		}
	}
	if len(list) == 0 && !knowsType(d.types, want) {
		return unknownType("journal list: --type", d.types, want)
	}
	if n := len(book.Read) + len(book.Links); n > 0 {
		console.Talk(env, "journal list: %s; odd journal lint lists them", console.CountNoun(n, "finding"))
	}
	nothing := "journal list: the journal is empty; odd journal add O \"TITLE\" \"TEXT\" adds an observation"
	if n := len(book.Entries); n > 0 {
		nothing = "journal list: none of " + console.CountNoun(n, "row") + " matches; leave out --type or --since"
	}
	return console.ShowList(env, c.Bool("json"), list, nothing, func(r journalRow) []string {
		row := []string{r.placeText(env), r.id, r.State, r.Title}
		if c.Bool("full") {
			row = append(row, journal.Compose(r.Content, r.More))
		}
		return row
	})
}

// knowsType reports whether a person's word is a type's ID or letter; "" is every type.
func knowsType(r journal.Registry, want string) bool {
	return want == "" || slices.ContainsFunc(r, func(t journal.Type) bool { return t.ID() == want || t.Letter == want })
}

func unknownType(where string, r journal.Registry, id string) error {
	if near := r.Suggest(id); near != "" {
		return verb.Usage("%s: unknown type %q; did you mean %s? known are %s", where, id, near, r.Letters())
	}
	return verb.Usage("%s: unknown type %q; known are %s", where, id, r.Letters())
}

type openJSON struct {
	journalRow
	Priority string `json:"priority,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Age      *int   `json:"age_days"` // nil where its file's name has no date
}

func runJournalOpens(c *cli.Context, env console.Env, d journalFiles) error {
	list := []openJSON{}
	for _, e := range d.types.Book(d.entries).Opens() {
		list = append(list, openJSON{rowOf(d.types, e), e.Get("priority"), e.Get("owner"), ageInDays(env, e)})
	}
	return console.ShowList(env, c.Bool("json"), list, "no entry is open", func(o openJSON) []string {
		return []string{cmp.Or(o.Priority, "-"), dayCell(o.Age), o.placeText(env), cmp.Or(o.Owner, "-"), o.Title}
	})
}

// ageInDays returns how many whole days old an entry is by the date of its file, nil where that has none.
func ageInDays(env console.Env, e journal.Noted) *int {
	if e.Date.IsZero() {
		return nil
	}
	n := max(0, int(env.Now().UTC().Sub(e.Date)/(24*time.Hour)))
	return &n
}

func dayCell(age *int) string {
	if age == nil {
		return "-"
	}
	return fmt.Sprintf("%dd", *age)
}

// journalFinding is a finding as odd journal lint --json prints it. A file that
// cannot be read as a journal at all has one, on the line where reading ended.
type journalFinding struct {
	File string `json:"file"`
	journal.Problem
}

func runJournalLint(c *cli.Context, env console.Env, d journalFiles) error {
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
	for _, f := range d.entries {
		problems, err := d.types.Lint(f.Name, f.Bytes)
		if err != nil {
			problems = []journal.Problem{{Line: 1, Message: err.Error()}}
		}
		for _, p := range problems {
			found = append(found, journalFinding{f.Place, p})
		}
	}
	if !d.typed { // links lead to other files
		located(d.types.Book(d.entries).Links)
	}
	bad := slices.ContainsFunc(found, func(f journalFinding) bool { return !f.Warning })
	return verb.OrFault(console.ShowList(env, c.Bool("json"), found, "", func(f journalFinding) []string {
		return []string{fmt.Sprintf("%s:%d", f.File, f.Line), map[bool]string{true: "warning: "}[f.Warning] + f.Message}
	}), bad)
}

// fixFiles repairs the files on disk, each whole or not at all, says which rows it
// changed, and leaves the repaired bytes in the diary.
func (d journalFiles) fixFiles(env console.Env) error {
	for i, f := range d.entries {
		fixed, rows, err := journal.Fix(f.Bytes)
		if err != nil || len(rows) == 0 {
			continue // what cannot be read is a finding
		}
		file := filepath.Join(d.Root, filepath.FromSlash(f.Name))
		if d.typed {
			file = env.AbsPath(f.Place)
		}
		if err := renameio.WriteFile(file, fixed, 0o644, renameio.WithExistingPermissions()); err != nil {
			return err
		}
		d.entries[i].Bytes = fixed
		for _, row := range rows {
			console.Talk(env, "%s:%d: removed a doubled tab", f.Place, row)
		}
	}
	return nil
}
