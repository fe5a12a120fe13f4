package okf

import (
	"encoding/binary"
	"maps"
	"math"
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

// worthCollecting is how many atoms leave more garbage, when they are read, than it costs to collect.
const worthCollecting = 1000

// unreadLength is the length of an atom whose text could not be read.
const unreadLength = math.MaxUint32

// readWords reads the atoms of n rows and builds their lexicon, on as many goroutines as
// there are processors. skim passes the atoms of neighbouring rows to tell, in order. It
// passes nil for an atom whose text cannot be read; its words are then missing. No other
// part of an atom is kept.
func readWords(n int, skim func(from, to int, tell func(i int, a *Atom))) *lexicon {
	l := &lexicon{length: newInts(n)}
	shards := make([]*shard, min(n, runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for k := range shards {
		s := &shard{words: map[string]*wordRows{}, length: l.length}
		shards[k] = s
		wg.Go(func() { skim(k*n/len(shards), (k+1)*n/len(shards), s.countAtom) })
	}
	wg.Wait()
	if n > worthCollecting {
		runtime.GC() // what reading left, before the words are in memory twice
	}
	l.mergeShards(shards)
	return l
}

// shard holds the words of some neighbouring rows.
type shard struct {
	words   map[string]*wordRows
	touched []*wordRows // the words of the current atom
	length  ints        // the number of words in each body; each shard writes its own rows
	atoms   int
	total   int // the number of words in all bodies
}

// wordRows are the rows of one word, and its weight in the current atom.
type wordRows struct {
	rows         []byte // as in a lexicon, without the distance of the first row
	first, last  int32
	fields, body uint32
}

func (s *shard) countAtom(i int, a *Atom) {
	if a == nil {
		s.length.set(i, unreadLength)
		return
	}
	field := func(weight uint32, text string) {
		eachWord(text, func(w string) { s.touchWord(w).fields += weight })
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
		s.touchWord(w).body++
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
	s.endAtom(int32(i))
}

// touchWord returns where a word of the current atom is counted. It copies a new word, so
// that the text it is from can be freed.
func (s *shard) touchWord(w string) *wordRows {
	t := s.words[w]
	if t == nil {
		t = new(wordRows)
		s.words[strings.Clone(w)] = t
	}
	if t.fields == 0 && t.body == 0 {
		s.touched = append(s.touched, t)
	}
	return t
}

// endAtom writes down the counts of row i.
func (s *shard) endAtom(i int32) {
	for _, t := range s.touched {
		if t.rows == nil {
			t.first = i
		} else {
			t.rows = binary.AppendUvarint(t.rows, uint64(i-t.last))
		}
		t.rows = binary.AppendUvarint(t.rows, uint64(t.fields))
		t.rows = binary.AppendUvarint(t.rows, uint64(t.body))
		t.last, t.fields, t.body = i, 0, 0
	}
	s.touched = s.touched[:0]
}

// mergeShards sorts the words of all shards. The rows of one word from all shards follow
// each other.
func (l *lexicon) mergeShards(shards []*shard) {
	words, wordBytes, rowBytes := 0, 0, 0
	for _, s := range shards {
		l.atoms += s.atoms
		l.total += s.total
		words += len(s.words)
		for w, t := range s.words {
			wordBytes += len(w)
			rowBytes += len(t.rows) + binary.MaxVarintLen32
		}
	}
	all := make([]string, 0, words)
	for _, s := range shards {
		all = slices.AppendSeq(all, maps.Keys(s.words))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	l.words, l.rows = make([]byte, 0, wordBytes), make([]byte, 0, rowBytes)
	l.wordAt, l.rowAt = make(offsets, 8, 8*(len(all)+1)), make(offsets, 8, 8*(len(all)+1))
	for _, w := range all {
		before := int32(-1)
		for _, s := range shards {
			if t := s.words[w]; t != nil {
				l.rows = binary.AppendUvarint(l.rows, uint64(t.first-before))
				l.rows = append(l.rows, t.rows...)
				before = t.last
			}
		}
		l.words = append(l.words, w...)
		l.wordAt, l.rowAt = l.wordAt.add(uint64(len(l.words))), l.rowAt.add(uint64(len(l.rows)))
	}
}
