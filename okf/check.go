package okf

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Check returns odd's findings about a loaded bundle, in order of path and
// line: edges, confidence and provenance, lifecycle at now, supersession, and
// the required keys of canon. What Load reported is not repeated. No finding
// here makes a bundle non-conformant, and none is about a key the bundle does
// not use: ownerless processes and the like are reported only where typed
// edges exist at all.
//
// The atoms are looked at side by side, and one that nobody asked for before is
// not kept.
func Check(g *Graph, now time.Time) []Problem {
	c := checker{g: g, now: now, types: g.typesOf(), keys: map[string]int{}}
	c.share(int(g.places()), func(c *checker) func(from, to int) {
		room, ar := newRoom(), new(arena)
		return func(from, to int) {
			for i := int32(from); i < int32(to); i++ {
				if g.here(i) {
					*ar = room
					c.row, c.a = i, g.glance(i, ar)
					c.atom()
				}
			}
		}
	})
	if c.typed {
		c.found = append(c.found, c.shapes...)
	}
	pages := c.pages
	c.share(len(pages), func(c *checker) func(from, to int) {
		return func(from, to int) { c.read(pages[from:to]) }
	})
	c.slips()
	c.uris()
	c.samePaths()
	c.cycles()
	sortProblems(c.found)
	return c.found
}

// share is workers, each with a checker of its own, whose findings c has then.
func (c *checker) share(n int, begin func(c *checker) func(from, to int)) {
	var taken sync.Mutex
	var all []*checker
	workers(n, func() func(from, to int) {
		own := &checker{g: c.g, now: c.now, types: c.types, keys: map[string]int{}, meant: map[[2]string]string{}}
		taken.Lock()
		all = append(all, own)
		taken.Unlock()
		return begin(own)
	})
	for _, own := range all {
		c.found, c.shapes = append(c.found, own.found...), append(c.shapes, own.shapes...)
		c.pages, c.named, c.newer, c.spelt = append(c.pages, own.pages...), append(c.named, own.named...), append(c.newer, own.newer...), append(c.spelt, own.spelt...)
		c.slipped = append(c.slipped, own.slipped...)
		for key, n := range own.keys {
			c.keys[key] += n
		}
		c.typed = c.typed || own.typed
	}
}

// atom looks at the atom that c stands on.
func (c *checker) atom() {
	c.typed = c.typed || len(c.a.Edges) > 0
	if c.a.URI != "" {
		c.named = append(c.named, named{c.row, c.a.URI})
	}
	if onePath(c.a.Path) != c.a.Path {
		c.spelt = append(c.spelt, c.row)
	}
	c.spelling()
	c.trust()
	c.lifecycle()
	c.canon()
	c.edges()
	c.checkTargets()
	n := len(c.found)
	c.shape()
	c.found, c.shapes = c.found[:n], append(c.shapes, c.found[n:]...)
}

// Conformant reports whether problems leave the bundle an OKF v0.2 bundle: no
// error about one of the three rules of §11, and no document without a type.
func Conformant(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return (p.Severity == Error || p.Code == codeType) && p.OfOKF() })
}

// OfOKF reports a problem with a rule of OKF itself, not with one that odd adds.
func (p Problem) OfOKF() bool { return strings.HasPrefix(p.Code, "okf-") }

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

// checker walks the atoms; a is the one it stands on, in row.
type checker struct {
	g     *Graph
	now   time.Time
	types []string // of every row
	row   int32
	a     *Atom

	found  []Problem
	shapes []Problem // what counts where the bundle has typed edges
	typed  bool
	pages  []page  // bodies that are to be read yet
	named  []named // the atoms that have a uri
	spelt  []int32 // the rows whose paths a file system may know by another spelling
	newer  []int32 // the rows that supersede

	keys    map[string]int       // how many atoms have a key
	meant   map[[2]string]string // what spelling found before, by the atom's type and the word
	slipped []slip
}

// named is the uri of a row.
type named struct {
	row int32
	uri string
}

func (c *checker) add(sev Severity, code string, line int, hint, format string, args ...any) {
	c.addAt(c.a.Path, sev, code, line, hint, format, args...)
}

