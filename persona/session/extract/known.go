package extract

import (
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// bundle finds the atoms that are there already.
type bundle struct {
	byKey  map[string]*okf.Atom // keyOf
	bySlug map[string]*okf.Atom // last element of the id, and the title's slug
}

func newBundle(g *okf.Graph) bundle {
	b := bundle{map[string]*okf.Atom{}, map[string]*okf.Atom{}}
	if g == nil {
		return b
	}
	first := func(m map[string]*okf.Atom, k string, a *okf.Atom) {
		if m[k] == nil {
			m[k] = a
		}
	}
	for _, a := range g.Atoms() {
		if a.Title != "" {
			first(b.byKey, keyOf(a.Type, a.Title), a)
			if bare, alias := splitAlias(a.Title); len(alias) > 0 && a.Type != process {
				first(b.byKey, keyOf(a.Type, bare), a)
			}
		}
		id := string(a.ID)
		first(b.bySlug, id[strings.LastIndexByte(id, '/')+1:], a)
	}
	return b
}

// prior is the atom that c is about, nil when it is new.
func (b bundle) prior(c candidate) *okf.Atom {
	if a := b.byKey[keyOf(c.kind, c.title)]; a != nil {
		return a
	}
	return b.bySlug[slug(c.title)]
}

// update is what c adds to an atom that is there: all of it anew when this
// substrate made the atom, the new sources and edges when another agent did,
// and nothing when a person did, or when nothing is new.
func (c chosen) update(d directory, r session.Request) (okf.Atom, bool, error) {
	prior := c.prior
	if prior.Type != c.kind || prior.Confidence() > okf.Inferred || prior.Tier() == okf.HumanReviewed {
		return okf.Atom{}, false, nil
	}
	next, err := c.fresh(d, r)
	if err != nil {
		return okf.Atom{}, false, err
	}
	if !sameProducer(prior.Generated.By, r.By) {
		return c.addition(r)
	}
	if !news(*prior, next) {
		return okf.Atom{}, false, nil
	}
	next, err = rewritten(prior, next.Fields, string(next.Body()))
	return next, err == nil, err
}

func sameProducer(a, b string) bool {
	x, _, _ := strings.Cut(a, "/")
	y, _, _ := strings.Cut(b, "/")
	return x == y && x != ""
}

// news reports whether next says anything that prior does not.
func news(prior, next okf.Atom) bool {
	if prior.Title != next.Title || prior.Description != next.Description || newSource(prior, next) || newEdge(prior, next) {
		return true
	}
	return !strings.Contains(flat(prior.Body()), flat(next.Body()))
}

func flat(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }

func newSource(prior, next okf.Atom) bool {
	have := map[okf.Source]bool{}
	for _, s := range prior.Sources {
		have[s] = true
	}
	for _, s := range next.Sources {
		if !have[s] {
			return true
		}
	}
	return false
}

func newEdge(prior, next okf.Atom) bool {
	have := map[string]bool{}
	for _, e := range prior.Edges {
		have[string(e.Kind)+" "+e.Target] = true
	}
	for _, e := range next.Edges {
		if !have[string(e.Kind)+" "+e.Target] {
			return true
		}
	}
	return false
}

// addition is what another agent's atom lacks: its sources.
func (c chosen) addition(r session.Request) (okf.Atom, bool, error) {
	prior, have := c.prior, map[string]bool{}
	for _, s := range prior.Sources {
		have[s.Resource] = true
	}
	var ss []source
	for _, s := range c.sources() {
		if !have[s.path] {
			ss = append(ss, s)
		}
	}
	if len(ss) == 0 {
		return okf.Atom{}, false, nil
	}
	a, err := rewritten(prior, []okf.Field{{Key: "type", Value: prior.Type}, {Key: "title", Value: prior.Title},
		{Key: "confidence", Value: okf.Inferred.String()}, {Key: "sources", Value: sourceList(ss)}, generated(r)}, "")
	return a, err == nil, err
}

// rewritten is an atom under prior's id and path.
func rewritten(prior *okf.Atom, fields []okf.Field, body string) (okf.Atom, error) {
	var out []okf.Field
	for _, f := range fields {
		if f.Key != "id" {
			out = append(out, f)
		}
	}
	if prior.ExplicitID {
		out = append(out, okf.Field{Key: "id", Value: string(prior.ID)})
	}
	return okf.New(prior.Path, out, body)
}
