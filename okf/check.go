package okf

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Check returns odd's findings about a loaded bundle, in order of path and
// line: edges, confidence and provenance, lifecycle at now, supersession, and
// the required keys of canon. What Load reported is not repeated. No finding
// here makes a bundle non-conformant, and none is about a key the bundle does
// not use: ownerless processes and the like are reported only where typed
// edges exist at all.
func Check(g *Graph, now time.Time) []Problem {
	c := checker{g: g, now: now, byID: make(map[ID]*Atom, len(g.Atoms()))}
	for _, a := range g.Atoms() {
		c.byID[a.ID] = a
		c.typed = c.typed || len(a.Edges) > 0
	}
	for _, a := range g.Atoms() {
		c.a = a
		c.trust()
		c.lifecycle()
		c.canon()
		c.edges()
		c.unresolved()
		if c.typed {
			c.shape()
		}
	}
	c.uris()
	c.cycles()
	sortProblems(c.found)
	return c.found
}

// Conformant reports whether problems leave the bundle an OKF v0.2 bundle: no
// error about one of the three rules of §11.
func Conformant(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool {
		return p.Severity == Error && strings.HasPrefix(p.Code, "okf-")
	})
}

// Strict returns problems with every warning raised to an error, for those who
// want to fail on them. Infos stay.
func Strict(problems []Problem) []Problem {
	out := slices.Clone(problems)
	for i := range out {
		if out[i].Severity == Warn {
			out[i].Severity = Error
		}
	}
	return out
}

// checker walks the atoms; a is the one it stands on.
type checker struct {
	g     *Graph
	now   time.Time
	byID  map[ID]*Atom
	typed bool // the bundle has typed edges
	a     *Atom
	found []Problem
}

