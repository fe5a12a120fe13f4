package reconcile

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// cand is an incoming atom that is well formed: capped, and with its prior.
type cand struct {
	Incoming
	id    okf.ID
	path  string // the prior's, or where a new atom lands
	prior *okf.Atom
	over  bool   // it says that the atom is deprecated
	title string // its titleKey
	bare  string // its bareKey
}

// admit checks, caps and matches the emission, and sorts it by id. Every bad
// atom is one problem or more; a caller uses the candidates only without any.
func admit(g *okf.Graph, in []Incoming, o Options) ([]cand, []okf.Problem) {
	var bad []okf.Problem
	if o.MaxAtoms > 0 && len(in) > o.MaxAtoms {
		bad = append(bad, problem("emission", "odd-atoms", "it has %d atoms, and at most %d are allowed; deliver fewer, or raise [session] max_atoms", len(in), o.MaxAtoms))
	}
	out, whys := make([]cand, len(in)), make([][]okf.Problem, len(in))
	parallel(len(in), func(i int) {
		inc := in[i]
		if inc.At == "" {
			inc.At = inc.Atom.Path
		}
		out[i], whys[i] = admitOne(g, inc, o)
	})
	good := 0
	for i, ps := range whys {
		if bad = append(bad, ps...); len(ps) == 0 {
			out[good] = out[i]
			good++
		}
	}
	out = out[:good]
	slices.SortStableFunc(out, func(a, b cand) int { return strings.Compare(string(a.id), string(b.id)) })
	return out, append(bad, findDoubles(out)...)
}

func admitOne(g *okf.Graph, inc Incoming, o Options) (cand, []okf.Problem) {
	ps := checkIncoming(inc)
	over := strings.EqualFold(inc.Atom.Status, "deprecated")
	capped, err := Cap(inc.Atom, o)
	if err != nil {
		p := problem(inc.At, "odd-atom", "%v", err)
		if q, ok := err.(okf.Problem); ok {
			p.Code, p.Message = q.Code, q.Message
		}
		return cand{}, append(ps, p)
	}
	inc.Atom, inc.ReplaceEdges = capped, inc.ReplaceEdges && o.Person
	c := cand{Incoming: inc, id: inc.Atom.ID, prior: g.ByID(inc.Atom.ID), over: over}
	at := g.ByPath(inc.Atom.Path)
	if c.prior == nil && !inc.Atom.ExplicitID {
		c.prior = at
	}
	if at != nil && at != c.prior {
		ps = append(ps, problem(inc.At, "odd-path", "the path %s belongs to %s, not to %s; use the right path or id", at.Path, at.ID, c.id))
	}
	if c.prior != nil {
		c.id, c.path = c.prior.ID, c.prior.Path
		return c, append(ps, astray(c)...)
	}
	if !inc.Atom.ExplicitID {
		c.id = okf.ID(path.Base(string(c.id)))
	}
	dir := folder(inc.Atom.Type)
	if !slug().MatchString(string(c.id)) {
		ps = append(ps, problem(inc.At, "odd-id", "the id %q may have only a-z, 0-9 and -, at most 120 characters; change it", c.id))
	} else if dir == "" {
		ps = append(ps, problem(inc.At, "odd-type", "%s: the type %q has no letter, so no folder can be named after it; choose another type", c.id, inc.Atom.Type))
	}
	c.path = dir + "/" + string(c.id) + ".md"
	c.title, c.bare = titleKey(&c.Atom), bareKey(c.Atom.Type, c.id)
	return c, append(ps, astray(c)...)
}

// astray lists the edges that lead out of the bundle from where c stands.
func astray(c cand) []okf.Problem {
	var ps []okf.Problem
	for _, e := range c.Atom.Edges {
		if p := path.Clean(bundlePath(e.Target, c.path)); strings.HasPrefix(p, "../") {
			ps = append(ps, problem(c.At, "odd-edge", "%s: the link %s %q leads out of the bundle; link an atom inside it", c.id, e.Kind, e.Target))
		}
	}
	return ps
}

// checkIncoming lists what makes an emitted atom unreadable or unsafe on its face.
func checkIncoming(inc Incoming) []okf.Problem {
	var ps []okf.Problem
	a := inc.Atom
	if why := badPath(a.Path); why != "" {
		ps = append(ps, problem(inc.At, "odd-path", "path %q %s", a.Path, why))
	}
	if why := badPath(string(a.ID) + ".md"); a.ExplicitID && why != "" {
		ps = append(ps, problem(inc.At, "odd-id", "id %q %s", a.ID, why))
	}
	if strings.TrimSpace(okf.Visible(a.Type)) == "" {
		ps = append(ps, problem(inc.At, "okf-type", "%s has no type; add one to its front matter", a.ID))
	}
	if _, ok := a.Field("owns"); ok {
		ps = append(ps, problem(inc.At, "odd-owns", `%s: there is no link "owns"; set owner on the process instead`, a.ID))
	}
	return ps
}

// findDoubles lists candidates with one id or one path. cands are sorted by id.
func findDoubles(cands []cand) []okf.Problem {
	var ps []okf.Problem
	at := map[string]cand{}
	for _, c := range cands {
		key := strings.ToLower(c.path)
		switch prev, taken := at[key]; {
		case taken && prev.id == c.id:
			ps = append(ps, problem(c.At, "odd-doubled", "%s is delivered twice, also at %s; deliver it once", c.id, prev.At))
		case taken:
			ps = append(ps, problem(c.At, "odd-doubled", "%s and %s (at %s) have the same path %s; change one of the ids", c.id, prev.id, prev.At, c.path))
		default:
			at[key] = c
		}
	}
	for i := 1; i < len(cands); i++ {
		if a, b := cands[i-1], cands[i]; a.id == b.id && !strings.EqualFold(a.path, b.path) {
			ps = append(ps, problem(b.At, "odd-doubled", "%s is delivered twice, also at %s; deliver it once", b.id, a.At))
		}
	}
	return ps
}
