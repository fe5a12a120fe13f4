package okf

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
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
	p := g.postings()
	terms := p.terms(query)
	scores, found := p.score(terms)
	named, isName := g.names.find(strings.TrimSpace(query), "")
	if isName && scores[named] == 0 {
		found = append(found, named)
	}
	if keep != nil {
		found = slices.DeleteFunc(found, func(i int32) bool { return !keep(g.atoms[i]) })
	}
	first := func(i int32) int {
		if isName && i == named {
			return 0
		}
		return 1
	}
	best := top(found, limit, func(a, b int32) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(scores[b], scores[a]), cmp.Compare(g.atoms[a].ID, g.atoms[b].ID))
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
	a := g.atoms[i]
	h := Hit{ID: a.ID, Path: a.Path, Type: a.Type, Title: a.Title, Score: math.Round(score*1000) / 1000}
	h.Line, h.Text = a.snippet(terms)
	return h
}

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
	length []int32 // words in each body
	mean   float64
	sorted func() []string // the words
}

// newPostings reads every atom, on as many goroutines as there are processors.
func newPostings(atoms []*Atom) *postings {
	p := &postings{length: make([]int32, len(atoms))}
	shards := make([]*shard, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range shards {
		wg.Go(func() {
			shards[k] = &shard{index: map[string]int{}, length: p.length}
			for i := k * len(atoms) / len(shards); i < (k+1)*len(atoms)/len(shards); i++ {
				shards[k].read(int32(i), atoms[i])
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
	p.mean = max(1, total/float64(max(1, len(atoms))))
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
	for _, n := range stemsOf(a) {
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

// eachLine calls visit for every line of the body, with its number in the file
// and whether it is a heading written with "#".
func eachLine(a *Atom, visit func(n int, line string, heading bool)) {
	n, code := a.BodyLine, false
	for line := range strings.Lines(string(a.Body())) {
		line = strings.TrimRight(line, "\r\n")
		if strings.Contains(line, "](") {
			line = withoutTargets(line)
		}
		if mark := strings.TrimLeft(line, " "); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
			code = !code
		}
		visit(n, line, !code && strings.HasPrefix(line, "#"))
		n++
	}
}

// withoutTargets turns "[text](target)" into "text": what a link leads to is not
// what a line says.
func withoutTargets(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, "](")
		if at < 0 {
			return b.String() + line
		}
		size := strings.IndexAny(line[at:], ") ")
		if size < 0 || line[at+size] != ')' {
			b.WriteString(line[:at+2])
			line = line[at+2:]
			continue
		}
		text := line[:at]
		if open := strings.LastIndexByte(text, '['); open >= 0 {
			text = strings.TrimSuffix(text[:open], "!") + text[open+1:]
		}
		b.WriteString(text)
		line = line[at+size+1:]
	}
}

// Spell is the query with each word that no atom has in place of the nearest
// word that one has; "" where there is none to offer.
func (g *Graph) Spell(query string) string {
	p := g.postings()
	var out []string
	changed := false
	words(query, func(w string) {
		if _, ok := p.rows[w]; !ok {
			if near := p.nearest(w); near != "" {
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

// nearest is the word most like w, the first of them in order, "" when none is.
// A slip of the pen seldom changes the first letter.
func (p *postings) nearest(w string) string {
	best, away := "", 2+len(w)/4
	for _, s := range p.sorted() {
		if d := distance(w, s); d < away && s[0] == w[0] {
			best, away = s, d
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
	all := float64(len(p.length))
	idf := math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
	long := 1 - bm25B + bm25B*float64(p.length[q.atom])/p.mean
	tf := float64(q.fields) + float64(q.body)/long
	return idf * tf * (bm25K + 1) / (tf + bm25K)
}

// snippetWidth is the longest snippet, in runes.
const snippetWidth = 120

// snippet is the description or the first line of the body, whichever has more
// of the query, and its line in the file.
func (a *Atom) snippet(terms []term) (line int, text string) {
	most := 0
	eachLine(a, func(n int, s string, heading bool) {
		if heading && bare(s) == a.Title {
			return // the hit shows it already
		}
		if got := matches(s, terms); got > most {
			most, line, text = got, n, s
		}
	})
	if a.Description != "" && matches(a.Description, terms) >= most {
		line, text = a.Line("description"), a.Description
	}
	if text == "" {
		return 0, ""
	}
	return line, excerpt(text, terms)
}

// matches counts the terms that a text has.
func matches(s string, terms []term) int {
	has := make([]bool, len(terms))
	words(s, func(w string) {
		for i, t := range terms {
			has[i] = has[i] || t.has(w)
		}
	})
	n := 0
	for _, h := range has {
		if h {
			n++
		}
	}
	return n
}

func (t term) has(w string) bool {
	if len(t.words) == 1 {
		return t.words[0] == w
	}
	_, ok := slices.BinarySearch(t.words, w)
	return ok
}

// bare is a line without the marks it begins with.
func bare(s string) string { return strings.TrimSpace(strings.TrimLeft(s, "#*->| \t")) }

// excerpt is s on one line without the marks it begins with, cut to snippetWidth
// around the first match.
func excerpt(s string, terms []term) string {
	fields := strings.Fields(bare(s))
	s = strings.Join(fields, " ")
	if utf8.RuneCountInString(s) <= snippetWidth {
		return s
	}
	first := 0
	for i, f := range fields {
		if matches(f, terms) > 0 {
			first = i
			break
		}
	}
	from, width := first, 0
	for from > 0 && width+utf8.RuneCountInString(fields[from-1])+1 <= snippetWidth/3 {
		from--
		width += utf8.RuneCountInString(fields[from]) + 1
	}
	cut := []rune(strings.Join(fields[from:], " "))
	out := string(cut)
	if len(cut) > snippetWidth-2 {
		out = strings.TrimRight(string(cut[:snippetWidth-2]), " ") + "…"
	}
	if from > 0 {
		out = "…" + out
	}
	return out
}
