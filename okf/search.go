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
	Score float64 `json:"score"`          // only good for comparing hits of one search
	Line  int     `json:"line,omitempty"` // 1-based line of the snippet in the file
	Text  string  `json:"text,omitempty"` // the snippet: the line that has most of what was asked
}

// Search ranks the atoms that hold a word of the query, best first, and returns
// at most limit of them, all of them when limit is not positive. An atom that
// the query names, by id, path, uri or stem, comes first. Equal scores stand in
// order of id.
//
// The score is BM25 over the fields of an atom, a word in a title counting for
// more than one in the body, times the part of the query's words that the atom
// has. A word that no atom has stands for the words that begin with it, or with
// all but its ending, at half their weight.
func (g *Graph) Search(query string, limit int) []Hit {
	hits, _ := g.SearchWhere(query, nil, limit)
	return hits
}

// SearchWhere is Search among the atoms that keep says, all when it is nil. It
// also tells how many there are without the limit.
func (g *Graph) SearchWhere(query string, keep func(*Atom) bool, limit int) (hits []Hit, total int) {
	x := g.words()
	terms := x.terms(query)
	scores, found := x.score(int(g.places()), terms)
	named, isName := g.find(strings.TrimSpace(query), "")
	if isName && scores[named] == 0 {
		found = append(found, named)
	}
	if keep != nil {
		found = slices.DeleteFunc(found, func(i int32) bool { return !keep(g.at(i)) })
	}
	first := func(i int32) int {
		if isName && i == named {
			return 0
		}
		return 1
	}
	best := top(found, limit, func(a, b int32) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(scores[b], scores[a]), cmp.Compare(g.idAt(a), g.idAt(b)))
	})
	for _, i := range best {
		hits = append(hits, g.hit(i, scores[i], terms))
	}
	return hits, len(found)
}

// top returns the first n of a list in order, all of it when n is not positive.
// A short head is kept sorted while the list goes by.
func top(list []int32, n int, order func(a, b int32) int) []int32 {
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

func (g *Graph) hit(i int32, score float64, terms []term) Hit {
	a := g.at(i)
	h := Hit{ID: a.ID, Path: a.Path, Type: a.Type, Title: a.Title, Score: math.Round(score*1000) / 1000}
	h.Line, h.Text = a.snippet(terms)
	return h
}

// Spell is the query with each word that no atom has in place of the nearest
// word that one has; "" where there is none to offer.
func (g *Graph) Spell(query string) string {
	x := g.words()
	var out []string
	changed := false
	words(query, func(w string) {
		if !x.has(w) {
			if near := x.nearest(w); near != "" {
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

// Store keeps bytes under a plain name for another process; what it gives back
// may be missing, old or damaged.
type Store interface {
	Cached(name string) []byte
	Keep(name string, b []byte) error
}

// KeepWords makes searches look words up in what an earlier search of the same
// bundle kept in s, and keep there what they had to read. It is for a graph that
// a cache was opened or made for, and nothing for any other; call it before the
// first search. That nothing could be kept is nobody's error.
func (g *Graph) KeepWords(s Store) { g.store = s }

// readIndex is the words of the graph, from the store where they are there.
func (g *Graph) readIndex() *index {
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
	l := readWords(g.rows.len(), g.skim)
	if store != nil {
		_ = store.Keep(name, l.seal(g.mark))
	}
	return newIndex(g, l)
}
