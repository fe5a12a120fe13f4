package okf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrExternal is wrapped by Resolve for a uri of another authority.
var ErrExternal = errors.New("another authority's")

// ErrCircular is wrapped by Resolve if atoms supersede each other in a circle.
var ErrCircular = errors.New("circular supersession")

// Resolution is the result of resolving a reference.
type Resolution struct {
	Atom    *Atom   // the atom that the reference names
	InForce []*Atom // the atoms that supersede it, in order of id; Atom itself if none does
}

// Resolve resolves a reference of canon: by uri, then as Find does, then along supersession
// to the atoms in force. A draft supersedes nothing. The error wraps ErrNotFound,
// ErrAmbiguous, ErrExternal or ErrCircular, which names the circle.
func (g *Graph) Resolve(ref string) (Resolution, error) {
	if _, ok := g.find(ref, ""); !ok && g.External(ref) {
		return Resolution{}, fmt.Errorf("%s: %w; no atom here has a uri of %s", ref, ErrExternal, Authority(ref))
	}
	a, err := g.Find(ref)
	if err != nil {
		return Resolution{}, err
	}
	var ends []*Atom
	if err := g.followSuccessors(a, nil, &ends); err != nil {
		return Resolution{Atom: a}, err
	}
	slices.SortFunc(ends, func(a, b *Atom) int { return cmp.Compare(a.ID, b.ID) })
	return Resolution{Atom: a, InForce: slices.Compact(ends)}, nil
}

// followSuccessors collects the atoms that replace a; way led to a.
func (g *Graph) followSuccessors(a *Atom, way []*Atom, ends *[]*Atom) error {
	if i := slices.Index(way, a); i >= 0 {
		var circle []string
		for _, b := range append(way[i:], a) {
			circle = append(circle, string(b.ID))
		}
		return fmt.Errorf("%s: %w: %s", a.Path, ErrCircular, strings.Join(circle, " → "))
	}
	next := g.directSuccessors(a)
	if len(next) == 0 {
		*ends = append(*ends, a)
	}
	for _, b := range next {
		if err := g.followSuccessors(b, append(slices.Clip(way), a), ends); err != nil {
			return err
		}
	}
	return nil
}

// directSuccessors returns the atoms that a names in superseded_by, and those that name a
// in supersedes and are no drafts.
func (g *Graph) directSuccessors(a *Atom) []*Atom {
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

// splitReferences returns the references in a value: the items of a list, or the parts of a
// text.
func splitReferences(v any) []string {
	if s, ok := v.(string); ok {
		return SplitList(s)
	}
	return valueList(v)
}

// SplitList splits a list that was written as one scalar, at the commas outside
// parentheses. It trims the parts and drops empty ones.
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

// Authority returns who assigns a uri: scheme and host for http and https, else the scheme
// alone, because the rest is an opaque name. It is "" if uri has no scheme.
func Authority(uri string) string {
	s := strings.ToLower(uriScheme(uri))
	if s != "http" && s != "https" {
		return s
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(uri[len(s):], "://"), "/")
	return s + "://" + strings.ToLower(host)
}

// findURI finds the atom with a uri. If no atom has the uri with its fragment, it looks
// without the fragment.
func (g *Graph) findURI(ref string) (int32, bool) {
	if len(g.authorities) == 0 || uriScheme(ref) == "" {
		return 0, false
	}
	if i, ok := g.findExactURI(ref); ok {
		return i, true
	}
	bare, _, cut := strings.Cut(ref, "#")
	if !cut {
		return 0, false
	}
	return g.findExactURI(bare)
}

// findExactURI finds the first atom by path that has exactly this uri.
func (g *Graph) findExactURI(uri string) (int32, bool) {
	return g.findFirst(byURI, uri, func(i int32) bool { return g.hasAtom(i) && g.uriAt(i) == uri })
}

func (g *Graph) uriAt(i int32) string {
	if g.now.isChanged(i) {
		return g.atomAt(i).URI
	}
	return g.uriOf(i)
}

// isOwnURI reports whether some atom of the bundle has a uri of the same authority.
func (g *Graph) isOwnURI(ref string) bool { return g.authorities[Authority(ref)] }

// External reports whether name is a uri of another repository: no atom of the bundle has a
// uri of its authority, or Elsewhere declared the authority. Such a reference is never
// reported as dead.
func (g *Graph) External(name string) bool {
	return uriScheme(name) != "" && (!g.isOwnURI(name) || slices.Contains(g.elsewhere, Authority(name)))
}

// Elsewhere declares authorities whose documents belong to other repositories, even if the
// bundle has some of them.
func (g *Graph) Elsewhere(authorities []string) { g.elsewhere = authorities }

// isProse reports a reference that is words or a pattern instead of a name.
func isProse(ref string) bool {
	return strings.ContainsAny(ref, " \t\n{}<>*") && !strings.HasSuffix(ref, ".md")
}
