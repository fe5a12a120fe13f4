package journals

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

func journalAdd(env console.Env) *cli.Command {
	return verb.New("add TYPE TITLE CONTENT|-", "add an entry to your journal file of today, and commit it",
		"odd journal add D \"Keep JSON lines\" \\\n"+
			"  \"A line is written once, so every file must diff well.\" \\\n"+
			"  --rationale \"it diffs well\"\n"+
			"git log -1 --format=%B | odd journal add O-open \"Who owns the glossary?\" - \\\n"+
			"  --priority P1\n"+
			"odd journal add D \"Ann owns it\" \"Ann asked for it.\" \\\n"+
			"  --closes 2026-03-02-ann.tsv:3\n\n"+
			"TYPE is a letter that odd help journal lists, or one of a document with the\n"+
			"tag encoding-type, which has the tables Type Identity, Field Schema and\n"+
			"Quality Criteria. - reads the content from stdin. odd computes a quality from\n"+
			"the fields you give, and names each missing point.",
		verb.Do(env, runJournalAdd), append(fieldFlags(),
			&cli.StringSliceFlag{Name: "closes", Usage: "close the open question or tension at `FILE:LINE`; repeatable"},
			&cli.StringFlag{Name: "slug", Usage: "use `NAME` in the file name (default: your own name)"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the quality, and write nothing"},
			verb.NoCommitFlag())...)
}

type journalField struct{ name, usage string }

func journalFields() []journalField {
	return []journalField{
		{"rationale", "reason for the decision, `TEXT` (type D)"}, {"alternatives", "the other options, `TEXT` (type D)"},
		{"reversibility", "`WORDS`: reversible, permanent or \"reversible until …\" (type D)"},
		{"source", "where it was seen, `TEXT` (type O)"}, {"verifiability", "`WORD`: verified, reported or inferred (type O)"},
		{"evidence", "the observation behind it, `TEXT` (type L)"}, {"applicability", "`WORD`: local, general or provisional (type L)"},
		{"origin", "its cause, `TEXT` (type C)"}, {"scope", "`WORDS`: permanent or \"until …\" (type C)"},
		{"blocked_by", "what must happen first, `TEXT` (type H)"}, {"owner", "who has it now, `NAME` (types H and O-open)"},
		{"priority", "priority, such as `P1` or P2.1 (type O-open)"},
		{"kind", "`WORD`: tradeoff, contradiction or drift (type T)"}, {"status", "open, and what would close it, `TEXT` (type T)"},
	}
}

func fieldFlags() []cli.Flag {
	var out []cli.Flag
	for _, f := range journalFields() {
		out = append(out, &cli.StringFlag{Name: flagName(f.name), Usage: f.usage})
	}
	return append(out,
		&cli.StringSliceFlag{Name: "between", Usage: "one side of it, `REF`: a path, an atom or an entry (type T); repeatable"},
		&cli.StringSliceFlag{Name: "field", Usage: "set the field NAME of a type of your own, `NAME=TEXT`; repeatable"})
}

func flagName(field string) string { return strings.ReplaceAll(field, "_", "-") }

// journalEntry makes an entry of the arguments and the flags; its type is not yet looked up.
func journalEntry(env console.Env, c *cli.Context) (journal.Entry, error) {
	e := journal.Entry{Content: c.Args().Get(2)}
	if e.Content == "-" {
		b, err := io.ReadAll(env.Stdin)
		if err != nil {
			return e, err
		}
		e.Content = strings.TrimSpace(string(b))
	}
	tab := strings.Contains(c.Args().Get(1)+e.Content, "\t")
	e.Title = console.OneLine(c.Args().Get(1))
	put := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			tab = tab || strings.Contains(value, "\t")
			e.More = append(e.More, journal.Field{Name: name, Value: value})
		}
	}
	for _, f := range journalFields() {
		put(f.name, c.String(flagName(f.name)))
	}
	put("between", strings.Join(c.StringSlice("between"), ", "))
	for _, f := range c.StringSlice("field") {
		name, value, ok := strings.Cut(f, "=")
		if !ok || strings.TrimSpace(value) == "" {
			return e, verb.Usage("journal add: --field %q; want NAME=TEXT", f)
		}
		put(strings.TrimSpace(name), value)
	}
	put("closes", strings.Join(c.StringSlice("closes"), ", "))
	if tab {
		console.Talk(env, "the tabs in your text were replaced by spaces, because tabs separate the columns")
	}
	return e, nil
}

