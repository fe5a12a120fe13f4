// Package journals has the verb journal, which adds, lists and checks journal entries. CommitEntry
// commits the entries that other verbs write.
package journals

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/okf"
)

// JournalVerb declares odd journal.
func JournalVerb(env console.Env) *cli.Command {
	return verb.Group("journal", "record decisions and lessons, and list open questions",
		"odd journal add L \"Tides win\" \\\n"+
			"  \"Slack water is the only time beginners stay dry.\"\n"+
			"odd journal opens\n"+
			"odd journal lint\n\n"+
			"The journal is a folder of tab-separated files in the bundle, one a day and\n"+
			"writer. A row is an entry with a type: D decision, O observation, L learning,\n"+
			"C constraint, H handoff, E encode, O-open open question, T tension.",
		journalAdd(env),
		verb.New("list [FILE...]", "list journal entries, oldest file first",
			"odd journal list\n"+
				"odd journal list --type O-open --since 2026-03-01\n\n"+
				"The columns are place, type, open or closed (for entries that can be closed),\n"+
				"and title. --json also names the entry that closed it.",
			onJournal(env, runJournalList),
			&cli.StringFlag{Name: "type", Usage: "list only entries of `TYPE`: a letter or O-open"},
			&cli.StringFlag{Name: "since", Usage: "list only files of `DATE`, YYYY-MM-DD, and later"},
			&cli.BoolFlag{Name: "full", Usage: "print the content too"},
			verb.BundleFlag()),
		verb.New("opens", "list open questions, by priority and then by age",
			"odd journal opens\n\n"+
				"The columns are priority, age in days, place, owner and title. To close one,\n"+
				"add an entry with --closes PLACE, see odd help journal add.",
			onJournal(env, runJournalOpens), verb.BundleFlag()),
		verb.New("tensions", "list open contradictions, and which of them are out of date",
			"odd journal tensions\n\n"+
				"A tension names two sides: files, atoms or entries. It is stale when one side\n"+
				"has changed or is gone since; read both again before you resolve it. A side is\n"+
				"unpinned if the row does not record its version, and unknown if it is only a\n"+
				"label. To resolve one, add an entry with --closes PLACE (odd help journal\n"+
				"add).",
			onJournal(env, runJournalTensions), verb.BundleFlag()),

		verb.New("lint [FILE...]", "find malformed journal rows; exit 1 if there are any",
			"odd journal lint\n"+
				"odd journal lint --fix old/2026-05-10-split.tsv\n\n"+
				"A warning is a broken convention, such as a long title or a quality that does\n"+
				"not add up.",
			onJournal(env, runJournalLint),
			&cli.BoolFlag{Name: "fix", Usage: "remove doubled tabs; the other findings are only listed"},
			verb.BundleFlag()))
}

// journalFiles is the journal of a bundle as files, with the types its canon knows.
type journalFiles struct {
	workspace.Bundle // its graph is nil outside a bundle
	types            journal.Registry
	entries          []journal.File
	canon            []journal.Located // what is wrong with the documents the types are from
	typed            bool              // the files were named: a Place is a path a person typed
}

// onJournal is verb.Do for a verb that works on the files that it names, or on all of the journal.
func onJournal(env console.Env, run func(*cli.Context, console.Env, journalFiles) error) cli.ActionFunc {
	return verb.Do(env, func(c *cli.Context, env console.Env) error {
		d, err := openJournal(c, env, c.Args().Slice())
		if err != nil {
			return err
		}
		return run(c, env, d)
	})
}

// openJournal reads the files named, or every one of the bundle. Outside a
// repository with odd.toml the types are odd's own, unless --bundle names one.
func openJournal(c *cli.Context, env console.Env, args []string) (journalFiles, error) {
	d, dir := journalFiles{types: journal.Standard(), typed: len(args) > 0}, c.String("bundle")
	b, err := workspace.Source{Dir: dir}.Locate(c.Context, env)
	if err == nil && (b.Prefix != "" || b.Named) {
		if b, err = (workspace.Source{Dir: dir}).Load(c.Context, env); err == nil {
			d.types, d.canon = typesOf(b.Graph, b.Prefix)
		}
	}
	if err != nil {
		return d, err
	}
	d.Bundle = b
	if d.typed {
		for _, arg := range args {
			b, err := console.ReadFile(env, arg)
			if err != nil {
				return d, err
			}
			d.entries = append(d.entries, journal.File{Name: path.Join("journal", filepath.Base(arg)), Place: arg, Bytes: b})
		}
		return d, nil
	}
	d.entries, err = journal.Files(os.DirFS(b.Root))
	for i := range d.entries {
		d.entries[i].Place = path.Join(b.Prefix, d.entries[i].Name)
	}
	return d, err
}

