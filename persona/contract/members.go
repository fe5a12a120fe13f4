package contract

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/odd-cli/odd/okf"
)

// readRoles reads the roles of a profile. The retired role detection-only means both roles
// that it stood for.
func (d *decoder) readRoles(v *yaml.Node, name string) []Role {
	var out []Role
	for _, word := range d.readList(v, name) {
		r, err := ParseRole(word)
		switch {
		case err != nil:
			d.addError(v, wayOf(err), "%s: unknown role %q", name, word)
		case r == DetectionOnly:
			d.add(okf.Warn, codeOld, d.lineOf(v), "write role: [validator, observer], or one of them", "the role detection-only is deprecated")
			out = append(out, Validator, Observer)
		default:
			out = append(out, r)
		}
	}
	return out
}

// readCustom reads a role that the profile composes. Tools, freshness and deliverable
// default to those of general: all tools, no promise, no deliverable.
func (d *decoder) readCustom(v *yaml.Node) *Custom {
	c := Custom{Tools: General, Freshness: General, Deliverable: General}
	role := func(name string, to *Role) member {
		return member{name, func(v *yaml.Node) {
			word := d.readText(v, "custom_role."+name)
			r, err := ParseRole(word)
			if err != nil || r == DetectionOnly {
				if word != "" {
					d.addError(v, "want one of "+roleNames(Roles()), "custom_role.%s: unknown role %q", name, word)
				}
				return
			}
			*to = r
		}}
	}
	d.readMapping("custom_role", v, true, []member{
		{"name", func(v *yaml.Node) { c.Name = d.readName(v) }},
		role("tools", &c.Tools), role("freshness", &c.Freshness), role("deliverable", &c.Deliverable),
		{"mode", func(v *yaml.Node) {
			word := d.readText(v, "custom_role.mode")
			if word == "" || foldName(word) == "none" {
				return
			}
			m, err := parseMode(word)
			if err != nil {
				d.addError(v, wayOf(err), "custom_role.mode: unknown mode %q", word)
			}
			c.Mode = m
		}},
	})
	if c.Name == "" {
		if !d.hasFailed() {
			d.addError(v, "add name: drafting, or whatever it is called", "custom_role has no name")
		}
		return nil
	}
	if _, err := ParseRole(c.Name); err == nil {
		d.addError(v, "give it another name", "custom_role: %s is a role of canon", c.Name)
		return nil
	}
	return &c
}

func roleNames(rows []RoleRow) string {
	return strings.Join(mapSlice(rows, func(r RoleRow) string { return string(r.Role) }), ", ")
}

func (d *decoder) readServers(p *Profile, v *yaml.Node) {
	d.readMapping("mcp_servers", v, true, []member{
		{"operational", func(v *yaml.Node) { p.Operational = d.readList(v, "mcp_servers.operational") }},
		{"task_relevant", func(v *yaml.Node) { p.TaskRelevant = d.readList(v, "mcp_servers.task_relevant") }},
	})
}

func (d *decoder) readGlyphs(v *yaml.Node) Glyphs {
	var g Glyphs
	d.glyph = true
	defer func() { d.glyph = false }()
	d.readMapping("glyphs", v, true, []member{
		{"signature", func(v *yaml.Node) { g.Signature = d.readList(v, "glyphs.signature") }},
		{"palettes", func(v *yaml.Node) {
			if v.Kind != yaml.MappingNode {
				d.addError(v, "write palettes: {river: [🌊]}", "glyphs.palettes is not a mapping")
				return
			}
			g.Palettes = map[string][]string{}
			for i := 0; i < len(v.Content); i += 2 {
				k := v.Content[i]
				if _, twice := g.Palettes[k.Value]; twice || k.Kind != yaml.ScalarNode || !okf.ValidID(k.Value) {
					d.addError(k, "keep one of them", "glyphs.palettes: %q is set twice or no name", k.Value)
					continue
				}
				g.Palettes[k.Value] = d.readList(v.Content[i+1], "glyphs.palettes."+k.Value)
			}
		}},
	})
	return g
}

// readSurfaces reads the settings by surface; two spellings of one surface are an error.
func (d *decoder) readSurfaces(v *yaml.Node) map[Surface]Settings {
	if isNull(v) {
		return nil
	}
	if v.Kind != yaml.MappingNode {
		d.addError(v, "write surface_profiles: {audit: {density: medium}}", "surface_profiles is not a mapping")
		return nil
	}
	out := map[Surface]Settings{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		k := v.Content[i]
		s, err := ParseSurface(k.Value)
		if err != nil {
			d.add(okf.Warn, codeSurface, d.lineOf(k), "odd leaves it out; "+wayOf(err), "surface_profiles: unknown surface %q", k.Value)
			continue
		}
		if _, twice := out[s]; twice {
			d.addError(k, "keep one of them", "surface_profiles: %s is set twice", s)
			continue
		}
		out[s] = d.readSettings("surface_profiles."+k.Value, v.Content[i+1])
	}
	return out
}

func (d *decoder) readSettings(where string, v *yaml.Node) Settings {
	var s Settings
	d.readMapping(where, v, true, []member{
		{"density", func(v *yaml.Node) { s.Density = d.readWord(v, where+".density", "high", "medium", "low", "variable") }},
		{"max_tokens_per_emission", func(v *yaml.Node) { s.MaxTokens = d.readPositive(v, where+".max_tokens_per_emission") }},
		{"max_emissions_per_session", func(v *yaml.Node) { s.MaxEmissions = d.readPositive(v, where+".max_emissions_per_session") }},
		{"structured_output", func(v *yaml.Node) { d.readStructured(&s, v, where) }},
		{"narrative", func(v *yaml.Node) { s.Narrative = d.readBool(v, where+".narrative") }},
		{"bidirectional", func(v *yaml.Node) { s.Bidirectional = d.readBool(v, where+".bidirectional") }},
		{"output_schema", func(v *yaml.Node) { s.OutputSchema = d.readText(v, where+".output_schema") }},
	})
	return s
}

// readStructured reads structured_output. "mixed" asks for both: the deliverable must
// parse, and prose may accompany it.
func (d *decoder) readStructured(s *Settings, v *yaml.Node, where string) {
	word := d.readWord(v, where+".structured_output", "required", "narrative", "mixed")
	if word == "" {
		return
	}
	structured, narrative := word != "narrative", word != "required"
	s.Structured = &structured
	if s.Narrative == nil && narrative {
		s.Narrative = &narrative
	}
}

// readWord reads one word of a closed list; "" for null and for an error.
func (d *decoder) readWord(v *yaml.Node, name string, known ...string) string {
	s := d.readText(v, name)
	if s == "" {
		return ""
	}
	w, err := parseName("word", s, known)
	if err != nil {
		d.addError(v, wayOf(err), "%s: unknown word %q", name, s)
	}
	return w
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
