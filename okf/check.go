package okf

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Check returns odd's findings about a loaded bundle in order of path and line. They
// concern edges, confidence and provenance, the lifecycle at now, supersession, and the
// required keys of canon. It does not repeat what Load reported. No finding makes a bundle
// non-conformant. Check reports a process without an owner and the like only in a bundle
// that uses typed edges.
//
// It checks atoms in parallel, and keeps none that was not parsed before.
func Check(g *Graph, now time.Time) []Problem {
	c := checker{g: g, now: now, types: g.rowTypes(), keys: map[string]int{}}
	c.checkParallel(int(g.rowCount()), func(c *checker) func(from, to int) {
		room, ar := newRoom(), new(arena)
		return func(from, to int) {
			for i := int32(from); i < int32(to); i++ {
				if g.hasAtom(i) {
					*ar = room
					c.row, c.a = i, g.peekAtom(i, ar)
					c.checkAtom()
				}
			}
		}
	})
	if c.typed {
		c.found = append(c.found, c.shapes...)
	}
	pages := c.pages
	c.checkParallel(len(pages), func(c *checker) func(from, to int) {
		return func(from, to int) { c.checkBodies(pages[from:to]) }
	})
	c.reportMisspellings()
	c.checkURIs()
	c.checkSamePaths()
	c.checkCycles()
	sortProblems(c.found)
	return c.found
}

