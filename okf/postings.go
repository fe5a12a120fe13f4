package okf

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// The weight of a word in each field; a word of the body weighs 1. Titles and
// names are what people search by, tags and descriptions are written to be
// found, and a heading says what follows it.
const (
	weighTitle   = 6
	weighName    = 4 // the id, and the stem where it is another
	weighTag     = 3
	weighSummary = 3
	weighHeading = 2
	weighType    = 1
)

// unread is the length of an atom whose text was not to be had.
const unread = math.MaxUint32

// readWords reads the atoms of n rows, on as many goroutines as there are
// processors, and lays out what words they have. skim hands the atoms of some
// neighbouring rows to tell, in order, nil for one whose text is not to be had:
// its words are missing. Nothing of an atom is kept but its words.
//
// Each goroutine counts the words of its share of the rows and writes down, atom
// by atom, what it counted. Then it is known how long the list of every word is,
// and what was written down is dealt out to where it belongs.
func readWords(n int, skim func(from, to int, tell func(i int, a *Atom))) *lexicon {
	l := &lexicon{length: newInts(n)}
	shards := make([]*shard, min(n, runtime.GOMAXPROCS(0)))
	together(len(shards), func(k int) {
		s := &shard{length: l.length}
		shards[k] = s
		skim(k*n/len(shards), (k+1)*n/len(shards), s.read)
		s.sort()
	})
	l.lay(shards)
	together(len(shards), func(k int) { shards[k].deal(l.rows) })
	return l
}

// together calls do(0) … do(n-1) side by side.
func together(n int, do func(k int)) {
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { do(k) })
	}
	wg.Wait()
}

// shard is the words of some rows that follow each other, numbered as they were
// met.
type shard struct {
	met     int
	pages   [][]standing // of the words, pageLen each, so that none is ever moved
	slots   []slot       // where each is found
	texts   []byte       // room for the words
	order   []uint32     // the words in order
	touched []uint32     // words of the atom that is being read
	counted [][]byte     // of each atom its row, how many words it has and what they are worth, varints in pieces
	length  ints         // words of each body; each shard writes its own rows
	atoms   int
	total   int // words of all bodies
}

// standing is one word: where it is, how many bytes that takes beside the distance
// of the first row, and what it is worth in the atom that is being read. Once
// all atoms were read, at is where its next row is written.
type standing struct {
	text         string
	first, last  int32
	at           uint64
	fields, body uint32
}

// pageLen is how many words share a piece of memory.
const pageLen = 1 << 9

// word is the n-th word.
func (s *shard) word(n uint32) *standing { return &s.pages[n/pageLen][n%pageLen] }

// writtenSize is the length of a piece of what was counted.
const writtenSize = 1 << 16

func (s *shard) read(i int, a *Atom) {
	if a == nil {
		s.length.set(i, unread)
		return
	}
	field := func(weight uint32, text string) {
		words(text, func(w string) { s.stand(w).fields += weight })
	}
	field(weighTitle, a.Title)
	for _, n := range stemsOf(a.Path, string(a.ID)) {
		field(weighName, n)
	}
	for _, t := range a.Tags {
		field(weighTag, t)
	}
	field(weighSummary, a.Description)
	field(weighType, a.Type)
	n := 0
	count := func(w string) {
		s.stand(w).body++
		n++
	}
	eachLine(a, func(_ int, line string, heading bool) {
		if heading {
			field(weighHeading, line)
		}
		words(line, count)
	})
	s.length.set(i, uint32(n))
	s.total += n
	s.atoms++
	s.flush(i)
}

// stand is where a word of the atom that is being read is counted.
func (s *shard) stand(w string) *standing {
	n := s.number(w)
	t := s.word(n)
	if t.fields == 0 && t.body == 0 {
		s.touched = append(s.touched, n)
	}
	return t
}

// number is the number of a word.
func (s *shard) number(w string) uint32 {
	if 2*s.met >= len(s.slots) {
		s.slots = widenSlots(s.slots)
	}
	hash, mask := uint32(maphash.String(spelling, w)), uint32(len(s.slots)-1)
	at := hash & mask
	for ; s.slots[at].number > 0; at = (at + 1) & mask {
		if got := s.slots[at]; got.hash == hash && s.word(got.number-1).text == w {
			return got.number - 1
		}
	}
	n := uint32(s.met)
	if s.met++; n%pageLen == 0 {
		s.pages = append(s.pages, make([]standing, pageLen))
	}
	s.slots[at] = slot{hash, n + 1}
	*s.word(n) = standing{text: s.keep(w), first: -1}
	return n
}