func runJournalAdd(c *cli.Context, env console.Env) error {
	raw, err := journalEntry(env, c)
	if err != nil {
		return err
	}
	added := addedJSON{Type: c.Args().First()}
	oid, line, err := CommitEntry(c, env, "journal add", false, func(v *workspace.Board, who Writer) (Change, error) {
		if handoff.RunOf(who.Day) != "" {
			return Change{}, verb.Usage("journal add: --slug %s is the journal of a run of odd, which only that run writes; choose another --slug", c.String("slug"))
		}
		added.File = v.RepoPath(who.Day)
		e, err := added.prepareEntry(v, raw)
		return Change{nil, "journal: " + e.Title, e}, err
	})
	if err != nil {
		return err
	}
	if added.Commit = string(oid); !c.Bool("dry-run") {
		added.Name = journal.Name{File: path.Join("journal", path.Base(added.File)), Line: line}.String()
	}
	return added.printAdded(env, c.Bool("json"))
}

type addedJSON struct {
	Name    string          `json:"name,omitempty"` // of the entry, for --closes
	File    string          `json:"file"`
	Type    string          `json:"type"`
	Title   string          `json:"title"`
	Quality journal.Quality `json:"quality"`
	Commit  string          `json:"commit,omitempty"`
}

// prepareEntry makes the entry ready to be written to the board: its type is one the
// bundle knows, what it closes can be closed, the sides of a tension are pinned
// to what they are now, and its quality is computed.
func (a *addedJSON) prepareEntry(v *workspace.Board, raw journal.Entry) (e journal.Entry, err error) {
	e = raw
	e.More = slices.Clone(raw.More)
	types, wrong := typesOf(v.Graph, v.Config.Root)
	t, ok := types.Find(a.Type)
	if !ok {
		tellCanon(v.Env, wrong)
		return e, unknownType("journal add", types, a.Type)
	}
	e.Type, e.Facet, e.TypeName = t.Letter, t.Facet, t.Name
	if err := journal.Misspelt(e); err != nil {
		return e, err
	}
	if err := types.Check(e); err != nil {
		return e, verb.Usage("journal add: %v", err)
	}
	files, err := journal.Files(v.Bundle)
	if err != nil {
		return e, err
	}
	book := types.Book(files)
	closing, err := book.Closing(e)
	if err != nil {
		return e, err
	}
	look := poleFinder{book: book, graph: v.Graph, trees: []fs.FS{v.Bundle, v.Files}}
	for i, f := range e.More {
		switch f.Name {
		case "closes":
			e.More[i].Value = joinNames(closing)
		case "between":
			e.More[i].Value = look.pinPoles(v.Env, e.Poles())
		}
	}
	a.Title, a.Quality = e.Title, types.Score(e)
	return e, nil
}

func joinNames(names []journal.Name) string {
	var out []string
	for _, n := range names {
		out = append(out, n.String())
	}
	return strings.Join(out, ", ")
}

// pinPoles writes behind each side of a tension the blob it is now, so that a later
// look can tell whether it changed. What is found nowhere stays a label.
func (p poleFinder) pinPoles(env console.Env, sides []journal.Pole) string {
	const digits = 12
	var out []string
	for _, s := range sides {
		blob, ok := p.findBlob(s.Ref)
		switch {
		case !ok:
			console.Talk(env, "--between %s: no file, atom or entry has this name, so it is kept as a plain label", s.Ref)
		case s.Blob == "" && len(blob) >= digits:
			s.Blob = blob[:digits]
		}
		out = append(out, s.String())
	}
	return strings.Join(out, ", ")
}

// printAdded says where the entry is, and on stderr what its quality is missing.
func (a addedJSON) printAdded(env console.Env, asJSON bool) error {
	done := "added; "
	if a.Commit == "" { // a dry run, or only staged
		done = ""
	}
	console.Talk(env, "%squality: %v", done, a.Quality)
	for _, c := range a.Quality.Criteria {
		if !c.Met {
			console.Talk(env, "  %s: %s", c.Name, c.Reason)
		}
	}
	return console.Show(env, asJSON, a, []string{a.File, a.Type, okf.Visible(a.Title)})
}