func (c *checker) addAt(file string, sev Severity, code string, line int, hint, format string, args ...any) {
	c.found = append(c.found, Problem{
		Code: code, Severity: sev, Path: file, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// edges checks the typed edges as written and where they lead.
func (c *checker) edges() {
	a := c.a
	if f, ok := a.Field("owns"); ok {
		c.add(Error, codeOwns, f.Line, fmt.Sprintf("remove it, and write \"owner: %s\" in the process", a.ID), "odd has no key \"owns\"")
	}
	for _, f := range a.Fields {
		if edgeRank(EdgeKind(f.Key)) >= 0 && !nameOrNames(f.Value) {
			c.add(Warn, codeEdgeShape, f.Line, "write one id or a list of ids", "%s is not a name or a list of names", f.Key)
		}
	}
	c.produces()
	for _, e := range c.g.outOf(c.row) {
		if e.kind == linkRank || !c.g.here(e.to) {
			continue
		}
		kind := kindOf(e.kind)
		line := a.Line(string(kind))
		if e.to == c.row {
			c.add(Warn, codeSelf, line, "remove it", "%s names the atom itself", kind)
			continue
		}
		c.domain(kind, e.to, line)
		c.checkSupersedes(kind, e.to, line)
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
	if f, ok := c.a.Field(string(Produces)); ok && isKnownType(c.a.Type) && c.a.Type != "process" {
		c.add(Error, codeDomain, f.Line, "move it to the process", "only a process has produces, and this is a %s", c.a.Type)
	}
}

// isKnownType reports the types that odd gives a meaning to. Any other type is legal
// and free to use edges as it likes.
func isKnownType(typ string) bool { return slices.Contains(workTypes(), typ) || governs(typ) }

// workTypes are the types of what a team does, knows and decides.
func workTypes() []string {
	return []string{"role", "process", "workflow", "capability", "policy", "system", "artifact", "term", "decision", "task"}
}

// governs reports the types of canon.
func governs(typ string) bool { return slices.Contains(canonTypes(), typ) }

func canonTypes() []string {
	return []string{"canon", "constraint", "principle", "method", "definition"}
}

// domain holds an edge to the type it is meant to lead to.
func (c *checker) domain(kind EdgeKind, to int32, line int) {
	typ := c.types[to]
	if !isKnownType(typ) || !isKnownType(c.a.Type) {
		return
	}
	want := map[EdgeKind]string{
		Owner: "role", ReportsTo: "role", Uses: "system", GovernedBy: "policy", Produces: "artifact", Stages: "process", DecidedBy: "decision",
	}[kind]
	if want == "" || typ == want || kind == GovernedBy && governs(typ) {
		return
	}
	c.add(Warn, codeDomain, line, fmt.Sprintf("name an atom of type %s, or use relates_to", want), "%s names %s, of type %s, not %s", kind, c.g.idAt(to), typ, want)
}

// checkSupersedes holds supersedes to superseded_by, and the superseded to deprecated.
func (c *checker) checkSupersedes(kind EdgeKind, to int32, line int) {
	other := SupersededBy
	switch kind {
	case SupersededBy:
		other = Supersedes
	case Supersedes:
		c.newer = append(c.newer, c.row)
		if c.g.at(to).Status != "deprecated" && !governs(c.types[to]) {
			c.add(Info, codeLive, line, "write status: deprecated in "+c.g.pathAt(to), "%s is superseded, but its status is not deprecated", c.g.idAt(to))
		}
	default:
		return
	}
	for _, e := range c.g.outOf(to) {
		if kindOf(e.kind) == other && e.to == c.row {
			return
		}
	}
	c.add(Warn, codeAsymmetric, line, fmt.Sprintf("add %s: %s to %s", other, c.a.ID, c.g.pathAt(to)), "%s %s, but that atom does not say the same of this one", kind, c.g.idAt(to))
}

// checkTargets reports edges and links that lead nowhere.
func (c *checker) checkTargets() {
	for _, d := range c.g.loosely(c.row) {
		switch {
		case d.Kind == Link && d.Broken: // the file is there, and what is wrong in it is said of it
		case d.Kind == Link:
			c.add(Warn, codeLink, d.Line, "correct the link or add the file", "link to %s, which does not exist", d.Target)
		case d.Ambiguous:
			c.add(Warn, codeUnknown, d.Line, "write its whole id", "%s %s: several atoms have that name", d.Kind, d.Target)
		case d.Broken:
			c.add(Warn, codeUnknown, d.Line, "odd check shows what is wrong in it", "%s %s: that file cannot be read as an atom", d.Kind, d.Target)
		default:
			c.add(Warn, codeUnknown, d.Line, "add that atom or correct the name", "%s %s: no such atom", d.Kind, d.Target)
		}
	}
}

// shape reports what a persona would miss: a process nobody answers for, an
// artifact nobody makes, a role without work. An inferred atom is only as
// complete as what it was read from, so there it is no more than a note.
func (c *checker) shape() {
	a, sev := c.a, Warn
	if a.Confidence() == Inferred {
		sev = Info
	}
	in := func(kind EdgeKind) bool {
		return slices.ContainsFunc(c.g.inTo(c.row), func(e edge) bool { return kindOf(e.kind) == kind })
	}
	switch {
	case a.Type == "process" && len(a.List(string(Owner))) == 0:
		c.add(sev, codeOwnerless, 1, "add owner: ROLE", "the process has no owner")
	case a.Type == "artifact" && !in(Produces):
		c.add(sev, codeOrphan, 1, fmt.Sprintf("add produces: %s to the process that makes it", a.ID), "no process produces this artifact")
	case a.Type == "role" && !c.ownsProcess():
		c.add(sev, codeIdle, 1, fmt.Sprintf("add owner: %s to a process", a.ID), "the role owns no process")
	}
}

func (c *checker) ownsProcess() bool {
	return slices.ContainsFunc(c.g.inTo(c.row), func(e edge) bool {
		return kindOf(e.kind) == Owner && c.g.here(e.from) && c.types[e.from] == "process"
	})
}

// uris reports every file of a uri that several have.
func (c *checker) uris() {
	slices.SortFunc(c.named, func(a, b named) int { return c.byPath(a.row, b.row) })
	first := map[string]int32{}
	for _, n := range c.named {
		other, taken := first[n.uri]
		if !taken {
			first[n.uri] = n.row
			continue
		}
		a, b := c.g.at(n.row), c.g.at(other)
		for _, p := range [][2]*Atom{{a, b}, {b, a}} {
			c.addAt(p[0].Path, Error, codeDuplicateURI, p[0].Line("uri"), "give one of them another uri", "uri %s is also at %s:%d", n.uri, p[1].Path, p[1].Line("uri"))
		}
	}
}

// onePath is the path under which macOS and Windows know a file, which mind neither case
// nor how an accent is written.
func onePath(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// samePaths reports atoms whose paths are one there.
func (c *checker) samePaths() {
	slices.SortFunc(c.spelt, c.byPath)
	first := map[string]string{}
	for _, row := range c.spelt {
		p := c.g.pathAt(row)
		one := onePath(p)
		other, taken := first[one]
		if !taken {
			if _, taken = c.g.first(byFile, strings.TrimSuffix(one, ".md"), func(i int32) bool { return c.g.pathAt(i) == one }); taken {
				other = one
			}
			first[one] = p
		}
		if taken {
			c.addAt(p, Warn, codeSamePath, 0, "rename one of the two", "macOS and Windows cannot tell it from %+q", other)
		}
	}
}

func (c *checker) byPath(a, b int32) int { return strings.Compare(c.g.pathAt(a), c.g.pathAt(b)) }

// cycles reports each circle of supersedes once, on its first atom by path.
func (c *checker) cycles() {
	slices.SortFunc(c.newer, c.byPath)
	state := map[int32]int{} // 1 on the way, 2 done
	for _, i := range c.newer {
		c.circle(i, state, nil)
	}
}

func (c *checker) circle(i int32, state map[int32]int, way []int32) {
	if state[i] == 2 {
		return
	}
	state[i] = 1
	way = append(way, i)
	for _, e := range c.g.outOf(i) {
		switch to := e.to; {
		case kindOf(e.kind) != Supersedes || to == i || !c.g.here(to):
		case state[to] == 1:
			c.report(way[slices.Index(way, to):])
		default:
			c.circle(to, state, way)
		}
	}
	state[i] = 2
}

func (c *checker) report(circle []int32) {
	start := slices.MinFunc(circle, c.byPath)
	i := slices.Index(circle, start)
	var names []string
	for _, row := range slices.Concat(circle[i:], circle[:i], circle[i:i+1]) {
		names = append(names, string(c.g.idAt(row)))
	}
	a := c.g.at(start)
	c.addAt(a.Path, Error, codeCycle, a.Line(string(Supersedes)), "break the circle: the newest supersedes the older ones", "circle of supersedes: %s", strings.Join(names, " → "))
}
