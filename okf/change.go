package okf

import (
	"maps"
	"slices"
	"strings"
)

// changes holds the files that differ from the rows of a graph. A row whose file changed
// keeps its number; a new file gets a row after the others.
type changes struct {
	files    map[string]reading // the files that differ, by path
	paths    []string           // of the new rows
	atoms    map[int32]*Atom    // of the changed and new rows: nil where there is none
	gone     map[int32]bool     // rows whose file is not there any more
	names    changedNames
	leads    map[int32]resolvedEdges // of every row that was resolved again
	arrivals map[int32][]edge        // their edges, by where they lead
}

// changedNames finds changed rows by name, as tables find the others.
type changedNames [nameKinds]map[string][]int32

// isChanged reports whether the file of a row differs.
func (c *changes) isChanged(i int32) bool {
	if c == nil {
		return false
	}
	_, ok := c.atoms[i]
	return ok
}

func (c *changes) isRemoved(i int32) bool { return c != nil && c.gone[i] }

func (c *changes) namesOf(k nameKind) map[string][]int32 {
	if c == nil {
		return nil
	}
	return c.names[k]
}

// manyChanged is the number of changed files, or of atoms that mention changed names, above
// which the whole graph is built again.
func (g *Graph) manyChanged() int { return 256 + g.rows.len()/16 }

// applyChanges returns the graph with files that are new, different or gone, by path, and
// the problems of all its files.
//
// It resolves the edges of those files again, and of all atoms that mention a name that
// appeared or disappeared. It builds the whole graph again if that is too much, or if a
// change gives or takes away the id of another file or the authority of a uri.
func (g *Graph) applyChanges(files map[string]reading) (*Graph, []Problem) {
	if len(files) == 0 && g.now == nil {
		return g, slices.Clone(g.problems)
	}
	all := files
	if g.now != nil {
		all = maps.Clone(g.now.files)
		maps.Copy(all, files)
	}
	next := newGraph(g.rows, &changes{files: all, atoms: map[int32]*Atom{}, gone: map[int32]bool{}, leads: map[int32]resolvedEdges{}, arrivals: map[int32][]edge{}})
	if len(all) > g.manyChanged() || !next.placeChanges() {
		return rebuildGraph(g.rows, all)
	}
	again, ok := next.affectedRows()
	if !ok {
		return rebuildGraph(g.rows, all)
	}
	for i := range again {
		l := resolvedEdges{}
		if next.hasAtom(i) {
			l = next.resolveEdges(i, referencesOf(next.atomAt(i)), nil)
		}
		next.now.leads[i] = l
		for _, e := range l.edges {
			next.now.arrivals[e.to] = append(next.now.arrivals[e.to], e)
		}
	}
	return next, next.fileProblems()
}

// fileProblems returns the problems of the files as they are now, in order.
func (g *Graph) fileProblems() []Problem {
	out := make([]Problem, 0, len(g.problems))
	for _, p := range g.problems {
		if _, changed := g.now.files[p.Path]; !changed {
			out = append(out, p)
		}
	}
	for _, r := range g.now.files {
		out = append(out, r.problems...)
	}
	sortProblems(out)
	return out
}

// placeChanges gives every changed file its row and its names. It returns false if the
// change concerns other files: an id that another file has or had, or an authority that may
// appear or disappear.
func (g *Graph) placeChanges() bool {
	c, n := g.now, g.rows.len()
	for k := range c.names {
		c.names[k] = map[string][]int32{}
	}
	for _, file := range sortedKeys(c.files) {
		r := c.files[file]
		i, there := g.rowOfPath(file)
		switch {
		case there && (g.state[i] == rowDuplicate || g.hasDuplicate(i)):
			return false
		case !there && r.gone:
			continue
		case !there:
			i = int32(n + len(c.paths))
			c.paths = append(c.paths, file)
		}
		before := ""
		if there && g.isKept(i) {
			before = g.uriOf(i)
		}
		c.atoms[i] = r.makeAtom()
		c.files[file] = r
		if r.gone {
			c.gone[i] = true
		}
		if uri := c.addNames(file, r.atom, i); uri != before {
			return false
		}
	}
	return !g.sharesID()
}

// addNames records the names of a changed file and of its atom, if it has one. It returns
// the atom's uri.
func (c *changes) addNames(file string, a *Atom, i int32) (uri string) {
	add := func(k nameKind, name string) { c.names[k][name] = append(c.names[k][name], i) }
	add(byFile, strings.TrimSuffix(file, ".md"))
	id := ""
	if a != nil {
		id, uri = string(a.ID), a.URI
		add(byID, id)
	}
	if uri != "" {
		add(byURI, uri)
	}
	for _, s := range stemsOf(file, id) {
		add(byStem, s)
	}
	return uri
}

