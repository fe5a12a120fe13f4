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
	IndexFresh   IndexState = "fresh"   // up to date
	IndexStale   IndexState = "stale"   // lists something that does not exist, or lacks something
	IndexMissing IndexState = "missing" // does not exist
	IndexWritten IndexState = "written" // a text that lists nothing of its folder; odd leaves it alone
)

// IndexFile is the index.md of one folder. A new one has the form of OKF v0.2 §8: a heading
// for each type with the folder's atoms by title, and the subfolders.
//
//	# Process
//
//	* [Publish an article](publish.md) - An article leaves the desk once.
//
//	# Subdirectories
//
//	* [drafts](drafts/index.md) - Not for readers yet.
//
// The root's also has a block with okf_version. An existing file belongs to a person: its
// order, its words and its other contents stay. odd only adds entries, points them to an
// atom's new name, or removes them when what they list is gone. An entry is a list item of
// one line that begins with its only link.
type IndexFile struct {
	Path  string
	State IndexState
	Want  []byte

	listed int      // the number of links to atoms and subfolders of the folder
	lacks  []string // what it does not list
	noted  bool     // it lacks only tasks, which odd lists elsewhere
	dead   []Linked // links to files that do not exist
}

// IndexedAs returns an atom as it was when an index was last written; nil if that is
// unknown. An entry with the text of that atom was generated, so odd keeps it up to date.
type IndexedAs func(index, atom string) *Atom

// Index lists the index files of every folder that holds atoms at any depth, and of other
// folders if their index has dead links. They are in order of path. f is the bundle that g
// was loaded from.
func Index(f fs.FS, g *Graph, was IndexedAs) []IndexFile {
	dirs := groupByFolder(g)
	l := indexBuilder{f, g, dirs, was}
	var out []IndexFile
	for dir, d := range dirs {
		out = append(out, l.buildIndex(dir, d))
	}
	all, err := listFiles(f)
	if err != nil {
		all.files = nil // nothing can be read
	}
	for _, file := range all.files {
		if dir := path.Dir(file); path.Base(file) == "index.md" && dirs[dir] == nil {
			if i := l.buildIndex(dir, &folder{}); len(i.dead) > 0 {
				out = append(out, i)
			}
		}
	}
	slices.SortFunc(out, func(a, b IndexFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// StaleIndex lists the index files that are out of date. A bundle without listings below
// its root is not missing any.
func StaleIndex(f fs.FS, g *Graph, was IndexedAs) []IndexFile {
	return slices.DeleteFunc(dropUnneeded(Index(f, g, was)), func(i IndexFile) bool { return i.State != IndexStale && i.State != IndexMissing })
}

// dropUnneeded removes the files that a bundle without listings need not have.
func dropUnneeded(files []IndexFile) []IndexFile {
	keeps := slices.ContainsFunc(files, func(i IndexFile) bool {
		return i.Path != "index.md" && (i.State == IndexFresh || i.State == IndexStale)
	})
	return slices.DeleteFunc(files, func(i IndexFile) bool { return !keeps && i.listed == 0 })
}

// CheckIndex reports the index files that are out of date.
func CheckIndex(f fs.FS, g *Graph) []Problem {
	var out []Problem
	for _, i := range dropUnneeded(Index(f, g, nil)) {
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

// folder holds what an index lists.
type folder struct {
	atoms []*Atom
	below []string // names of subfolders
}

// groupByFolder maps the root and every folder that holds atoms at any depth.
func groupByFolder(g *Graph) map[string]*folder {
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

// indexBuilder builds the index files of one bundle.
type indexBuilder struct {
	files fs.FS
	graph *Graph
	dirs  map[string]*folder
	was   IndexedAs
}

func (l indexBuilder) buildIndex(dir string, d *folder) IndexFile {
	out := IndexFile{Path: path.Join(dir, "index.md"), State: IndexMissing}
	b, err := fs.ReadFile(l.files, out.Path)
	if errors.Is(err, fs.ErrNotExist) {
		block := ""
		if dir == "." {
			block = "---\nokf_version: \"" + okfVersion + "\"\n---\n\n"
		}
		out.Want = []byte(block + strings.Join(renderSections(1, d.atoms, d.below), "\n"))
		return out
	}
	p := readIndexPage(l, out.Path, b)
	out.listed, out.dead, out.Want = p.listed, p.dead, b
	atoms, below := p.findUnlisted(d)
	out.noted = len(below) == 0
	for _, a := range atoms {
		out.lacks = append(out.lacks, path.Base(a.Path))
		out.noted = out.noted && a.Type == "task"
	}
	for _, name := range below {
		out.lacks = append(out.lacks, name+"/index.md")
	}
	out.State = IndexFresh
	want := p.update(atoms, below)
	switch {
	case err != nil || p.listed+len(p.dead) == 0 && p.prose || Conflict(b) != nil:
		out.State = IndexWritten
	case !bytes.Equal(want, b):
		out.State, out.Want = IndexStale, want
		next := readIndexPage(l, out.Path, want)
		if a, s := next.findUnlisted(d); len(a)+len(s) > 0 { // the change would land in code or a comment that does not end
			out.State, out.Want = IndexWritten, b
		}
	}
	return out
}

// renderSections writes a section for each type of atoms, which are in order, and one for
// the subfolders.
func renderSections(level int, atoms []*Atom, below []string) (out []string) {
	head := func(title string) string { return strings.Repeat("#", level) + " " + title + "\n\n" }
	byType := map[string][]string{}
	for _, a := range atoms {
		byType[OneLine(a.Type)] = append(byType[OneLine(a.Type)], "* "+atomEntry(a))
	}
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		out = append(out, head(typ)+strings.Join(byType[typ], ""))
	}
	if len(below) > 0 {
		s := head("Subdirectories")
		for _, name := range below {
			s += "* " + formatEntry(name, escapeLinkName(name)+"/index.md", "")
		}
		out = append(out, s)
	}
	return out
}

// atomEntry returns the entry of an atom, without the bullet.
func atomEntry(a *Atom) string {
	return formatEntry(shownTitle(a), escapeLinkName(path.Base(a.Path)), OneLine(a.Description))
}

// shownTitle returns the title of an atom on one line, or the name of its file.
func shownTitle(a *Atom) string {
	if t := OneLine(a.Title); t != "" {
		return t
	}
	return strings.TrimSuffix(path.Base(a.Path), ".md")
}

func formatEntry(title, to, desc string) string {
	title = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(title)
	if desc != "" {
		desc = " - " + desc
	}
	return fmt.Sprintf("[%s](%s)%s\n", title, to, desc)
}

// escapeLinkName escapes the name of a file for a link.
func escapeLinkName(name string) string {
	if strings.ContainsAny(name, " ()<>%?#:\\\"") {
		return strings.NewReplacer("(", "%28", ")", "%29", ":", "%3A").Replace(url.PathEscape(name))
	}
	return name
}