// checkParallel runs workers with a checker each, and adds their findings to c.
func (c *checker) checkParallel(n int, begin func(c *checker) func(from, to int)) {
	var taken sync.Mutex
	var all []*checker
	runWorkers(n, func() func(from, to int) {
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

func (c *checker) checkAtom() {
	c.typed = c.typed || len(c.a.Edges) > 0
	if c.a.URI != "" {
		c.named = append(c.named, uriRow{c.row, c.a.URI})
	}
	if foldPath(c.a.Path) != c.a.Path {
		c.spelt = append(c.spelt, c.row)
	}
	c.checkSpelling()
	c.checkTrust()
	c.checkLifecycle()
	c.checkCanon()
	c.checkEdges()
	c.checkTargets()
	n := len(c.found)
	c.checkCompleteness()
	c.found, c.shapes = c.found[:n], append(c.shapes, c.found[n:]...)
}

// Conformant reports whether a bundle with these problems is an OKF v0.2 bundle. It must
// have no error about the three rules of §11, and no document without a type.
func Conformant(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return (p.Severity == Error || p.Code == codeType) && p.OfOKF() })
}

// OfOKF reports whether the rule is OKF's own, not one that odd adds.
func (p Problem) OfOKF() bool { return strings.HasPrefix(p.Code, "okf-") }

// Strict returns problems with every warning raised to an error, for callers that fail on
// warnings. Infos stay.
func Strict(problems []Problem) []Problem {
	out := slices.Clone(problems)
	for i := range out {
		if out[i].Severity == Warn {
			out[i].Severity = Error
		}
	}
	return out
}

// checker checks atoms one by one; a is the current one, in row.
type checker struct {
	g     *Graph
	now   time.Time
	types []string // of every row
	row   int32
	a     *Atom

	found  []Problem
	shapes []Problem // reported only if the bundle has typed edges
	typed  bool
	pages  []unreadBody // bodies that are still to be read
	named  []uriRow     // the atoms that have a uri
	spelt  []int32      // the rows whose paths some file systems fold
	newer  []int32      // the rows that supersede another

	keys    map[string]int       // how many atoms have a key
	meant   map[[2]string]string // results of nearestKnown, by the atom's type and the word
	slipped []misspelling
}

type uriRow struct {
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

// checkEdges checks how the typed edges are written and where they lead.
func (c *checker) checkEdges() {
	a := c.a
	if f, ok := a.Field("owns"); ok {
		c.add(Error, codeOwns, f.Line, fmt.Sprintf("remove it, and write \"owner: %s\" in the process", a.ID), "odd has no key \"owns\"")
	}
	for _, f := range a.Fields {
		if edgeRank(EdgeKind(f.Key)) >= 0 && !isNameOrNames(f.Value) {
			c.add(Warn, codeEdgeShape, f.Line, "write one id or a list of ids", "%s is not a name or a list of names", f.Key)
		}
	}
	c.checkProduces()
	for _, e := range c.g.edgesFrom(c.row) {
		if e.kind == linkRank || !c.g.hasAtom(e.to) {
			continue
		}
		kind := kindOfRank(e.kind)
		line := a.Line(string(kind))
		if e.to == c.row {
			c.add(Warn, codeSelf, line, "remove it", "%s names the atom itself", kind)
			continue
		}
		c.checkDomain(kind, e.to, line)
		c.checkSupersedes(kind, e.to, line)
	}
}

func isNameOrNames(v any) bool {
	for _, e := range listItems(v) {
		switch e.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

// checkProduces reports produces in anything but a process. One side alone may have it, so
// that every artifact is found the same way.
func (c *checker) checkProduces() {
	if f, ok := c.a.Field(string(Produces)); ok && isKnownType(c.a.Type) && c.a.Type != "process" {
		c.add(Error, codeDomain, f.Line, "move it to the process", "only a process has produces, and this is a %s", c.a.Type)
	}
}

// isKnownType reports the types that odd gives a meaning to. Any other type is legal and
// may use edges as it likes.
func isKnownType(typ string) bool { return slices.Contains(workTypes(), typ) || isCanonType(typ) }

// workTypes lists the types of what a team does, knows and decides.
func workTypes() []string {
	return []string{"role", "process", "workflow", "capability", "policy", "system", "artifact", "term", "decision", "task"}
}

func isCanonType(typ string) bool { return slices.Contains(canonTypes(), typ) }

func canonTypes() []string {
	return []string{"canon", "constraint", "principle", "method", "definition"}
}

// checkDomain reports an edge to an atom of the wrong type.
func (c *checker) checkDomain(kind EdgeKind, to int32, line int) {
	typ := c.types[to]
	if !isKnownType(typ) || !isKnownType(c.a.Type) {
		return
	}
	want := map[EdgeKind]string{
		Owner: "role", ReportsTo: "role", Uses: "system", GovernedBy: "policy", Produces: "artifact", Stages: "process", DecidedBy: "decision",
	}[kind]
	if want == "" || typ == want || kind == GovernedBy && isCanonType(typ) {
		return
	}
	c.add(Warn, codeDomain, line, fmt.Sprintf("name an atom of type %s, or use relates_to", want), "%s names %s, of type %s, not %s", kind, c.g.idAt(to), typ, want)
}

// checkSupersedes reports supersedes without superseded_by and the other way round, and a
// superseded atom that is not deprecated.
func (c *checker) checkSupersedes(kind EdgeKind, to int32, line int) {
	other := SupersededBy
	switch kind {
	case SupersededBy:
		other = Supersedes
	case Supersedes:
		c.newer = append(c.newer, c.row)
		if c.g.atomAt(to).Status != "deprecated" && !isCanonType(c.types[to]) {
			c.add(Info, codeLive, line, "write status: deprecated in "+c.g.pathAt(to), "%s is superseded, but its status is not deprecated", c.g.idAt(to))
		}
	default:
		return
	}
	for _, e := range c.g.edgesFrom(to) {
		if kindOfRank(e.kind) == other && e.to == c.row {
			return
		}
	}
	c.add(Warn, codeAsymmetric, line, fmt.Sprintf("add %s: %s to %s", other, c.a.ID, c.g.pathAt(to)), "%s %s, but that atom does not say the same of this one", kind, c.g.idAt(to))
}

// checkTargets reports edges and links that lead nowhere.
func (c *checker) checkTargets() {
	for _, d := range c.g.danglingAt(c.row) {
		switch {
		case d.Kind == Link && d.Broken: // the file is there, and has a finding of its own
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

// checkCompleteness reports a process without an owner, an artifact that no process
// produces, and a role without a process. For an inferred atom this is only an info,
// because it can be no more complete than its sources.
func (c *checker) checkCompleteness() {
	a, sev := c.a, Warn
	if a.Confidence() == Inferred {
		sev = Info
	}
	in := func(kind EdgeKind) bool {
		return slices.ContainsFunc(c.g.edgesTo(c.row), func(e edge) bool { return kindOfRank(e.kind) == kind })
	}
	switch {
	case a.Type == "process" && len(a.List(string(Owner))) == 0:
		c.add(sev, codeOwnerless, 1, "add owner: ROLE", "the process has no owner")
	case a.Type == "artifact" && !in(Produces):
		c.add(sev, codeOrphan, 1, fmt.Sprintf("add produces: %s to the process that makes it", a.ID), "no process produces this artifact")
	case a.Type == "role" && a.Status != "draft" && !c.ownsProcess():
		c.add(sev, codeIdle, 1, fmt.Sprintf("add owner: %s to a process", a.ID), "the role owns no process")
	}
}

func (c *checker) ownsProcess() bool {
	return slices.ContainsFunc(c.g.edgesTo(c.row), func(e edge) bool {
		return kindOfRank(e.kind) == Owner && c.g.hasAtom(e.from) && c.types[e.from] == "process"
	})
}

// checkURIs reports every file whose uri another file has too.
func (c *checker) checkURIs() {
	slices.SortFunc(c.named, func(a, b uriRow) int { return c.comparePaths(a.row, b.row) })
	first := map[string]int32{}
	for _, n := range c.named {
		other, taken := first[n.uri]
		if !taken {
			first[n.uri] = n.row
			continue
		}
		a, b := c.g.atomAt(n.row), c.g.atomAt(other)
		for _, p := range [][2]*Atom{{a, b}, {b, a}} {
			c.addAt(p[0].Path, Error, codeDuplicateURI, p[0].Line("uri"), "give one of them another uri", "uri %s is also at %s:%d", n.uri, p[1].Path, p[1].Line("uri"))
		}
	}
}

// foldPath returns the path as macOS and Windows compare it: they ignore case and how an
// accent is encoded.
func foldPath(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// checkSamePaths reports atoms whose paths are the same on macOS and Windows.
func (c *checker) checkSamePaths() {
	slices.SortFunc(c.spelt, c.comparePaths)
	first := map[string]string{}
	for _, row := range c.spelt {
		p := c.g.pathAt(row)
		one := foldPath(p)
		other, taken := first[one]
		if !taken {
			if _, taken = c.g.findFirst(byFile, strings.TrimSuffix(one, ".md"), func(i int32) bool { return c.g.pathAt(i) == one }); taken {
				other = one
			}
			first[one] = p
		}
		if taken {
			c.addAt(p, Warn, codeSamePath, 0, "rename one of the two", "macOS and Windows cannot tell it from %+q", other)
		}
	}
}

func (c *checker) comparePaths(a, b int32) int { return strings.Compare(c.g.pathAt(a), c.g.pathAt(b)) }

// checkCycles reports each circle of supersedes once, at its first atom by path.
func (c *checker) checkCycles() {
	slices.SortFunc(c.newer, c.comparePaths)
	state := map[int32]int{} // 1 on the way, 2 done
	for _, i := range c.newer {
		c.findCycle(i, state, nil)
	}
}

func (c *checker) findCycle(i int32, state map[int32]int, way []int32) {
	if state[i] == 2 {
		return
	}
	state[i] = 1
	way = append(way, i)
	for _, e := range c.g.edgesFrom(i) {
		switch to := e.to; {
		case kindOfRank(e.kind) != Supersedes || to == i || !c.g.hasAtom(to):
		case state[to] == 1:
			c.reportCycle(way[slices.Index(way, to):])
		default:
			c.findCycle(to, state, way)
		}
	}
	state[i] = 2
}

func (c *checker) reportCycle(circle []int32) {
	start := slices.MinFunc(circle, c.comparePaths)
	i := slices.Index(circle, start)
	var names []string
	for _, row := range slices.Concat(circle[i:], circle[:i], circle[i:i+1]) {
		names = append(names, string(c.g.idAt(row)))
	}
	a := c.g.atomAt(start)
	c.addAt(a.Path, Error, codeCycle, a.Line(string(Supersedes)), "break the circle: the newest supersedes the older ones", "circle of supersedes: %s", strings.Join(names, " → "))
}
