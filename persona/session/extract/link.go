package extract

import (
	"slices"
	"strings"
	"unicode"

	"github.com/odd-cli/odd/okf"
)

// maxRelated bounds the relates_to edges of one atom: past that a reader sees a
// list and not a relation.
const maxRelated = 8

// named is an atom that text may mention: one of this emission, or one the
// bundle holds already.
type named struct {
	id, kind string
	word     string // how it is spelt, of a name of one word
}

// directory finds atoms by what text calls them.
type directory struct {
	byPhrase map[string]named // key of a title or alias
	byKind   map[string]named // keyOf
	longest  int              // words of the longest phrase
}

// newDirectory indexes what the bundle holds and then what is emitted; the
// bundle's atom keeps a name that both have.
func newDirectory(g *okf.Graph, cs []candidate) directory {
	d := directory{byPhrase: map[string]named{}, byKind: map[string]named{}}
	if g != nil {
		for _, a := range g.Atoms() {
			if in("term process role system artifact policy", a.Type) && a.Title != "" {
				d.add(named{id: string(a.ID), kind: a.Type}, a.Title)
			}
		}
	}
	for _, c := range cs {
		n := named{id: c.newID(), kind: c.kind}
		d.add(n, c.title)
		for _, a := range c.aliases {
			d.add(n, a)
		}
	}
	return d
}

func (d *directory) add(n named, title string) {
	if k := keyOf(n.kind, title); d.byKind[k].id == "" {
		d.byKind[k] = n
	}
	k := key(title)
	ws := strings.Fields(k)
	// A word of two letters is mentioned by accident.
	if len(ws) == 0 || len(k) < 3 || d.byPhrase[k].id != "" {
		return
	}
	if len(ws) == 1 {
		n.word = strings.TrimSpace(withoutArticle(title))
	}
	d.byPhrase[k], d.longest = n, max(d.longest, min(len(ws), 8))
}

// findMentions lists what a text names, in order, each once, the longest name
// first where several begin at one word.
func (d directory) findMentions(text string) []named {
	var spelt, ws []string
	for _, w := range splitWords(text) {
		if w = strings.Trim(w, ".'"); w != "http" && w != "https" && !strings.HasPrefix(w, "//") {
			spelt, ws = append(spelt, w), append(ws, strings.ToLower(w))
		}
	}
	var out []named
	for i := 0; i < len(ws); i++ {
		for n := min(d.longest, len(ws)-i); n > 0; n-- {
			if hit, ok := d.at(ws[i : i+n]); ok && hit.isMeant(spelt, i, i+n) {
				if !slices.Contains(out, hit) {
					out = append(out, hit)
				}
				i += n - 1
				break
			}
		}
	}
	return out
}

// isMeant reports whether the words from one to another surely are n, and no part of a longer name.
// A name of one word is spelt so, and either no ordinary word is, as DNS or GitHub, or it stands
// capitalized within a sentence.
func (n named) isMeant(ws []string, from, to int) bool {
	w := ws[from]
	switch {
	case n.word == "":
		return !isCapitalized(ws[to-1]) || to == len(ws) || !isCapitalized(ws[to])
	case singular(w) != singular(n.word):
		return false
	case strings.ContainsFunc(w[1:], unicode.IsUpper) || strings.ContainsAny(w, "0123456789_"):
		return true
	}
	return isCapitalized(w) && from > 0 && (!isCapitalized(ws[from-1]) || in("The A An Our Your", ws[from-1])) && (to == len(ws) || !isCapitalized(ws[to]))
}

func (d directory) at(ws []string) (named, bool) {
	last := len(ws) - 1
	phrase := singular(ws[last])
	if last > 0 {
		phrase = strings.Join(ws[:last], " ") + " " + phrase
	}
	n, ok := d.byPhrase[phrase]
	return n, ok
}

// findEdges are what c's sources say of others: typed where they say how, relates_to
// where they only mention. The order is the kinds', then the text's.
func (d directory) findEdges(c candidate, self string) map[okf.EdgeKind][]string {
	e := edges{self: self, to: map[okf.EdgeKind][]string{}}
	if c.kind == process || c.kind == policyAtom {
		for _, o := range c.owners {
			if len(e.to[okf.Owner]) == 0 {
				e.add(okf.Owner, d.byKind[keyOf(role, o)].id)
			}
		}
	}
	for _, h := range c.heads {
		e.add(okf.ReportsTo, d.byKind[keyOf(role, h)].id)
	}
	for _, p := range c.programs {
		e.add(okf.Uses, d.byKind[keyOf(system, p)].id)
	}
	for _, sentence := range c.quotedSentences() {
		for _, n := range d.findMentions(sentence) {
			e.add(relationOf(c.kind, sentence, n.kind), n.id)
		}
	}
	return e.to
}

// edges collects the edges of one atom.
type edges struct {
	self string
	to   map[okf.EdgeKind][]string
}

// add notes an edge, unless the other end is unknown, the atom itself, or
// related already.
func (e *edges) add(k okf.EdgeKind, id string) {
	for _, ids := range e.to {
		if slices.Contains(ids, id) {
			return
		}
	}
	if id != e.self && id != "" && (k != okf.RelatesTo || len(e.to[k]) < maxRelated) {
		e.to[k] = append(e.to[k], id)
	}
}

// quotedSentences returns every sentence c quotes.
func (c candidate) quotedSentences() []string {
	var out []string
	for _, e := range c.evidence {
		for _, q := range append(slices.Clone(e.quote), e.steps...) {
			out = append(out, splitSentences(q)...)
		}
	}
	return out
}

// relationOf is how a sentence of one kind of atom relates it to another. A
// mention says no more than relates_to, unless the sentence itself uses the
// words of the edge.
func relationOf(from, sentence, to string) okf.EdgeKind {
	if from != process {
		return okf.RelatesTo
	}
	ws := words(sentence)
	has := func(list string) bool { return slices.ContainsFunc(ws, func(w string) bool { return in(list, w) }) }
	switch {
	case to == policyAtom && has("follow follows according per against within under governed comply complies obey obeys"):
		return okf.GovernedBy
	case to == artifact && has("produce produces generate generates create creates write writes output outputs emit emits print prints publish publishes"):
		return okf.Produces
	case to == system && has("use uses using with via run runs through"):
		return okf.Uses
	}
	return okf.RelatesTo
}
