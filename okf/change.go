package okf

import (
	"maps"
	"slices"
	"strings"
)

// changes are the files that are not as the rows have them. A row whose file
// changed keeps its number; a new file has a row after the others.
type changes struct {
	files    map[string]reading // all that is different, by path
	paths    []string           // of the new rows
	atoms    map[int32]*Atom    // of the changed and new rows: nil where there is none
	gone     map[int32]bool     // rows whose file is not there any more
	names    calledNow
	leads    map[int32]leads  // of every row that was followed anew
	arrivals map[int32][]edge // their edges, by where they lead
}

// calledNow is what tables are for changed rows.
type calledNow [kinds]map[string][]int32

// over reports whether a row is not as it was.
func (c *changes) over(i int32) bool {
	if c == nil {
		return false
	}
	_, ok := c.atoms[i]
	return ok
}

func (c *changes) isRemoved(i int32) bool { return c != nil && c.gone[i] }

func (c *changes) namesOf(k kind) map[string][]int32 {
	if c == nil {
		return nil
	}
	return c.names[k]
}

// manyChanged is how many changed files, or atoms that mention what came or
// went, make a graph be laid out anew: a sixteenth of it, and some.
func (g *Graph) manyChanged() int { return 256 + g.rows.len()/16 }

// change is the graph with files that are different now, or gone, by path, and
// the problems of all its files.
//
// It follows anew the edges of those files and of all atoms that mention what
// came or went. Where that is much, or where a change makes another file get or
// lose an id or the authority of a uri, the whole bundle is laid out anew.
func (g *Graph) change(files map[string]reading) (*Graph, []Problem) {
	if len(files) == 0 && g.now == nil {
		return g, slices.Clone(g.problems)
	}
	all := files
	if g.now != nil {
		all = maps.Clone(g.now.files)
		maps.Copy(all, files)
	}
	next := newGraph(g.rows, &changes{files: all, atoms: map[int32]*Atom{}, gone: map[int32]bool{}, leads: map[int32]leads{}, arrivals: map[int32][]edge{}})
	if len(all) > g.manyChanged() || !next.place() {
		return relaid(g.rows, all)
	}
	again, ok := next.affectedRows()
	if !ok {
		return relaid(g.rows, all)
	}
	for i := range again {
		l := leads{}
		if next.here(i) {
			l = next.follow(i, matterOf(next.at(i)), nil)
		}
		next.now.leads[i] = l
		for _, e := range l.edges {
			next.now.arrivals[e.to] = append(next.now.arrivals[e.to], e)
		}
	}
	return next, next.fileProblems()
}

// fileProblems are the problems of the files as they are now, in order.
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

