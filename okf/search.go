package okf

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"strings"
)

// Hit is one atom that Search found.
type Hit struct {
	ID    ID      `json:"id"`
	Path  string  `json:"path"`
	Type  string  `json:"type"`
	Title string  `json:"title,omitempty"`
	Score float64 `json:"score"`          // comparable only within one search
	Line  int     `json:"line,omitempty"` // 1-based line of the snippet in the file
	Text  string  `json:"text,omitempty"` // the snippet: the line with the most words of the query
}

// Search ranks the atoms that have a word of the query, best first, and returns at most
// limit of them; all if limit is not positive. An atom that the query names by id, path,
// uri or stem comes first. Equal scores are in order of id.
//
// The score is BM25 over the fields of an atom, multiplied by the share of the query's
// words that the atom has. Among them an atom at an edge of one of the five best gains a tenth
// of that one's score. A word in a title counts for more than one in the body. A word
// that no atom has stands for the words that begin with it, or with all but its ending, at
// half their weight.
func (g *Graph) Search(query string, limit int) []Hit {
	hits, _ := g.SearchWhere(query, nil, limit)
	return hits
}

// SearchWhere is Search among the atoms for which keep returns true; all if keep is nil.
// total is the number of hits without the limit.
func (g *Graph) SearchWhere(query string, keep func(*Atom) bool, limit int) (hits []Hit, total int) {
	x := g.words()
	terms := x.parseQuery(query)
	scores, found := x.scoreRows(int(g.rowCount()), terms)
	g.addLinked(scores, found)
	named, isName := g.find(strings.TrimSpace(query), "")
	if isName && scores[named] == 0 {
		found = append(found, named)
	}
	if keep != nil {
		found = slices.DeleteFunc(found, func(i int32) bool { return !keep(g.atomAt(i)) })
	}
	first := func(i int32) int {
		if isName && i == named {
			return 0
		}
		return 1
	}
	best := selectTop(found, limit, func(a, b int32) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(scores[b], scores[a]), cmp.Compare(g.idAt(a), g.idAt(b)))
	})
	for _, i := range best {
		hits = append(hits, g.makeHit(i, scores[i], terms))
	}
	return hits, len(found)
}

// How many of the best rows raise those that they are linked with, and by which share.
const linkSeeds, linkShare = 5, 0.1

// addLinked raises the scores of rows that the best of them are linked with. Rows without a
// score stay so.
func (g *Graph) addLinked(scores []float64, found []int32) {
	best := selectTop(slices.Clone(found), linkSeeds, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(g.idAt(a), g.idAt(b)))
	})
	gain := map[int32]float64{}
	for _, i := range best {
		for _, e := range append(g.edgesTo(i), g.edgesFrom(i)...) {
			if far := e.from + e.to - i; far != i && scores[far] > 0 {
				gain[far] = max(gain[far], linkShare*scores[i])
			}
		}
	}
	for far, s := range gain {
		scores[far] += s
	}
}

// selectTop returns the first n of a list in order; all if n is not positive. For a small n
// it keeps only the best n sorted instead of sorting the list.
func selectTop(list []int32, n int, order func(a, b int32) int) []int32 {
	const short = 200
	if n <= 0 || n >= len(list) || n > short {
		slices.SortFunc(list, order)
		if n > 0 {
			list = list[:min(n, len(list))]
		}
		return list
	}
	head := make([]int32, 0, n+1)
	for _, i := range list {
		if len(head) == n && order(i, head[n-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(head, i, order)
		head = slices.Insert(head, at, i)
		head = head[:min(n, len(head))]
	}
	return head
}

func (g *Graph) makeHit(i int32, score float64, terms []term) Hit {
	a := g.atomAt(i)
	h := Hit{ID: a.ID, Path: a.Path, Type: a.Type, Title: a.Title, Score: math.Round(score*1000) / 1000}
	h.Line, h.Text = a.findSnippet(terms)
	return h
}

// Spell returns the query with each word that no atom has replaced by the nearest word that
// one has; "" if it has nothing to suggest.
func (g *Graph) Spell(query string) string {
	x := g.words()
	var out []string
	changed := false
	eachWord(query, func(w string) {
		if !x.hasWord(w) {
			if near := x.nearestWord(w); near != "" {
				w, changed = near, true
			}
		}
		out = append(out, w)
	})
	if !changed {
		return ""
	}
	return strings.Join(out, " ")
}

// Store keeps bytes under a name for other processes. What it returns may be missing, old
// or damaged.
type Store interface {
	Cached(name string) []byte
	Keep(name string, b []byte) error
}

// KeepWords makes searches use the words that an earlier search of the same bundle stored
// in s, and store those that they had to read. It affects only a graph that was loaded with
// a cache. Call it before the first search. A failure to store is ignored.
func (g *Graph) KeepWords(s Store) { g.store = s }

// readIndex returns the words of the graph, from the store if it has them.
func (g *Graph) readIndex() *wordIndex {
	name := "words-" + hex.EncodeToString([]byte(g.mark))
	store := g.store
	if g.mark == "" {
		store = nil
	}
	if store != nil {
		if l := openLexicon(store.Cached(name), g.mark, g.rows.len()); l != nil {
			return newIndex(g, l)
		}
	}
	l := readWords(g.rows.len(), g.skimRows)
	if store != nil {
		_ = store.Keep(name, l.seal(g.mark))
	}
	return newIndex(g, l)
}
