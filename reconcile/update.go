package reconcile

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// fixed are the keys an update never takes from the incoming atom: identity,
// what is volatile, and what has a rule of its own.
var fixed = []string{"id", "type", "generated", "timestamp", "verified", "usage_window", "confidence", "sources", "tags"}

// update is the prior's file with c merged into it, nil when nothing that lasts
// would change.
func (m *merger) update(c cand) ([]byte, error) {
	sets := m.replacedKeys(c)
	edges, grown := m.edges(c)
	sets = append(sets, grown...)
	sets = append(sets, mergeTags(c)...)
	sets = append(sets, m.united(c)...)
	if m.deprecates(c) {
		sets = append(sets, okf.Set{Key: "status", Value: "deprecated"})
	}
	if c.Atom.Claimed != okf.Unset && c.Atom.Confidence() > c.prior.Confidence() {
		sets = append(sets, okf.Set{Key: "confidence", Value: c.Atom.Confidence().String()})
	}
	body, changed := m.body(c, edges, len(grown) > 0)
	if len(sets) == 0 && !changed {
		return nil, nil
	}
	sets = append(sets, stampUpdate(c, sets)...)
	b, err := okf.Edit(c.prior.Bytes(), sets...)
	if err != nil {
		return nil, err
	}
	out := okf.ReplaceBody(b, body)
	return out, m.verify(c, out)
}

// verify parses what an update would write: it may not have become another atom
// or, by a machine, a surer one than either side.
func (m *merger) verify(c cand, out []byte) error {
	a, err := okf.Parse(c.prior.Path, out)
	if err != nil {
		return err
	}
	if a.ID != c.prior.ID || a.Type != c.prior.Type || a.Confidence() < c.prior.Confidence() ||
		!m.o.Person && a.Confidence() > max(c.prior.Confidence(), c.Atom.Confidence()) {
		return fmt.Errorf("the result would be another atom: %s, %s, %s", a.ID, a.Type, a.Confidence())
	}
	return nil
}

// replacedKeys returns the plain keys that are present in c and say something else.
func (m *merger) replacedKeys(c cand) []okf.Set {
	var out []okf.Set
	for _, f := range c.Atom.Fields {
		if slices.Contains(fixed, f.Key) || slices.Contains(okf.EdgeKinds(), okf.EdgeKind(f.Key)) || !m.o.Person && f.Key == "status" {
			continue
		}
		if p, ok := c.prior.Field(f.Key); !ok || !reflect.DeepEqual(p.Value, f.Value) {
			out = append(out, okf.Set{Key: f.Key, Value: f.Value})
		}
	}
	return out
}

// edges unites the typed edges. Two spellings of one target are one edge, and
// the prior's spelling stays. A person may replace them, key by key.
func (m *merger) edges(c cand) (all []okf.Edge, sets []okf.Set) {
	for _, k := range okf.EdgeKinds() {
		have, more := targets(c.prior, k), targets(&c.Atom, k)
		merged := slices.Clone(have)
		if _, present := c.Atom.Field(string(k)); present && c.ReplaceEdges {
			merged = nil
		}
		for _, t := range more {
			if !slices.ContainsFunc(merged, func(u string) bool { return m.resolve(u, c.path) == m.resolve(t, c.path) }) {
				merged = append(merged, t)
			}
		}
		for _, t := range merged {
			all = append(all, okf.Edge{Kind: k, Target: t})
		}
		if !slices.Equal(have, merged) {
			sets = append(sets, okf.Set{Key: string(k), Value: scalar(merged)})
		}
	}
	return all, sets
}

func targets(a *okf.Atom, k okf.EdgeKind) []string {
	var out []string
	for _, e := range a.Edges {
		if e.Kind == k {
			out = append(out, e.Target)
		}
	}
	return out
}

// scalar is how an edge key is written: nothing, one id, or a list.
func scalar(ids []string) any {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return ids[0]
	}
	return ids
}

// resolve is the id that target names in the atom at from, or target itself.
func (m *merger) resolve(target, from string) okf.ID {
	if a := m.target(target, from); a != nil {
		return a.ID
	}
	return okf.ID(target)
}

// target is the atom that target names, of the prior ones or of those that land.
func (m *merger) target(target, from string) *okf.Atom {
	if a := m.g.Target(target, from); a != nil {
		return a
	}
	if a := m.adds[okf.ID(target)]; a != nil {
		return a
	}
	return m.addsAt[bundlePath(target, from)]
}

// bundlePath is where a target that is a path leads from the atom at from.
func bundlePath(target, from string) string {
	p := strings.TrimPrefix(target, "/")
	if strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		p = path.Join(path.Dir(from), p)
	}
	return strings.TrimSuffix(p, ".md") + ".md"
}

// tainted is the tag of what an operator's override produced.
const tainted = "override-produced"

// mergeTags replaces the tags when the set of them differs. Approvals stay: they
// are a person's. So does what says that an override stands behind the atom:
// who writes over a part of it has not made it clean.
func mergeTags(c cand) []okf.Set {
	if _, ok := c.Atom.Field("tags"); !ok {
		return nil
	}
	var want []string
	for _, t := range c.prior.Tags {
		if isApproval(t) || t == tainted {
			want = append(want, t)
		}
	}
	for _, t := range c.Atom.Tags {
		if !slices.Contains(want, t) {
			want = append(want, t)
		}
	}
	if slices.Equal(slices.Compact(slices.Sorted(slices.Values(want))), slices.Compact(slices.Sorted(slices.Values(c.prior.Tags)))) {
		return nil
	}
	return []okf.Set{{Key: "tags", Value: want}}
}

