package okf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// IndexState is what an index file needs.
type IndexState string

// The states of an index file.
const (
	IndexFresh   IndexState = "fresh"   // as it should be
	IndexStale   IndexState = "stale"   // lists what is not there, or lacks something
	IndexMissing IndexState = "missing" // not there
	IndexWritten IndexState = "written" // text that lists nothing of its folder
)

// IndexFile is one folder's index.md. A new one is as OKF v0.2 §8 has it: a heading for
// each type with the folder's atoms by title, and the sub-folders.
//
//	# Process
//
//	* [Publish an article](publish.md) - An article leaves the desk once.
//
//	# Subdirectories
//
//	* [drafts](drafts/index.md) - Not for readers yet.
//
// The root's also has a block with okf_version. One that is there is a person's: it keeps
// its order, its words and whatever else is in it. Only entries are added, led to the new
// name of an atom, or removed where what they list is gone. An entry is a list item of
// one line that begins with its only link.
type IndexFile struct {
	Path  string
	State IndexState
	Want  []byte

	listed int      // links to what the folder holds
	lacks  []string // what no link leads to
	noted  bool     // it lacks only tasks, which odd lists itself
	dead   []Linked // links to what is not there
}

// IndexedAs tells what an atom said when an index was last written, nil where that is
// not known: an entry that says the same was generated, and follows the atom.
type IndexedAs func(index, atom string) *Atom

