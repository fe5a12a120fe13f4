package contract

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Roster is every profile of a bundle, each version of each name.
type Roster struct {
	Profiles []*Profile    // by name, then version
	Problems []okf.Problem // an error keeps its profile out of Profiles; a warning does not

	broken []unreadable
}

// unreadable is an existing profile that cannot be used. Its name and version may be known.
type unreadable struct {
	name    string
	version int
	id      okf.ID
	uri     string
	problem okf.Problem
}

// LoadRoster reads every profile of a bundle. A profile is in the front matter of an atom
// of type persona or of canon that has the key persona. Otherwise it is in the first yaml
// block of such an atom's body if that has "persona:", and in canon also "version:"; other
// blocks are examples. No other type can have a profile, because agents may propose other
// types and must not define agents.
func LoadRoster(g *okf.Graph) Roster {
	var r Roster
	for _, a := range g.OfType(isCarrier) {
		d, src, found := findSource(a)
		if !found {
			r.Problems = append(r.Problems, d.found...)
			continue
		}
		p := d.readProfile(src)
		d.checkIdentity(p, a)
		r.addProfile(p, d)
	}
	r.dropDuplicates()
	slices.SortFunc(r.Profiles, func(a, b *Profile) int {
		return cmp.Or(cmp.Compare(foldName(a.Name), foldName(b.Name)), cmp.Compare(a.Version, b.Version))
	})
	r.setStandings(g)
	r.applyInheritance(g)
	slices.SortStableFunc(r.Problems, func(a, b okf.Problem) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
	return r
}

// isCarrier reports the types that may have a profile: those that only people write.
func isCarrier(typ string) bool {
	return slices.Contains([]string{"persona", "canon", "constraint", "principle", "method", "definition"}, strings.ToLower(strings.TrimSpace(typ)))
}

// findSource finds the text of an atom's profile. An atom of type persona without one gets
// a problem; one of canon does not.
func findSource(a *okf.Atom) (d *decoder, src []byte, found bool) {
	d = &decoder{path: a.Path, first: 1}
	front := isFrontProfile(a)
	block, inBody := profileBlock(a)
	if !strings.EqualFold(a.Type, "persona") && !regexp.MustCompile(`(?m)^version[ \t]*:`).MatchString(block.Text) {
		inBody = false // an example
	}
	switch {
	case front && inBody:
		d.add(okf.Error, codeProfile, block.Line, "keep one of them", "the profile is in the frontmatter and in the body")
		return d, nil, false
	case front:
		text := a.Bytes()[:len(a.Bytes())-len(a.Body())]
		_, text, _ = bytes.Cut(text, []byte("\n"))
		d.first = 2
		return d, text[:bytes.LastIndex(text, []byte("---"))], true
	case inBody:
		d.first, d.strict = block.Line+1, true
		if block.Open {
			d.add(okf.Error, codeProfile, block.Line, "end it with a line of its backticks", "the yaml block of the profile is never closed")
		}
		return d, []byte(block.Text), true
	case strings.EqualFold(a.Type, "persona"):
		d.add(okf.Info, codeProfile, 1, "add persona: NAME and version: 1", "an atom of type persona without a profile")
	}
	return d, nil, false
}

// isFrontProfile reports whether an atom's front matter is a profile. In canon the key
// persona alone may mean something else, so one more key of a profile is required.
func isFrontProfile(a *okf.Atom) bool {
	if a.Bytes() == nil {
		return false
	}
	_, named := a.Field("persona")
	if strings.EqualFold(a.Type, "persona") {
		_, versioned := a.Field("version")
		return named || versioned
	}
	return named && slices.ContainsFunc([]string{"system_prompt_uri", "mcp_servers", "surface_profiles", "knowledge_bases", "role_default"}, func(k string) bool {
		_, ok := a.Field(k)
		return ok
	})
}

// profileBlock returns the first fenced block of YAML, if it has "persona:" in its first
// column.
func profileBlock(a *okf.Atom) (block okf.CodeBlock, found bool) {
	if !bytes.Contains(a.Body(), []byte("persona")) {
		return block, false
	}
	for _, b := range a.CodeBlocks() {
		if kind, _, _ := strings.Cut(strings.ToLower(b.Info), " "); kind == "yaml" || kind == "yml" {
			return b, regexp.MustCompile(`(?m)^persona[ \t]*:`).MatchString(b.Text)
		}
	}
	return block, false
}

// checkIdentity checks the profile against its atom: the uri, and the name and version in
// the uri.
func (d *decoder) checkIdentity(p *Profile, a *okf.Atom) {
	p.ID, p.Blob = a.ID, a.Blob
	switch {
	case p.URI == "":
		p.URI = a.URI
	case a.URI != "" && p.URI != a.URI:
		d.add(okf.Error, codeProfile, p.Line, "keep the file's", "the profile says uri %s, its file %s", p.URI, a.URI)
	}
	if p.URI == "" || p.Name == "" || p.Version == 0 {
		return
	}
	last := path.Base(strings.TrimRight(strings.SplitN(p.URI, "#", 2)[0], "/"))
	rest, ok := strings.CutPrefix(foldName(last), foldName(p.Name))
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], "-@.") {
		d.add(okf.Error, codeProfile, p.Line, "name the persona as its uri ends, or mend the uri", "persona %s contradicts its uri %s", p.Name, p.URI)
		return
	}
	m := regexp.MustCompile(`^[-@.]v?([0-9]+)$`).FindStringSubmatch(rest)
	if m != nil && m[1] != strconv.Itoa(p.Version) && (rest[0] == '@' || rest[1] == 'v') {
		d.add(okf.Error, codeProfile, p.Line, "write the version its uri ends in, or mend the uri", "version %d contradicts the uri %s", p.Version, p.URI)
	}
}

