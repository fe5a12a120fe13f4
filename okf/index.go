package okf

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// IndexState is what an index file needs.
type IndexState string

// The states of an index file.
const (
	IndexFresh    IndexState = "fresh"    // as it should be
	IndexStale    IndexState = "stale"    // a listing, and not up to date
	IndexMissing  IndexState = "missing"  // not there
	IndexWritten  IndexState = "written"  // by hand: it holds more than a listing
	IndexLeftover IndexState = "leftover" // a listing of a folder without atoms
)

// IndexFile is one folder's index.md, as OKF v0.2 §8 has it: a heading for each
// type with the folder's atoms by title, and the sub-folders.
//
//	# Process
//
//	* [Publish an article](publish.md) - An article leaves the desk once.
//
//	# Subdirectories
//
//	* [drafts](drafts/index.md) - Not for readers yet.
//
// The root's also keeps its block with okf_version. A file that consists of
// headings and entries alone is a listing and may be generated again; anything
// else was written by hand, and only its author replaces it. What a listing
// says about a sub-folder is nowhere else, so it is kept.
type IndexFile struct {
	Path  string
	State IndexState
	Want  []byte // nil for a leftover
}

// Index lists the index files of every folder that holds atoms, at any depth,
// and those that are left over, in order of path. f is the bundle that g was
// loaded from.
func Index(f fs.FS, g *Graph) []IndexFile {
	dirs := folders(g)
	var out []IndexFile
	for dir, d := range dirs {
		out = append(out, indexFile(f, dir, d))
	}
	l, err := listFiles(f)
	if err != nil {
		l.files = nil // nothing can be read, so nothing is left over
	}
	for _, file := range l.files {
		if path.Base(file) != "index.md" || dirs[path.Dir(file)] != nil {
			continue
		}
		if _, rest, ok := readIndex(f, file); ok && onlyEntries(rest) {
			out = append(out, IndexFile{Path: file, State: IndexLeftover})
		}
	}
	slices.SortFunc(out, func(a, b IndexFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// StaleIndex is what the generated index files that are out of date should be,
// by path. A bundle that keeps no listings gets none.
func StaleIndex(f fs.FS, g *Graph) map[string][]byte {
	out := map[string][]byte{}
	for _, i := range stale(f, g) {
		if i.State != IndexLeftover {
			out[i.Path] = i.Want
		}
	}
	return out
}

// CheckIndex reports the generated index files that are out of date: a warning where one
// has an entry for what is no longer there, a note where it only lacks something. A bundle
// that keeps no listings has none.
func CheckIndex(f fs.FS, g *Graph) []Problem {
	var out []Problem
	for _, i := range stale(f, g) {
		p := Problem{Code: codeIndex, Severity: Info, Path: i.Path, Line: 1, Message: "does not list the folder as it is", Hint: "run odd knowledge index"}
		dead, line := gone(f, i)
		switch {
		case i.State == IndexMissing:
			p.Message = "is missing, and other folders have one"
		case i.State == IndexLeftover:
			p.Severity, p.Message, p.Hint = Warn, "lists a folder that has no atoms", "delete it, or run odd knowledge index --force"
		case dead != "":
			p.Severity, p.Line, p.Message = Warn, line, "lists "+dead+", which is not there"
		}
		out = append(out, p)
	}
	return out
}

// gone is the first entry of an index file that it should not have, and its line.
func gone(f fs.FS, i IndexFile) (target string, line int) {
	want := map[string]bool{}
	for l := range strings.Lines(string(i.Want)) {
		to, _, _ := entryOf(strings.TrimRight(l, "\n"))
		want[to] = true
	}
	b, _ := fs.ReadFile(f, i.Path)
	for l := range strings.Lines(string(b)) {
		line++
		if to, _, entry := entryOf(strings.TrimRight(l, " \t\r\n")); entry && !want[to] {
			return to, line
		}
	}
	return "", 0
}

// stale are the index files of a bundle that keeps listings which are missing, left over
// or not up to date.
func stale(f fs.FS, g *Graph) []IndexFile {
	var out []IndexFile
	keeps := false
	for _, i := range Index(f, g) {
		if i.State != IndexFresh && i.State != IndexWritten {
			out = append(out, i)
		}
		keeps = keeps || i.Path != "index.md" && i.State != IndexMissing && i.State != IndexWritten
	}
	if !keeps {
		return nil
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
	return out
}

func indexFile(f fs.FS, dir string, d *folder) IndexFile {
	file := path.Join(dir, "index.md")
	block, rest, there := readIndex(f, file)
	if !there && dir == "." {
		block = "---\nokf_version: \"" + okfVersion + "\"\n---\n\n"
	}
	out := IndexFile{Path: file, State: IndexMissing}
	want := block + d.list(described(rest))
	switch {
	case there && want == block+rest:
		out.State = IndexFresh
	case there && !onlyEntries(rest):
		out.State = IndexWritten
	case there:
		out.State = IndexStale
	}
	out.Want = []byte(want)
	return out
}

// readIndex reads an index file: its block with what separates it from the
// rest, and the rest, with plain line ends.
func readIndex(f fs.FS, file string) (block, rest string, ok bool) {
	b, err := fs.ReadFile(f, file)
	if err != nil {
		return "", "", false
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	if blk, p := split(b); p == nil {
		end := blk.body
		for end < len(b) && b[end] == '\n' {
			end++
		}
		return string(b[:blk.body]) + "\n", string(b[end:]), true
	}
	return "", string(b), true
}

// onlyEntries reports whether a text is headings and entries alone.
func onlyEntries(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		if _, _, entry := entryOf(line); line != "" && !entry && !strings.HasPrefix(line, "# ") {
			return false
		}
	}
	return true
}

// entryOf reads "* [title](target) - description".
func entryOf(line string) (target, desc string, ok bool) {
	rest, bullet := strings.CutPrefix(line, "* [")
	if !bullet {
		return "", "", false
	}
	_, rest, ok = strings.Cut(rest, "](")
	if !ok {
		return "", "", false
	}
	target, rest, ok = strings.Cut(rest, ")")
	desc, _ = strings.CutPrefix(rest, " - ")
	return target, desc, ok && (rest == "" || strings.HasPrefix(rest, " - "))
}

// described is what a listing says of its sub-folders, by target.
func described(listed string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(listed) {
		if to, desc, ok := entryOf(strings.TrimRight(line, "\n")); ok && strings.HasSuffix(to, "/index.md") {
			out[to] = desc
		}
	}
	return out
}

// list writes the sections: types in order, the sub-folders last.
func (d *folder) list(said map[string]string) string {
	byType := map[string][]*Atom{}
	var types []string
	for _, a := range d.atoms {
		typ := oneLine(a.Type)
		if byType[typ] == nil {
			types = append(types, typ)
		}
		byType[typ] = append(byType[typ], a)
	}
	slices.Sort(types)
	var sections []string
	for _, typ := range types {
		atoms := byType[typ]
		slices.SortFunc(atoms, func(a, b *Atom) int {
			return cmp.Or(strings.Compare(strings.ToLower(shown(a)), strings.ToLower(shown(b))), strings.Compare(a.Path, b.Path))
		})
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n", typ)
		for _, a := range atoms {
			b.WriteString(indexEntry(shown(a), linkName(path.Base(a.Path)), oneLine(a.Description)))
		}
		sections = append(sections, b.String())
	}
	if len(d.below) > 0 {
		var b strings.Builder
		b.WriteString("# Subdirectories\n\n")
		for _, name := range slices.Sorted(slices.Values(d.below)) {
			to := linkName(name) + "/index.md"
			b.WriteString(indexEntry(name, to, said[to]))
		}
		sections = append(sections, b.String())
	}
	return strings.Join(sections, "\n")
}

// shown is an atom's title on one line, or its file's name.
func shown(a *Atom) string {
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
	return fmt.Sprintf("* [%s](%s)%s\n", title, to, desc)
}

// linkName is a file's name as a link writes it.
func linkName(name string) string {
	if strings.ContainsAny(name, " ()<>%?#:\\\"") {
		return strings.NewReplacer("(", "%28", ")", "%29", ":", "%3A").Replace(url.PathEscape(name))
	}
	return name
}