// rowOfPath finds the row of exactly this path, changed or not.
func (r *rows) rowOfPath(file string) (int32, bool) {
	maybe := r.candidates(byFile, strings.TrimSuffix(file, ".md"))
	for k := range maybe.len() {
		if i := int32(maybe.at(k)); i >= 0 && int(i) < r.len() && r.pathOf(i) == file {
			return i, true
		}
	}
	return 0, false
}

// hasDuplicate reports whether a later row has the id of this row.
func (r *rows) hasDuplicate(i int32) bool {
	if !r.isKept(i) {
		return false
	}
	id := r.idOf(i)
	maybe := r.candidates(byID, string(id))
	for k := range maybe.len() {
		if j := int32(maybe.at(k)); j != i && j >= 0 && int(j) < r.len() && r.idOf(j) == id {
			return true
		}
	}
	return false
}

// sharesID reports whether a changed atom has the id of another atom.
func (g *Graph) sharesID() bool {
	for i, a := range g.now.atoms {
		if a == nil {
			continue
		}
		if _, other := g.findFirst(byID, string(a.ID), func(j int32) bool { return j != i && g.hasAtom(j) && g.idAt(j) == a.ID }); other {
			return true
		}
	}
	return false
}

// affectedRows returns the rows to resolve again: the changed ones, and those that mention
// a name that appeared or disappeared. It returns false if there are too many.
func (g *Graph) affectedRows() (map[int32]bool, bool) {
	again := map[int32]bool{}
	for i := range g.now.atoms {
		again[i] = true
	}
	names := g.collectChangedNames()
	if len(names) == 0 {
		return again, true
	}
	t, seen := g.mentions(), map[int]bool{}
	for h := range names {
		from, to := t.bucketRange(h)
		if seen[from] {
			continue // many names may share a bucket
		}
		seen[from] = from < to
		for k := from; k < to; k++ {
			if i := int32(t.rows.at(k)); g.isKept(i) {
				again[i] = true
			}
		}
	}
	return again, len(again) <= g.manyChanged()
}

// collectChangedNames returns the names that appeared or disappeared, hashed by [hashName].
func (g *Graph) collectChangedNames() map[uint32]bool {
	names := map[uint32]bool{}
	note := func(file, id, uri string) {
		for _, name := range append(stemsOf(file, id), file, id, uri) {
			if name != "" {
				names[hashName(name, "")] = true
			}
		}
	}
	for i, a := range g.now.atoms {
		old := int(i) < g.rows.len()
		wasKept := old && g.isKept(i)
		if old && wasKept == (a != nil) && !g.now.gone[i] && (a == nil || g.idOf(i) == a.ID) {
			continue
		}
		note(g.pathAt(i), "", "")
		if a != nil {
			note(a.Path, string(a.ID), a.URI)
		}
		if wasKept {
			note(g.pathAt(i), string(g.idOf(i)), g.uriOf(i))
		}
	}
	return names
}

// readMentions builds the table of the names that the atoms of the rows mention.
func (r *rows) readMentions() table {
	if r.raw == nil {
		r.makeAll()
	}
	found := make([][]hashedName, r.len())
	r.eachRow(func(i int32, w *rowReader) {
		found[i] = w.readReferences(r, i, nil).appendMentions(i, nil)
	})
	return newTable(slices.Concat(found...))
}

// rebuildGraph builds a graph of the rows with some files replaced.
func rebuildGraph(r *rows, files map[string]reading) (*Graph, []Problem) {
	g := buildGraph(r.replaceReadings(files))
	g.rows.disk = r.disk
	return g, slices.Clone(g.problems)
}

// replaceReadings returns the readings that the rows were built from, with some files
// replaced.
func (r *rows) replaceReadings(files map[string]reading) []reading {
	if r.raw == nil {
		r.makeAll()
	}
	of := map[string][]Problem{}
	for _, p := range r.problems {
		if p.Code != codeDuplicateID {
			of[p.Path] = append(of[p.Path], p)
		}
	}
	found := make([]reading, 0, r.len()+len(files))
	for i := range int32(r.len()) {
		file := r.pathOf(i)
		if _, changed := files[file]; changed {
			continue
		}
		out := reading{path: file, problems: of[file]}
		if r.state[i] != rowNone {
			out.atom, out.header = r.atomOrHeader(i)
		}
		found = append(found, out)
	}
	for _, out := range files {
		if !out.gone {
			found = append(found, out)
		}
	}
	slices.SortFunc(found, func(a, b reading) int { return strings.Compare(a.path, b.path) })
	return found
}

// atomOrHeader returns the atom of a row if it is parsed already, and the header that it
// can be parsed from. At least one of them is not nil.
func (r *rows) atomOrHeader(i int32) (*Atom, *header) {
	a := r.atoms[i].Load()
	if r.raw == nil || r.raw[i].text == "" {
		return a, nil
	}
	reader := headerReaders.Get().(*headerReader)
	defer headerReaders.Put(reader)
	if l := reader.newHeader(r.pathOf(i), unsafeBytes(r.raw[i].text)); l != nil {
		return a, l
	}
	return r.atomOf(i), nil
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
