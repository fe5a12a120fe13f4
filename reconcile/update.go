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

// specialKeys are the keys that an update never simply replaces: the identity, what changes
// by itself, and keys with rules of their own.
var specialKeys = []string{"id", "type", "generated", "timestamp", "verified", "usage_window", "confidence", "sources", "tags"}

// update returns the prior's file with c merged into it; nil if nothing that lasts would
// change.
func (m *merger) update(c candidate) ([]byte, error) {
	sets := m.replacedKeys(c)
	edges, grown := m.mergeEdges(c)
	sets = append(sets, grown...)
	sets = append(sets, mergeTags(c)...)
	sets = append(sets, m.mergeSources(c)...)
	if m.deprecates(c) {
		sets = append(sets, okf.Set{Key: "status", Value: "deprecated"})
	}
	if c.Atom.Claimed != okf.Unset && c.Atom.Confidence() > c.prior.Confidence() {
		sets = append(sets, okf.Set{Key: "confidence", Value: c.Atom.Confidence().String()})
	}
	body, changed := m.mergeBody(c, edges, len(grown) > 0)
	if len(sets) == 0 && !changed {
		return nil, nil
	}
	sets = append(sets, stampUpdate(c, sets)...)
	b, err := okf.Edit(c.prior.Bytes(), sets...)
	if err != nil {
		return nil, err
	}
	return okf.ReplaceBody(b, body), nil
}

// replacedKeys returns the ordinary keys of c whose value differs from the prior's.
func (m *merger) replacedKeys(c candidate) []okf.Set {
	var out []okf.Set
	for _, f := range c.Atom.Fields {
		if slices.Contains(specialKeys, f.Key) || slices.Contains(okf.EdgeKinds(), okf.EdgeKind(f.Key)) || !m.o.Person && f.Key == "status" {
			continue
		}
		if p, ok := c.prior.Field(f.Key); !ok || !reflect.DeepEqual(p.Value, f.Value) {
			out = append(out, okf.Set{Key: f.Key, Value: f.Value})
		}
	}
	return out
}

// mergeEdges merges the typed edges. Two names of one target are one edge, which keeps the
// prior's name. A person may replace the edges of a key.
func (m *merger) mergeEdges(c candidate) (all []okf.Edge, sets []okf.Set) {
	for _, k := range okf.EdgeKinds() {
		have, more := edgeTargets(c.prior, k), edgeTargets(&c.Atom, k)
		merged := slices.Clone(have)
		if _, present := c.Atom.Field(string(k)); present && c.ReplaceEdges {
			merged = nil
		}
		for _, t := range more {
			if !slices.ContainsFunc(merged, func(u string) bool { return m.resolveID(u, c.path) == m.resolveID(t, c.path) }) {
				merged = append(merged, t)
			}
		}
		for _, t := range merged {
			all = append(all, okf.Edge{Kind: k, Target: t})
		}
		if !slices.Equal(have, merged) {
			sets = append(sets, okf.Set{Key: string(k), Value: edgeValue(merged)})
		}
	}
	return all, sets
}

func edgeTargets(a *okf.Atom, k okf.EdgeKind) []string {
	var out []string
	for _, e := range a.Edges {
		if e.Kind == k {
			out = append(out, e.Target)
		}
	}
	return out
}

// edgeValue returns the value of an edge key: nothing, one id, or a list.
func edgeValue(ids []string) any {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return ids[0]
	}
	return ids
}

// resolveID returns the id that target names in the atom at from, or else target itself.
func (m *merger) resolveID(target, from string) okf.ID {
	if a := m.findTarget(target, from); a != nil {
		return a.ID
	}
	return okf.ID(target)
}

// findTarget returns the atom that target names, among the prior ones and those that land.
func (m *merger) findTarget(target, from string) *okf.Atom {
	if a := m.g.Target(target, from); a != nil {
		return a
	}
	if a := m.adds[okf.ID(target)]; a != nil {
		return a
	}
	return m.addsAt[bundlePath(target, from)]
}

// bundlePath returns the bundle path of a target that is a path, in the atom at from.
func bundlePath(target, from string) string {
	p := strings.TrimPrefix(target, "/")
	if strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		p = path.Join(path.Dir(from), p)
	}
	return strings.TrimSuffix(p, ".md") + ".md"
}

// tainted is the tag of everything that an operator's override produced.
const tainted = "override-produced"

// mergeTags replaces the tags if the set of them differs. Approvals stay, because a person
// gave them. The tag of an override stays too: a partial update does not make the atom
// clean.
func mergeTags(c candidate) []okf.Set {
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

// deprecates reports whether c deprecates an atom whose text no file has any more.
func (m *merger) deprecates(c candidate) bool {
	f, _ := c.prior.Field("sources")
	dead := 0
	for _, d := range m.findDrift(c) {
		if d.Dead() {
			dead++
		}
	}
	return c.over && !m.o.Person && dead > 0 && dead == len(asList(f.Value))
}

func (m *merger) findDrift(c candidate) []okf.Drift {
	if m.o.Drifted == nil {
		return nil
	}
	return m.o.Drifted(c.prior)
}

// mergeSources merges the sources of both. Two sources are the same if they have the same
// id, or the same resource and no two ids. The keys of the incoming one replace the
// prior's. A source whose file no longer has the text is dropped if no file has it, or if
// another source covers it.
func (m *merger) mergeSources(c candidate) []okf.Set {
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
		switch merged := overlaySource(itemAt(out, i), s); {
		case i < 0:
			out, grown = append(out, s), true
		case !reflect.DeepEqual(dropVolatile(merged), dropVolatile(out[i])):
			out[i], grown = merged, true
		}
	}
	gone := map[int]bool{}
	for _, d := range m.findDrift(c) {
		if !named[d.Source] && d.Source < len(prior) && len(d.Here) == 0 && (d.Lost || isCovered(out, d.Source)) {
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

// isCovered reports whether other sources name every text that source i names.
func isCovered(sources []any, i int) bool {
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

func itemAt(list []any, i int) any {
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

// overlaySource returns the source p with the keys of s over it. The blob and texts of p
// belong to its file and lines, so they are dropped if s names others.
func overlaySource(p, s any) any {
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

// dropVolatile returns a source without what changes by itself: its use, and the version of
// a file whose cited text may be the same.
func dropVolatile(s any) any {
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

// stampUpdate records who wrote the update. It also writes down the confidence of a prior
// that has none, because the stamp of a machine would lower it.
func stampUpdate(c candidate, sets []okf.Set) []okf.Set {
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

// mergeBody returns the prior's body, or the incoming one if its text differs, with the
// missing links for edges. It keeps the prior's line ends.
func (m *merger) mergeBody(c candidate, edges []okf.Edge, grown bool) ([]byte, bool) {
	prior, next := toLF(string(c.prior.Body())), toLF(string(c.Atom.Body()))
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
	out = m.mirrorEdges(c.path, out, edges)
	if bytes.Contains(c.prior.Bytes(), []byte("\r\n")) {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out), replaced || !bytes.Equal([]byte(out), c.prior.Body())
}

// trimBody returns a body for comparison, without space at the ends of lines and of the
// body.
func trimBody(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.Join(lines, "\n")
}
