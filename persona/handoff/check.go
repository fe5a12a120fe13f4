package handoff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/policy"
)

// The codes of what Check finds.
const (
	CodeMissing = "odd-handoff-missing" // minimum content, or the journal entry, is not there
	CodeDead    = "odd-handoff-dead"    // something cited does not resolve
	CodeBound   = "odd-handoff-bound"   // a remediation that is not one of the findings it derives from
)

// World answers what Check asks about a handoff's references. A nil member leaves its
// references unchecked, so set all that you can answer.
type World struct {
	Path   func(path string) bool               // a file or folder, from the repository's or the bundle's root
	Lines  func(path string) int                // how many lines the file has, -1 when that is nothing one counts
	Commit func(oid string) bool                // a commit of the repository, by its id or the start of it
	Ref    func(idOrURI string) error           // an id or uri of the bundle; another authority's is nil
	Tells  func(journal string, h Handoff) bool // the journal file has an entry that tells of the handoff; see Tells
	Source func(ref string) (Handoff, bool)     // a handoff of the bundle, by id, path or uri
}

// Unreadable lists the problems of every handoff of g that cannot be read, in order of
// path: modes that are no transition, and values of the wrong form. Missing content is no
// problem of the bundle, because the handoff may be half written.
func Unreadable(g *okf.Graph) []okf.Problem {
	var out []okf.Problem
	for _, a := range g.OfType(func(typ string) bool { return typ == Type }) {
		_, err := Read(a)
		if ps, ok := errors.AsType[Problems](err); ok {
			out = append(out, ps...)
		}
	}
	return out
}

// All reads every handoff of g that can be read, in order of path.
func All(g *okf.Graph) []Handoff {
	var out []Handoff
	for _, a := range g.OfType(func(typ string) bool { return typ == Type }) {
		if h, err := Read(a); err == nil {
			out = append(out, h)
		}
	}
	return out
}

