package okf

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ErrNotFound is what Find wraps when nothing has the name.
var ErrNotFound = errors.New("no such atom")

// ErrAmbiguous is what Find wraps when a stem names several atoms.
var ErrAmbiguous = errors.New("ambiguous name")

// Find resolves an id, a bundle path with or without a leading slash and ".md",
// a uri, or an unambiguous stem (the last path element). It wraps ErrNotFound,
// with the nearest names, or ErrAmbiguous, with the candidates.
func (g *Graph) Find(name string) (*Atom, error) {
	for _, spelt := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		if i, ok := g.find(spelt, ""); ok {
			return g.at(i), nil
		}
	}
	if _, ambiguous := g.whyUnresolved(name); ambiguous {
		return nil, fmt.Errorf("%s: %w; say %s", name, ErrAmbiguous, either(g.withStem(name)))
	}
	if near := g.near(name); len(near) > 0 {
		return nil, fmt.Errorf("%s: %w; did you mean %s?", name, ErrNotFound, either(near))
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
}

// Broken reports whether a file is at the bundle path and gave no atom.
func (g *Graph) Broken(file string) bool {
	_, ok := g.first(byFile, strings.TrimSuffix(file, ".md"), func(i int32) bool {
		return g.breaks(i) && g.pathAt(i) == file
	})
	return ok
}

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

// manyAtoms marks a stem that several atoms have.
const manyAtoms = -1

// first is the first row by path that has a name of a kind and is one, among
// those of a table and those that changed.
func (g *Graph) first(k kind, name string, is func(i int32) bool) (int32, bool) {
	best := int32(-1)
	maybe := g.maybe(k, name)
	for n := 0; n < maybe.len() && best < 0; n++ {
		if i := int32(maybe.at(n)); i >= 0 && int(i) < g.rows.len() && !g.now.over(i) && is(i) {
			best = i
		}
	}
	for _, i := range g.now.namesOf(k)[name] {
		if is(i) && (best < 0 || g.pathAt(i) < g.pathAt(best)) {
			best = i
		}
	}
	return best, best >= 0
}

// byID finds the atom with exactly this id.
func (g *Graph) byID(id ID) (int32, bool) {
	return g.first(byID, string(id), func(i int32) bool { return g.here(i) && g.idAt(i) == id })
}

// stem is the row of the one atom that has a stem, manyAtoms where several have.
func (g *Graph) stem(stem string) (i int32, ok bool) {
	has := func(i int32) bool { return g.here(i) && slices.Contains(g.stemsAt(i), stem) }
	i, ok = g.first(byStem, stem, has)
	if !ok {
		return 0, false
	}
	if _, more := g.first(byStem, stem, func(j int32) bool { return j != i && has(j) }); more {
		return manyAtoms, true
	}
	return i, true
}

func (g *Graph) stemsAt(i int32) []string {
	if g.now.over(i) {
		if a := g.now.atoms[i]; a != nil {
			return stemsOf(a.Path, string(a.ID))
		}
		return stemsOf(g.pathAt(i), "")
	}
	return g.stemsOf(i)
}

// breaks reports a file that is there and gave no atom.
func (g *Graph) breaks(i int32) bool {
	return !g.here(i) && !g.now.isRemoved(i) && !isReserved(g.pathAt(i))
}

// find resolves a name as Find does. A path that begins with "./" or "../" is
// taken from the atom at from.
func (g *Graph) find(name, from string) (int32, bool) {
	if i, ok := g.byID(ID(name)); ok {
		return i, true
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return g.file(path.Join(path.Dir(from), name))
	}
	if i, ok := g.file(strings.TrimPrefix(name, "/")); ok {
		return i, true
	}
	if i, ok := g.uri(name); ok {
		return i, true
	}
	stem := strings.TrimSuffix(name, ".md")
	if stem == "" || strings.Contains(stem, "/") {
		return 0, false
	}
	i, ok := g.stem(stem)
	return i, ok && i != manyAtoms
}

// file finds the atom of a bundle path, with or without ".md".
func (g *Graph) file(p string) (int32, bool) {
	key := strings.TrimSuffix(p, ".md")
	return g.first(byFile, key, func(i int32) bool {
		return g.here(i) && strings.TrimSuffix(g.pathAt(i), ".md") == key
	})
}

// whyUnresolved tells why a name that find does not resolve does not: its file is
// there and is no atom, or several atoms have it for a stem.
func (g *Graph) whyUnresolved(name string) (broken, ambiguous bool) {
	key := strings.TrimSuffix(name, ".md")
	if !strings.Contains(key, "/") {
		if i, ok := g.stem(key); ok && i == manyAtoms {
			return false, true
		}
	}
	file := strings.TrimPrefix(key, "/")
	if g.Broken(file + ".md") {
		return true, false
	}
	_, torn := g.first(byStem, file, func(i int32) bool {
		return g.breaks(i) && stemsOf(g.pathAt(i), "")[0] == file
	})
	return torn, false
}

// withStem lists the ids of the atoms that have a stem, in order.
func (g *Graph) withStem(name string) []string {
	stem := strings.TrimSuffix(name, ".md")
	var out []string
	for i := range g.places() {
		if g.here(i) && slices.Contains(g.stemsAt(i), stem) {
			out = append(out, string(g.idAt(i)))
		}
	}
	slices.Sort(out)
	return out
}

// near lists up to three ids close to name: by edit distance of the id or its
// stem, and then those whose stem holds name.
func (g *Graph) near(name string) []string {
	const most = 3
	want := strings.ToLower(strings.TrimSuffix(strings.Trim(name, "/"), ".md"))
	stem := path.Base(want)
	type match struct {
		id          string
		away, whole int
	}
	var found []match
	for i := range g.places() {
		if !g.here(i) {
			continue
		}
		id := strings.ToLower(string(g.idAt(i)))
		whole := Distance(want, id)
		away := min(whole, Distance(stem, path.Base(id)))
		if away == Far && len(want) >= 3 && strings.Contains(path.Base(id), want) {
			away = Far - 1
		}
		if away < Far {
			found = append(found, match{string(g.idAt(i)), away, whole})
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
// where it is no slip: more than one change for three bytes of a, and one; or nothing
// of b in a.
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
	if d := row[len(b)]; d <= limit && (d == 0 || d < len(b)) {
		return d
	}
	return Far
}

// Nearest is which of names a person may have meant, "" where none is near. A short
// name has few letters to get wrong.
func Nearest(name string, names []string) string {
	best, away := "", Far
	for _, n := range names {
		d := Distance(strings.ToLower(name), strings.ToLower(n))
		if d < away && (3*d <= max(len(name), 3) || isAnagram(name, n)) {
			best, away = n, d
		}
	}
	return best
}

// isAnagram reports whether b is a with its letters in another order, as drian for drain.
func isAnagram(a, b string) bool {
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
