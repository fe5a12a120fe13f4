package okf

import (
	"encoding/binary"
	"math"
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

// readWords reads every atom of some rows, on as many goroutines as there are
// processors, and lays out what words they have. at is the atom of the i-th of
// n rows, nil where there is none. An atom whose file is another by now is
// unread, and its words are missing.
func readWords(n int, at func(i int) *Atom) *lexicon {
	shards := make([]*shard, min(n, runtime.GOMAXPROCS(0)))
	l := &lexicon{length: newInts(n)}
	var wg sync.WaitGroup
	for k := range shards {
		wg.Go(func() {
			s := &shard{index: map[string]int32{}, length: l.length}
			for i := k * n / len(shards); i < (k+1)*n/len(shards); i++ {
				switch a := at(i); {
				case a == nil:
				case a.disk != nil && a.Bytes() == nil:
					l.length.set(i, unread)
				default:
					s.read(i, a)
				}
			}
			shards[k] = s
		})
	}
	wg.Wait()
	for _, s := range shards {
		l.atoms += s.atoms
		l.total += s.total
	}
	l.lay(shards)
	return l
}

// shard is the words of some rows that follow each other.
type shard struct {
	index   map[string]int32
	rows    []shardRow
	touched []int32 // words of the atom that is being read
	length  ints    // words of each body; each shard writes its own rows
	atoms   int
	total   int // words of all bodies
}

// shardRow is one word: where it is, as a lexicon has it but for the distance
// to the first row, and what it is worth in the atom that is being read.
type shardRow struct {
	first, last  int
	b            []byte
	fields, body uint32
}

func (s *shard) read(i int, a *Atom) {
	field := func(weight uint32, text string) {
		words(text, func(w string) { s.row(w).fields += weight })
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
	eachLine(a, func(_ int, line string, heading bool) {
		if heading {
			field(weighHeading, line)
		}
		words(line, func(w string) {
			s.row(w).body++
			n++
		})
	})
	s.length.set(i, uint32(n))
	s.total += n
	s.atoms++
	s.flush(i)
}

// row is where a word of the atom that is being read is counted.
func (s *shard) row(w string) *shardRow {
	n, ok := s.index[w]
	if !ok {
		n = int32(len(s.rows))
		s.index[strings.Clone(w)] = n
		s.rows = append(s.rows, shardRow{})
	}
	r := &s.rows[n]
	if r.fields == 0 && r.body == 0 {
		s.touched = append(s.touched, n)
	}
	return r
}

// flush writes what was counted in row i.
func (s *shard) flush(i int) {
	for _, n := range s.touched {
		r := &s.rows[n]
		if r.b == nil {
			r.first = i
		} else {
			r.b = binary.AppendUvarint(r.b, uint64(i-r.last))
		}
		r.b = binary.AppendUvarint(r.b, uint64(r.fields))
		r.b = binary.AppendUvarint(r.b, uint64(r.body))
		r.last, r.fields, r.body = i, 0, 0
	}
	s.touched = s.touched[:0]
}

// lay puts the words of all shards in order, and their rows behind each other.
func (l *lexicon) lay(shards []*shard) {
	var all []string
	for _, s := range shards {
		for w := range s.index {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	l.wordAt, l.rowAt = newInts(len(all)+1), newInts(len(all)+1)
	for k, w := range all {
		before := -1
		for _, s := range shards {
			n, ok := s.index[w]
			if !ok {
				continue
			}
			r := &s.rows[n]
			l.rows = binary.AppendUvarint(l.rows, uint64(r.first-before))
			l.rows = append(l.rows, r.b...)
			before = r.last
		}
		l.words = append(l.words, w...)
		l.wordAt.set(k+1, uint32(len(l.words)))
		l.rowAt.set(k+1, uint32(len(l.rows)))
	}
}
