package okf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrExternal is what Resolve wraps for a uri of another authority.
var ErrExternal = errors.New("another authority's")

// ErrCircular is what Resolve wraps where atoms supersede each other in a circle.
var ErrCircular = errors.New("circular supersession")

// Resolution is where a reference leads.
type Resolution struct {
	Atom    *Atom   // what it names
	InForce []*Atom // what stands in its place today, in order of id: Atom itself unless superseded
}

// Resolve follows a reference as canon makes it: through the index of uris, then
// as Find does, then along supersession to what is in force. A draft supersedes
// nothing. The error wraps ErrNotFound, ErrAmbiguous, ErrExternal or
// ErrCircular, which names the circle.
func (g *Graph) Resolve(ref string) (Resolution, error) {
	if _, ok := g.find(ref, ""); !ok && g.External(ref) {
		return Resolution{}, fmt.Errorf("%s: %w; no atom here has a uri of %s", ref, ErrExternal, Authority(ref))
	}
	a, err := g.Find(ref)
	if err != nil {
		return Resolution{}, err
	}
	var ends []*Atom
	if err := g.succeed(a, nil, &ends); err != nil {
		return Resolution{Atom: a}, err
	}
	slices.SortFunc(ends, func(a, b *Atom) int { return cmp.Compare(a.ID, b.ID) })
	return Resolution{Atom: a, InForce: slices.Compact(ends)}, nil
}

// succeed walks to the atoms that stand in a's place; way led to a.
func (g *Graph) succeed(a *Atom, way []*Atom, ends *[]*Atom) error {
	if i := slices.Index(way, a); i >= 0 {
		var circle []string
		for _, b := range append(way[i:], a) {
			circle = append(circle, string(b.ID))
		}
		return fmt.Errorf("%s: %w: %s", a.Path, ErrCircular, strings.Join(circle, " → "))
	}
	next := g.successors(a)
	if len(next) == 0 {
		*ends = append(*ends, a)
	}
	for _, b := range next {
		if err := g.succeed(b, append(slices.Clip(way), a), ends); err != nil {
			return err
		}
	}
	return nil
}

// successors are the atoms that a names as superseding it, and those that are
// no drafts and say so themselves.
func (g *Graph) successors(a *Atom) []*Atom {
	var out []*Atom
	for _, h := range g.Out(a.ID) {
		if h.Kind == SupersededBy && h.To != a.ID {
			out = append(out, g.ByID(h.To))
		}
	}
	for _, h := range g.In(a.ID) {
		if from := g.ByID(h.From); h.Kind == Supersedes && h.From != a.ID && from.Status != "draft" && !slices.Contains(out, from) {
			out = append(out, from)
		}
	}
	return out
}

// refs are the references in a value: the items of a list, the parts of a text.
func refs(v any) []string {
	if s, ok := v.(string); ok {
		return SplitList(s)
	}
	return list(v)
}

// SplitList splits a list that was written as one scalar, at the commas that
// stand outside parentheses. Parts are trimmed and empty ones dropped.
func SplitList(s string) []string {
	var out []string
	depth, from := 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				add(s[from:i])
				from = i + 1
			}
		}
	}
	add(s[from:])
	return out
}

// Authority is who gives out a uri: scheme and host where the scheme is http or
// https, whose hosts are many; otherwise the scheme alone, because what follows
// it is an opaque name and is never read. It is "" for what is no uri.
func Authority(uri string) string {
	s := strings.ToLower(scheme(uri))
	if s != "http" && s != "https" {
		return s
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(uri[len(s):], "://"), "/")
	return s + "://" + strings.ToLower(host)
}

// uri finds the atom that carries a uri; a fragment of the reference is not
// part of it, unless an atom says so.
func (g *Graph) uri(ref string) (int32, bool) {
	if len(g.own) == 0 || scheme(ref) == "" {
		return 0, false
	}
	if i, ok := g.withURI(ref); ok {
		return i, true
	}
	bare, _, cut := strings.Cut(ref, "#")
	if !cut {
		return 0, false
	}
	return g.withURI(bare)
}

// withURI finds the first atom by path that has exactly this uri.
func (g *Graph) withURI(uri string) (int32, bool) {
	return g.first(byURI, uri, func(i int32) bool { return g.here(i) && g.uriAt(i) == uri })
}

func (g *Graph) uriAt(i int32) string {
	if g.now.over(i) {
		return g.at(i).URI
	}
	return g.uriOf(i)
}

// ours reports a uri of an authority that some atom of the bundle has a uri of.
func (g *Graph) ours(ref string) bool { return g.own[Authority(ref)] }

// External reports whether name is a uri of an authority that no atom of the
// bundle has a uri of, or that Elsewhere was told of: somebody else's, and never
// dead.
func (g *Graph) External(name string) bool {
	return scheme(name) != "" && (!g.ours(name) || slices.Contains(g.elsewhere, Authority(name)))
}

// Elsewhere declares authorities whose documents are another repository's, though
// some may be here.
func (g *Graph) Elsewhere(authorities []string) { g.elsewhere = authorities }

// prose reports a reference that is words, or a pattern, and not a name.
func prose(ref string) bool {
	return strings.ContainsAny(ref, " \t\n{}<>*") && !strings.HasSuffix(ref, ".md")
}
