package okf

import (
	"strings"
)

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

// authority is who gives out a uri: scheme and host where the scheme is http or
// https, whose hosts are many; otherwise the scheme alone, because what follows
// it is an opaque name and is never read. It is "" for what is no uri.
func authority(uri string) string {
	s := strings.ToLower(scheme(uri))
	if s != "http" && s != "https" {
		return s
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(uri[len(s):], "://"), "/")
	return s + "://" + strings.ToLower(host)
}

// uri finds the atom that carries a uri; a fragment of the reference is not
// part of it, unless an atom says so.
func (n *names) uri(ref string) (int32, bool) {
	if len(n.byURI) == 0 || scheme(ref) == "" {
		return 0, false
	}
	if i, ok := n.byURI[ref]; ok {
		return i, true
	}
	bare, _, cut := strings.Cut(ref, "#")
	i, ok := n.byURI[bare]
	return i, ok && cut
}

// own reports a uri of an authority that some atom of the bundle has a uri of.
func (n *names) own(ref string) bool { return n.ours[authority(ref)] }

// External reports whether name is a uri of an authority that no atom of the
// bundle has a uri of: somebody else's, and never dead.
func (g *Graph) External(name string) bool { return scheme(name) != "" && !g.names.own(name) }

// DuplicateURI is one uri that two atoms claim; First keeps it.
type DuplicateURI struct {
	URI           string
	First, Second *Atom
}

// DuplicateURIs lists the uris that several atoms claim, in order of path.
func (g *Graph) DuplicateURIs() []DuplicateURI { return g.names.twice }

// prose reports a reference that is words and not a name.
func prose(ref string) bool {
	return strings.ContainsAny(ref, " \t\n") && !strings.HasSuffix(ref, ".md")
}
