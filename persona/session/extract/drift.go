package extract

import (
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// driftOf are the sources whose file no longer has the text, by the path of their atom, as
// far as this run looks at the file and at those that have the text now.
func driftOf(r session.Request, docs []*document) map[string][]okf.Drift {
	if r.Graph == nil {
		return nil
	}
	read := map[string]bool{}
	for _, d := range docs {
		read[d.path] = true
	}
	out := map[string][]okf.Drift{}
	for _, d := range okf.Drifted(r.Graph, r.Files, nil) {
		seen := read[d.Resource] || d.Gone && isAmong(r.Inputs, d.Resource)
		elsewhere := !d.Lost && slices.ContainsFunc(d.Files, func(f string) bool { return !read[f] })
		if seen && !elsewhere && !d.Stands() {
			out[d.Path] = append(out[d.Path], d)
		}
	}
	return out
}

// isAmong reports whether inputs name a file, there or not.
func isAmong(inputs []string, file string) (is bool) {
	for _, n := range inputs {
		glob, not := strings.CutPrefix(n, "!")
		p := cleanPath(glob)
		if p == "." || p == file || strings.HasPrefix(file, p+"/") || policy.MatchGlob(p, file) {
			is = !not
			if not {
				return false
			}
		}
	}
	return is
}

// isCited reports whether a source of an atom is one of the inputs.
func isCited(g *okf.Graph, inputs []string) bool {
	if g == nil {
		return false
	}
	return slices.ContainsFunc(g.Atoms(), func(a *okf.Atom) bool {
		return slices.ContainsFunc(a.Sources, func(s okf.Source) bool { return slices.Contains(inputs, s.Resource) })
	})
}

// tidyGone emits the atoms that the run did not read anew and whose sources are gone: without
// those sources, or deprecated where none is left. An atom that a person verified is named
// and stays as it is.
func (t *tally) tidyGone(drift map[string][]okf.Drift, read map[string]bool, r session.Request) ([]session.Atom, error) {
	var out []session.Atom
	for _, p := range slices.Sorted(maps.Keys(drift)) {
		a := r.Graph.ByPath(p)
		f, _ := a.Field("sources")
		all, _ := f.Value.([]any)
		dead := 0
		for _, d := range drift[p] {
			if d.Dead() {
				dead++
			}
		}
		orphan := dead == len(all)
		switch {
		case read[p] || r.MaxAtoms > 0 && len(out) == r.MaxAtoms:
			continue
		case isPersons(a):
			if orphan {
				t.told = append(t.told, skip{path: string(a.ID), why: drift[p][0].Resource})
			}
			continue
		}
		fields := []okf.Field{{Key: "type", Value: a.Type}, {Key: "title", Value: a.Title}, {Key: "confidence", Value: okf.Inferred.String()}, generatedField(r)}
		body := ""
		if orphan {
			t.gone = append(t.gone, skip{path: string(a.ID), why: drift[p][0].Resource})
			fields = append(fields, okf.Field{Key: "status", Value: "deprecated"})
		} else {
			left := t.sourcesLeft(all, drift[p])
			if left == nil {
				continue
			}
			fields = append(fields, okf.Field{Key: "sources", Value: left})
			if sameProducer(a.Generated.By, r.By) {
				body = withoutQuotes(string(a.Body()), all, drift[p])
			}
		}
		next, err := rewriteAtom(a, fields, body)
		if err != nil {
			return nil, err
		}
		out = append(out, session.Atom{Atom: next, Base: a.Blob, At: drift[p][0].Resource + ":1"})
	}
	return out, nil
}

// sourcesLeft are the sources without those whose text is gone, and with the lines on which
// the others have theirs; nil where nothing is to be changed.
func (t *tally) sourcesLeft(all []any, drift []okf.Drift) []any {
	var out []any
	changed := false
	for i, s := range all {
		at := slices.IndexFunc(drift, func(d okf.Drift) bool { return d.Source == i })
		m, _ := s.(map[string]any)
		if at < 0 || m == nil {
			out = append(out, s)
			continue
		}
		d := drift[at]
		if len(d.Here) == 0 {
			changed = changed || d.Lost
			if !d.Lost {
				out = append(out, s)
			}
			continue
		}
		doc := t.findDocument(d.Resource)
		texts, _ := m["text"].([]any)
		if doc == nil || len(d.Kept) == len(texts) {
			out = append(out, s)
			continue
		}
		next := maps.Clone(m)
		next["title"], next["blob"] = okf.Places(d.Here), doc.blob
		next["text"] = source{doc: doc, places: d.Here}.citedTexts()
		out, changed = append(out, next), true
	}
	if !changed {
		return nil
	}
	return out
}

func (t *tally) findDocument(path string) *document {
	i := slices.IndexFunc(t.docs, func(d *document) bool { return d.path == path })
	if i < 0 {
		return nil
	}
	return t.docs[i]
}

var footnote = lazy(`\[\^([^\]\s]+)\]`)

// markBelow is the footnote of a quote, on a line below it, in atoms of old behind a word.
var markBelow = lazy(`^(?:Source)?\[\^[^\]\s]+\]\s*$`)

// withoutQuotes is a body that this reader wrote, without what it quotes of texts that are gone
// and the footnotes that nothing refers to any more; "" where nothing is left of it.
func withoutQuotes(body string, all []any, drift []okf.Drift) string {
	gone := map[string]okf.Drift{}
	for _, d := range drift {
		if m, _ := all[d.Source].(map[string]any); m != nil {
			id, _ := m["id"].(string)
			gone[id] = d
		}
	}
	quoted, nth, quotes := map[string]bool{}, map[string]int{}, false
	var out []string
	blocks := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n")
	for i := 0; i < len(blocks); i++ {
		block := blocks[i]
		if !strings.HasPrefix(strings.TrimLeft(block, "\n"), ">") {
			out = append(out, block)
			continue
		}
		mark := footnote().FindStringSubmatch(block)
		if mark == nil && i+1 < len(blocks) && markBelow().MatchString(blocks[i+1]) {
			mark = footnote().FindStringSubmatch(blocks[i+1])
			block += "\n\n" + blocks[i+1]
			i++
		}
		if mark != nil {
			d, drifted := gone[mark[1]]
			k := nth[mark[1]]
			nth[mark[1]]++
			if drifted && d.Lost && !slices.Contains(d.Kept, k) {
				continue
			}
			quoted[mark[1]] = true
		}
		out, quotes = append(out, block), true
	}
	if !quotes {
		return ""
	}
	var lines []string
	for line := range strings.SplitSeq(strings.Join(out, "\n\n"), "\n") {
		if mark := footnote().FindStringSubmatch(line); mark != nil && strings.HasPrefix(line, mark[0]+":") && !quoted[mark[1]] {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
