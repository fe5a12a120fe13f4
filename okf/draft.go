package okf

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// draft is the records of some neighbouring rows before it is known which texts
// are words. It is pieces: a length, so many bytes to be taken as they are, and
// what follows them, pieceEnd, pieceText or a short text by its number.
type draft struct {
	b        []byte
	mentions []called
	of       *vocabulary
}

// What may follow the bytes of a piece. A number is that of a text in the
// vocabulary, pieceShort more.
const (
	pieceEnd  = iota // the row has no more
	pieceText        // the bytes are a text, which nobody counts
	pieceShort
)

// makeDrafts drafts the records of all rows that have an atom, and returns the
// vocabularies of the goroutines that did. An atom that was not made is not made
// for it, unless the scanner leaves its file to the parser.
func (r *rows) makeDrafts() (drafts []draft, of []*vocabulary) {
	drafts = make([]draft, (r.len()+batchSize-1)/batchSize)
	var known sync.Mutex
	workers(r.len(), func() func(from, to int) {
		w, e := workbench{}, encoder{known: new(vocabulary)}
		known.Lock()
		of = append(of, e.known)
		known.Unlock()
		return func(from, to int) {
			d := &drafts[from/batchSize]
			e.cut = e.cut[:0]
			for i := int32(from); i < int32(to); i++ {
				if r.state[i] != rowNone {
					m := w.draft(r, i, &e)
					if r.isKept(i) {
						d.mentions = m.appendMentions(i, d.mentions)
					}
				}
				e.piece(pieceEnd)
			}
			d.b, d.of = slices.Clone(e.cut), e.known
		}
	})
	return drafts, of
}

// draft writes the record of a row as encoder.atom writes that of its atom, and
// returns what it refers to.
func (w *workbench) draft(r *rows, i int32, e *encoder) matter {
	m, scanned := w.look(r, i, nil)
	if !scanned {
		e.atom(r.atom(i))
		return m
	}
	l := &r.leaves[i]
	e.whole(BlobID(bytesOf(l.text)))
	e.count(int(l.body))
	e.count(int(l.bodyLine))
	e.count(len(w.heads))
	for _, at := range w.heads {
		e.text(w.nodes[at].text)
		e.count(int(w.nodes[at].at))
		w.write(e, int(at)+1)
	}
	e.links(m.links)
	return m
}

// write writes the value at i as encoder.value writes what made makes of it.
func (s *scanner) write(e *encoder, i int) {
	n := s.nodes[i]
	e.kind(n.kind)
	switch n.kind {
	case kindInt:
		v, _ := strconv.Atoi(n.text)
		e.int(int64(v))
	case kindFloat:
		v, _ := strconv.ParseFloat(n.text, 64)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	case kindText:
		e.text(n.text)
	case kindList:
		e.count(s.size(i+1, int(n.at)))
		for j := i + 1; j < int(n.at); j = s.after(j) {
			s.write(e, j)
		}
	case kindMap:
		var room [8]int
		keys := room[:0]
		for j := i + 1; j < int(n.at); j = s.after(j + 1) {
			keys = append(keys, j)
		}
		slices.SortFunc(keys, func(a, b int) int { return strings.Compare(s.nodes[a].text, s.nodes[b].text) })
		e.count(len(keys))
		for _, j := range keys {
			e.text(s.nodes[j].text)
			s.write(e, j+1)
		}
	}
}

// records writes the records of a draft into the room of b, each with its checksum, and
// where each ends. all knows the words.
func (d *draft) records(all *vocabulary, b []byte) (_ []byte, ends ints) {
	e, begin := encoder{b: b[:0]}, 0
	for s := d.b; len(s) > 0; {
		size, n := binary.Uvarint(s)
		raw := s[n : n+int(size)]
		s = s[n+int(size):]
		what, n := binary.Uvarint(s)
		s = s[n:]
		switch what {
		case pieceText:
			e.b = append(e.b, 0, 0, 0, 0)
			e.writeNumbered(view(raw), all.wordOf(view(raw)))
		case pieceEnd:
			if e.b = append(e.b, raw...); len(e.b) > begin {
				binary.LittleEndian.PutUint32(e.b[begin:], checksum(e.b[begin+4:]))
			}
			begin = len(e.b)
			ends = ends.add(uint32(begin))
		default:
			e.b = append(e.b, raw...)
			said := &d.of.said[what-pieceShort]
			e.writeNumbered(said.text, said.word)
		}
	}
	return e.b, ends
}
