package okf

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
)

// leaf is a file in the common shape that was read no further than rows need:
// its atom is made of the text when somebody asks for it.
type leaf struct {
	text     string
	uri      string
	body     int32 // offset of the body
	bodyLine int32
}

// lean is a leaf with what rows are laid out by.
type lean struct {
	leaf
	id   ID
	typ  string
	refs []ref
}

// ref is one thing that an atom's block refers to.
type ref struct {
	text string
	line int32
	rank int8 // edgeRank, refRank or sourceRank
}

// The ranks of what is no typed edge: what an atom derives from or complements,
// and its sources.
const (
	refRank    = linkRank
	sourceRank = linkRank + 1
)

// matter is what an atom refers to, in the order in which it is followed.
type matter struct {
	file  string
	refs  []ref
	links []Linked
}

// lean reads a file in the common shape. Whatever is unusual about it, right or
// wrong, is not ok and is left to parse, and what lean accepts parse reads as
// the very same. References are added to refs, which the lean shares.
func (s *scanner) lean(file string, b []byte, refs *[]ref) (l lean, ok bool) {
	if readable(b) != nil {
		return lean{}, false
	}
	blk, p := split(b)
	if p != nil || !s.scan(textOf(b[blk.start:blk.end])) {
		return lean{}, false
	}
	l.text, l.body, l.bodyLine = textOf(b), int32(blk.body), int32(s.n+1)
	if b[blk.body-1] == '\n' {
		l.bodyLine++
	}
	from := len(*refs)
	for _, at := range s.heads {
		if !s.tell(&l, int(at), refs) {
			return lean{}, false
		}
	}
	l.refs = (*refs)[from:len(*refs):len(*refs)]
	sortRefs(l.refs)
	if l.id == "" {
		l.id = ID(strings.TrimSuffix(path.Clean(file), ".md"))
	}
	return l, strings.TrimSpace(l.typ) != ""
}

func sortRefs(refs []ref) {
	byRank := func(a, b ref) int { return int(a.rank) - int(b.rank) }
	if !slices.IsSortedFunc(refs, byRank) {
		slices.SortStableFunc(refs, byRank)
	}
}

// tell reads the field at, where it is one that rows know. It is not ok where
// its value is of a kind that it should not be.
func (s *scanner) tell(l *lean, at int, refs *[]ref) bool {
	key, line, v := s.nodes[at].text, s.nodes[at].at, s.nodes[at+1]
	switch key {
	case "type":
		l.typ = v.text
		return v.kind == kindText
	case "id":
		l.id = ID(v.text)
		return v.kind == kindNil || v.kind == kindText && ValidID(v.text)
	case "uri":
		l.uri = v.text
		return v.kind == kindText || v.kind == kindNil
	case "sources":
		return s.sources(at+1, line, refs)
	case "derives_from", "complements":
		if v.kind == kindText {
			for _, t := range SplitList(v.text) {
				*refs = append(*refs, ref{t, line, refRank})
			}
			return true
		}
		return s.texts(at+1, ref{"", line, refRank}, refs)
	}
	if rank := edgeRank(EdgeKind(key)); rank >= 0 {
		return s.texts(at+1, ref{"", line, int8(rank)}, refs)
	}
	return true
}

// texts adds the text at, or those of the list there, each as r.
func (s *scanner) texts(at int, r ref, refs *[]ref) bool {
	v := s.nodes[at]
	if v.kind != kindList {
		if r.text = v.text; r.text != "" {
			*refs = append(*refs, r)
		}
		return v.kind == kindText || v.kind == kindNil
	}
	for j := at + 1; j < int(v.at); j = s.after(j) {
		if s.nodes[j].kind != kindText {
			return false
		}
		if r.text = s.nodes[j].text; r.text != "" {
			*refs = append(*refs, r)
		}
	}
	return true
}

// sources adds the resource of the mapping at, or of each in the list there.
func (s *scanner) sources(at int, line int32, refs *[]ref) bool {
	v := s.nodes[at]
	if v.kind == kindMap {
		return s.source(at, line, refs)
	}
	for j := at + 1; v.kind == kindList && j < int(v.at); j = s.after(j) {
		if s.nodes[j].kind == kindMap && !s.source(j, line, refs) {
			return false
		}
	}
	return true
}

func (s *scanner) source(at int, line int32, refs *[]ref) bool {
	r := ref{"", line, sourceRank}
	for j := at + 1; j < int(s.nodes[at].at); j = s.after(j + 1) {
		if s.nodes[j].text != "resource" {
			continue
		}
		v := s.nodes[j+1]
		if v.kind != kindText && v.kind != kindNil {
			return false
		}
		r.text = v.text
	}
	*refs = append(*refs, r)
	return true
}