// deprecates reports that c deprecates an atom of which no file has the text any more.
func (m *merger) deprecates(c cand) bool {
	f, _ := c.prior.Field("sources")
	dead := 0
	for _, d := range m.drifted(c) {
		if d.Dead() {
			dead++
		}
	}
	return c.over && !m.o.Person && dead > 0 && dead == len(asList(f.Value))
}

func (m *merger) drifted(c cand) []okf.Drift {
	if m.o.Drifted == nil {
		return nil
	}
	return m.o.Drifted(c.prior)
}

// united are the sources of both. A source with the same id, or without one and
// with the same resource, is the same source; what the incoming one says of it replaces.
// A source whose file no longer has the text goes, where none has it or another source
// stands for it.
func (m *merger) united(c cand) []okf.Set {
	pf, _ := c.prior.Field("sources")
	nf, ok := c.Atom.Field("sources")
	if !ok {
		return nil
	}
	prior := asList(pf.Value)
	out, grown, named := slices.Clone(prior), false, map[int]bool{}
	for _, s := range asList(nf.Value) {
		i := slices.IndexFunc(out, func(p any) bool { return sameSource(p, s) })
		named[i] = true
		switch merged := overlaid(at(out, i), s); {
		case i < 0:
			out, grown = append(out, s), true
		case !reflect.DeepEqual(lasting(merged), lasting(out[i])):
			out[i], grown = merged, true
		}
	}
	gone := map[int]bool{}
	for _, d := range m.drifted(c) {
		if !named[d.Source] && d.Source < len(prior) && len(d.Here) == 0 && (d.Lost || stoodFor(out, d.Source)) {
			gone[d.Source], grown = true, true
		}
	}
	if !grown || len(gone) == len(out) {
		return nil
	}
	var left []any
	for i, s := range out {
		if !gone[i] {
			left = append(left, s)
		}
	}
	return []okf.Set{{Key: "sources", Value: left}}
}

// stoodFor reports that other sources name every text that the source i names.
func stoodFor(sources []any, i int) bool {
	texts := func(s any) (out []string) {
		m, _ := s.(map[string]any)
		for _, t := range asList(m["text"]) {
			out = append(out, fmt.Sprint(t))
		}
		return out
	}
	for _, t := range texts(sources[i]) {
		if !slices.ContainsFunc(slices.Delete(slices.Clone(sources), i, i+1), func(s any) bool { return slices.Contains(texts(s), t) }) {
			return false
		}
	}
	return true
}

func at(list []any, i int) any {
	if i < 0 {
		return nil
	}
	return list[i]
}

func sameSource(a, b any) bool {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if !okX || !okY {
		return reflect.DeepEqual(a, b)
	}
	if x["id"] != nil && y["id"] != nil {
		return reflect.DeepEqual(x["id"], y["id"])
	}
	return x["resource"] != nil && reflect.DeepEqual(x["resource"], y["resource"])
}

// overlaid is the source p with the keys of s over it. What p says of the text that was
// read holds for the file and lines that it names, and goes where s names others.
func overlaid(p, s any) any {
	x, okX := p.(map[string]any)
	y, okY := s.(map[string]any)
	if !okX || !okY {
		return s
	}
	out := maps.Clone(x)
	maps.Copy(out, y)
	if !reflect.DeepEqual([]any{out["resource"], out["title"]}, []any{x["resource"], x["title"]}) {
		for _, k := range []string{"blob", "text"} {
			if _, said := y[k]; !said {
				delete(out, k)
			}
		}
	}
	return out
}

// lasting is a source without what changes by itself: its use, and the version of a file
// of which the cited text may be the same.
func lasting(s any) any {
	x, ok := s.(map[string]any)
	if !ok {
		return s
	}
	out := map[string]any{}
	for k, v := range x {
		if k != "last_modified" && k != "usage_count" && k != "usage_window" && k != "blob" {
			out[k] = v
		}
	}
	return out
}

// stampUpdate says who wrote the update, and keeps the rung of a file that did not
// say one: without it a machine's stamp would lower what a person wrote.
func stampUpdate(c cand, sets []okf.Set) []okf.Set {
	var out []okf.Set
	by := c.Atom.Generated
	if by.By == "" {
		return nil
	}
	out = append(out, okf.Set{Key: "generated", Value: by})
	said := slices.ContainsFunc(sets, func(s okf.Set) bool { return s.Key == "confidence" })
	if c.prior.Claimed == okf.Unset && c.prior.Confidence() > okf.Inferred && !said {
		out = append(out, okf.Set{Key: "confidence", Value: c.prior.Confidence().String()})
	}
	return out
}

// body is the prior's body, or the incoming one where it says something else,
// with the missing mirrors of edges. It keeps the prior's line endings.
func (m *merger) body(c cand, edges []okf.Edge, grown bool) ([]byte, bool) {
	prior, next := lf(string(c.prior.Body())), lf(string(c.Atom.Body()))
	own, related := cutRelated(prior)
	want, _ := cutRelated(next)
	replaced := strings.TrimSpace(want) != "" && trimBody(want) != trimBody(own)
	if !replaced && !grown {
		return c.prior.Body(), false
	}
	out := prior
	if replaced {
		lead := own[:len(own)-len(strings.TrimLeft(own, "\n"))]
		out = lead + strings.Trim(want, "\n") + "\n" + related
	}
	if c.ReplaceEdges {
		out, _ = cutRelated(out)
	}
	out = m.mirror(c.path, out, edges)
	if crlf(c.prior.Bytes()) {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out), replaced || !bytes.Equal([]byte(out), c.prior.Body())
}

// trimBody returns a body for comparison: no trailing space on a line or at the end.
func trimBody(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.Join(lines, "\n")
}
