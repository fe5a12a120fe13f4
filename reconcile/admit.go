package reconcile

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// candidate is an incoming atom that is well formed: capped, and with its prior.
type candidate struct {
	Incoming
	id    okf.ID
	path  string // the prior's, or that of the new file
	prior *okf.Atom
	over  bool   // the agent wrote status: deprecated
	title string // its titleKey
	bare  string // its bareKey
}

// admit checks and caps the emission, finds the priors, and sorts the candidates by id.
// Every bad atom gives one problem or more. The caller uses the candidates only if there
// are no problems.
func admit(g *okf.Graph, in []Incoming, o Options) ([]candidate, []okf.Problem) {
	var bad []okf.Problem
	if o.MaxAtoms > 0 && len(in) > o.MaxAtoms {
		bad = append(bad, newProblem("emission", "odd-atoms", "it has %d atoms, and at most %d are allowed; deliver fewer, or raise [session] max_atoms", len(in), o.MaxAtoms))
	}
	out, whys := make([]candidate, len(in)), make([][]okf.Problem, len(in))
	eachParallel(len(in), func(i int) {
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
	slices.SortStableFunc(out, func(a, b candidate) int { return strings.Compare(string(a.id), string(b.id)) })
	return out, append(bad, findDoubles(out)...)
}

func admitOne(g *okf.Graph, inc Incoming, o Options) (candidate, []okf.Problem) {
	ps := checkIncoming(inc)
	over := strings.EqualFold(inc.Atom.Status, "deprecated")
	capped, err := Cap(inc.Atom, o)
	if err != nil {
		p := newProblem(inc.At, "odd-atom", "%v", err)
		if q, ok := err.(okf.Problem); ok {
			p.Code, p.Message = q.Code, q.Message
		}
		return candidate{}, append(ps, p)
	}
	inc.Atom, inc.ReplaceEdges = capped, inc.ReplaceEdges && o.Person
	c := candidate{Incoming: inc, id: inc.Atom.ID, prior: g.ByID(inc.Atom.ID), over: over}
	at := g.ByPath(inc.Atom.Path)
	if c.prior == nil && !inc.Atom.ExplicitID {
		c.prior = at
	}
	if at != nil && at != c.prior {
		ps = append(ps, newProblem(inc.At, "odd-path", "the path %s belongs to %s, not to %s; use the right path or id", at.Path, at.ID, c.id))
	}
	if c.prior != nil {
		c.id, c.path = c.prior.ID, c.prior.Path
		return c, append(ps, edgesOutside(c)...)
	}
	if !inc.Atom.ExplicitID {
		c.id = okf.ID(path.Base(string(c.id)))
	}
	dir := folderOf(inc.Atom.Type)
	if !idForm().MatchString(string(c.id)) {
		ps = append(ps, newProblem(inc.At, "odd-id", "the id %q may have only a-z, 0-9 and -, at most 120 characters; change it", c.id))
	} else if dir == "" {
		ps = append(ps, newProblem(inc.At, "odd-type", "%s: the type %q has no letter, so no folder can be named after it; choose another type", c.id, inc.Atom.Type))
	}
	c.path = dir + "/" + string(c.id) + ".md"
	c.title, c.bare = titleKey(&c.Atom), bareKey(c.Atom.Type, c.id)
	return c, append(ps, edgesOutside(c)...)
}

// edgesOutside lists the edges of c that lead out of the bundle.
func edgesOutside(c candidate) []okf.Problem {
	var ps []okf.Problem
	for _, e := range c.Atom.Edges {
		if p := path.Clean(bundlePath(e.Target, c.path)); strings.HasPrefix(p, "../") {
			ps = append(ps, newProblem(c.At, "odd-edge", "%s: the link %s %q leads out of the bundle; link an atom inside it", c.id, e.Kind, e.Target))
		}
	}
	return ps
}

// checkIncoming lists what makes an emitted atom invalid before it is compared with
// anything.
func checkIncoming(inc Incoming) []okf.Problem {
	var ps []okf.Problem
	a := inc.Atom
	if why := badPath(a.Path); why != "" {
		ps = append(ps, newProblem(inc.At, "odd-path", "path %q %s", a.Path, why))
	}
	if why := badPath(string(a.ID) + ".md"); a.ExplicitID && why != "" {
		ps = append(ps, newProblem(inc.At, "odd-id", "id %q %s", a.ID, why))
	}
	if strings.TrimSpace(okf.Visible(a.Type)) == "" {
		ps = append(ps, newProblem(inc.At, "okf-type", "%s has no type; add one to its front matter", a.ID))
	}
	if _, ok := a.Field("owns"); ok {
		ps = append(ps, newProblem(inc.At, "odd-owns", `%s: there is no link "owns"; set owner on the process instead`, a.ID))
	}
	return ps
}

// findDoubles reports candidates with the same id or the same path. cands are sorted by id.
func findDoubles(cands []candidate) []okf.Problem {
	var ps []okf.Problem
	at := map[string]candidate{}
	for _, c := range cands {
		key := strings.ToLower(c.path)
		switch prev, taken := at[key]; {
		case taken && prev.id == c.id:
			ps = append(ps, newProblem(c.At, "odd-doubled", "%s is delivered twice, also at %s; deliver it once", c.id, prev.At))
		case taken:
			ps = append(ps, newProblem(c.At, "odd-doubled", "%s and %s (at %s) have the same path %s; change one of the ids", c.id, prev.id, prev.At, c.path))
		default:
			at[key] = c
		}
	}
	for i := 1; i < len(cands); i++ {
		if a, b := cands[i-1], cands[i]; a.id == b.id && !strings.EqualFold(a.path, b.path) {
			ps = append(ps, newProblem(b.At, "odd-doubled", "%s is delivered twice, also at %s; deliver it once", b.id, a.At))
		}
	}
	return ps
}
