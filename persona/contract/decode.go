package contract

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/odd-cli/odd/okf"
)

// The codes of findings about profiles.
const (
	codeProfile = "odd-persona"            // a profile that cannot be read; it is in no list
	codeOld     = "odd-persona-deprecated" // a spelling that is read and should go
	codeKey     = "odd-persona-key"        // a key of the frontmatter that may be misspelled
	codeSchema  = "odd-persona-schema"     // output that no session can give
	codeSurface = "odd-persona-surface"    // settings of a surface that odd does not know
	codeRef     = "odd-persona-reference"  // a document it names is not there
	codeAnchor  = "odd-persona-anchor"     // a heading it names is not there
)

// decoder reads one profile. found has everything that is wrong with it; an error among
// them excludes the profile.
type decoder struct {
	path   string
	first  int  // the file's line of the text's first line
	strict bool // an unknown key is an error: the text is a profile and nothing else
	glyph  bool // what is read is a glyph, which may be of several characters joined
	found  []okf.Problem
}

func (d *decoder) add(sev okf.Severity, code string, line int, hint, format string, args ...any) {
	d.found = append(d.found, okf.Problem{Code: code, Severity: sev, Path: d.path, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *decoder) addError(n *yaml.Node, hint, format string, args ...any) {
	d.add(okf.Error, codeProfile, d.lineOf(n), hint, format, args...)
}

func (d *decoder) lineOf(n *yaml.Node) int { return d.first + max(n.Line, 1) - 1 }

func (d *decoder) hasFailed() bool {
	return slices.ContainsFunc(d.found, func(p okf.Problem) bool { return p.Severity == okf.Error })
}

// member is a key of a mapping and the function that reads its value.
type member struct {
	name string
	read func(v *yaml.Node)
}

func (d *decoder) readProfile(src []byte) *Profile {
	p := &Profile{Path: d.path, Line: d.first}
	root := d.parseMapping(src)
	if root == nil {
		return p
	}
	var fallback []Role
	seen := d.readMapping("", root, d.strict, append([]member{
		{"persona", func(v *yaml.Node) { p.Name = d.readName(v); p.Line = d.lineOf(v) }},
		{"version", func(v *yaml.Node) { p.Version = d.readPositive(v, "version") }},
		{"uri", func(v *yaml.Node) { p.URI = d.readText(v, "uri") }},
		{"system_prompt_uri", func(v *yaml.Node) { p.SystemPromptURI = d.readText(v, "system_prompt_uri") }},
		{"role", func(v *yaml.Node) { p.Roles = append(p.Roles, d.readRoles(v, "role")...) }},
		{"roles", func(v *yaml.Node) { p.Roles = append(p.Roles, d.readRoles(v, "roles")...) }},
		{"role_default", func(v *yaml.Node) { fallback = d.readRoles(v, "role_default") }},
		{"custom_role", func(v *yaml.Node) { p.Custom = d.readCustom(v) }},
		{"mcp_servers", func(v *yaml.Node) { d.readServers(p, v) }},
		{"knowledge_bases", func(v *yaml.Node) { p.KnowledgeBases = d.readList(v, "knowledge_bases") }},
		{"surface_profiles", func(v *yaml.Node) { p.Surfaces = d.readSurfaces(v) }},
		{"inheritance", func(v *yaml.Node) { p.Inheritance = d.readList(v, "inheritance") }},
		{"retraction_conditions", func(v *yaml.Node) { p.Retraction = d.readSentences(v, "retraction_conditions") }},
		{"glyphs", func(v *yaml.Node) { p.Glyphs = d.readGlyphs(v) }},
	}, d.brandMembers(p)...))
	for _, r := range fallback {
		if !slices.Contains(p.Roles, r) {
			p.Roles = append(p.Roles, r)
		}
	}
	p.Roles = slices.Compact(p.Roles)
	if seen != nil {
		d.checkRequired(p, root)
	}
	return p
}

func (d *decoder) brandMembers(p *Profile) []member {
	read := func(name string) member {
		return member{name, func(v *yaml.Node) {
			if p.brandSet {
				d.addError(v, "keep one of them", "brand_discipline is set twice")
			}
			p.BrandDiscipline, p.brandSet = d.readText(v, name), true
		}}
	}
	return []member{read("brand_discipline"), read("brand_discipline_uri")}
}

func (d *decoder) checkRequired(p *Profile, root *yaml.Node) {
	if p.Name == "" && !d.hasFailed() {
		d.addError(root, "add persona: NAME", "a profile without a name")
	}
	if p.Version == 0 && !d.hasFailed() {
		d.addError(root, "add version: 1", "a profile without a version")
	}
	if c := p.Custom; c != nil && len(p.Roles) > 0 && !slices.Contains(p.Roles, Role(c.Name)) {
		p.Roles = append(p.Roles, Role(c.Name))
	}
}

// parseMapping returns the mapping of a text; nil if it is none.
func (d *decoder) parseMapping(src []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		line, msg := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if one, ok := errors.AsType[*yaml.LoadError](err); ok {
			line, msg = max(one.Mark.Line, 1), strings.TrimPrefix(one.Message, "yaml: ")
		}
		last := bytes.Count(src, []byte("\n")) + 1
		d.add(okf.Error, codeProfile, d.first+min(line, last)-1, "", "the profile is no YAML: %s", msg)
		return nil
	}
	if root := doc.Content; len(root) == 1 && root[0].Kind == yaml.MappingNode {
		return root[0]
	}
	d.add(okf.Error, codeProfile, d.first, `write it as "key: value" lines`, "the profile is not one mapping")
	return nil
}

// readMapping reads the members of a mapping, each at most once; "_" and "-" are the same.
// where is its key, for messages. It returns the keys that were present, or nil if v is no
// mapping; null is an empty mapping. Unknown keys are errors if strict is set, and else
// warnings if they look misspelled.
func (d *decoder) readMapping(where string, v *yaml.Node, strict bool, members []member) map[string]bool {
	seen := map[string]bool{}
	if isNull(v) {
		return seen
	}
	if v.Kind != yaml.MappingNode {
		d.addError(v, "write it as \"key: value\" lines", "%s is not a mapping", where)
		return nil
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		k := v.Content[i]
		at := slices.IndexFunc(members, func(m member) bool { return foldName(m.name) == foldName(k.Value) })
		switch {
		case k.Kind != yaml.ScalarNode:
			d.addError(k, "write keys as \"name: value\"", "a key is not a plain name")
		case at < 0:
			d.reportUnknownKey(where, k, strict, mapSlice(members, func(m member) string { return m.name }))
		case seen[members[at].name]:
			d.addError(k, "keep one of them", "%s is set twice", k.Value)
		default:
			seen[members[at].name] = true
			members[at].read(v.Content[i+1])
		}
	}
	return seen
}

func (d *decoder) reportUnknownKey(where string, k *yaml.Node, strict bool, known []string) {
	hint, close := "want one of "+strings.Join(known, ", "), nearestNames(k.Value, known)
	if len(close) > 0 {
		hint = "did you mean " + joinOr(mapSlice(close, strconv.Quote)) + "?"
	}
	name := k.Value
	if where != "" {
		name = where + "." + name
	}
	switch {
	case strict:
		d.addError(k, hint, "unknown key %q", name)
	case len(close) > 0 && okf.Distance(foldName(k.Value), foldName(close[0])) <= 2:
		d.add(okf.Warn, codeKey, d.lineOf(k), hint, "unknown key %q", name)
	}
}

func isNull(v *yaml.Node) bool { return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" }

// readText reads a text on one line without hidden characters; null is "".
func (d *decoder) readText(v *yaml.Node, name string) string {
	switch {
	case isNull(v):
		return ""
	case v.Kind == yaml.AliasNode:
		d.addError(v, "write the value out", "%s is an alias", name)
	case v.Kind != yaml.ScalarNode:
		d.addError(v, "write one value", "%s is not a text", name)
	case v.ShortTag() != "!!str":
		d.addError(v, "quote it", "%s: %s is not a text", name, v.Value)
	case strings.TrimSpace(v.Value) == "":
		d.addError(v, "write it or leave the key out", "%s is empty", name)
	case d.hasHidden(v.Value):
		d.addError(v, "take them out", "%s has characters nobody can see", name)
	case strings.ContainsAny(strings.TrimSpace(v.Value), "\n\t"):
		d.addError(v, "write it on one line", "%s has a line break or a tab", name)
	default:
		return strings.TrimSpace(v.Value)
	}
	return ""
}

// hasHidden reports hidden characters; in glyphs, joiners are allowed.
func (d *decoder) hasHidden(s string) bool {
	if d.glyph {
		s = strings.ReplaceAll(s, "\u200d", "")
	}
	return okf.Visible(s) != s
}

// readName reads the name of a persona or of a custom role: one part of an id.
func (d *decoder) readName(v *yaml.Node) string {
	s := d.readText(v, "persona")
	if s != "" && (!okf.ValidID(s) || strings.Contains(s, "/")) {
		d.addError(v, "use letters, digits, - and _", "%q is no name", s)
		return ""
	}
	return s
}

// readList reads a list of texts, or one text.
func (d *decoder) readList(v *yaml.Node, name string) []string {
	if v.Kind != yaml.SequenceNode {
		if s := d.readText(v, name); s != "" {
			return []string{s}
		}
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for _, e := range v.Content {
		s := d.readText(e, name)
		switch {
		case s == "" && isNull(e):
			d.addError(e, "write it or take the item out", "%s has an empty item", name)
		case s != "" && !seen[s]:
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// readSentences reads a list of texts that may have several lines.
func (d *decoder) readSentences(v *yaml.Node, name string) []string {
	for _, e := range append([]*yaml.Node{v}, v.Content...) {
		if e.Kind == yaml.ScalarNode {
			e.Value = strings.Join(strings.Fields(e.Value), " ")
		}
	}
	return d.readList(v, name)
}

// readPositive reads a whole number of at least 1 without quotes.
func (d *decoder) readPositive(v *yaml.Node, name string) int {
	n := 0
	switch {
	case v.ShortTag() != "!!int":
		d.addError(v, "write "+name+": 1, without quotes", "%s is not a whole number", name)
	case v.Decode(&n) != nil || n < 1 || n > 1_000_000:
		d.addError(v, "want 1 to 1000000", "%s: %s is out of range", name, v.Value)
		return 0
	}
	return n
}

func (d *decoder) readBool(v *yaml.Node, name string) *bool {
	var b bool
	if v.ShortTag() != "!!bool" || v.Decode(&b) != nil {
		d.addError(v, "write true or false, without quotes", "%s is not a truth value", name)
		return nil
	}
	return &b
}
