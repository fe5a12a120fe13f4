package canon

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// The rules. A finding names one.
const (
	ruleBlock     = "frontmatter-missing-block"
	ruleParse     = "frontmatter-parse-error"
	ruleRequired  = "frontmatter-missing-required"
	ruleEnum      = "frontmatter-invalid-enum"
	ruleType      = "frontmatter-type-mismatch"
	ruleContrary  = "frontmatter-contradictory"
	ruleDuplicate = "duplicate-uri"
	ruleCircular  = "circular-supersession"
	ruleDead      = "dead-reference"
	ruleInvalid   = "invalid-reference"
	ruleByPath    = "reference-by-path"
	ruleAnchor    = "dead-anchor"
	ruleLoose     = "loose-anchor"
	ruleAllow     = "audit-allow-invalid"
	ruleUnused    = "audit-allow-unused"
)

// Rules lists every rule.
func Rules() []okf.Code {
	return []okf.Code{
		{Name: ruleBlock, Severity: okf.Error, About: "a canon document has no frontmatter"},
		{Name: ruleParse, Severity: okf.Error, About: "a file cannot be read: its frontmatter is not closed, not YAML, not a mapping, or it is not text"},
		{Name: ruleRequired, Severity: okf.Error, About: "a canon document lacks one of the eight required keys"},
		{Name: ruleEnum, Severity: okf.Error, About: "a key such as audience or status has a value outside its vocabulary"},
		{Name: ruleType, Severity: okf.Error, About: "a key has a value of the wrong type or form, such as a number in quotes, or a date in words"},
		{Name: ruleContrary, Severity: okf.Error, About: "a document says public: false and exposure: public"},
		{Name: ruleDuplicate, Severity: okf.Error, About: "two files have one uri"},
		{Name: ruleCircular, Severity: okf.Error, About: "documents replace (supersede) each other in a circle"},
		{Name: ruleDead, Severity: okf.Error, About: "a link or path to a document of this folder leads nowhere"},
		{Name: ruleInvalid, Severity: okf.Error, About: "a reference leaves the folder, or has characters that no name has"},
		{Name: ruleByPath, Severity: okf.Warn, About: "a reference fits a document's path, but the document has another uri"},
		{Name: ruleAnchor, Severity: okf.Error, About: "a link names a heading that the document does not have"},
		{Name: ruleLoose, Severity: okf.Warn, About: "a link names only the beginning of a heading"},
		{Name: ruleAllow, Severity: okf.Error, About: "an audit-allow comment names no rule, or gives no reason"},
		{Name: ruleUnused, Severity: okf.Warn, About: "an audit-allow comment is not needed: the next link does not break its rule"},
	}
}

// Location is a place in a file: Path from the top of the folder, Line from 1.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// Finding is one thing that is wrong. Occurrence is the text it is about.
type Finding struct {
	RuleID     string       `json:"rule_id"`
	Severity   okf.Severity `json:"severity"`
	Location   Location     `json:"location"`
	Occurrence string       `json:"occurrence"`
	Message    string       `json:"message"`
}

// Tally counts the references that were followed, by result.
type Tally struct {
	Found       int `json:"found"`
	External    int `json:"external"`
	Placeholder int `json:"placeholder"`
	Prose       int `json:"prose"`
	Dead        int `json:"dead"`
	Allowed     int `json:"allowed"` // findings that a comment allowed
}

// Report is the result of a check, in order of path and line. Status is OK, or FINDINGS if
// there is an error.
type Report struct {
	Status     string    `json:"status"`
	Scanned    int       `json:"scanned"`   // markdown files
	Documents  int       `json:"documents"` // those that are canon
	Errors     int       `json:"errors"`
	Warnings   int       `json:"warnings"`
	References Tally     `json:"references"`
	Findings   []Finding `json:"findings"`
}

// checker checks the pages one by one; at is the current one.
type checker struct {
	lib   *Library
	at    *page
	found []Finding
	tally Tally
}

// Check checks the profile and the references of every document. It reports every file that
// cannot be read, because such a file might be a document.
func (l *Library) Check() Report {
	c := checker{lib: l}
	r := Report{Status: "OK", Scanned: len(l.pages)}
	for _, p := range l.pages {
		c.at = p
		if p.document {
			r.Documents++
		}
		switch {
		case p.err != nil:
			c.add(ruleParse, p.err.Line, "", "%s", strings.Join(slices.DeleteFunc([]string{p.err.Message, p.err.Hint}, func(s string) bool { return s == "" }), "; "))
		case p.document:
			c.checkProfile(p)
			c.checkDuplicates(p)
			c.checkReferences(p)
		}
	}
	c.checkCircles()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Location.Path, b.Location.Path), cmp.Compare(a.Location.Line, b.Location.Line))
	})
	r.Findings, r.References = c.found, c.tally
	for _, f := range r.Findings {
		if f.Severity == okf.Error {
			r.Errors++
			r.Status = "FINDINGS"
		} else {
			r.Warnings++
		}
	}
	return r
}

// Strict returns the report with every warning raised to an error.
func (r Report) Strict() Report {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		r.Findings[i].Severity = okf.Error
	}
	r.Errors, r.Warnings = len(r.Findings), 0
	if r.Errors > 0 {
		r.Status = "FINDINGS"
	}
	return r
}

func (c *checker) add(rule string, line int, occurrence, format string, args ...any) {
	all := Rules()
	i := slices.IndexFunc(all, func(r okf.Code) bool { return r.Name == rule })
	c.found = append(c.found, Finding{
		RuleID: rule, Severity: all[i].Severity, Location: Location{c.at.path, line},
		Occurrence: okf.Visible(occurrence), Message: okf.Visible(fmt.Sprintf(format, args...)),
	})
}

