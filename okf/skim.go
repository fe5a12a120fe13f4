package okf

import "io/fs"

// skimRows passes the atoms of neighbouring rows to tell in order. It passes nil for an
// atom whose file changed in the meantime. It is for reading every text once: it reads
// texts that are not in memory in as few calls as possible, and keeps nothing. tell must
// keep no part of an atom. An atom of a raw file has only what Search needs.
func (r *rows) skimRows(from, to int, tell func(i int, a *Atom)) {
	var names []string
	var away []int
	for i := from; i < to; i++ {
		if r.lacksText(i) {
			names, away = append(names, r.pathOf(int32(i))), append(away, i)
		}
	}
	w, next := new(rowReader), from
	near := func(end int) {
		for ; next < end; next++ {
			switch {
			case r.lacksText(next):
				tell(next, nil)
			case r.isKept(int32(next)):
				tell(next, w.makeSearchAtom(r, int32(next)))
			}
		}
	}
	room := newRoom()
	got := func(k int, b []byte) {
		near(away[k])
		ar := room
		tell(next, r.atomWithText(int32(next), b, &ar))
		next++
	}
	readTexts(r.disk, names, got)
	near(to)
}

// readTexts reads files in order, in as few calls as possible. It skips a file that cannot
// be read, and all files if f is nil.
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

// lacksText reports whether the text of a row's atom is not in memory.
func (r *rows) lacksText(i int) bool {
	if r.disk == nil || !r.isKept(int32(i)) {
		return false
	}
	if a := r.atoms[i].Load(); a != nil {
		return a.disk != nil
	}
	return r.raw == nil || r.raw[i].text == ""
}

// atomWithText returns the atom of a row with its text, which was read again; nil if the
// text changed.
func (r *rows) atomWithText(i int32, text []byte, ar *arena) *Atom {
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

// makeSearchAtom returns the atom of a row; for a raw file only with what Search needs. It
// is valid until w is used again.
func (w *rowReader) makeSearchAtom(r *rows, i int32) *Atom {
	if r.atoms[i].Load() != nil || r.raw == nil || r.raw[i].text == "" {
		return loadText(r.atomOf(i))
	}
	l := &r.raw[i]
	b := unsafeBytes(l.text)
	blk, p := findBlock(b)
	if p != nil || !w.scanNodes(unsafeString(b[blk.start:blk.end])) {
		return r.atomOf(i)
	}
	a := &w.atom
	*a = Atom{Path: r.pathOf(i), ID: r.idOf(i), src: b, body: int(l.body), BodyLine: int(l.bodyLine)}
	for _, at := range w.heads {
		switch key := w.nodes[at].text; key {
		case "type", "title", "description", "tags":
			a.setMember(&Field{Key: key, Value: w.makeValue(int(at) + 1)})
		}
	}
	return a
}

// loadText returns the atom if its text can be read, else nil.
func loadText(a *Atom) *Atom {
	if a.disk != nil && a.Bytes() == nil {
		return nil
	}
	return a
}
