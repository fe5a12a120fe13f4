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

// The weight of a word in each field; a word of the body weighs 1. People search by
// titles and names, tags and descriptions are written to be found, and a heading sums
// up what follows.
const (
	weighTitle   = 6
	weighName    = 4 // the id, and the stem where it is another
	weighTag     = 3
	weighSummary = 3
	weighHeading = 2
	weighType    = 1
)

// unreadLength is the length of an atom whose text could not be read.
const unreadLength = math.MaxUint32

// readWords reads the atoms of n rows and builds their lexicon, on as many goroutines as
// there are processors. skim passes the atoms of neighbouring rows to tell, in order. It
// passes nil for an atom whose text cannot be read; its words are then missing. No other
// part of an atom is kept.
//
// Each goroutine counts the words of its share of the rows and writes down the counts of
// each atom. After that the length of every word's list is known, and the counts are copied
// to their places.
func readWords(n int, skim func(from, to int, tell func(i int, a *Atom))) *lexicon {
	l := &lexicon{length: newInts(n)}
	shards := make([]*shard, min(n, runtime.GOMAXPROCS(0)))
	runParallel(len(shards), func(k int) {
		s := &shard{length: l.length}
		shards[k] = s
		skim(k*n/len(shards), (k+1)*n/len(shards), s.countAtom)
		s.sortWords()
	})
	l.mergeWords(shards)
	runParallel(len(shards), func(k int) { shards[k].writePostings(l.rows) })
	return l
}

// runParallel calls do(0) … do(n-1), each on a goroutine of its own.
func runParallel(n int, do func(k int)) {
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { do(k) })
	}
	wg.Wait()
}

// shard holds the words of some neighbouring rows, numbered in order of first occurrence.
type shard struct {
	met     int
	pages   [][]wordEntry // the words, pageLen each, so that none ever moves
	slots   []slot        // the hash table of the words
	texts   []byte        // memory for the words
	order   []uint32      // the numbers of the words, sorted
	touched []uint32      // the words of the current atom
	counted [][]byte      // for each atom its row, the number of its words and their weights, as varints in pieces
	length  ints          // the number of words in each body; each shard writes its own rows
	atoms   int
	total   int // the number of words in all bodies
}

// wordEntry is one word: its rows so far, the bytes that they take without the distance of
// the first row, and its weight in the current atom. Once all atoms are read, at is the
// offset at which its next row is written.
type wordEntry struct {
	text         string
	first, last  int32
	at           uint64
	fields, body uint32
}

// pageLen is how many words share one allocation.
const pageLen = 1 << 9

// entryAt returns the n-th word.
func (s *shard) entryAt(n uint32) *wordEntry { return &s.pages[n/pageLen][n%pageLen] }

// writtenSize is the size of a piece of counts.
const writtenSize = 1 << 16

func (s *shard) countAtom(i int, a *Atom) {
	if a == nil {
		s.length.set(i, unreadLength)
		return
	}
	field := func(weight uint32, text string) {
		eachWord(text, func(w string) { s.touchEntry(w).fields += weight })
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
		s.touchEntry(w).body++
		n++
	}
	eachLine(a, func(_ int, line string, heading bool) {
		if heading {
			field(weighHeading, line)
		}
		eachWord(line, count)
	})
	s.length.set(i, uint32(n))
	s.total += n
	s.atoms++
	s.writeCounts(i)
}

// touchEntry returns the entry in which a word of the current atom is counted.
func (s *shard) touchEntry(w string) *wordEntry {
	n := s.wordNumber(w)
	t := s.entryAt(n)
	if t.fields == 0 && t.body == 0 {
		s.touched = append(s.touched, n)
	}
	return t
}

// wordNumber returns the number of a word, and adds a new one.
func (s *shard) wordNumber(w string) uint32 {
	if 2*s.met >= len(s.slots) {
		s.slots = widenSlots(s.slots)
	}
	hash, mask := uint32(maphash.String(hashSeed, w)), uint32(len(s.slots)-1)
	at := hash & mask
	for ; s.slots[at].number > 0; at = (at + 1) & mask {
		if got := s.slots[at]; got.hash == hash && s.entryAt(got.number-1).text == w {
			return got.number - 1
		}
	}
	n := uint32(s.met)
	if s.met++; n%pageLen == 0 {
		s.pages = append(s.pages, make([]wordEntry, pageLen))
	}
	s.slots[at] = slot{hash, n + 1}
	*s.entryAt(n) = wordEntry{text: s.copyWord(w), first: -1}
	return n
}

