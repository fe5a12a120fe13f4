package okf

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// lexicon is the index that Search looks words up in: the sorted words of some rows, and
// for each word the rows that have it. Its layout in memory is that of the stored file, so
// opening one costs a single read.
type lexicon struct {
	length ints    // the number of words in the body of each row
	wordAt offsets // where each word begins in words; one more than there are words
	words  []byte  // sorted
	rowAt  offsets // where the rows of each word begin in rows
	rows   []byte  // varints: distance from the previous row, weight in the fields, times in the body
	atoms  int     // rows that have an atom
	total  int     // the number of words in all bodies
}

// posting is a word in an atom: its weight in the short fields, and how often the body has
// it.
type posting struct {
	row          int32
	fields, body uint32
}

func (l *lexicon) len() int { return max(0, l.wordAt.len()-1) }

// nthWord returns the k-th word in order.
func (l *lexicon) nthWord(k int) string {
	from, to := l.wordAt.span(k, len(l.words))
	return unsafeString(l.words[from:to])
}

// findWord returns the index of w, or the index at which it would be.
func (l *lexicon) findWord(w string) (k int, ok bool) {
	return sort.Find(l.len(), func(k int) int { return strings.Compare(w, l.nthWord(k)) })
}

func (l *lexicon) prefixRange(w string) (from, to int) {
	from, _ = l.findWord(w)
	to = from + sort.Search(l.len()-from, func(k int) bool { return !strings.HasPrefix(l.nthWord(from+k), w) })
	return from, to
}

// eachPosting calls visit with every posting of the k-th word in order of row, until visit
// returns false. It stops at a row that the lexicon does not have.
func (l *lexicon) eachPosting(k int, visit func(posting) bool) {
	from, to := l.rowAt.span(k, len(l.rows))
	row := int64(-1)
	for b := l.rows[from:to]; len(b) > 0; {
		var p [3]uint64
		for i := range p {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			p[i], b = v, b[n:]
		}
		if row += int64(min(p[0], uint64(l.length.len()))); row < 0 || row >= int64(l.length.len()) {
			return
		}
		if !visit(posting{int32(row), uint32(p[1]), uint32(p[2])}) {
			return
		}
	}
}

// A stored lexicon is
//
//	8 bytes   lexiconMagic
//	8 bytes   parserVersion, little endian
//	16 bytes  the mark of the rows it was read from
//	4 bytes   CRC-32C of all that follows
//	          the sections: the length of each in eight bytes, then each section
const (
	lexiconMagic  = "odd wrd\x02"
	lexiconHeader = len(lexiconMagic) + 8 + markLen + 4
)

func (l *lexicon) sections(counts *offsets) []*[]byte {
	return []*[]byte{(*[]byte)(counts), (*[]byte)(&l.length), (*[]byte)(&l.wordAt), &l.words, (*[]byte)(&l.rowAt), &l.rows}
}

// seal returns the stored form, for the rows with a mark.
func (l *lexicon) seal(mark string) []byte {
	counts := offsets{}.add(uint64(l.atoms)).add(uint64(l.total))
	out := binary.LittleEndian.AppendUint64([]byte(lexiconMagic), parserVersion())
	out = appendSections(append(append(out, mark...), 0, 0, 0, 0), l.sections(&counts))
	binary.LittleEndian.PutUint32(out[lexiconHeader-4:], checksum(out[lexiconHeader:]))
	return out
}

// openLexicon opens what seal returned; nil for anything else, and for the words of other
// rows. n is the number of rows.
func openLexicon(b []byte, mark string, n int) *lexicon {
	if len(b) < lexiconHeader || string(b[:8]) != lexiconMagic || binary.LittleEndian.Uint64(b[8:]) != parserVersion() ||
		string(b[16:16+markLen]) != mark || binary.LittleEndian.Uint32(b[lexiconHeader-4:]) != checksum(b[lexiconHeader:]) {
		return nil
	}
	var counts offsets
	l := &lexicon{}
	if !cutSections(b[lexiconHeader:], l.sections(&counts)) || counts.len() != 2 || l.length.len() != n || l.wordAt.len() != l.rowAt.len() {
		return nil
	}
	l.atoms, l.total = int(counts.at(0)), int(counts.at(1))
	return l
}

// appendSections appends the length of each section, and then each section. rest continues
// the last one.
func appendSections(out []byte, parts []*[]byte, rest ...[]byte) []byte {
	size, more := 8*len(parts), 0
	for _, p := range parts {
		size += len(*p)
	}
	for _, b := range rest {
		more += len(b)
	}
	out = slices.Grow(out, size+more)
	for i, p := range parts {
		n := len(*p)
		if i == len(parts)-1 {
			n += more
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	for _, p := range parts {
		out = append(out, *p...)
	}
	for _, b := range rest {
		out = append(out, b...)
	}
	return out
}

// cutSections points each section at its part of b. It returns false if they are not all of
// b.
func cutSections(b []byte, parts []*[]byte) bool {
	lengths := offsets(b)
	at := 8 * len(parts)
	for i, p := range parts {
		if at > len(b) || lengths.at(i) > uint64(len(b)-at) {
			return false
		}
		n := int(lengths.at(i))
		*p = b[at : at+n : at+n]
		at += n
	}
	return at == len(b)
}
