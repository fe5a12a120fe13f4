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

// ErrNotFound is wrapped by Find when no atom has the name.
var ErrNotFound = errors.New("no such atom")

// ErrAmbiguous is wrapped by Find when several atoms have the stem.
var ErrAmbiguous = errors.New("ambiguous name")

// Find resolves a name: an id, a uri, a bundle path with or without a leading slash and
// ".md", or the last element of a path (its stem) if only one atom has it. The error wraps
// ErrNotFound and suggests names, or wraps ErrAmbiguous and lists the candidates.
func (g *Graph) Find(name string) (*Atom, error) {
	for _, spelt := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		if i, ok := g.find(spelt, ""); ok {
			return g.atomAt(i), nil
		}
	}
	if _, ambiguous := g.whyUnresolved(name); ambiguous {
		return nil, fmt.Errorf("%s: %w; say %s", name, ErrAmbiguous, joinOr(g.idsWithStem(name)))
	}
	if near := g.suggestIDs(name); len(near) > 0 {
		return nil, fmt.Errorf("%s: %w; did you mean %s?", name, ErrNotFound, joinOr(near))
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
}

// Broken reports whether the bundle path has a file that could not be read as an atom.
func (g *Graph) Broken(file string) bool {
	_, ok := g.findFirst(byFile, strings.TrimSuffix(file, ".md"), func(i int32) bool {
		return g.isBrokenFile(i) && g.pathAt(i) == file
	})
	return ok
}

// joinOr formats "a", "a or b", "a, b or c". It lists eight, and counts the others.
func joinOr(ids []string) string {
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

// manyAtoms is the row of a stem that several atoms have.
const manyAtoms = -1

// findFirst returns the first row by path that has a name of a kind and for which is
// returns true. It looks in the table of the kind and among the changed rows.
func (g *Graph) findFirst(k nameKind, name string, is func(i int32) bool) (int32, bool) {
	best := int32(-1)
	maybe := g.candidates(k, name)
	for n := 0; n < maybe.len() && best < 0; n++ {
		if i := int32(maybe.at(n)); i >= 0 && int(i) < g.rows.len() && !g.now.isChanged(i) && is(i) {
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
	return g.findFirst(byID, string(id), func(i int32) bool { return g.hasAtom(i) && g.idAt(i) == id })
}

// findStem returns the row of the only atom with a stem; manyAtoms if several have it.
func (g *Graph) findStem(stem string) (i int32, ok bool) {
	has := func(i int32) bool { return g.hasAtom(i) && slices.Contains(g.stemsAt(i), stem) }
	i, ok = g.findFirst(byStem, stem, has)
	if !ok {
		return 0, false
	}
	if _, more := g.findFirst(byStem, stem, func(j int32) bool { return j != i && has(j) }); more {
		return manyAtoms, true
	}
	return i, true
}

func (g *Graph) stemsAt(i int32) []string {
	if g.now.isChanged(i) {
		if a := g.now.atoms[i]; a != nil {
			return stemsOf(a.Path, string(a.ID))
		}
		return stemsOf(g.pathAt(i), "")
	}
	return g.stemsOf(i)
}

// isBrokenFile reports whether a row has a file that gave no atom.
func (g *Graph) isBrokenFile(i int32) bool {
	return !g.hasAtom(i) && !g.now.isRemoved(i) && !isReserved(g.pathAt(i))
}

// find resolves a name as Find does. A path that begins with "./" or "../" is relative to
// the file from.
func (g *Graph) find(name, from string) (int32, bool) {
	if i, ok := g.byID(ID(name)); ok {
		return i, true
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return g.findPath(path.Join(path.Dir(from), name))
	}
	if i, ok := g.findPath(strings.TrimPrefix(name, "/")); ok {
		return i, true
	}
	if i, ok := g.findURI(name); ok {
		return i, true
	}
	stem := strings.TrimSuffix(name, ".md")
	if stem == "" || strings.Contains(stem, "/") {
		return 0, false
	}
	i, ok := g.findStem(stem)
	return i, ok && i != manyAtoms
}

// findPath finds the atom at a bundle path, with or without ".md".
func (g *Graph) findPath(p string) (int32, bool) {
	key := strings.TrimSuffix(p, ".md")
	return g.findFirst(byFile, key, func(i int32) bool {
		return g.hasAtom(i) && strings.TrimSuffix(g.pathAt(i), ".md") == key
	})
}

// whyUnresolved explains why find does not resolve a name: its file is not an atom
// (broken), or several atoms have the stem (ambiguous).
func (g *Graph) whyUnresolved(name string) (broken, ambiguous bool) {
	key := strings.TrimSuffix(name, ".md")
	if !strings.Contains(key, "/") {
		if i, ok := g.findStem(key); ok && i == manyAtoms {
			return false, true
		}
	}
	file := strings.TrimPrefix(key, "/")
	if g.Broken(file + ".md") {
		return true, false
	}
	_, torn := g.findFirst(byStem, file, func(i int32) bool {
		return g.isBrokenFile(i) && stemsOf(g.pathAt(i), "")[0] == file
	})
	return torn, false
}

// idsWithStem lists the ids of the atoms that have a stem, sorted.
func (g *Graph) idsWithStem(name string) []string {
	stem := strings.TrimSuffix(name, ".md")
	var out []string
	for i := range g.rowCount() {
		if g.hasAtom(i) && slices.Contains(g.stemsAt(i), stem) {
			out = append(out, string(g.idAt(i)))
		}
	}
	slices.Sort(out)
	return out
}

// suggestIDs lists up to three ids close to name: first by edit distance from the id or its
// stem, then those whose stem contains name.
func (g *Graph) suggestIDs(name string) []string {
	const most = 3
	want := strings.ToLower(strings.TrimSuffix(strings.Trim(name, "/"), ".md"))
	stem := path.Base(want)
	type match struct {
		id          string
		away, whole int
	}
	var found []match
	for i := range g.rowCount() {
		if !g.hasAtom(i) {
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

// Far is the distance of names that are not misspellings of each other.
const Far = 5

// Distance returns the edit distance from a to b in bytes. It returns Far if b is no
// misspelling of a: more than 1+len(a)/3 changes, more than four, or as many as b has
// bytes.
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

// Nearest returns the name that a person may have meant; "" if none is close. Short names
// allow fewer changes.
func Nearest(name string, names []string) string {
	best, away := "", Far
	for _, n := range names {
		d := Distance(strings.ToLower(name), strings.ToLower(n))
		if closer := d < away || d == away && strings.HasPrefix(n, name); closer && (3*d <= max(len(name), 3) || isAnagram(name, n)) {
			best, away = n, d
		}
	}
	return best
}

// isAnagram reports whether b has the letters of a in another order, as drian for drain.
func isAnagram(a, b string) bool {
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
