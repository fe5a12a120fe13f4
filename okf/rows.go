package okf

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// rows hold a bundle as it was loaded: one row a file, in order of path. They never change.
// Everything but the atoms is in columns, which have the same form in a cache, so opening
// one costs little more than reading it. Atoms are parsed when somebody asks for them.
type rows struct {
	columns
	problems    []Problem // the problems of the files, in order
	atoms       []atomic.Pointer[Atom]
	raw         []rawFile                      // the files of the atoms; nil for rows from a cache
	decode      func(i int32, ar *arena) *Atom // parses the atom of a row
	disk        fs.FS                          // reads the texts that are not in memory; nil if all are
	mentions    func() table                   // finds rows by what they refer to
	authorities map[string]bool                // the authorities of the bundle's own uris
	mark        string                         // identifies the cache that was opened or made; "" for none
}

// columns hold what a row is, its names, and where it leads.
type columns struct {
	names []byte // for each row its path and, if it is not the path without ".md", its id
	begin ints   // where the names of a row begin; one more than there are rows
	cut   ints   // the length of its path
	state []byte // rowNone, rowKept or rowDuplicate

	ids, files, stems, uris table

	types   []byte // the types, as texts
	typeAt  ints   // where the rows of each type begin
	typeRow ints   // kept rows, in order of path

	out, outTo, outHow ints   // outHow is from packKind
	in, inFrom, inHow  ints   // in order of kind, then of the source's id
	looseAt            ints   // where the dangling edges of a row begin
	loose              []byte // as encoder writes the dangling edges
}

// The states of a row.
const (
	rowNone = iota // the file gave no atom
	rowKept
	rowDuplicate // an earlier row has its id, so the graph leaves it out
)

// newRows builds the rows of what was read, in order of path.
func newRows(found []reading) *rows {
	r := &rows{atoms: make([]atomic.Pointer[Atom], len(found)), raw: make([]rawFile, len(found))}
	r.decode = r.parseRow
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range found {
			r.atoms[i].Store(found[i].atom)
			if l := found[i].header; l != nil {
				r.raw[i] = l.rawFile
			}
			r.problems = append(r.problems, found[i].problems...)
		}
	})
	r.setNames(found)
	wg.Wait()
	r.collectAuthorities()
	wg.Go(func() { r.setTypes(found) })
	r.setEdges(found)
	wg.Wait()
	r.mentions = sync.OnceValue(r.readMentions)
	return r
}

func (r *rows) len() int { return len(r.state) }