// keep is a word in memory of its own.
func (s *shard) keep(w string) string {
	if cap(s.texts)-len(s.texts) < len(w) {
		s.texts = make([]byte, 0, max(writtenSize, len(w)))
	}
	s.texts = append(s.texts, w...)
	return view(s.texts[len(s.texts)-len(w):])
}

// flush writes down what was counted in row i.
func (s *shard) flush(i int) {
	b := s.piece((len(s.touched) + 1) * 3 * binary.MaxVarintLen32)
	b = binary.AppendUvarint(b, uint64(i))
	b = binary.AppendUvarint(b, uint64(len(s.touched)))
	for _, n := range s.touched {
		t := s.word(n)
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(t.fields))
		b = binary.AppendUvarint(b, uint64(t.body))
		t.at += varintLen(t.fields) + varintLen(t.body)
		if t.first < 0 {
			t.first = int32(i)
		} else {
			t.at += varintLen(uint32(int32(i) - t.last))
		}
		t.last, t.fields, t.body = int32(i), 0, 0
	}
	s.counted[len(s.counted)-1] = b
	s.touched = s.touched[:0]
}

// piece is the last piece of what was counted, with room for n bytes more.
func (s *shard) piece(n int) []byte {
	if k := len(s.counted); k > 0 {
		if b := s.counted[k-1]; cap(b)-len(b) >= n {
			return b
		}
	}
	s.counted = append(s.counted, make([]byte, 0, max(writtenSize, n)))
	return s.counted[len(s.counted)-1]
}

// varintLen is how many bytes a number takes.
func varintLen(v uint32) uint64 { return uint64(bits.Len32(v|1)+6) / 7 }

// sort puts the words in order.
func (s *shard) sort() {
	s.order = make([]uint32, s.met)
	for n := range s.order {
		s.order[n] = uint32(n)
	}
	slices.SortFunc(s.order, func(a, b uint32) int { return strings.Compare(s.word(a).text, s.word(b).text) })
}

// next is the first word that was not taken yet, nil where all were.
func (s *shard) next() *standing {
	if len(s.order) == 0 {
		return nil
	}
	return s.word(s.order[0])
}

// lay puts the words of all shards in order, and makes room for where they are.
func (l *lexicon) lay(shards []*shard) {
	words, wordAt, rowAt := mergeShards(shards)
	for _, s := range shards {
		l.atoms += s.atoms
		l.total += s.total
	}
	l.room(len(wordAt), len(words), len(rowAt), int(rowAt.at(rowAt.len()-1)))
	copy(l.wordAt, wordAt)
	copy(l.words, words)
	copy(l.rowAt, rowAt)
}

// mergeShards returns the words of all shards in order, where each begins and where its
// rows do: what the shards have of a word stands behind each other.
func mergeShards(shards []*shard) (words []byte, wordAt, rowAt offsets) {
	all := 1
	for _, s := range shards {
		all += s.met
	}
	wordAt, rowAt = make(offsets, 8, 8*all), make(offsets, 8, 8*all)
	size := uint64(0)
	for w, more := least(shards); more; w, more = least(shards) {
		before := int32(-1)
		for _, s := range shards {
			if t := s.next(); t != nil && t.text == w {
				at := size
				size += varintLen(uint32(t.first-before)) + t.at
				t.at, t.last, before = at, before, t.last
				s.order = s.order[1:]
			}
		}
		words = append(words, w...)
		wordAt, rowAt = wordAt.add(uint64(len(words))), rowAt.add(size)
	}
	return words, wordAt, rowAt
}

// least is the first word in order of those that no shard took yet.
func least(shards []*shard) (word string, found bool) {
	for _, s := range shards {
		if t := s.next(); t != nil && (!found || t.text < word) {
			word, found = t.text, true
		}
	}
	return word, found
}

// deal writes where the words of the shard are to their places in rows.
func (s *shard) deal(rows []byte) {
	for k, b := range s.counted {
		d := decoder{s: view(b)}
		for d.at < len(d.s) {
			row := int32(d.uint())
			for range d.uint() {
				t := s.word(uint32(d.uint()))
				out := binary.AppendUvarint(rows[:t.at], uint64(row-t.last))
				out = binary.AppendUvarint(out, d.uint())
				out = binary.AppendUvarint(out, d.uint())
				t.at, t.last = uint64(len(out)), row
			}
		}
		s.counted[k] = nil
	}
}
