package okf

import "io/fs"

// skim hands the atoms of some neighbouring rows to tell, in order of row, nil
// for one whose file is another by now. It is for what reads every text once:
// texts that are not in memory are read in as few goes as it takes, and nothing
// that it reads or makes is kept. tell must keep no part of an atom; of one from
// a file that was just loaded it gets no more than what Search looks at.
func (r *rows) skim(from, to int, tell func(i int, a *Atom)) {
	var names []string
	var away []int
	for i := from; i < to; i++ {
		if r.away(i) {
			names, away = append(names, r.path(int32(i))), append(away, i)
		}
	}
	w, next := new(workbench), from
	near := func(end int) {
		for ; next < end; next++ {
			switch {
			case r.away(next):
				tell(next, nil)
			case r.isKept(int32(next)):
				tell(next, w.gist(r, int32(next)))
			}
		}
	}
	room := newRoom()
	got := func(k int, b []byte) {
		near(away[k])
		ar := room
		tell(next, r.again(int32(next), b, &ar))
		next++
	}
	readTexts(r.disk, names, got)
	near(to)
}

// readTexts reads files in order, in as few goes as it takes. One that cannot be
// read is passed over, as are all where f is nil.
func readTexts(f fs.FS, names []string, got func(k int, b []byte)) {
	alone := func(k int) {
		if b, p := readFile(f, names[k]); p == nil {
			got(k, b)
		}
	}
	if m, ok := f.(manyReader); ok {
		readEach(m, names, got, alone)
		return
	}
	for k := 0; f != nil && k < len(names); k++ {
		alone(k)
	}
}

// away reports whether a row has an atom whose text is not in memory.
func (r *rows) away(i int) bool {
	if r.disk == nil || !r.isKept(int32(i)) {
		return false
	}
	if a := r.atoms[i].Load(); a != nil {
		return a.disk != nil
	}
	return r.leaves == nil || r.leaves[i].text == ""
}

// again is the atom of a row whose text was read again, nil where that is
// another by now.
func (r *rows) again(i int32, text []byte, ar *arena) *Atom {
	a := r.atoms[i].Load()
	if a == nil {
		a = r.decode(i, ar)
	} else {
		own := *a
		a = &own
	}
	if a.disk == nil {
		return a // its record was damaged
	}
	if BlobID(text) != a.Blob {
		return nil
	}
	a.src, a.disk = text, nil
	return a
}

// gist is the atom of a row, of a leaf no more than what Search looks at; it
// holds until w is used again.
func (w *workbench) gist(r *rows, i int32) *Atom {
	if r.atoms[i].Load() != nil || r.leaves == nil || r.leaves[i].text == "" {
		return inHand(r.atom(i))
	}
	l := &r.leaves[i]
	b := bytesOf(l.text)
	blk, p := split(b)
	if p != nil || !w.scan(textOf(b[blk.start:blk.end])) {
		return r.atom(i)
	}
	a := &w.atom
	*a = Atom{Path: r.path(i), ID: r.id(i), src: b, body: int(l.body), BodyLine: int(l.bodyLine)}
	for _, at := range w.heads {
		switch key := w.nodes[at].text; key {
		case "type", "title", "description", "tags":
			a.member(&Field{Key: key, Value: w.makeValue(int(at) + 1)})
		}
	}
	return a
}

// inHand is an atom whose text is to be had, nil for another.
func inHand(a *Atom) *Atom {
	if a.disk != nil && a.Bytes() == nil {
		return nil
	}
	return a
}