// copyWord copies a word, so that the text it is from can be freed.
func (s *shard) copyWord(w string) string {
	if cap(s.texts)-len(s.texts) < len(w) {
		s.texts = make([]byte, 0, max(writtenSize, len(w)))
	}
	s.texts = append(s.texts, w...)
	return unsafeString(s.texts[len(s.texts)-len(w):])
}

// writeCounts writes down the counts of row i.
func (s *shard) writeCounts(i int) {
	b := s.lastPiece((len(s.touched) + 1) * 3 * binary.MaxVarintLen32)
	b = binary.AppendUvarint(b, uint64(i))
	b = binary.AppendUvarint(b, uint64(len(s.touched)))
	for _, n := range s.touched {
		t := s.entryAt(n)
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

// lastPiece returns the last piece of counts, with room for n more bytes.
func (s *shard) lastPiece(n int) []byte {
	if k := len(s.counted); k > 0 {
		if b := s.counted[k-1]; cap(b)-len(b) >= n {
			return b
		}
	}
	s.counted = append(s.counted, make([]byte, 0, max(writtenSize, n)))
	return s.counted[len(s.counted)-1]
}

// varintLen returns the number of bytes of a varint.
func varintLen(v uint32) uint64 { return uint64(bits.Len32(v|1)+6) / 7 }

func (s *shard) sortWords() {
	s.order = make([]uint32, s.met)
	for n := range s.order {
		s.order[n] = uint32(n)
	}
	slices.SortFunc(s.order, func(a, b uint32) int { return strings.Compare(s.entryAt(a).text, s.entryAt(b).text) })
}

// peekWord returns the first word that was not merged yet; nil if all were.
func (s *shard) peekWord() *wordEntry {
	if len(s.order) == 0 {
		return nil
	}
	return s.entryAt(s.order[0])
}

// mergeWords sorts the words of all shards, and makes room for their rows.
func (l *lexicon) mergeWords(shards []*shard) {
	words, wordAt, rowAt := mergeShards(shards)
	for _, s := range shards {
		l.atoms += s.atoms
		l.total += s.total
	}
	l.allocate(len(wordAt), len(words), len(rowAt), int(rowAt.at(rowAt.len()-1)))
	copy(l.wordAt, wordAt)
	copy(l.words, words)
	copy(l.rowAt, rowAt)
}

// mergeShards returns the words of all shards in order, and where each word and its rows
// begin. The rows of one word from all shards follow each other.
func mergeShards(shards []*shard) (words []byte, wordAt, rowAt offsets) {
	all := 1
	for _, s := range shards {
		all += s.met
	}
	wordAt, rowAt = make(offsets, 8, 8*all), make(offsets, 8, 8*all)
	size := uint64(0)
	for w, more := smallestWord(shards); more; w, more = smallestWord(shards) {
		before := int32(-1)
		for _, s := range shards {
			if t := s.peekWord(); t != nil && t.text == w {
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

// smallestWord returns the first word in order that was not merged yet.
func smallestWord(shards []*shard) (word string, found bool) {
	for _, s := range shards {
		if t := s.peekWord(); t != nil && (!found || t.text < word) {
			word, found = t.text, true
		}
	}
	return word, found
}

// writePostings copies the counts of the shard to their places in rows.
func (s *shard) writePostings(rows []byte) {
	for k, b := range s.counted {
		d := decoder{s: unsafeString(b)}
		for d.at < len(d.s) {
			row := int32(d.readUint())
			for range d.readUint() {
				t := s.entryAt(uint32(d.readUint()))
				out := binary.AppendUvarint(rows[:t.at], uint64(row-t.last))
				out = binary.AppendUvarint(out, d.readUint())
				out = binary.AppendUvarint(out, d.readUint())
				t.at, t.last = uint64(len(out)), row
			}
		}
		s.counted[k] = nil
	}
}