// place gives every changed file its row and names. It reports false where more
// than those files is concerned: an id that somebody else has or had, or an
// authority that may come or go.
func (g *Graph) place() bool {
	c, n := g.now, g.rows.len()
	for k := range c.names {
		c.names[k] = map[string][]int32{}
	}
	for _, file := range sortedKeys(c.files) {
		r := c.files[file]
		i, there := g.row(file)
		switch {
		case there && (g.state[i] == rowTwin || g.hasTwin(i)):
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
		c.atoms[i] = r.make()
		c.files[file] = r
		if r.gone {
			c.gone[i] = true
		}
		if uri := c.name(file, r.atom, i); uri != before {
			return false
		}
	}
	return !g.sharesID()
}

// name notes what a changed file and its atom, if it has one, go by. It returns
// the atom's uri.
func (c *changes) name(file string, a *Atom, i int32) (uri string) {
	add := func(k kind, name string) { c.names[k][name] = append(c.names[k][name], i) }
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

// row is the row of exactly this path, changed or not.
func (r *rows) row(file string) (int32, bool) {
	maybe := r.maybe(byFile, strings.TrimSuffix(file, ".md"))
	for k := range maybe.len() {
		if i := int32(maybe.at(k)); i >= 0 && int(i) < r.len() && r.path(i) == file {
			return i, true
		}
	}
	return 0, false
}

// hasTwin reports whether a later row has this row's id.
func (r *rows) hasTwin(i int32) bool {
	if !r.isKept(i) {
		return false
	}
	id := r.id(i)
	maybe := r.maybe(byID, string(id))
	for k := range maybe.len() {
		if j := int32(maybe.at(k)); j != i && j >= 0 && int(j) < r.len() && r.id(j) == id {
			return true
		}
	}
	return false
}

// sharesID reports whether a changed atom has the id of another one.
func (g *Graph) sharesID() bool {
	for i, a := range g.now.atoms {
		if a == nil {
			continue
		}
		if _, other := g.first(byID, string(a.ID), func(j int32) bool { return j != i && g.here(j) && g.idAt(j) == a.ID }); other {
			return true
		}
	}
	return false
}

// affectedRows returns the rows to follow anew: the changed ones, and those that
// mention what came or went. It reports false where they are too many.
func (g *Graph) affectedRows() (map[int32]bool, bool) {
	again := map[int32]bool{}
	for i := range g.now.atoms {
		again[i] = true
	}
	names := g.cameOrWent()
	if len(names) == 0 {
		return again, true
	}
	t, seen := g.mentions(), map[int]bool{}
	for h := range names {
		from, to := t.bucket(h)
		if seen[from] {
			continue // the names of many files may share a bucket
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

// cameOrWent are the names, as [spelt] has them, that a change gave or took away.
func (g *Graph) cameOrWent() map[uint32]bool {
	names := map[uint32]bool{}
	note := func(file, id, uri string) {
		for _, name := range append(stemsOf(file, id), file, id, uri) {
			if name != "" {
				names[spelt(name, "")] = true
			}
		}
	}
	for i, a := range g.now.atoms {
		old := int(i) < g.rows.len()
		wasKept := old && g.isKept(i)
		if old && wasKept == (a != nil) && !g.now.gone[i] && (a == nil || g.id(i) == a.ID) {
			continue
		}
		note(g.pathAt(i), "", "")
		if a != nil {
			note(a.Path, string(a.ID), a.URI)
		}
		if wasKept {
			note(g.pathAt(i), string(g.id(i)), g.uriOf(i))
		}
	}
	return names
}

// readMentions makes the table of what the atoms of rows mention.
func (r *rows) readMentions() table {
	if r.leaves == nil {
		r.all()
	}
	found := make([][]called, r.len())
	r.each(func(i int32, w *workbench) {
		found[i] = w.matter(r, i, nil).appendMentions(i, nil)
	})
	return newTable(slices.Concat(found...))
}

// relaid is the graph of rows with other files in the place of some, laid out
// anew.
func relaid(r *rows, files map[string]reading) (*Graph, []Problem) {
	g := assemble(r.readings(files))
	g.rows.disk = r.disk
	return g, slices.Clone(g.problems)
}

// readings is what was read to make rows, with other files in the place of some.
func (r *rows) readings(files map[string]reading) []reading {
	if r.leaves == nil {
		r.all()
	}
	of := map[string][]Problem{}
	for _, p := range r.problems {
		if p.Code != codeDuplicateID {
			of[p.Path] = append(of[p.Path], p)
		}
	}
	found := make([]reading, 0, r.len()+len(files))
	for i := range int32(r.len()) {
		file := r.path(i)
		if _, changed := files[file]; changed {
			continue
		}
		out := reading{path: file, problems: of[file]}
		if r.state[i] != rowNone {
			out.atom, out.lean = r.whole(i)
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

// whole is the atom of a row, and the leaf it can be made of, one of which there
// is.
func (r *rows) whole(i int32) (*Atom, *lean) {
	a := r.atoms[i].Load()
	if r.leaves == nil || r.leaves[i].text == "" {
		return a, nil
	}
	reader := leanReaders.Get().(*leanReader)
	defer leanReaders.Put(reader)
	if l := reader.read(r.path(i), bytesOf(r.leaves[i].text)); l != nil {
		return a, l
	}
	return r.atom(i), nil
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
