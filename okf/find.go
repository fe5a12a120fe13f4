package okf

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// ErrNotFound is what Find wraps when nothing has the name.
var ErrNotFound = errors.New("no such atom")

// ErrAmbiguous is what Find wraps when a stem names several atoms.
var ErrAmbiguous = errors.New("ambiguous name")

// Find resolves an id, a bundle path with or without a leading slash and ".md",
// a uri, or an unambiguous stem (the last path element). It wraps ErrNotFound,
// with the nearest names, or ErrAmbiguous, with the candidates.
func (g *Graph) Find(name string) (*Atom, error) {
	if i, ok := g.names.find(name, ""); ok {
		return g.atoms[i], nil
	}
	if _, ambiguous := g.names.unresolved(name); ambiguous {
		return nil, fmt.Errorf("%s: %w; say %s", name, ErrAmbiguous, either(g.names.withStem(name)))
	}
	if near := g.names.near(name); len(near) > 0 {
		return nil, fmt.Errorf("%s: %w; did you mean %s?", name, ErrNotFound, either(near))
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
}

// Broken reports whether a file is at the bundle path and gave no atom.
func (g *Graph) Broken(file string) bool { return g.names.broken[file] }

// either is "a", "a or b", "a, b or c", and tells how many more there are
// beyond eight.
func either(ids []string) string {
	const most = 8
	if n := len(ids) - most; n > 0 {
		return fmt.Sprintf("%s or one of %d more", strings.Join(ids[:most], ", "), n)
	}
	last := len(ids) - 1
	if last < 1 {
		return strings.Join(ids, "")
	}
	return strings.Join(ids[:last], ", ") + " or " + ids[last]
}

// names resolves what atoms are called. Its numbers are places in atoms.
type names struct {
	atoms  []*Atom // by path
	byID   map[ID]int32
	byPath map[string]int32 // path without ".md", where the id is another
	byURI  map[string]int32
	broken map[string]bool // paths that are there and gave no atom
	torn   map[string]bool // their stems
	twice  []DuplicateURI
	ours   map[string]bool // authorities of the bundle's own uris
	stems  func() map[string]int32
}

// manyAtoms marks a stem that several atoms have.
const manyAtoms = -1

// fill makes the index of atoms, which are in order of path. The later of two
// with one id is left out, and its file counts as broken.
func (n *names) fill(atoms []*Atom, broken []string) {
	n.atoms = make([]*Atom, 0, len(atoms))
	n.byID = make(map[ID]int32, len(atoms))
	n.byPath, n.byURI, n.ours = map[string]int32{}, map[string]int32{}, map[string]bool{}
	n.broken, n.torn = make(map[string]bool, len(broken)), make(map[string]bool, len(broken))
	for _, file := range broken {
		n.breaks(file)
	}
	for _, a := range atoms {
		n.add(a)
	}
	n.stems = sync.OnceValue(n.readStems)
}

func (n *names) add(a *Atom) {
	key, i := strings.TrimSuffix(a.Path, ".md"), int32(len(n.atoms))
	before := len(n.byID)
	if first, taken := n.byID[a.ID]; taken {
		i = first
	}
	n.byID[a.ID] = i
	if len(n.byID) == before {
		n.breaks(a.Path)
		return
	}
	n.atoms = append(n.atoms, a)
	if key != string(a.ID) {
		n.byPath[key] = i
	}
	if a.URI == "" {
		return
	}
	if first, taken := n.byURI[a.URI]; taken {
		n.twice = append(n.twice, DuplicateURI{a.URI, n.atoms[first], a})
		return
	}
	n.byURI[a.URI] = i
	if own := Authority(a.URI); own != "" {
		n.ours[own] = true
	}
}

// breaks notes a file that is there and gave no atom.
func (n *names) breaks(file string) {
	n.broken[file] = true
	n.torn[strings.TrimSuffix(path.Base(file), ".md")] = true
}

// order is the places in order of id.
func (n *names) order() []int32 {
	out := make([]int32, len(n.atoms))
	for i := range out {
		out[i] = int32(i)
	}
	byID := func(a, b int32) int { return cmp.Compare(n.atoms[a].ID, n.atoms[b].ID) }
	if !slices.IsSortedFunc(out, byID) {
		slices.SortFunc(out, byID)
	}
	return out
}

// readStems maps the last element of every id and path.
func (n *names) readStems() map[string]int32 {
	out := make(map[string]int32, len(n.atoms))
	add := func(stem string, i int32) {
		if had, ok := out[stem]; ok && had != i {
			i = manyAtoms
		}
		out[stem] = i
	}
	for i, a := range n.atoms {
		for _, s := range stemsOf(a) {
			add(s, int32(i))
		}
	}
	return out
}

// stemsOf is the last element of the path without ".md" and, where it differs,
// that of the id.
func stemsOf(a *Atom) []string {
	file, id := strings.TrimSuffix(path.Base(a.Path), ".md"), path.Base(string(a.ID))
	if file == id {
		return []string{file}
	}
	return []string{file, id}
}

// find resolves a name as Find does. A path that begins with "./" or "../" is
// taken from the atom at from.
func (n *names) find(name, from string) (int32, bool) {
	if i, ok := n.byID[ID(name)]; ok {
		return i, true
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return n.file(path.Join(path.Dir(from), name))
	}
	if i, ok := n.file(strings.TrimPrefix(name, "/")); ok {
		return i, true
	}
	if i, ok := n.uri(name); ok {
		return i, true
	}
	stem := strings.TrimSuffix(name, ".md")
	if stem == "" || strings.Contains(stem, "/") {
		return 0, false
	}
	i, ok := n.stems()[stem]
	return i, ok && i != manyAtoms
}

// file finds the atom of a bundle path, with or without ".md".
func (n *names) file(p string) (int32, bool) {
	key := strings.TrimSuffix(p, ".md")
	if i, ok := n.byPath[key]; ok {
		return i, true
	}
	i, ok := n.byID[ID(key)]
	return i, ok && strings.TrimSuffix(n.atoms[i].Path, ".md") == key
}

// unresolved tells why a name that find does not resolve does not: its file is
// there and is no atom, or several atoms have it for a stem.
func (n *names) unresolved(name string) (broken, ambiguous bool) {
	key := strings.TrimSuffix(name, ".md")
	if !strings.Contains(key, "/") && n.stems()[key] == manyAtoms {
		return false, true
	}
	file := strings.TrimPrefix(key, "/")
	return n.broken[file+".md"] || n.torn[file], false
}

// withStem lists the ids of the atoms that have a stem, in order.
func (n *names) withStem(name string) []string {
	stem := strings.TrimSuffix(name, ".md")
	var out []string
	for _, a := range n.atoms {
		if slices.Contains(stemsOf(a), stem) {
			out = append(out, string(a.ID))
		}
	}
	slices.Sort(out)
	return out
}

// near lists up to three ids close to name: by edit distance of the id or its
// stem, and then those whose stem holds name.
func (n *names) near(name string) []string {
	const most = 3
	want := strings.ToLower(strings.TrimSuffix(strings.Trim(name, "/"), ".md"))
	stem := path.Base(want)
	type match struct {
		id          string
		away, whole int
	}
	var found []match
	for _, a := range n.atoms {
		id := strings.ToLower(string(a.ID))
		whole := Distance(want, id)
		away := min(whole, Distance(stem, path.Base(id)))
		if away == Far && len(want) >= 3 && strings.Contains(path.Base(id), want) {
			away = Far - 1
		}
		if away < Far {
			found = append(found, match{string(a.ID), away, whole})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.whole, b.whole), cmp.Compare(a.id, b.id))
	})
	var out []string
	for _, m := range found[:min(most, len(found))] {
		out = append(out, m.id)
	}
	return out
}

// Far is a distance at which two names are not taken for each other.
const Far = 5

// Distance is the number of bytes to add, drop or change to make b of a, or Far
// where it is no slip: more than one change for three bytes of a, and one.
func Distance(a, b string) int {
	limit := min(Far-1, 1+len(a)/3)
	if d := len(a) - len(b); d > limit || -d > limit {
		return Far
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	if row[len(b)] > limit {
		return Far
	}
	return row[len(b)]
}
