package okf

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// rows are a bundle as it was read as a whole: one row a file, in order of
// path. They never change. Everything but the atoms lies in columns, which a
// cache holds as they are, so that opening one costs little more than reading
// it; atoms are made when somebody asks for them.
type rows struct {
	columns
	problems []Problem // of the files, in order
	atoms    []atomic.Pointer[Atom]
	leaves   []leaf                         // what the atoms are made of; nil for rows from a cache
	decode   func(i int32, ar *arena) *Atom // makes the atom of a row; nil where all are made
	disk     fs.FS                          // what texts that are not in memory are read from; nil where all are
	crowds   sync.Map                       // long buckets by crowdKey
	mentions func() table                   // the rows by what they refer to
	own      map[string]bool                // authorities of the bundle's own uris
	mark     string                         // of the cache that was opened or made, markLen bytes; "" for none
}

// columns are what a row is, is called and leads to.
type columns struct {
	names []byte // of each row its path and, where that is not the path without ".md", its id
	begin ints   // where a row's names begin; one more than there are rows
	cut   ints   // how long its path is
	state []byte // rowNone, rowKept or rowTwin

	ids, files, stems, uris table

	types   []byte // the types, as texts
	typeAt  ints   // where the rows of each type begin
	typeRow ints   // kept rows, in order of path

	out, outTo, outHow ints   // how is the line, shifted by four, and the kind
	in, inFrom, inHow  ints   // in order of kind, then of the near end's id
	looseAt            ints   // where the dangling edges of a row begin
	loose              []byte // as encoder writes them
}

// The states of a row.
const (
	rowNone = iota // the file gave no atom
	rowKept
	rowTwin // an earlier row has its id, so the graph does not know it
)

// newRows lays out what was read, in order of path.
func newRows(found []reading) *rows {
	r := &rows{atoms: make([]atomic.Pointer[Atom], len(found)), leaves: make([]leaf, len(found))}
	r.decode = r.ripen
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range found {
			r.atoms[i].Store(found[i].atom)
			if l := found[i].lean; l != nil {
				r.leaves[i] = l.leaf
			}
			r.problems = append(r.problems, found[i].problems...)
		}
	})
	r.call(found)
	wg.Wait()
	r.readOwn()
	wg.Go(func() { r.sort(found) })
	r.connect(found)
	wg.Wait()
	r.mentions = sync.OnceValue(r.readMentions)
	return r
}

func (r *rows) len() int { return len(r.state) }

// call fills the columns of names.
func (r *rows) call(found []reading) {
	r.begin, r.cut, r.state = newInts(len(found)+1), newInts(len(found)), make([]byte, len(found))
	ids, files, stems := make([]called, 0, len(found)), make([]called, len(found)), make([]called, 0, len(found))
	var uris []called
	names := 0
	for i := range found {
		names += len(found[i].path)
	}
	r.names = make([]byte, 0, names)
	parallel(len(found), func(i int) {
		files[i] = called{hashOf(strings.TrimSuffix(found[i].path, ".md")), uint32(i)}
	})
	for i := range found {
		file := found[i].path
		key := strings.TrimSuffix(file, ".md")
		r.names = append(r.names, file...)
		if found[i].is() {
			r.state[i] = rowKept
			own := files[i]
			id, _, uri := found[i].readIdentity()
			if string(id) != key {
				r.names = append(r.names, id...)
				own.hash = hashOf(string(id))
			}
			ids = append(ids, own)
			if uri != "" {
				uris = append(uris, called{hashOf(uri), uint32(i)})
			}
		}
		r.cut.set(i, uint32(len(file)))
		r.begin.set(i+1, uint32(len(r.names)))
		for _, s := range r.stemsOf(int32(i)) {
			stems = append(stems, called{hashOf(s), uint32(i)})
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { r.files = newTable(files) })
	wg.Go(func() { r.stems = newTable(stems) })
	r.ids, r.uris = newTable(ids), newTable(uris)
	wg.Wait()
	r.twins()
}

// twins finds the rows whose id an earlier one has.
func (r *rows) twins() {
	var kept []int32
	for b := range r.ids.starts.len() - 1 {
		from, to := r.ids.starts.span(b, r.ids.rows.len())
		if to-from > crowded {
			for _, same := range r.crowd(byID, from, to) {
				for n := 1; n < same.len(); n++ {
					r.state[same.at(n)] = rowTwin
				}
			}
			continue
		}
		kept = kept[:0]
		for k := from; k < to; k++ {
			i := int32(r.ids.rows.at(k))
			if slices.ContainsFunc(kept, func(j int32) bool { return r.id(j) == r.id(i) }) {
				r.state[i] = rowTwin
				continue
			}
			kept = append(kept, i)
		}
	}
}

// readOwn collects the authorities of the bundle's own uris.
func (r *rows) readOwn() {
	r.own = map[string]bool{}
	for k := range r.uris.rows.len() {
		i := int32(r.uris.rows.at(k))
		if !r.isKept(i) {
			continue
		}
		if own := Authority(r.uriOf(i)); own != "" {
			r.own[own] = true
		}
	}
}

// sort fills the column of types, in order of name.
func (r *rows) sort(found []reading) {
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
		e.text(typ)
		r.typeRow = append(r.typeRow, *byType[typ]...)
		r.typeAt = r.typeAt.add(uint32(r.typeRow.len()))
	}
	r.types = e.b
}

