package okf

import (
	"maps"
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

// The constants of BM25: how fast repetition stops counting, and how much a
// long body is held against an atom. They are the usual ones.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// prefixFactor is what a word counts that only begins as the query's does, and
// prefixLeast the letters that takes.
const (
	prefixFactor = 0.5
	prefixLeast  = 3
)

// posting is a word in an atom: its weight in the short fields, and how often
// the body has it.
type posting struct {
	atom   int32
	fields float32
	body   int32
}

// postings is what Search looks words up in: one row a word, in order of atom.
type postings struct {
	rows   map[string][]posting
	length []int32 // words in each body, by row
	atoms  int
	mean   float64
	sorted func() []string // the words
}

// newPostings reads every atom, on as many goroutines as there are processors.
// An atom's number is its row.
func newPostings(g *Graph) *postings {
	g.all()
	n := int(g.places())
	p := &postings{length: make([]int32, n), atoms: g.Len()}
	shards := make([]*shard, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range shards {
		wg.Go(func() {
			shards[k] = &shard{index: map[string]int{}, length: p.length}
			for i := int32(k * n / len(shards)); i < int32((k+1)*n/len(shards)); i++ {
				if g.here(i) {
					shards[k].read(i, g.at(i))
				}
			}
		})
	}
	wg.Wait()
	p.rows = make(map[string][]posting, len(shards[0].index))
	for _, s := range shards {
		for w, n := range s.index {
			p.rows[w] = append(p.rows[w], s.rows[n]...)
		}
	}
	total := 0.0
	for _, n := range p.length {
		total += float64(n)
	}
	p.mean = max(1, total/float64(max(1, p.atoms)))
	p.sorted = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(p.rows)) })
	return p
}

// shard is the rows of some atoms that follow each other.
type shard struct {
	index  map[string]int
	rows   [][]posting
	length []int32 // shared; each shard writes its own atoms
}

func (s *shard) read(i int32, a *Atom) {
	field := func(weight float32, text string) {
		words(text, func(w string) { s.at(w, i).fields += weight })
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
	eachLine(a, func(_ int, line string, heading bool) {
		if heading {
			field(weighHeading, line)
		}
		words(line, func(w string) {
			s.at(w, i).body++
			s.length[i]++
		})
	})
}

// at is the posting of w in the atom that is being read.
func (s *shard) at(w string, i int32) *posting {
	n, ok := s.index[w]
	if !ok {
		n = len(s.rows)
		s.index[strings.Clone(w)] = n
		s.rows = append(s.rows, nil)
	}
	row := s.rows[n]
	if len(row) == 0 || row[len(row)-1].atom != i {
		row = append(row, posting{atom: i})
		s.rows[n] = row
	}
	return &row[len(row)-1]
}

// term is one word of a query: the words of the bundle it stands for.
type term struct {
	words  []string
	factor float64
}

// terms are the distinct words of a query, in order. The words a question is
// put with are left out where others remain.
func (p *postings) terms(query string) []term {
	var asked, told []string
	words(query, func(w string) {
		switch {
		case slices.Contains(asked, w) || slices.Contains(told, w):
		case filler(w):
			told = append(told, w)
		default:
			asked = append(asked, w)
		}
	})
	if asked == nil {
		asked = told
	}
	var out []term
	for _, w := range asked {
		out = append(out, p.term(w))
	}
	return out
}

// filler reports English words that say nothing about what a query is after.
func filler(w string) bool {
	const all = " a an and are as at be by can do does for from has have how i in is it its many me my of on or our that the their there these they this to use was we what when where which who whose why will with you your "
	return strings.Contains(all, " "+w+" ")
}

// term is what a word of a query stands for: itself, or, where no atom has it,
// the words that begin with it or with all but its ending.
func (p *postings) term(w string) term {
	if _, ok := p.rows[w]; ok {
		return term{words: []string{w}, factor: 1}
	}
	const ending = 3 // letters of -ed, -er, -ing
	rs := []rune(w)
	for cut := 0; cut <= ending && len(rs)-cut >= prefixLeast+min(cut, 1); cut++ {
		if all := p.beginning(string(rs[:len(rs)-cut])); len(all) > 0 {
			return term{words: all, factor: prefixFactor}
		}
	}
	return term{words: []string{w}, factor: 1}
}

// beginning lists the words that begin with w.
func (p *postings) beginning(w string) []string {
	all := p.sorted()
	from, _ := slices.BinarySearch(all, w)
	to := from
	for to < len(all) && strings.HasPrefix(all[to], w) {
		to++
	}
	return all[from:to]
}

// score is the score of every atom, and the atoms that have a word of the query.
func (p *postings) score(terms []term) (sum []float64, found []int32) {
	sum = make([]float64, len(p.length))
	hits := make([]int32, len(p.length)) // terms the atom has
	best := make([]float64, len(p.length))
	for _, t := range terms {
		var has []int32
		for _, w := range t.words {
			row := p.rows[w]
			for _, q := range row {
				if best[q.atom] == 0 {
					has = append(has, q.atom)
				}
				best[q.atom] = max(best[q.atom], t.factor*p.weight(q, len(row)))
			}
		}
		for _, i := range has {
			if hits[i] == 0 {
				found = append(found, i)
			}
			hits[i]++
			sum[i] += best[i]
			best[i] = 0
		}
	}
	for _, i := range found {
		sum[i] *= float64(hits[i]) / float64(len(terms))
	}
	return sum, found
}

// weight is BM25 of one word in one atom, where n atoms have the word. The body
// is measured against the mean body; the short fields are short for everybody.
func (p *postings) weight(q posting, n int) float64 {
	all := float64(p.atoms)
	idf := math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
	long := 1 - bm25B + bm25B*float64(p.length[q.atom])/p.mean
	tf := float64(q.fields) + float64(q.body)/long
	return idf * tf * (bm25K + 1) / (tf + bm25K)
}
