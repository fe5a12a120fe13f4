package okf

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The constants of BM25, with their usual values: how fast repetition stops counting,
// and how much a long body lowers the score.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// prefixFactor is the weight of a word that only begins as the query's word does, and
// prefixLeast the number of letters that this takes.
const (
	prefixFactor = 0.5
	prefixLeast  = 3
)

// wordIndex holds the words of a graph: a lexicon of its rows, and one of the files that
// changed since or were unreadable then. It ranks as a single lexicon of both would.
type wordIndex struct {
	rows    *lexicon
	changed *lexicon
	at      []int32       // the row of each row in changed
	place   map[int32]int // the inverse of at
	atoms   int
	mean    float64 // mean number of words in a body
}

// newIndex builds the index of g from the lexicon of its rows.
func newIndex(g *Graph, rows *lexicon) *wordIndex {
	x := &wordIndex{rows: rows, place: map[int32]int{}, atoms: rows.atoms}
	total := rows.total
	for i := range g.rowCount() {
		was := rows.length.at(int(i))
		if !g.now.isChanged(i) && was != unreadLength {
			continue
		}
		if was != unreadLength {
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
			if g.hasAtom(x.at[k]) {
				tell(k, loadText(g.atomAt(x.at[k])))
			}
		}
	})
	x.atoms += x.changed.atoms
	x.mean = max(1, float64(total+x.changed.total)/float64(max(1, x.atoms)))
	return x
}

func (x *wordIndex) isChanged(row int32) bool {
	_, ok := x.place[row]
	return ok
}

// postings returns where a word is, in no order.
func (x *wordIndex) postings(w string) []posting {
	var out []posting
	if k, ok := x.rows.findWord(w); ok {
		x.rows.eachPosting(k, func(p posting) bool {
			if !x.isChanged(p.row) {
				out = append(out, p)
			}
			return true
		})
	}
	if k, ok := x.changed.findWord(w); ok {
		x.changed.eachPosting(k, func(p posting) bool {
			p.row = x.at[p.row]
			out = append(out, p)
			return true
		})
	}
	return out
}

func (x *wordIndex) hasWord(w string) bool {
	found := false
	if k, ok := x.rows.findWord(w); ok {
		x.rows.eachPosting(k, func(p posting) bool {
			found = !x.isChanged(p.row)
			return !found
		})
	}
	if !found {
		_, found = x.changed.findWord(w)
	}
	return found
}

// wordsWithPrefix lists the words that begin with w, in order.
func (x *wordIndex) wordsWithPrefix(w string) []string {
	var out []string
	for _, l := range []*lexicon{x.rows, x.changed} {
		for k, to := l.prefixRange(w); k < to; k++ {
			if w := l.nthWord(k); len(x.at) == 0 || x.hasWord(w) {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nearestWord returns the word most like w, the first in order of several; "" if none is.
// It looks only at words with the same first letter, which a typing error seldom changes, and
// at none for a word of three letters or fewer, which is like many.
func (x *wordIndex) nearestWord(w string) string {
	if len(w) <= 3 {
		return ""
	}
	best, away := "", min(1+len(w)/3, 3) // two changes at most
	for _, l := range []*lexicon{x.rows, x.changed} {
		for k, to := l.prefixRange(w[:1]); k < to; k++ {
			s := l.nthWord(k)
			d := Distance(w, s)
			if (d < away || d == away && best != "" && s < best) && (len(x.at) == 0 || x.hasWord(s)) {
				best, away = s, d
			}
		}
	}
	return best
}

// term is one word of a query, with the words of the bundle that it stands for.
type term struct {
	words  []string
	factor float64
}

// parseQuery returns the distinct words of a query, in order. It drops filler words if
// others remain.
func (x *wordIndex) parseQuery(query string) []term {
	var asked, told []string
	eachWord(query, func(w string) {
		switch {
		case slices.Contains(asked, w) || slices.Contains(told, w):
		case isFiller(w):
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
		out = append(out, x.expandWord(w))
	}
	return out
}

// isFiller reports English words that tell nothing about what a query is after.
func isFiller(w string) bool {
	const all = " a an and are as at be by can do does for from has have how i in is it its many me my of on or our that the their there these they this to use was we what when where which who whose why will with you your "
	return strings.Contains(all, " "+w+" ")
}

// expandWord returns the term of a word: the word itself or, if no atom has it, the words
// that begin with it, or else those that differ from it in their ending alone.
func (x *wordIndex) expandWord(w string) term {
	if x.hasWord(w) {
		return term{words: []string{w}, factor: 1}
	}
	if all := x.wordsWithPrefix(w); utf8.RuneCountInString(w) >= prefixLeast && len(all) > 0 {
		return term{words: all, factor: prefixFactor}
	}
	for _, stem := range withoutEnding(w) {
		all := slices.DeleteFunc(x.wordsWithPrefix(stem), func(other string) bool { return !slices.Contains(endings, other[len(stem):]) })
		if len(all) > 0 {
			return term{words: all, factor: prefixFactor}
		}
	}
	return term{words: []string{w}, factor: 1}
}

// endings are what English verbs and nouns add to a stem.
var endings = []string{"ings", "ing", "ers", "er", "ed", "es", "s", "e", "d", ""}

// withoutEnding returns a word without its ending, and without the letter that the ending doubled
// ("running").
func withoutEnding(w string) (stems []string) {
	for _, end := range endings {
		stem := strings.TrimSuffix(w, end)
		if n := len(stem); end != "" && stem != w && n > prefixLeast {
			stems = append(stems, stem)
			if stem[n-1] == stem[n-2] && n-1 >= prefixLeast {
				stems = append(stems, stem[:n-1])
			}
		}
	}
	return stems
}

// scoreRows returns the scores of n rows, and the rows that have a word of the query.
func (x *wordIndex) scoreRows(n int, terms []term) (sum []float64, found []int32) {
	sum = make([]float64, n)
	best := make([]float64, n)
	hits := make([]int32, n) // terms the atom has
	for _, t := range terms {
		var has []int32
		for _, w := range t.words {
			row := x.postings(w)
			for _, p := range row {
				if best[p.row] == 0 {
					has = append(has, p.row)
				}
				best[p.row] = max(best[p.row], t.factor*x.weighPosting(p, len(row)))
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

// weighPosting returns the BM25 of one word in one atom, where n atoms have the word. The
// length of the body counts relative to the mean; the short fields are short in every atom.
func (x *wordIndex) weighPosting(p posting, n int) float64 {
	length := x.rows.length.at(int(p.row))
	if k, ok := x.place[p.row]; ok {
		length = x.changed.length.at(k)
	}
	idf := math.Log(1 + (float64(x.atoms)-float64(n)+0.5)/(float64(n)+0.5))
	long := 1 - bm25B + bm25B*float64(length)/x.mean
	tf := float64(p.fields) + float64(p.body)/long
	return idf * tf * (bm25K + 1) / (tf + bm25K)
}