func (c *checker) add(sev Severity, code string, line int, hint, format string, args ...any) {
	c.found = append(c.found, Problem{
		Code: code, Severity: sev, Path: c.a.Path, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// edges checks the typed edges as written and where they lead.
func (c *checker) edges() {
	a := c.a
	if f, ok := a.Field("owns"); ok {
		c.add(Error, codeOwns, f.Line, "name this atom as owner on the process", "there is no edge owns")
	}
	for _, f := range a.Fields {
		if edgeRank(EdgeKind(f.Key)) >= 0 && !nameOrNames(f.Value) {
			c.add(Warn, codeEdgeShape, f.Line, "write one id or a list of ids", "%s is not a name or a list of names", f.Key)
		}
	}
	c.produces()
	for _, h := range c.g.Out(a.ID) {
		to := c.byID[h.To]
		if h.Kind == Link || to == nil {
			continue
		}
		line := a.Line(string(h.Kind))
		if to == a {
			c.add(Warn, codeSelf, line, "", "%s leads to the atom itself", h.Kind)
			continue
		}
		c.domain(h.Kind, to, line)
		c.answered(h.Kind, to, line)
	}
}

func nameOrNames(v any) bool {
	for _, e := range items(v) {
		switch e.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

// produces is canonical on the producing process alone, so that every artifact
// is found from one side.
func (c *checker) produces() {
	if f, ok := c.a.Field(string(Produces)); ok && known(c.a.Type) && c.a.Type != "process" {
		c.add(Error, codeDomain, f.Line, "put it on the process", "produces on a %s", c.a.Type)
	}
}

// known reports the types that odd gives a meaning to. Any other type is legal
// and free to use edges as it likes.
func known(typ string) bool {
	switch typ {
	case "role", "process", "workflow", "capability", "policy", "system", "artifact", "term", "decision", "task":
		return true
	}
	return governs(typ)
}

// governs reports the types of canon.
func governs(typ string) bool {
	switch typ {
	case "canon", "constraint", "principle", "method", "definition":
		return true
	}
	return false
}

// domain holds an edge to the type it is meant to lead to.
func (c *checker) domain(kind EdgeKind, to *Atom, line int) {
	if !known(to.Type) || !known(c.a.Type) {
		return
	}
	want := map[EdgeKind]string{
		Owner: "role", ReportsTo: "role", Uses: "system", GovernedBy: "policy", Produces: "artifact", Stages: "process", DecidedBy: "decision",
	}[kind]
	if want == "" || to.Type == want || kind == GovernedBy && governs(to.Type) {
		return
	}
	c.add(Warn, codeDomain, line, "use relates_to where no other edge fits", "%s leads to %s, a %s; it is meant for a %s", kind, to.ID, to.Type, want)
}

// answered holds supersedes to superseded_by, and the superseded to deprecated.
func (c *checker) answered(kind EdgeKind, to *Atom, line int) {
	other := SupersededBy
	switch kind {
	case SupersededBy:
		other = Supersedes
	case Supersedes:
		if to.Status != "deprecated" && !governs(to.Type) {
			c.add(Info, codeLive, line, "set status: deprecated there", "%s is superseded and not deprecated", to.ID)
		}
	default:
		return
	}
	for _, h := range c.g.Out(to.ID) {
		if h.Kind == other && h.To == c.a.ID {
			return
		}
	}
	c.add(Warn, codeAsymmetric, line, fmt.Sprintf("add %s: %s to %s", other, c.a.ID, to.Path), "%s %s, which does not say so", kind, to.ID)
}

// unresolved reports edges and links that lead nowhere.
func (c *checker) unresolved() {
	for _, d := range c.g.Dangling(c.a.ID) {
		switch {
		case d.Kind == Link:
			c.add(Info, codeLink, d.Line, "", "link to %s, which is not there", d.Target)
		case d.Ambiguous:
			c.add(Warn, codeUnknown, d.Line, "write its whole id", "%s %s: several atoms have that name", d.Kind, d.Target)
		case d.Broken:
			c.add(Warn, codeUnknown, d.Line, "mend that file", "%s %s: the file is there and is not an atom", d.Kind, d.Target)
		default:
			c.add(Warn, codeUnknown, d.Line, "write the atom or mend the name", "%s %s: no such atom", d.Kind, d.Target)
		}
	}
}

// shape reports what a persona would miss: a process nobody answers for, an
// artifact nobody makes, a role without work.
func (c *checker) shape() {
	a := c.a
	in := func(kind EdgeKind) bool {
		return slices.ContainsFunc(c.g.In(a.ID), func(h Hop) bool { return h.Kind == kind })
	}
	switch {
	case a.Type == "process" && len(a.List(string(Owner))) == 0:
		c.add(Warn, codeOwnerless, 1, "add owner: ROLE", "process without an owner")
	case a.Type == "artifact" && !in(Produces):
		c.add(Warn, codeOrphan, 1, "add it to produces of its process", "no process produces this artifact")
	case a.Type == "role" && !c.ownsProcess():
		c.add(Warn, codeIdle, 1, "name it as owner of a process", "role without a process")
	}
}

func (c *checker) ownsProcess() bool {
	return slices.ContainsFunc(c.g.In(c.a.ID), func(h Hop) bool {
		from := c.byID[h.From]
		return h.Kind == Owner && from != nil && from.Type == "process"
	})
}

// uris reports every file of a uri that several have.
func (c *checker) uris() {
	first := map[string]*Atom{}
	for _, a := range c.g.Atoms() {
		if a.URI == "" {
			continue
		}
		other, taken := first[a.URI]
		if !taken {
			first[a.URI] = a
			continue
		}
		for _, p := range [][2]*Atom{{a, other}, {other, a}} {
			c.a = p[0]
			c.add(Error, codeDuplicateURI, p[0].Line("uri"), "a uri is given once and never again", "uri %s is also at %s:%d", a.URI, p[1].Path, p[1].Line("uri"))
		}
	}
}

// cycles reports each circle of supersedes once, on its first atom by path.
func (c *checker) cycles() {
	state := map[ID]int{} // 1 on the way, 2 done
	for _, a := range c.g.Atoms() {
		c.circle(a, state, nil)
	}
}

func (c *checker) circle(a *Atom, state map[ID]int, way []*Atom) {
	if len(c.superseded(a)) == 0 || state[a.ID] == 2 {
		return
	}
	state[a.ID] = 1
	way = append(way, a)
	for _, to := range c.superseded(a) {
		if state[to.ID] == 1 && to != a {
			c.report(way[slices.Index(way, to):])
			continue
		}
		if to != a {
			c.circle(to, state, way)
		}
	}
	state[a.ID] = 2
}

func (c *checker) superseded(a *Atom) []*Atom {
	var out []*Atom
	for _, h := range c.g.Out(a.ID) {
		if to := c.byID[h.To]; h.Kind == Supersedes && to != nil {
			out = append(out, to)
		}
	}
	return out
}

func (c *checker) report(circle []*Atom) {
	start := slices.MinFunc(circle, func(a, b *Atom) int { return strings.Compare(a.Path, b.Path) })
	i := slices.Index(circle, start)
	var names []string
	for _, a := range slices.Concat(circle[i:], circle[:i], circle[i:i+1]) {
		names = append(names, string(a.ID))
	}
	c.a = start
	c.add(Error, codeCycle, start.Line(string(Supersedes)), "break the circle: the newest supersedes the older ones", "circle of supersedes: %s", strings.Join(names, " → "))
}
