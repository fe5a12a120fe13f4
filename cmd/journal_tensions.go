package cmd

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/okf"
)

func journalTensions(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "tensions",
		Usage: "list open contradictions, and which of them are out of date",
		Description: "odd journal tensions\n\n" +
			"A tension names two sides: files, atoms or entries. It is stale when one side\n" +
			"has changed or is gone since; read both again before you resolve it. A side is\n" +
			"unpinned if the row does not record its version, and unknown if it is only a\n" +
			"label. To resolve one, add an entry with --closes PLACE (odd help journal\n" +
			"add).",
		Flags:  []cli.Flag{bundleFlag(), jsonFlag()},
		Action: do(env, runJournalTensions),
	})
}

// tensionJSON is an unresolved tension.
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

func runJournalTensions(c *cli.Context, env Env) error {
	d, err := openDiary(c, env)
	if err != nil {
		return err
	}
	book := d.types.Book(d.files)
	look := d.poles(env, book)
	list := []tensionJSON{}
	for _, e := range book.Tensions() {
		t := tensionJSON{journalRow: rowOf(d.types, e), Age: age(env, e), Poles: []poleJSON{}}
		for _, p := range e.Poles() {
			j := poleJSON{p, look.state(p)}
			t.Stale = t.Stale || j.State == "changed" || j.State == "gone"
			t.Poles = append(t.Poles, j)
		}
		list = append(list, t)
	}
	return showList(env, c.Bool("json"), list, "no tension is open", func(t tensionJSON) []string {
		var sides []string
		for _, p := range t.Poles {
			sides = append(sides, p.Ref+" ("+p.State+")")
		}
		return []string{map[bool]string{true: "stale", false: "-"}[t.Stale], days(t.Age), t.place(), t.Title, strings.Join(sides, ", ")}
	})
}

// poles finds what the sides of a tension refer to.
type poles struct {
	book  *journal.Book
	graph *okf.Graph // may be nil
	trees []fs.FS    // the bundle, and the repository around it
}

func (d diary) poles(env Env, book *journal.Book) poles {
	p := poles{book: book, graph: d.graph, trees: []fs.FS{os.DirFS(d.root)}}
	if top, _, err := findConfig(env.Dir); err == nil && top != "" {
		p.trees = append(p.trees, os.DirFS(filepath.Clean(top)))
	}
	return p
}

// find is the git blob id of what ref refers to: a file of the bundle or of the
// repository, or an atom by any of its names. An entry of the journal is found
// and has none, since it never changes.
func (p poles) find(ref string) (blob string, ok bool) {
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

// state compares a side with what it was when the tension was written.
func (p poles) state(pole journal.Pole) string {
	blob, ok := p.find(pole.Ref)
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