// checkDuplicates reports a uri at every file that has it.
func (c *checker) checkDuplicates(p *page) {
	for _, other := range c.lib.byURI[p.atom.URI] {
		if p.atom.URI != "" && other != p {
			c.add(ruleDuplicate, p.atom.Line("uri"), p.atom.URI, "uri %s is also at %s:%d; a uri is given once", p.atom.URI, other.path, other.atom.Line("uri"))
			return
		}
	}
}

// checkReferences checks the references of a document: its keys, then its text.
func (c *checker) checkReferences(p *page) {
	for _, r := range p.relatedReferences() {
		c.checkReference(r)
	}
	text, allows := maskCode(p)
	c.checkAllowed(textReferences(p, text), allows)
}

// checkAllowed checks the references of a text. A comment applies to the next reference and
// to its repetitions on the same line.
func (c *checker) checkAllowed(refs []ref, allows []allowComment) {
	for i := 0; i < len(refs); {
		var now []allowComment
		for len(allows) > 0 && allows[0].at < refs[i].at {
			now, allows = append(now, allows[0]), allows[1:]
		}
		before := len(c.found)
		first := refs[i]
		for ; i < len(refs) && (refs[i] == first || len(now) > 0 && refs[i].line == first.line && refs[i].text == first.text); i++ {
			c.checkReference(refs[i])
		}
		c.applyComments(now, before)
	}
	c.applyComments(allows, len(c.found))
}

// applyComments removes the findings since before that comments allow, and reports the
// comments that allow nothing.
func (c *checker) applyComments(allows []allowComment, before int) {
	for _, a := range allows {
		known := slices.ContainsFunc(Rules(), func(r okf.Code) bool { return r.Name == a.rule })
		if !known || a.reason == "" {
			c.add(ruleAllow, a.line, a.rule, `write it as <!-- audit-allow: RULE reason="WHY" -->, with a rule such as %s and a reason`, ruleDead)
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(c.found[before:]), func(f Finding) bool { return f.RuleID == a.rule })
		if n := len(c.found) - before - len(kept); n > 0 {
			c.tally.Allowed += n
			c.found = append(c.found[:before], kept...)
			continue
		}
		c.add(ruleUnused, a.line, a.rule, "the next link does not break %s; take the comment out", a.rule)
	}
}

func (c *checker) checkReference(r ref) {
	state, t := c.lib.resolveRef(c.at, r)
	switch {
	case state == RefPattern:
		c.tally.Placeholder++
	case state == RefProse:
		c.tally.Prose++
	case state == RefExternal:
		c.tally.External++
	case state == RefFound:
		c.tally.Found++
		c.checkFound(r, t)
	case t.Outcome == Invalid:
		c.tally.Dead++
		c.add(ruleInvalid, r.line, r.text, "%s%s: %s", r.keyPrefix(), r.text, t.Message)
	default:
		c.tally.Dead++
		c.reportDead(r)
	}
}

// checkFound reports a found reference that uses the path instead of the uri, or an anchor
// that does not fit.
func (c *checker) checkFound(r ref, t Trail) {
	if uri := okf.Authority(r.text) != ""; uri && t.by != "index" && t.page != nil && t.page.atom.URI != "" && t.by != "stem" {
		c.add(ruleByPath, r.line, r.text, "%s%s is the path of %s, whose uri is %s", r.keyPrefix(), r.text, t.Path, t.page.atom.URI)
	}
	_, slug, _ := strings.Cut(r.text, "#")
	switch t.Anchor {
	case AnchorDead:
		c.add(ruleAnchor, r.line, r.text, "%s%s: %s has no heading #%s", r.keyPrefix(), r.text, t.Path, slug)
	case AnchorLoose:
		c.add(ruleLoose, r.line, r.text, "%s%s: the heading is %s", r.keyPrefix(), r.text, t.Steps[len(t.Steps)-1].Found)
	}
}

// reportDead reports a reference that leads nowhere. It is only a warning for a bare word,
// which may be a phrase, and for a path without ".md", which may be a route of a site.
func (c *checker) reportDead(r ref) {
	name, _, _ := strings.Cut(r.text, "#")
	near := ""
	if p := c.lib.byID[strings.TrimSuffix(path.Base(name), ".md")]; p != nil {
		near = "; did you mean " + p.displayName() + "?"
	}
	c.add(ruleDead, r.line, r.text, "%s%s leads nowhere%s", r.keyPrefix(), r.text, near)
	if okf.Authority(name) == "" && !strings.HasSuffix(name, ".md") && (r.key == "" || !strings.Contains(name, "/")) {
		c.found[len(c.found)-1].Severity = okf.Warn
	}
}

// keyPrefix returns the key of a reference as the beginning of a message.
func (r ref) keyPrefix() string {
	if r.key == "" {
		return ""
	}
	return r.key + ": "
}

// checkProfile checks one document for the keys of canon.
func (c *checker) checkProfile(p *page) {
	if !p.block {
		c.add(ruleBlock, 1, "", "canon document without frontmatter; begin it with a block of %s", strings.Join(okf.CanonKeyNames(), ", "))
		return
	}
	for _, f := range okf.CanonFaults(&p.atom) {
		c.add("frontmatter-"+strings.TrimPrefix(f.Code, "odd-canon-"), f.Line, f.Found, "%s", f.Message)
	}
}