// matterOf is what an atom refers to.
func matterOf(a *Atom) matter {
	m := matter{file: a.Path, links: a.Links()}
	for _, e := range a.Edges {
		m.refs = append(m.refs, ref{e.Target, int32(e.Line), int8(edgeRank(e.Kind))})
	}
	for _, f := range a.Fields {
		if f.Key != "derives_from" && f.Key != "complements" {
			continue
		}
		for _, t := range refs(f.Value) {
			m.refs = append(m.refs, ref{t, int32(f.Line), refRank})
		}
	}
	for _, s := range a.Sources {
		m.refs = append(m.refs, ref{s.Resource, int32(a.Line("sources")), sourceRank})
	}
	return m
}

// workbench is what one goroutine needs to look at many leaves.
type workbench struct {
	scanner
	refs  []ref
	links []Linked
	edges []edge
	atom  Atom // that gist made last
}

// matter is what the atom of a row refers to; of a leaf, without making the
// atom if it can. It holds until w is used again. known are the references of
// the leaf, where somebody has them.
func (w *workbench) matter(r *rows, i int32, known *lean) matter {
	m, _ := w.look(r, i, known)
	return m
}

// look is matter that tells whether it was read from a leaf. Where nobody knew
// its references, the scanner holds its block until w is used again.
func (w *workbench) look(r *rows, i int32, known *lean) (m matter, scanned bool) {
	if a := r.atoms[i].Load(); a != nil || r.leaves == nil || r.leaves[i].text == "" {
		return matterOf(r.atom(i)), false
	}
	m.file = r.path(i)
	if m.links, scanned = w.linksOf(m.file, &r.leaves[i]); !scanned {
		return matterOf(r.atom(i)), false
	}
	if known != nil {
		m.refs = known.refs
		return m, true
	}
	w.refs = w.refs[:0]
	l, ok := w.lean(m.file, bytesOf(r.leaves[i].text), &w.refs)
	if !ok {
		return matterOf(r.atom(i)), false
	}
	m.refs = l.refs
	return m, true
}

// linksOf reads the links of a leaf's body. It is not ok where the markdown
// parser has to.
func (w *workbench) linksOf(file string, l *leaf) ([]Linked, bool) {
	body := l.text[l.body:]
	if !mayLink(body) {
		return nil, true
	}
	out, ok := scanLinks(file, body, int(l.bodyLine), w.links[:0])
	w.links = out[:0]
	return out, ok
}

// ripen makes the atom of a leaf.
func (r *rows) ripen(i int32, ar *arena) *Atom {
	a := &carve(&ar.atoms, 1, ar.least)[0]
	var p *Problem
	if *a, p = parse(r.path(i), bytesOf(r.leaves[i].text)); p != nil {
		return nil // a row without an atom
	}
	a.readLinks()
	return a
}

// appendMentions appends the hash of everything that row i refers to, as spelt gives
// it: what find, file, uri and unresolved are asked about when its edges and links
// are followed.
func (m matter) appendMentions(i int32, out []called) []called {
	add := func(name, from string) { out = append(out, called{spelt(name, from), uint32(i)}) }
	for _, r := range m.refs {
		if r.rank == sourceRank {
			if target, _ := resolveURL(m.file, r.text); strings.HasSuffix(target, ".md") {
				add(target, "")
			}
			continue
		}
		add(r.text, m.file)
		if k := kindOf(r.rank); k == Supersedes || k == SupersededBy {
			for _, n := range SplitList(r.text) {
				add(n, m.file)
			}
		}
	}
	for _, l := range m.links {
		add(cmp.Or(l.Target, l.URL), "")
	}
	return out
}

// leanReader reads files as leaves where it can, for one goroutine at a time.
type leanReader struct {
	scanner
	refs  []ref
	leans []lean
}

var leanReaders = sync.Pool{New: func() any { return new(leanReader) }}

// refsRoom and leansRoom are how many share a piece of memory.
const refsRoom, leansRoom = 1024, 256

// read reads a file, nil where it is no leaf.
func (r *leanReader) read(file string, b []byte) *lean {
	if cap(r.refs)-len(r.refs) < 64 {
		r.refs = make([]ref, 0, refsRoom)
	}
	l, ok := r.lean(file, b, &r.refs)
	if !ok {
		return nil
	}
	out := &carve(&r.leans, 1, leansRoom)[0]
	*out = l
	return out
}