// Check lists what is wrong with a handoff, in order of line. It reports missing minimum
// content, a missing journal entry, and every cited path, line, commit, id and uri that
// does not resolve. For a remediation it also reports findings that are left out or made
// up. It does not judge content. The artifact of a synthesis or a plan need not exist yet.
func Check(h Handoff, w World) []okf.Problem {
	c := checker{h: h, w: w, lines: bytes.Split(h.Atom.Bytes(), []byte("\n")), seen: map[string]bool{}}
	for _, key := range h.Missing {
		c.add(CodeMissing, "", h.Atom.Line("to"), "no "+key, "add "+deliver.Ask(h.Deliverable.Schema, key))
	}
	c.checkJournal()
	c.checkArtifact()
	for _, d := range h.Derives {
		c.checkReference("derives_from", d)
	}
	c.checkReferences()
	c.checkProse()
	c.checkRemediation()
	slices.SortStableFunc(c.found, func(a, b okf.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return c.found
}

// LineCount returns the number of lines of a file, for World.Lines; -1 for a binary file.
func LineCount(b []byte) int {
	if bytes.IndexByte(b, 0) >= 0 {
		return -1
	}
	return bytes.Count(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) + min(len(b), 1)
}

type checker struct {
	h     Handoff
	w     World
	lines [][]byte
	seen  map[string]bool // what was cited and found dead already
	found []okf.Problem
}

// add adds a finding on the line that contains cited, or else on line.
func (c *checker) add(code, cited string, line int, message, hint string) {
	if cited != "" {
		for i, l := range c.lines {
			if bytes.Contains(l, []byte(cited)) {
				line = i + 1
				break
			}
		}
	}
	c.found = append(c.found, okf.Problem{Code: code, Severity: okf.Error, Path: c.h.Path, Line: line, Message: message, Hint: hint})
}

// reportDead reports each dead citation once.
func (c *checker) reportDead(key, cited, why string) {
	if c.seen[cited] {
		return
	}
	c.seen[cited] = true
	c.add(CodeDead, cited, c.h.Atom.Line(key), fmt.Sprintf("%s: %s: %s", key, cited, why), "cite what is there, or commit it first")
}

func (c *checker) checkJournal() {
	j := c.h.Journal
	switch {
	case j == "":
		c.add(CodeMissing, "", c.h.Atom.Line("type"), "no journal", "every transition has a journal entry; name its file in journal")
	case c.w.Path != nil && !c.w.Path(j):
		c.reportDead("journal", j, "no such file")
	case c.w.Tells != nil && !c.w.Tells(j, c.h):
		c.add(CodeMissing, "", c.h.Atom.Line("journal"), fmt.Sprintf("%s has no entry that names %s", j, c.h.Path), "add the transition's entry to it")
	}
}

// checkArtifact checks the artifact. One that is explored or planned need not exist yet.
func (c *checker) checkArtifact() {
	a := c.h.Artifact
	early := c.h.From == contract.Exploration || c.h.From == contract.Planning
	if a == "" || early && !isHex().MatchString(a) && !hexes().MatchString(a) && !scheme().MatchString(a) {
		return
	}
	c.checkReference("artifact", a)
}

// checkReference checks one path, id, uri, commit or range of commits.
func (c *checker) checkReference(key, s string) {
	p := placeOf(s)
	ends := hexes().FindStringSubmatch(s)
	switch {
	case ends != nil:
		c.checkCommit(key, ends[1])
		c.checkCommit(key, ends[2])
	case scheme().MatchString(s):
		if c.w.Ref == nil {
			return
		}
		if err := c.w.Ref(s); err != nil {
			c.reportDead(key, s, err.Error())
		}
	case c.w.Path != nil && c.w.Path(p.path):
		c.checkLines(key, s, p)
	case c.w.Ref != nil && c.w.Ref(s) == nil:
	case isHex().MatchString(s):
		c.checkCommit(key, s)
	case c.w.Path != nil || c.w.Ref != nil:
		c.reportDead(key, s, "no such file or id")
	}
}

func (c *checker) checkCommit(key, oid string) {
	if c.w.Commit != nil && !c.w.Commit(oid) {
		c.reportDead(key, oid, "no such commit")
	}
}

func (c *checker) checkLines(key, s string, p citedPlace) {
	if p.from == 0 && p.to == 0 && p.path == s || c.w.Lines == nil {
		return
	}
	n := c.w.Lines(p.path)
	switch {
	case n < 0:
		c.reportDead(key, s, "nothing with lines")
	case p.from < 1 || p.to < p.from:
		c.reportDead(key, s, "no range of lines")
	case p.to > n:
		c.reportDead(key, s, fmt.Sprintf("the file ends on line %d", n))
	}
}

func (c *checker) checkReferences() {
	d := c.h.Deliverable
	if d.Claims != nil {
		for _, e := range d.Claims.Evidence {
			if isReference(e) {
				c.checkReference("evidence", e)
			}
		}
	}
	if d.Findings != nil {
		for _, f := range d.Findings.Findings {
			if f.Location != "" {
				c.checkReference("location", f.Location)
			}
		}
	}
	if d.Remediation != nil {
		for _, r := range d.Remediation.Remedies {
			for _, s := range r.Changed {
				if cited, _, _ := strings.Cut(s, ": "); isReference(cited) {
					c.checkReference("changed", cited)
				}
			}
		}
	}
}

// checkProse checks the commits and the lines of files that any text mentions.
func (c *checker) checkProse() {
	all := []string{string(c.h.Atom.Body())}
	for _, t := range c.h.Deliverable.Texts() {
		all = append(all, *t.S)
	}
	for _, text := range all {
		for _, oid := range findCommits(text) {
			c.checkCommit("text", oid)
		}
		for _, s := range findPlaces(text) {
			p := placeOf(s)
			switch {
			case c.w.Path == nil:
			case c.w.Path(p.path):
				c.checkLines("text", s, p)
			case strings.Contains(p.path, "/"): // a bare name may be a host and its port
				c.reportDead("text", s, "no such file")
			}
		}
	}
}

// checkRemediation checks that a remediation answers every finding that it derives from,
// and no other.
func (c *checker) checkRemediation() {
	if c.h.Deliverable.Remediation == nil || c.w.Source == nil {
		return
	}
	answered := map[string]bool{}
	for _, r := range c.h.Deliverable.Remediation.Remedies {
		answered[r.Finding] = true
	}
	known, sources := map[string]bool{}, 0
	for _, ref := range c.h.Derives {
		src, ok := c.w.Source(ref)
		if !ok || src.Deliverable.Findings == nil {
			continue
		}
		sources++
		for _, f := range src.Deliverable.Findings.Findings {
			known[f.ID] = true
			if !answered[f.ID] {
				c.add(CodeBound, "", c.h.Atom.Line("derives_from"), fmt.Sprintf("finding %s of %s has no remedy", f.ID, ref), "say what was changed for it, or why nothing was")
			}
		}
	}
	for _, r := range c.h.Deliverable.Remediation.Remedies {
		if sources > 0 && r.Finding != "" && !known[r.Finding] {
			c.add(CodeBound, `"`+r.Finding+`"`, c.h.Atom.Line("derives_from"), fmt.Sprintf("a remedy for %s, which is no finding of what this derives from", r.Finding), "take it out: a new requirement goes back to planning")
		}
	}
}

// OutOfScope returns a finding for each changed path that the session's handoffs do not
// allow. For a resolver these are files that no finding names; with a plan, files outside
// its scope_in. Handoffs that name no file allow all.
func OutOfScope(role contract.Role, from []Handoff, changed []string) (out []policy.Finding) {
	f := policy.Finding{Code: "beyond_plan", Severity: policy.Hard, How: policy.ByBytes, Text: "the plan of the handoff does not name this file",
		Fix: "change only what scope_in of the plan names; a person can give the task a wider plan: odd task edit TASK --handoff PLAN"}
	var scope []string
	for _, h := range from {
		if p := h.Deliverable.Plan; p != nil {
			if in := filesIn(p.ScopeIn); len(in) > 0 {
				scope = append(append(scope, in...), filesIn([]string{p.Artifact})...)
			}
		}
		if r := h.Deliverable.Findings; r != nil && role == contract.Resolver {
			f.Code, f.Text, f.Fix = "beyond_findings", "no finding of the handoff is about this file", "change only what the findings name; a new problem is a new task"
			scope = append(scope, filesIn([]string{r.Artifact})...)
			for _, one := range r.Findings {
				scope = append(scope, filesIn([]string{one.Location})...)
			}
		}
	}
	for _, p := range changed {
		if len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return policy.MatchAnyGlob([]string{s, s + "/**"}, p) }) {
			f.Path = p
			out = append(out, f)
		}
	}
	return out
}

// filesIn returns the paths and globs among what a handoff names, without lines.
func filesIn(all []string) (out []string) {
	for _, s := range all {
		s, _, _ = strings.Cut(s, ":")
		if s = strings.TrimSuffix(s, "/"); s != "" && !strings.ContainsAny(s, " \t") && (strings.Contains(s, "/") || path.Ext(s) != "") {
			out = append(out, s)
		}
	}
	return out
}
