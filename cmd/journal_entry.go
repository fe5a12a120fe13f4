package cmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// prepare makes the entry ready to be written to the board: its type is one the
// bundle knows, what it closes can be closed, the sides of a tension are pinned
// to what they are now, and its quality is computed.
func (a *addedJSON) prepare(v *view, raw journal.Entry) (e journal.Entry, types journal.Registry, err error) {
	e = raw
	e.More = slices.Clone(raw.More)
	types, wrong := typesOf(v.graph, v.cfg.Root)
	t, ok := types.Find(a.Type)
	if !ok {
		tellCanon(v.env, wrong)
		return e, types, unknownType("journal add", types, a.Type)
	}
	e.Type, e.Facet, e.TypeName = t.Letter, t.Facet, t.Name
	if err := journal.Misspelt(e); err != nil {
		return e, types, err
	}
	if err := types.Check(e); err != nil {
		return e, types, usage("journal add: %v", err)
	}
	files, err := journal.Files(v.bundle)
	if err != nil {
		return e, types, err
	}
	book := types.Book(files)
	closing, err := book.Closing(e)
	if err != nil {
		return e, types, err
	}
	look := poles{book: book, graph: v.graph, trees: []fs.FS{v.bundle, v.files}}
	for i, f := range e.More {
		switch f.Name {
		case "closes":
			e.More[i].Value = joinNames(closing)
		case "between":
			e.More[i].Value = look.pin(v.env, e.Poles())
		}
	}
	a.Title, a.Quality = e.Title, types.Score(e)
	e.Mark(a.Quality)
	return e, types, nil
}

func joinNames(names []journal.Name) string {
	var out []string
	for _, n := range names {
		out = append(out, n.String())
	}
	return strings.Join(out, ", ")
}

// pin writes behind each side of a tension the blob it is now, so that a later
// look can tell whether it changed. What is found nowhere stays a label.
func (p poles) pin(env Env, sides []journal.Pole) string {
	const digits = 12
	var out []string
	for _, s := range sides {
		blob, ok := p.find(s.Ref)
		switch {
		case !ok:
			talk(env, "--between %s: no file, atom or entry has this name, so it is kept as a plain label", s.Ref)
		case s.Blob == "" && len(blob) >= digits:
			s.Blob = blob[:digits]
		}
		out = append(out, s.String())
	}
	return strings.Join(out, ", ")
}

// append makes the change that adds the entry to its file, and notes its name.
func (a *addedJSON) append(types journal.Registry, b []byte, e journal.Entry) (repo.Changes, string, error) {
	b, err := types.Append(b, e)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", a.File, err)
	}
	a.Name = journal.Name{File: path.Join("journal", path.Base(a.File)), Line: bytes.Count(b, []byte("\n"))}.String()
	return repo.Changes{a.File: b}, trailers("journal: "+e.Title, ""), nil
}

// print says where the entry is, and on stderr what its quality is missing.
func (a addedJSON) print(env Env, asJSON bool) error {
	talk(env, "quality: %v", a.Quality)
	for _, c := range a.Quality.Criteria {
		if !c.Met {
			talk(env, "  %s: %s", c.Name, c.Reason)
		}
	}
	return show(env, asJSON, a, []string{a.File, a.Type, okf.Visible(a.Title)})
}
