package okf

import (
	"math"
	"slices"
	"strings"
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

// index is the words of a graph: those of its rows as they were read as a
// whole, and those of the files that are different now or were unread then. It
// ranks as one lexicon of all of them would.
type index struct {
	rows    *lexicon
	changed *lexicon
	at      []int32       // the row of each row of changed
	place   map[int32]int // the other way round
	atoms   int
	mean    float64 // words of a body
}

// newIndex is the words of g, of which rows are those of its rows.
func newIndex(g *Graph, rows *lexicon) *index {
	x := &index{rows: rows, place: map[int32]int{}, atoms: rows.atoms}
	total := rows.total
	for i := range g.places() {
		was := rows.length.at(int(i))
		if !g.now.over(i) && was != unread {
			continue
		}
		if was != unread {
			total -= int(was)
			if g.isKept(i) {
				x.atoms--
			}
		}
		x.place[i] = len(x.at)
		x.at = append(x.at, i)
	}
	x.changed = readWords(len(x.at), func(from, to int, tell func(int, *Atom)) {
		for k := from; k < to; k++ {
			if g.here(x.at[k]) {
				tell(k, inHand(g.at(x.at[k])))
			}
		}
	})
	x.atoms += x.changed.atoms
	x.mean = max(1, float64(total+x.changed.total)/float64(max(1, x.atoms)))
	return x
}

// over reports whether a row's words are in changed.
func (x *index) over(row int32) bool {
	_, ok := x.place[row]
	return ok
}

// row is where a word is, in no order.
func (x *index) row(w string) []posting {
	var out []posting
	if k, ok := x.rows.place(w); ok {
		x.rows.each(k, func(p posting) bool {
			if !x.over(p.row) {
				out = append(out, p)
			}
			return true
		})
	}
	if k, ok := x.changed.place(w); ok {
		x.changed.each(k, func(p posting) bool {
			p.row = x.at[p.row]
			out = append(out, p)
			return true
		})
	}
	return out
}

// has reports whether an atom has the word.
func (x *index) has(w string) bool {
	found := false
	if k, ok := x.rows.place(w); ok {
		x.rows.each(k, func(p posting) bool {
			found = !x.over(p.row)
			return !found
		})
	}
	if !found {
		_, found = x.changed.place(w)
	}
	return found
}

// beginning lists the words that begin with w, in order.
func (x *index) beginning(w string) []string {
	var out []string
	for _, l := range []*lexicon{x.rows, x.changed} {
		for k, to := l.beginning(w); k < to; k++ {
			if w := l.word(k); len(x.at) == 0 || x.has(w) {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nearest is the word most like w, the first of them in order, "" when none is.
// A slip of the pen seldom changes the first letter.
func (x *index) nearest(w string) string {
	best, away := "", 2+len(w)/4
	for _, l := range []*lexicon{x.rows, x.changed} {
		for k, to := l.beginning(w[:1]); k < to; k++ {
			s := l.word(k)
			d := Distance(w, s)
			if (d < away || d == away && best != "" && s < best) && (len(x.at) == 0 || x.has(s)) {
				best, away = s, d
			}
		}
	}
	return best
}

// term is one word of a query: the words of the bundle it stands for.
type term struct {
	words  []string
	factor float64
}

// terms are the distinct words of a query, in order. The words a question is
// put with are left out where others remain.
func (x *index) terms(query string) []term {
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
		out = append(out, x.term(w))
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
func (x *index) term(w string) term {
	if x.has(w) {
		return term{words: []string{w}, factor: 1}
	}
	const ending = 3 // letters of -ed, -er, -ing
	rs := []rune(w)
	for cut := 0; cut <= ending && len(rs)-cut >= prefixLeast+min(cut, 1); cut++ {
		if all := x.beginning(string(rs[:len(rs)-cut])); len(all) > 0 {
			return term{words: all, factor: prefixFactor}
		}
	}
	return term{words: []string{w}, factor: 1}
}

// score is the score of every row of n, and the rows that have a word of the query.
func (x *index) score(n int, terms []term) (sum []float64, found []int32) {
	sum = make([]float64, n)
	best := make([]float64, n)
	hits := make([]int32, n) // terms the atom has
	for _, t := range terms {
		var has []int32
		for _, w := range t.words {
			row := x.row(w)
			for _, p := range row {
				if best[p.row] == 0 {
					has = append(has, p.row)
				}
				best[p.row] = max(best[p.row], t.factor*x.weight(p, len(row)))
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
func (x *index) weight(p posting, n int) float64 {
	length := x.rows.length.at(int(p.row))
	if k, ok := x.place[p.row]; ok {
		length = x.changed.length.at(k)
	}
	idf := math.Log(1 + (float64(x.atoms)-float64(n)+0.5)/(float64(n)+0.5))
	long := 1 - bm25B + bm25B*float64(length)/x.mean
	tf := float64(p.fields) + float64(p.body)/long
	return idf * tf * (bm25K + 1) / (tf + bm25K)
}