// Index lists the index files of every folder that holds atoms, at any depth, and those
// elsewhere that list what is gone, in order of path. f is the bundle that g was loaded from.
func Index(f fs.FS, g *Graph, was IndexedAs) []IndexFile {
	dirs := folders(g)
	l := lister{f, g, dirs, was}
	var out []IndexFile
	for dir, d := range dirs {
		out = append(out, l.index(dir, d))
	}
	all, err := listFiles(f)
	if err != nil {
		all.files = nil // nothing can be read
	}
	for _, file := range all.files {
		if dir := path.Dir(file); path.Base(file) == "index.md" && dirs[dir] == nil {
			if i := l.index(dir, &folder{}); len(i.dead) > 0 {
				out = append(out, i)
			}
		}
	}
	slices.SortFunc(out, func(a, b IndexFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// StaleIndex are the index files that are out of date. A bundle that keeps no listings
// below its root lacks none.
func StaleIndex(f fs.FS, g *Graph, was IndexedAs) []IndexFile {
	return slices.DeleteFunc(keepListings(Index(f, g, was)), func(i IndexFile) bool { return i.State != IndexStale && i.State != IndexMissing })
}

// keepListings leaves out the files that a bundle without listings need not have.
func keepListings(files []IndexFile) []IndexFile {
	keeps := slices.ContainsFunc(files, func(i IndexFile) bool {
		return i.Path != "index.md" && (i.State == IndexFresh || i.State == IndexStale)
	})
	return slices.DeleteFunc(files, func(i IndexFile) bool { return !keeps && i.listed == 0 })
}

// CheckIndex reports the index files that are out of date.
func CheckIndex(f fs.FS, g *Graph) []Problem {
	var out []Problem
	for _, i := range keepListings(Index(f, g, nil)) {
		p := Problem{Code: codeIndex, Severity: Warn, Path: i.Path, Line: 1, Hint: "run odd knowledge index"}
		switch {
		case len(i.dead) > 0:
			p.Line, p.Message = i.dead[0].Line, "lists "+i.dead[0].URL+", which is not there"
			p.Hint = "correct the link"
			if i.State == IndexStale {
				p.Hint = "run odd knowledge index, or correct the link"
			}
		case i.State == IndexStale:
			p.Message = "does not list " + i.lacks[0]
			if n := len(i.lacks) - 1; n > 0 {
				p.Message += fmt.Sprintf(" and %d more", n)
			}
			if i.noted {
				p.Severity = Info
			}
		case i.State == IndexMissing:
			p.Severity, p.Message = Info, "is missing, and other folders have one"
		default:
			continue
		}
		out = append(out, p)
	}
	return out
}

// folder is what an index lists.
type folder struct {
	atoms []*Atom
	below []string // names of sub-folders
}

// folders maps every folder that holds atoms at any depth, and the root.
func folders(g *Graph) map[string]*folder {
	out := map[string]*folder{".": {}}
	var reach func(dir string) *folder
	reach = func(dir string) *folder {
		d, ok := out[dir]
		if !ok {
			d = &folder{}
			out[dir] = d
			up := reach(path.Dir(dir))
			up.below = append(up.below, path.Base(dir))
		}
		return d
	}
	for _, a := range g.Atoms() {
		d := reach(path.Dir(a.Path))
		d.atoms = append(d.atoms, a)
	}
	for _, d := range out {
		slices.SortFunc(d.atoms, func(a, b *Atom) int {
			return cmp.Or(strings.Compare(strings.ToLower(shownTitle(a)), strings.ToLower(shownTitle(b))), strings.Compare(a.Path, b.Path))
		})
		slices.Sort(d.below)
	}
	return out
}

// lister makes the index files of one bundle.
type lister struct {
	files fs.FS
	graph *Graph
	dirs  map[string]*folder
	was   IndexedAs
}

func (l lister) index(dir string, d *folder) IndexFile {
	out := IndexFile{Path: path.Join(dir, "index.md"), State: IndexMissing}
	b, err := fs.ReadFile(l.files, out.Path)
	if errors.Is(err, fs.ErrNotExist) {
		block := ""
		if dir == "." {
			block = "---\nokf_version: \"" + okfVersion + "\"\n---\n\n"
		}
		out.Want = []byte(block + strings.Join(sections(1, d.atoms, d.below), "\n"))
		return out
	}
	p := readPage(l, out.Path, b)
	out.listed, out.dead, out.Want = p.listed, p.dead, b
	atoms, below := p.lacking(d)
	out.noted = len(below) == 0
	for _, a := range atoms {
		out.lacks = append(out.lacks, path.Base(a.Path))
		out.noted = out.noted && a.Type == "task"
	}
	for _, name := range below {
		out.lacks = append(out.lacks, name+"/index.md")
	}
	out.State = IndexFresh
	want := p.edit(atoms, below)
	switch {
	case err != nil || p.listed+len(p.dead) == 0 && p.prose || Conflict(b) != nil:
		out.State = IndexWritten
	case !bytes.Equal(want, b):
		out.State, out.Want = IndexStale, want
		next := readPage(l, out.Path, want)
		if a, s := next.lacking(d); len(a)+len(s) > 0 { // within code or a comment that does not end
			out.State, out.Want = IndexWritten, b
		}
	}
	return out
}

// sections writes a section for each type of atoms, which are in order, and one of the
// sub-folders.
func sections(level int, atoms []*Atom, below []string) (out []string) {
	head := func(title string) string { return strings.Repeat("#", level) + " " + title + "\n\n" }
	byType := map[string][]string{}
	for _, a := range atoms {
		byType[oneLine(a.Type)] = append(byType[oneLine(a.Type)], "* "+entryOf(a))
	}
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		out = append(out, head(typ)+strings.Join(byType[typ], ""))
	}
	if len(below) > 0 {
		s := head("Subdirectories")
		for _, name := range below {
			s += "* " + indexEntry(name, linkName(name)+"/index.md", "")
		}
		out = append(out, s)
	}
	return out
}

// entryOf is the entry of an atom, without what marks a list item.
func entryOf(a *Atom) string {
	return indexEntry(shownTitle(a), linkName(path.Base(a.Path)), oneLine(a.Description))
}

// shownTitle returns an atom's title on one line, or its file's name.
func shownTitle(a *Atom) string {
	if t := oneLine(a.Title); t != "" {
		return t
	}
	return strings.TrimSuffix(path.Base(a.Path), ".md")
}

func indexEntry(title, to, desc string) string {
	title = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(title)
	if desc != "" {
		desc = " - " + desc
	}
	return fmt.Sprintf("[%s](%s)%s\n", title, to, desc)
}

// linkName is a file's name as a link writes it.
func linkName(name string) string {
	if strings.ContainsAny(name, " ()<>%?#:\\\"") {
		return strings.NewReplacer("(", "%28", ")", "%29", ":", "%3A").Replace(url.PathEscape(name))
	}
	return name
}
