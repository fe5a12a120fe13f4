package extract

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// bundle finds the atoms that are there already.
type bundle struct {
	byKey  map[string]*okf.Atom // keyOf
	bySlug map[string]*okf.Atom // last element of the id, and the title's slug
	byFile map[string]*okf.Atom // keyOf without what stands in brackets, and a source; of atoms whose title no candidate has
}

func newBundle(g *okf.Graph, cs []candidate) bundle {
	b := bundle{map[string]*okf.Atom{}, map[string]*okf.Atom{}, map[string]*okf.Atom{}}
	if g == nil {
		return b
	}
	titled := map[string]bool{}
	for _, c := range cs {
		titled[keyOf(c.kind, c.title)] = true
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
		for _, s := range a.Sources {
			if !titled[keyOf(a.Type, a.Title)] {
				first(b.byFile, keyOf(a.Type, bracketed().ReplaceAllString(a.Title, ""))+"\n"+s.Resource, a)
			}
		}
		id := string(a.ID)
		first(b.bySlug, id[strings.LastIndexByte(id, '/')+1:], a)
	}
	return b
}

// findPrior is the atom that c is about, nil when it is new.
func (b bundle) findPrior(c candidate) *okf.Atom {
	if a := b.byKey[keyOf(c.kind, c.title)]; a != nil {
		return a
	}
	if a := b.bySlug[slug(c.title)]; a != nil {
		return a
	}
	return b.byFile[keyOf(c.kind, bracketed().ReplaceAllString(c.title, ""))+"\n"+c.evidence[0].doc.path] // told by another name of its document
}

// updatePrior is what c adds to an atom that is there: all of it anew when this
// substrate made the atom, the new sources when another agent did, and nothing when a
// person did, or when nothing is new. That the same text stands on other lines or links to
// more is not new, and what a person made of it stays while it does.
func (c chosen) updatePrior(d directory, r session.Request) (okf.Atom, bool, error) {
	prior := c.prior
	if prior.Type != c.kind || isPersons(prior) {
		return okf.Atom{}, false, nil
	}
	next, err := c.newAtom(d, r)
	if err != nil {
		return okf.Atom{}, false, err
	}
	if !sameProducer(prior.Generated.By, r.By) {
		return c.addSources(r)
	}
	if !newSource(*prior, next) && c.drift == nil {
		return okf.Atom{}, false, nil
	}
	fields, body := next.Fields, string(next.Body())
	lost := slices.ContainsFunc(c.drift, func(d okf.Drift) bool { return d.Lost })
	if !lost && !newText(*prior, next) && isEdited(*prior, next) {
		fields, body = keepFields(*prior, fields), withFootnotes(string(prior.Body()), body)
	}
	next, err = rewriteAtom(prior, fields, body)
	return next, err == nil, err
}

// isEdited reports a prior atom with other words than the same text gives: a person's.
func isEdited(prior, next okf.Atom) bool {
	was, is := quotedText(prior), quotedText(next)
	return prior.Title != next.Title || prior.Description != next.Description || !strings.Contains(was, is) && !strings.Contains(is, was)
}

// keepFields are the fields of an update with the title and the description that the prior has.
func keepFields(prior okf.Atom, fields []okf.Field) []okf.Field {
	out := slices.Clone(fields)
	for i, f := range out {
		if p, ok := prior.Field(f.Key); ok && (f.Key == "title" || f.Key == "description") {
			out[i].Value = p.Value
		}
	}
	if p, ok := prior.Field("description"); ok && !slices.ContainsFunc(out, func(f okf.Field) bool { return f.Key == "description" }) {
		out = append(out, p)
	}
	return out
}

// withFootnotes is a body with the footnotes that another one has of the same sources.
func withFootnotes(body, other string) string {
	lines := strings.Split(body, "\n")
	for line := range strings.SplitSeq(other, "\n") {
		mark := footnote().FindString(line)
		if mark == "" || !strings.HasPrefix(line, mark+":") {
			continue
		}
		for i, l := range lines {
			if strings.HasPrefix(l, mark+":") {
				lines[i] = line
			}
		}
	}
	return strings.Join(lines, "\n")
}

