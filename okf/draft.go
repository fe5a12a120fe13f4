package okf

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// draft holds the records of neighbouring rows before the numbered words are chosen. It is
// a list of pieces: a length, as many bytes to copy, and what follows them. That is
// pieceEnd, pieceText, or the number of a short text.
type draft struct {
	b        []byte
	mentions []hashedName
	of       *vocabulary
}

// What may follow the bytes of a piece. Text n of the vocabulary is pieceShort+n.
const (
	pieceEnd  = iota // the record ends
	pieceText        // the bytes are a text that is not counted
	pieceShort
)

// makeDrafts drafts the records of all rows that have an atom, and returns the vocabularies
// of the goroutines. It parses an atom only if the scanner cannot read its file.
func (r *rows) makeDrafts() (drafts []draft, of []*vocabulary) {
	drafts = make([]draft, (r.len()+batchSize-1)/batchSize)
	var known sync.Mutex
	runWorkers(r.len(), func() func(from, to int) {
		w, e := rowReader{}, encoder{known: new(vocabulary)}
		known.Lock()
		of = append(of, e.known)
		known.Unlock()
		return func(from, to int) {
			d := &drafts[from/batchSize]
			e.cut = e.cut[:0]
			for i := int32(from); i < int32(to); i++ {
				if r.state[i] != rowNone {
					m := w.draftRecord(r, i, &e)
					if r.isKept(i) {
						d.mentions = m.appendMentions(i, d.mentions)
					}
				}
				e.endPiece(pieceEnd)
			}
			d.b, d.of = slices.Clone(e.cut), e.known
		}
	})
	return drafts, of
}

// draftRecord writes the record of a row, as encoder.writeAtom writes that of its atom. It
// returns what the atom refers to.
func (w *rowReader) draftRecord(r *rows, i int32, e *encoder) references {
	m, scanned := w.scanReferences(r, i, nil)
	if !scanned {
		e.writeAtom(r.atomOf(i))
		return m
	}
	l := &r.raw[i]
	e.writeWhole(BlobID(unsafeBytes(l.text)))
	e.writeCount(int(l.body))
	e.writeCount(int(l.bodyLine))
	e.writeCount(len(w.heads))
	for _, at := range w.heads {
		e.writeText(w.nodes[at].text)
		e.writeCount(int(w.nodes[at].at))
		w.encodeNode(e, int(at)+1)
	}
	e.writeLinks(m.links)
	return m
}

// encodeNode writes the value at i, as encoder.writeValue writes the result of makeValue.
func (s *scanner) encodeNode(e *encoder, i int) {
	n := s.nodes[i]
	e.writeKind(n.kind)
	switch n.kind {
	case kindInt:
		v, _ := strconv.Atoi(n.text)
		e.writeInt(int64(v))
	case kindFloat:
		v, _ := strconv.ParseFloat(n.text, 64)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	case kindText:
		e.writeText(n.text)
	case kindList:
		e.writeCount(s.countValues(i+1, int(n.at)))
		for j := i + 1; j < int(n.at); j = s.nodeAfter(j) {
			s.encodeNode(e, j)
		}
	case kindMap:
		var room [8]int
		keys := room[:0]
		for j := i + 1; j < int(n.at); j = s.nodeAfter(j + 1) {
			keys = append(keys, j)
		}
		slices.SortFunc(keys, func(a, b int) int { return strings.Compare(s.nodes[a].text, s.nodes[b].text) })
		e.writeCount(len(keys))
		for _, j := range keys {
			e.writeText(s.nodes[j].text)
			s.encodeNode(e, j+1)
		}
	}
}

// encodeRecords writes the records of a draft into the memory of b, each with its checksum,
// and returns where each ends. all knows the words.
func (d *draft) encodeRecords(all *vocabulary, b []byte) (_ []byte, ends ints) {
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
			e.writeNumbered(unsafeString(raw), all.wordOf(unsafeString(raw)))
		case pieceEnd:
			if e.b = append(e.b, raw...); len(e.b) > begin {
				binary.LittleEndian.PutUint32(e.b[begin:], checksum(e.b[begin+4:]))
			}
			begin = len(e.b)
			ends = ends.add(uint32(begin))
		default:
			e.b = append(e.b, raw...)
			said := &d.of.texts[what-pieceShort]
			e.writeNumbered(said.text, said.word)
		}
	}
	return e.b, ends
}