// typesOf returns the registry of a bundle: odd's own types, and those of the
// documents tagged encoding-type that are in force.
func typesOf(g *okf.Graph, prefix string) (journal.Registry, []journal.Located) {
	var docs []journal.Document
	for _, a := range g.Atoms() {
		if slices.Contains(a.Tags, "encoding-type") && !slices.Contains([]string{"deprecated", "superseded", "archived"}, a.Status) {
			docs = append(docs, journal.Document{Name: path.Join(prefix, a.Path), Body: a.Body(), Line: a.BodyLine})
		}
	}
	return journal.RegistryOf(docs)
}

func tellCanon(env console.Env, found []journal.Located) {
	for _, l := range found {
		console.Talk(env, "%v", l)
	}
}

// journalRow is an entry as the verbs of odd journal print it in JSON.
type journalRow struct {
	journal.Entry
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Date     string   `json:"date,omitempty"`
	State    string   `json:"state,omitempty"` // of what can be closed: open or closed
	ClosedBy []string `json:"closed_by,omitempty"`
	id       string   // of its type
}

func rowOf(r journal.Registry, e journal.Noted) journalRow {
	row := journalRow{Entry: e.Entry, id: r.ID(e.Entry), Name: e.Name.String(), File: e.Place, State: stateOf(r, e)}
	if !e.Date.IsZero() {
		row.Date = e.Date.Format(time.DateOnly)
	}
	for _, n := range e.ClosedBy {
		row.ClosedBy = append(row.ClosedBy, n.String())
	}
	return row
}

// stateOf returns open or closed for what others can close, and "" for the rest.
func stateOf(r journal.Registry, e journal.Noted) string {
	switch {
	case r.ID(e.Entry) != "O-open" && e.Type != "T":
		return ""
	case e.Closed:
		return "closed"
	}
	return "open"
}

// placeText returns where an entry is, on a terminal as --closes takes it, which leaves the title room.
func (r journalRow) placeText(env console.Env) string {
	if env.Terminal {
		return r.Name
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

type tensionJSON struct {
	journalRow
	Stale bool       `json:"stale"`
	Age   *int       `json:"age_days"`
	Poles []poleJSON `json:"poles"`
}

// poleJSON is a side of it: State is same, changed, gone, unpinned or unknown.
type poleJSON struct {
	journal.Pole
	State string `json:"state"`
}

func runJournalTensions(c *cli.Context, env console.Env, d journalFiles) error {
	book := d.types.Book(d.entries)
	look := poleFinder{book: book, graph: d.Graph, trees: []fs.FS{os.DirFS(d.Root)}}
	if d.Top != "" {
		look.trees = append(look.trees, os.DirFS(d.Top))
	}
	list := []tensionJSON{}
	for _, e := range book.Tensions() {
		t := tensionJSON{journalRow: rowOf(d.types, e), Age: ageInDays(env, e), Poles: []poleJSON{}}
		for _, p := range e.Poles() {
			j := poleJSON{p, look.poleState(p)}
			t.Stale = t.Stale || j.State == "changed" || j.State == "gone"
			t.Poles = append(t.Poles, j)
		}
		list = append(list, t)
	}
	return console.ShowList(env, c.Bool("json"), list, "no tension is open", func(t tensionJSON) []string {
		var sides []string
		for _, p := range t.Poles {
			sides = append(sides, p.Ref+" ("+p.State+")")
		}
		return []string{map[bool]string{true: "stale", false: "-"}[t.Stale], dayCell(t.Age), t.placeText(env), t.Title, strings.Join(sides, ", ")}
	})
}

// poleFinder finds what the sides of a tension refer to.
type poleFinder struct {
	book  *journal.Book
	graph *okf.Graph // may be nil
	trees []fs.FS    // the bundle, and the repository around it
}

// findBlob returns the git blob id of what ref refers to: a file of the bundle or of the
// repository, or an atom by any of its names. An entry of the journal is found
// and has none, since it never changes.
func (p poleFinder) findBlob(ref string) (blob string, ok bool) {
	if name, err := journal.ParseName(ref); err == nil {
		if _, ok := p.book.Find(name); ok {
			return "", true
		}
	}
	file, _, _ := strings.Cut(ref, "#")
	for _, tree := range p.trees {
		name := path.Clean(strings.TrimPrefix(file, "/"))
		if b, err := fs.ReadFile(tree, name); err == nil {
			return okf.BlobID(b), true
		}
	}
	if p.graph == nil {
		return "", false
	}
	a, err := p.graph.Find(file)
	if err != nil {
		return "", false
	}
	return a.Blob, true
}

// poleState compares a side with what it was when the tension was written.
func (p poleFinder) poleState(pole journal.Pole) string {
	blob, ok := p.findBlob(pole.Ref)
	switch {
	case !ok && pole.Blob == "":
		return "unknown"
	case !ok:
		return "gone"
	case blob == "" || pole.Blob != "" && strings.HasPrefix(blob, pole.Blob):
		return "same"
	case pole.Blob == "":
		return "unpinned"
	}
	return "changed"
}

// JournalDay returns the journal file of name today, below the bundle root.
func JournalDay(env console.Env, name string) string {
	return journal.Path(env.Now(), strings.ToLower(name))
}
