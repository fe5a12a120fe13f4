package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Check returns everything that is wrong with the profiles of a bundle: what LoadRoster
// found, and every missing document or heading that a profile names. A uri of another
// authority belongs to another repository and is never dead. An anchor that is only the
// beginning of a heading's is a warning: "#brand-guide" for the heading "Brand Guide —
// Emoji".
func Check(g *okf.Graph, r Roster) []okf.Problem {
	out := slices.Clone(r.Problems)
	for _, p := range r.Profiles {
		c := refChecker{g: g, p: p}
		c.checkDocument("system_prompt_uri", p.SystemPromptURI)
		c.checkDocument("brand_discipline", p.BrandDiscipline)
		for _, s := range sortedKeys(p.Surfaces) {
			c.checkSchema(p.Surfaces[s].OutputSchema)
		}
		for _, ref := range p.Inheritance {
			if _, err := r.Find(ref); err != nil {
				c.checkDocument("inheritance", ref)
			}
		}
		for _, ref := range p.Retraction {
			if strings.Contains(ref, "://") {
				c.checkDocument("retraction_conditions", ref)
			}
		}
		out = append(out, c.found...)
	}
	slices.SortStableFunc(out, func(a, b okf.Problem) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(out)
}

// refChecker checks the references of one profile.
type refChecker struct {
	g     *okf.Graph
	p     *Profile
	found []okf.Problem
}

func (c *refChecker) add(sev okf.Severity, code, key, hint, text string) {
	c.found = append(c.found, okf.Problem{Code: code, Severity: sev, Path: c.p.Path, Line: c.keyLine(key), Message: key + ": " + text, Hint: hint})
}

// keyLine returns the line on which the profile sets a key, or else the first line of the
// profile: an inherited value has no line here.
func (c *refChecker) keyLine(key string) int {
	a := c.g.ByID(c.p.ID)
	if a == nil {
		return c.p.Line
	}
	from := c.p.Line
	for i, text := range strings.Split(string(a.Bytes()), "\n") {
		word, _, colon := strings.Cut(strings.TrimLeft(text, " -{"), ":")
		if w := foldName(strings.TrimSpace(word)); i+1 >= min(from, 2) && colon && (w == foldName(key) || w == foldName(key+"_uri")) {
			return i + 1
		}
	}
	return from
}

// checkSchema checks that a role of the profile can answer in the schema.
func (c *refChecker) checkSchema(schema string) {
	why := ""
	for _, row := range Roles() {
		if len(c.p.Roles) > 0 && !slices.Contains(c.p.Roles, row.Role) {
			continue
		}
		if why = whyUnmet(schema, row); why == "" {
			return
		}
	}
	if len(c.p.Roles) != 1 {
		why = "a session can only answer in " + joinOr(deliver.Schemas())
	}
	c.add(okf.Error, codeSchema, "output_schema", "take output_schema out", schema+" cannot be met: "+why)
}

// checkDocument checks a reference, and its anchor among the headings of the document.
func (c *refChecker) checkDocument(key, ref string) {
	if ref == "" {
		return
	}
	base, anchor, _ := strings.Cut(ref, "#")
	a := c.g.Target(base, c.p.Path)
	switch {
	case a == nil && c.g.External(base):
		return
	case a == nil:
		c.add(okf.Error, codeRef, key, "write the document, or mend the reference", ref+" leads to no atom")
		return
	case anchor == "":
		return
	}
	var close string
	for _, h := range a.Headings() {
		if h.Slug == anchor {
			return
		}
		if strings.HasPrefix(h.Slug, anchor+"-") {
			close = h.Slug
		}
	}
	if close != "" {
		c.add(okf.Warn, codeAnchor, key, "write #"+close, a.Path+" has no heading #"+anchor+", only one that begins so")
		return
	}
	c.add(okf.Error, codeAnchor, key, "name a heading that is there", a.Path+" has no heading #"+anchor)
}

// Codes lists every finding that LoadRoster and Check can make.
func Codes() []okf.Code {
	return []okf.Code{
		{Name: codeProfile, Severity: okf.Error, About: "a profile cannot be read; an atom of type persona without one is only a note"},
		{Name: codeOld, Severity: okf.Warn, About: "a profile uses an old spelling of a key or value"},
		{Name: codeKey, Severity: okf.Warn, About: "a key looks like a misspelled key of a profile"},
		{Name: codeSchema, Severity: okf.Error, About: "a profile asks for output in a schema that a session cannot answer in"},
		{Name: codeSurface, Severity: okf.Warn, About: "a profile has settings for a surface that odd does not know; odd leaves them out"},
		{Name: codeRef, Severity: okf.Error, About: "a profile names a document that is not in the bundle"},
		{Name: codeAnchor, Severity: okf.Error, About: "a profile names a heading that does not exist; one that only begins so is a warning"},
	}
}