// addProfile adds a profile, or records that it cannot be read.
func (r *Roster) addProfile(p *Profile, d *decoder) {
	r.Problems = append(r.Problems, d.found...)
	if d.hasFailed() {
		first := d.found[slices.IndexFunc(d.found, func(p okf.Problem) bool { return p.Severity == okf.Error })]
		r.broken = append(r.broken, unreadable{p.Name, p.Version, p.ID, p.URI, first})
		return
	}
	r.Profiles = append(r.Profiles, p)
}

// dropProfiles removes profiles from the list, each with its problem.
func (r *Roster) dropProfiles(bad map[*Profile]okf.Problem) {
	for _, p := range r.Profiles {
		if problem, ok := bad[p]; ok {
			r.Problems = append(r.Problems, problem)
			r.broken = append(r.broken, unreadable{p.Name, p.Version, p.ID, p.URI, problem})
		}
	}
	r.Profiles = slices.DeleteFunc(r.Profiles, func(p *Profile) bool { _, ok := bad[p]; return ok })
}

func problemOf(p *Profile, hint, format string, args ...any) okf.Problem {
	return okf.Problem{Code: codeProfile, Severity: okf.Error, Path: p.Path, Line: p.Line, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// dropDuplicates removes every profile with the name and version of another.
func (r *Roster) dropDuplicates() {
	bad := map[*Profile]okf.Problem{}
	for i, p := range r.Profiles {
		for j, q := range r.Profiles {
			if i != j && foldName(p.Name) == foldName(q.Name) && p.Version == q.Version {
				bad[p] = problemOf(p, "give one of them another version", "%s is also at %s:%d", p.Ref(), q.Path, q.Line)
			}
		}
	}
	r.dropProfiles(bad)
}

// Ref returns the profile's name and version: "oddie@2".
func (p *Profile) Ref() string { return fmt.Sprintf("%s@%d", p.Name, p.Version) }

func (r *Roster) applyInheritance(g *okf.Graph) {
	bad, done := map[*Profile]okf.Problem{}, map[*Profile]bool{}
	for _, p := range r.Profiles {
		r.completeProfile(g, p, nil, done, bad)
	}
	r.dropProfiles(bad)
}

// completeProfile completes p from what it inherits; way led to it.
func (r *Roster) completeProfile(g *okf.Graph, p *Profile, way []*Profile, done map[*Profile]bool, bad map[*Profile]okf.Problem) {
	if i := slices.Index(way, p); i >= 0 {
		circle := append(slices.Clone(way[i:]), p)
		for _, q := range circle {
			bad[q] = problemOf(q, "break the circle", "circle of inheritance: %s", strings.Join(mapSlice(circle, (*Profile).Ref), " → "))
		}
		return
	}
	if done[p] {
		return
	}
	for _, ref := range p.Inheritance {
		parent, err := r.findParent(g, p, ref)
		if err != nil {
			bad[p] = problemOf(p, "", "inherits %s: %v", ref, err)
			continue
		}
		if parent == nil {
			continue // a document that governs it
		}
		r.completeProfile(g, parent, append(slices.Clip(way), p), done, bad)
		if b, ok := bad[parent]; ok && bad[p].Code == "" {
			bad[p] = problemOf(p, "", "inherits %s, which cannot be read: %v", ref, b)
		}
		p.inheritFrom(parent)
	}
	done[p] = true
}

// findParent returns the profile that an inheritance entry names; nil if it names a
// document or something of another authority.
func (r *Roster) findParent(g *okf.Graph, p *Profile, ref string) (*Profile, error) {
	found, err := r.Find(ref)
	if no, ok := err.(*NoProfile); ok && no.Code != "unknown-persona" {
		return nil, err
	}
	if err == nil {
		return found, nil
	}
	if a := g.Target(ref, p.Path); a != nil {
		if q := r.carriedBy(a.ID); q != nil {
			return q, nil
		}
		if u, ok := r.findBroken(string(a.ID), "", 0); ok {
			return nil, u.problem
		}
	}
	if name, version := splitRef(ref); version > 0 && !strings.Contains(name, "/") {
		return nil, err
	}
	return nil, nil
}

// inheritFrom takes from parent what p does not set.
func (p *Profile) inheritFrom(parent *Profile) {
	for s, t := range parent.Surfaces {
		if p.Surfaces == nil {
			p.Surfaces = map[Surface]Settings{}
		}
		p.Surfaces[s] = p.Surfaces[s].orElse(t)
	}
	if p.KnowledgeBases == nil {
		p.KnowledgeBases = slices.Clone(parent.KnowledgeBases)
	}
	if !p.brandSet {
		p.BrandDiscipline, p.brandSet = parent.BrandDiscipline, parent.brandSet
	}
	if p.Glyphs.Signature == nil {
		p.Glyphs.Signature = slices.Clone(parent.Glyphs.Signature)
	}
	if p.Glyphs.Palettes == nil {
		p.Glyphs.Palettes = parent.Glyphs.Palettes
	}
}