// connect follows every edge and link of what was read, and lays them out in
// both directions.
func (r *rows) connect(read []reading) {
	g := &Graph{rows: r}
	found := make([]leads, r.len())
	r.each(func(i int32, w *workbench) {
		m := w.matter(r, i, read[i].lean)
		es := carve(&w.edges, len(m.refs)+len(m.links), 1024)
		found[i] = g.follow(i, m, es[:0])
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
			r.outHow.set(at+k, to.how())
		}
		for _, d := range found[i].loose {
			e.dangling(d)
		}
		r.looseAt.set(i+1, uint32(len(e.b)))
	}
	r.loose = e.b
	r.arrive()
}

// arrive lays the edges out by where they lead, by a counting sort.
func (r *rows) arrive() {
	r.in, r.inFrom, r.inHow = newInts(r.len()+1), newInts(r.outTo.len()), newInts(r.outTo.len())
	for k := range r.outTo.len() {
		to := int(r.outTo.at(k)) + 1
		r.in.set(to, r.in.at(to)+1)
	}
	r.in.sum()
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
	workers(r.len(), func() func(from, to int) {
		var es []edge
		return func(from, to int) {
			for i := from; i < to; i++ {
				if es = r.into(int32(i), es[:0]); slices.IsSortedFunc(es, r.arrival) {
					continue
				}
				slices.SortStableFunc(es, r.arrival)
				for k, e := range es {
					r.inFrom.set(int(r.in.at(i))+k, uint32(e.from))
					r.inHow.set(int(r.in.at(i))+k, e.how())
				}
			}
		}
	})
}

// arrival is the order of edges that arrive at one row.
func (r *rows) arrival(a, b edge) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(r.id(a.from), r.id(b.from)))
}

func (e edge) how() uint32 { return uint32(e.line)<<4 | uint32(e.kind) }

// leaving appends the edges that leave a row.
func (r *rows) leaving(i int32, es []edge) []edge {
	from, to := r.out.span(int(i), r.outTo.len())
	for k := from; k < to; k++ {
		how := r.outHow.at(k)
		if e := (edge{from: i, to: int32(r.outTo.at(k)), line: int32(how >> 4), kind: int8(how & 15)}); r.isKept(e.to) {
			es = append(es, e)
		}
	}
	return es
}

// into appends the edges that arrive at a row.
func (r *rows) into(i int32, es []edge) []edge {
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

// dangling are the edges of a row that lead nowhere.
func (r *rows) dangling(i int32) []Dangling {
	from, to := r.looseAt.span(int(i), len(r.loose))
	if from == to {
		return nil
	}
	var out []Dangling
	for d := (decoder{s: view(r.loose[from:to])}); d.at < len(d.s); {
		out = append(out, d.dangling(r.id(i)))
	}
	return out
}

func (r *rows) isKept(i int32) bool { return uint(i) < uint(len(r.state)) && r.state[i] == rowKept }

// name is the bytes of a row's path, and of its id where it has one of its own.
func (r *rows) name(i int32) (file, id string) {
	from, to := r.begin.span(int(i), len(r.names))
	all := view(r.names[from:to])
	cut := min(int(r.cut.at(int(i))), len(all))
	return all[:cut], all[cut:]
}

func (r *rows) path(i int32) string {
	file, _ := r.name(i)
	return file
}

func (r *rows) id(i int32) ID {
	file, id := r.name(i)
	if id == "" {
		id = strings.TrimSuffix(file, ".md")
	}
	return ID(id)
}

// stemsOf is the last element of a row's path without ".md" and, where it
// differs, that of its id.
func (r *rows) stemsOf(i int32) []string {
	file, id := r.name(i)
	return stemsOf(file, id)
}

// stemsOf is the last element of a path without ".md" and, where it differs,
// that of an id; "" is none of its own.
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

// atom is the atom of a row, made if need be: the same one for everybody.
func (r *rows) atom(i int32) *Atom {
	if a := r.atoms[i].Load(); a != nil || r.decode == nil {
		return a
	}
	return r.keep(i, r.decode(i, &arena{least: 1}))
}

// uriOf is the uri of a row's atom.
func (r *rows) uriOf(i int32) string {
	if r.leaves != nil && r.leaves[i].text != "" {
		return r.leaves[i].uri
	}
	return r.atom(i).URI
}

// each calls do for every kept row, side by side.
func (r *rows) each(do func(i int32, w *workbench)) {
	workers(r.len(), func() func(from, to int) {
		w := new(workbench)
		return func(from, to int) {
			for i := int32(from); i < int32(to); i++ {
				if r.isKept(i) {
					do(i, w)
				}
			}
		}
	})
}

// keep lets the first atom that is made of a row be its only one.
func (r *rows) keep(i int32, a *Atom) *Atom {
	if !r.atoms[i].CompareAndSwap(nil, a) {
		return r.atoms[i].Load()
	}
	return a
}

// all makes the atoms of every row that has one, side by side.
func (r *rows) all() {
	if r.decode == nil {
		return
	}
	batches(r.len(), func(from, to int) {
		ar := arena{least: 256}
		for i := int32(from); i < int32(to); i++ {
			if r.state[i] != rowNone && r.atoms[i].Load() == nil {
				r.keep(i, r.decode(i, &ar))
			}
		}
	})
}

// view is b as text. Whoever calls it never changes b again.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
