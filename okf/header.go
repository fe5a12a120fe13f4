// A fast twin of parse: a header takes 5 µs to read and an atom 17 µs, so without it a load without a cache takes more
// than twice as long as reading the files.

package okf

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
)

// rawFile is a file in the common shape of which only the header was read. Its atom is
// parsed when somebody asks for it.
type rawFile struct {
	text     string
	uri      string
	body     int32 // offset of the body
	bodyLine int32
}

// header is a raw file with what the rows need of it.
type header struct {
	rawFile
	id   ID
	typ  string
	refs []ref
}

// ref is one reference in the front matter of an atom.
type ref struct {
	text string
	line int32
	rank int8 // edgeRank, refRank or sourceRank
}

// The ranks of references that are no typed edges: derives_from and complements, and
// the sources.
const (
	refRank    = linkRank
	sourceRank = linkRank + 1
)

// references are all references of an atom, in the order in which they are resolved.
type references struct {
	file  string
	refs  []ref
	links []Linked
}

// readHeader reads the header of a file in the common shape. It is not ok for anything
// unusual, right or wrong; parse reads such files. What readHeader accepts, parse reads
// with the same result. The references are appended to refs, whose memory the header
// shares.
func (s *scanner) readHeader(file string, b []byte, refs *[]ref) (l header, ok bool) {
	if checkText(b) != nil {
		return header{}, false
	}
	blk, p := findBlock(b)
	if p != nil || !s.scanNodes(unsafeString(b[blk.start:blk.end])) {
		return header{}, false
	}
	l.text, l.body, l.bodyLine = unsafeString(b), int32(blk.body), int32(s.n+1)
	if b[blk.body-1] == '\n' {
		l.bodyLine++
	}
	from := len(*refs)
	for _, at := range s.heads {
		if !s.readField(&l, int(at), refs) {
			return header{}, false
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

// readField reads the field at if rows need it. It is not ok if the value has the wrong
// kind.
func (s *scanner) readField(l *header, at int, refs *[]ref) bool {
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
		return s.addSources(at+1, line, refs)
	case "derives_from", "complements":
		if v.kind == kindText {
			for _, t := range SplitList(v.text) {
				*refs = append(*refs, ref{t, line, refRank})
			}
			return true
		}
		return s.addTexts(at+1, ref{"", line, refRank}, refs)
	}
	if rank := edgeRank(EdgeKind(key)); rank >= 0 {
		return s.addTexts(at+1, ref{"", line, int8(rank)}, refs)
	}
	return true
}

// addTexts appends the text at, or those of the list there, each as a copy of r.
func (s *scanner) addTexts(at int, r ref, refs *[]ref) bool {
	v := s.nodes[at]
	if v.kind != kindList {
		if r.text = v.text; r.text != "" {
			*refs = append(*refs, r)
		}
		return v.kind == kindText || v.kind == kindNil
	}
	for j := at + 1; j < int(v.at); j = s.nodeAfter(j) {
		if s.nodes[j].kind != kindText {
			return false
		}
		if r.text = s.nodes[j].text; r.text != "" {
			*refs = append(*refs, r)
		}
	}
	return true
}

// addSources appends the resource of the mapping at, or of each mapping in the list there.
func (s *scanner) addSources(at int, line int32, refs *[]ref) bool {
	v := s.nodes[at]
	if v.kind == kindMap {
		return s.addSource(at, line, refs)
	}
	for j := at + 1; v.kind == kindList && j < int(v.at); j = s.nodeAfter(j) {
		if s.nodes[j].kind == kindMap && !s.addSource(j, line, refs) {
			return false
		}
	}
	return true
}

func (s *scanner) addSource(at int, line int32, refs *[]ref) bool {
	r := ref{"", line, sourceRank}
	for j := at + 1; j < int(s.nodes[at].at); j = s.nodeAfter(j + 1) {
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

func referencesOf(a *Atom) references {
	m := references{file: a.Path, links: a.Links()}
	for _, e := range a.Edges {
		m.refs = append(m.refs, ref{e.Target, int32(e.Line), int8(edgeRank(e.Kind))})
	}
	for _, f := range a.Fields {
		if f.Key != "derives_from" && f.Key != "complements" {
			continue
		}
		for _, t := range splitReferences(f.Value) {
			m.refs = append(m.refs, ref{t, int32(f.Line), refRank})
		}
	}
	for _, s := range a.Sources {
		m.refs = append(m.refs, ref{s.Resource, int32(a.Line("sources")), sourceRank})
	}
	return m
}

// rowReader holds the buffers with which one goroutine reads many raw files.
type rowReader struct {
	scanner
	refs  []ref
	links []Linked
	edges []edge
	atom  Atom // the last result of makeSearchAtom
}

// readReferences returns the references of a row. It reads a raw file without parsing the
// atom if it can. The result is valid until w is used again. known is the header of the
// file, or nil.
func (w *rowReader) readReferences(r *rows, i int32, known *header) references {
	if a := r.atoms[i].Load(); a != nil || r.raw == nil || r.raw[i].text == "" {
		return referencesOf(r.atomOf(i))
	}
	m := references{file: r.pathOf(i)}
	ok := false
	if m.links, ok = w.readLinks(m.file, &r.raw[i]); !ok {
		return referencesOf(r.atomOf(i))
	}
	if known != nil {
		m.refs = known.refs
		return m
	}
	w.refs = w.refs[:0]
	l, ok := w.readHeader(m.file, unsafeBytes(r.raw[i].text), &w.refs)
	if !ok {
		return referencesOf(r.atomOf(i))
	}
	m.refs = l.refs
	return m
}

// readLinks reads the links in the body of a raw file. It is not ok if this needs the
// markdown parser.
func (w *rowReader) readLinks(file string, l *rawFile) ([]Linked, bool) {
	body := l.text[l.body:]
	if !mayHaveLinks(body) {
		return nil, true
	}
	out, ok := scanLinks(file, body, int(l.bodyLine), w.links[:0])
	w.links = out[:0]
	return out, ok
}

// parseRow parses the atom of a raw file.
func (r *rows) parseRow(i int32, ar *arena) *Atom {
	a := &alloc(&ar.atoms, 1, ar.least)[0]
	var p *Problem
	if *a, p = parse(r.pathOf(i), unsafeBytes(r.raw[i].text)); p != nil {
		return nil // a row without an atom
	}
	a.readLinks()
	return a
}

// appendMentions appends the hash of every name that row i refers to, as hashName computes
// it: the names that resolving its edges and links looks up.
func (m references) appendMentions(i int32, out []hashedName) []hashedName {
	add := func(name, from string) { out = append(out, hashedName{hashName(name, from), uint32(i)}) }
	for _, r := range m.refs {
		if r.rank == sourceRank {
			if target, _ := resolveURL(m.file, r.text); strings.HasSuffix(target, ".md") {
				add(target, "")
			}
			continue
		}
		add(r.text, m.file)
		if k := kindOfRank(r.rank); k == Supersedes || k == SupersededBy {
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

// headerReader reads headers for one goroutine at a time.
type headerReader struct {
	scanner
	refs    []ref
	headers []header
}

var headerReaders = sync.Pool{New: func() any { return new(headerReader) }}

// refsChunk and headersChunk are how many share one allocation.
const refsChunk, headersChunk = 1024, 256

// newHeader reads the header of a file; nil if the scanner cannot.
func (r *headerReader) newHeader(file string, b []byte) *header {
	if cap(r.refs)-len(r.refs) < 64 {
		r.refs = make([]ref, 0, refsChunk)
	}
	l, ok := r.readHeader(file, b, &r.refs)
	if !ok {
		return nil
	}
	out := &alloc(&r.headers, 1, headersChunk)[0]
	*out = l
	return out
}