// isPersons reports an atom that a person verified or asserted, which no reading changes.
func isPersons(a *okf.Atom) bool {
	return a.Confidence() > okf.Inferred || a.Tier() == okf.HumanReviewed
}

func sameProducer(a, b string) bool {
	x, _, _ := strings.Cut(a, "/")
	y, _, _ := strings.Cut(b, "/")
	return x == y && x != ""
}

// quotedText is the body of an atom without its footnotes and their marks, on one line.
func quotedText(a okf.Atom) string {
	var out []string
	for line := range strings.Lines(string(a.Body())) {
		if !strings.HasPrefix(line, "[^") {
			out = append(out, strings.Fields(footnote().ReplaceAllString(line, ""))...)
		}
	}
	return strings.Join(out, " ")
}

// sourceEntries are the sources of an atom with all their keys.
func sourceEntries(a *okf.Atom) []map[string]any {
	if a == nil {
		return nil
	}
	f, _ := a.Field("sources")
	all, _ := f.Value.([]any)
	var out []map[string]any
	for _, s := range all {
		if m, ok := s.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func newSource(prior, next okf.Atom) bool {
	for _, s := range sourceEntries(&next) {
		if !slices.ContainsFunc(sourceEntries(&prior), func(p map[string]any) bool {
			return p["resource"] == s["resource"] && reflect.DeepEqual(p["text"], s["text"])
		}) {
			return true
		}
	}
	return false
}

// newText reports that next rests on a text that prior does not.
func newText(prior, next okf.Atom) bool {
	texts := func(a *okf.Atom) (out []any) {
		for _, s := range sourceEntries(a) {
			if all, ok := s["text"].([]any); ok {
				out = append(out, all...)
			} else {
				out = append(out, s["text"])
			}
		}
		return out
	}
	had := texts(&prior)
	return slices.ContainsFunc(texts(&next), func(t any) bool {
		return !slices.ContainsFunc(had, func(h any) bool { return reflect.DeepEqual(h, t) })
	})
}

// priorID is the id that the prior atom has for a source: for its file, else for one that
// had the same text and is gone or has it no longer; "" where it has none.
func (c chosen) priorID(s source, r session.Request, taken map[string]bool) string {
	renamed := ""
	for i, p := range sourceEntries(c.prior) {
		id, _ := p["id"].(string)
		was, _ := p["resource"].(string)
		left := slices.ContainsFunc(c.drift, func(d okf.Drift) bool { return d.Source == i && len(d.Here) == 0 })
		switch {
		case id == "" || taken[id]:
		case was == s.doc.path:
			return id
		case renamed == "" && p["text"] != nil && reflect.DeepEqual(p["text"], s.citedTexts()):
			if _, err := fs.Stat(r.Files, was); left || errors.Is(err, fs.ErrNotExist) {
				renamed = id
			}
		}
	}
	return renamed
}

// addSources is what another agent's atom lacks: its sources.
func (c chosen) addSources(r session.Request) (okf.Atom, bool, error) {
	prior, have := c.prior, map[string]bool{}
	for _, s := range prior.Sources {
		have[s.Resource] = true
	}
	var ss []source
	for _, s := range c.groupSources(r) {
		if !have[s.doc.path] {
			ss = append(ss, s)
		}
	}
	if len(ss) == 0 {
		return okf.Atom{}, false, nil
	}
	a, err := rewriteAtom(prior, []okf.Field{{Key: "type", Value: prior.Type}, {Key: "title", Value: prior.Title},
		{Key: "confidence", Value: okf.Inferred.String()}, {Key: "sources", Value: sourceList(ss)}, generatedField(r)}, "")
	return a, err == nil, err
}

// rewriteAtom is an atom under prior's id and path.
func rewriteAtom(prior *okf.Atom, fields []okf.Field, body string) (okf.Atom, error) {
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