// setNames fills the columns of names.
func (r *rows) setNames(found []reading) {
	r.begin, r.cut, r.state = newInts(len(found)+1), newInts(len(found)), make([]byte, len(found))
	ids, files, stems := make([]hashedName, 0, len(found)), make([]hashedName, len(found)), make([]hashedName, 0, len(found))
	var uris []hashedName
	names := 0
	for i := range found {
		names += len(found[i].path)
	}
	r.names = make([]byte, 0, names)
	eachParallel(len(found), func(i int) {
		files[i] = hashedName{hashText(strings.TrimSuffix(found[i].path, ".md")), uint32(i)}
	})
	for i := range found {
		file := found[i].path
		key := strings.TrimSuffix(file, ".md")
		r.names = append(r.names, file...)
		if found[i].isAtom() {
			r.state[i] = rowKept
			own := files[i]
			id, _, uri := found[i].readIdentity()
			if string(id) != key {
				r.names = append(r.names, id...)
				own.hash = hashText(string(id))
			}
			ids = append(ids, own)
			if uri != "" {
				uris = append(uris, hashedName{hashText(uri), uint32(i)})
			}
		}
		r.cut.set(i, uint32(len(file)))
		r.begin.set(i+1, uint32(len(r.names)))
		for _, s := range r.stemsOf(int32(i)) {
			stems = append(stems, hashedName{hashText(s), uint32(i)})
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { r.files = newTable(files) })
	wg.Go(func() { r.stems = newTable(stems) })
	r.ids, r.uris = newTable(ids), newTable(uris)
	wg.Wait()
	r.markDuplicates()
}

// markDuplicates marks the rows whose id an earlier row has.
func (r *rows) markDuplicates() {
	var kept []int32
	for b := range r.ids.starts.len() - 1 {
		from, to := r.ids.starts.span(b, r.ids.rows.len())
		kept = kept[:0]
		for k := from; k < to; k++ {
			i := int32(r.ids.rows.at(k))
			if slices.ContainsFunc(kept, func(j int32) bool { return r.idOf(j) == r.idOf(i) }) {
				r.state[i] = rowDuplicate
				continue
			}
			kept = append(kept, i)
		}
	}
}

// collectAuthorities collects the authorities of the bundle's own uris.
func (r *rows) collectAuthorities() {
	r.authorities = map[string]bool{}
	for k := range r.uris.rows.len() {
		i := int32(r.uris.rows.at(k))
		if !r.isKept(i) {
			continue
		}
		if own := Authority(r.uriOf(i)); own != "" {
			r.authorities[own] = true
		}
	}
}

// setTypes fills the columns of types, in order of name.
func (r *rows) setTypes(found []reading) {
	byType := map[string]*ints{}
	for i := range found {
		if !r.isKept(int32(i)) {
			continue
		}
		_, typ, _ := found[i].readIdentity()
		of := byType[typ]
		if of == nil {
			of = new(ints)
			byType[typ] = of
		}
		*of = of.add(uint32(i))
	}
	r.typeAt = r.typeAt.add(0)
	var e encoder
	for _, typ := range sortedKeys(byType) {
		e.writeText(typ)
		r.typeRow = append(r.typeRow, *byType[typ]...)
		r.typeAt = r.typeAt.add(uint32(r.typeRow.len()))
	}
	r.types = e.b
}

// setEdges resolves every edge and link, and fills the columns of both directions.
func (r *rows) setEdges(read []reading) {
	g := &Graph{rows: r}
	found := make([]resolvedEdges, r.len())
	r.eachRow(func(i int32, w *rowReader) {
		m := w.readReferences(r, i, read[i].header)
		es := alloc(&w.edges, len(m.refs)+len(m.links), 1024)
		found[i] = g.resolveEdges(i, m, es[:0])
	})
	r.out, r.looseAt = newInts(len(found)+1), newInts(len(found)+1)
	edges := 0
	for i := range found {
		edges += len(found[i].edges)
		r.out.set(i+1, uint32(edges))
	}
	r.outTo, r.outHow = newInts(edges), newInts(edges)
	var e encoder
	for i := range found {
		at := int(r.out.at(i))
		for k, to := range found[i].edges {
			r.outTo.set(at+k, uint32(to.to))
			r.outHow.set(at+k, to.packKind())
		}
		for _, d := range found[i].loose {
			e.writeDangling(d)
		}
		r.looseAt.set(i+1, uint32(len(e.b)))
	}
	r.loose = e.b
	r.reverseEdges()
}

// reverseEdges fills the columns of incoming edges, by a counting sort.
func (r *rows) reverseEdges() {
	r.in, r.inFrom, r.inHow = newInts(r.len()+1), newInts(r.outTo.len()), newInts(r.outTo.len())
	for k := range r.outTo.len() {
		to := int(r.outTo.at(k)) + 1
		r.in.set(to, r.in.at(to)+1)
	}
	r.in.accumulate()
	next := slices.Clone(r.in)
	for i := range r.len() {
		for k := int(r.out.at(i)); k < int(r.out.at(i+1)); k++ {
			to := int(r.outTo.at(k))
			at := int(next.at(to))
			r.inFrom.set(at, uint32(i))
			r.inHow.set(at, r.outHow.at(k))
			next.set(to, uint32(at+1))
		}
	}
	runWorkers(r.len(), func() func(from, to int) {
		var es []edge
		return func(from, to int) {
			for i := from; i < to; i++ {
				if es = r.appendIn(int32(i), es[:0]); slices.IsSortedFunc(es, r.compareArrivals) {
					continue
				}
				slices.SortStableFunc(es, r.compareArrivals)
				for k, e := range es {
					r.inFrom.set(int(r.in.at(i))+k, uint32(e.from))
					r.inHow.set(int(r.in.at(i))+k, e.packKind())
				}
			}
		}
	})
}

// compareArrivals orders the edges that arrive at one row.
func (r *rows) compareArrivals(a, b edge) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(r.idOf(a.from), r.idOf(b.from)))
}

// packKind packs the line and the kind of an edge into one number.
func (e edge) packKind() uint32 { return uint32(e.line)<<4 | uint32(e.kind) }

func (r *rows) edgesOut(i int32) (es []edge) {
	from, to := r.out.span(int(i), r.outTo.len())
	for k := from; k < to; k++ {
		how := r.outHow.at(k)
		if e := (edge{from: i, to: int32(r.outTo.at(k)), line: int32(how >> 4), kind: int8(how & 15)}); r.isKept(e.to) {
			es = append(es, e)
		}
	}
	return es
}

func (r *rows) appendIn(i int32, es []edge) []edge {
	from, to := r.in.span(int(i), r.inFrom.len())
	es = slices.Grow(es, to-from)
	for k := from; k < to; k++ {
		how := r.inHow.at(k)
		if e := (edge{from: int32(r.inFrom.at(k)), to: i, line: int32(how >> 4), kind: int8(how & 15)}); r.isKept(e.from) {
			es = append(es, e)
		}
	}
	return es
}

// danglingOf returns the edges of a row that lead nowhere.
func (r *rows) danglingOf(i int32) []Dangling {
	from, to := r.looseAt.span(int(i), len(r.loose))
	if from == to {
		return nil
	}
	var out []Dangling
	for d := (decoder{s: unsafeString(r.loose[from:to])}); d.at < len(d.s); {
		out = append(out, d.readDangling(r.idOf(i)))
	}
	return out
}

func (r *rows) isKept(i int32) bool { return uint(i) < uint(len(r.state)) && r.state[i] == rowKept }

// splitName returns the path of a row, and its id; "" if that is the path without ".md".
func (r *rows) splitName(i int32) (file, id string) {
	from, to := r.begin.span(int(i), len(r.names))
	all := unsafeString(r.names[from:to])
	cut := min(int(r.cut.at(int(i))), len(all))
	return all[:cut], all[cut:]
}

func (r *rows) pathOf(i int32) string {
	file, _ := r.splitName(i)
	return file
}

func (r *rows) idOf(i int32) ID {
	file, id := r.splitName(i)
	if id == "" {
		id = strings.TrimSuffix(file, ".md")
	}
	return ID(id)
}

func (r *rows) stemsOf(i int32) []string {
	file, id := r.splitName(i)
	return stemsOf(file, id)
}

// stemsOf returns the last element of a path without ".md" and, if it differs, that of an
// id. id may be "".
func stemsOf(file, id string) []string {
	stem := strings.TrimSuffix(path.Base(file), ".md")
	if id == "" {
		return []string{stem}
	}
	if last := path.Base(id); last != stem {
		return []string{stem, last}
	}
	return []string{stem}
}

// atomOf returns the atom of a row, which it parses at the first call: every caller gets
// the same one.
func (r *rows) atomOf(i int32) *Atom {
	if a := r.atoms[i].Load(); a != nil {
		return a
	}
	return r.storeAtom(i, r.decode(i, &arena{least: 1}))
}

// peekAtom is atomOf for an atom that is not kept: if it was not parsed before, it is
// allocated in ar.
func (r *rows) peekAtom(i int32, ar *arena) *Atom {
	if a := r.atoms[i].Load(); a != nil {
		return a
	}
	return r.decode(i, ar)
}

func (r *rows) uriOf(i int32) string {
	if r.raw != nil && r.raw[i].text != "" {
		return r.raw[i].uri
	}
	return r.atomOf(i).URI
}

// eachRow calls do for every kept row, in parallel.
func (r *rows) eachRow(do func(i int32, w *rowReader)) {
	runWorkers(r.len(), func() func(from, to int) {
		w := new(rowReader)
		return func(from, to int) {
			for i := int32(from); i < int32(to); i++ {
				if r.isKept(i) {
					do(i, w)
				}
			}
		}
	})
}

// storeAtom stores the atom of a row unless there is one already, and returns the stored
// one.
func (r *rows) storeAtom(i int32, a *Atom) *Atom {
	if !r.atoms[i].CompareAndSwap(nil, a) {
		return r.atoms[i].Load()
	}
	return a
}

// makeAll parses all atoms, in parallel.
func (r *rows) makeAll() {
	eachBatch(r.len(), func(from, to int) {
		ar := arena{least: 256}
		for i := int32(from); i < int32(to); i++ {
			if r.state[i] != rowNone && r.atoms[i].Load() == nil {
				r.storeAtom(i, r.decode(i, &ar))
			}
		}
	})
}
