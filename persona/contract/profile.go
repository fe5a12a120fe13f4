package contract

import (
	"cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Profile is a persona profile: an atom of type persona, or the first yaml block in the
// body of a canon document with "persona:" and "version:". Inheritance is applied already:
// settings of surfaces, knowledge bases, brand discipline and glyphs that a profile does
// not set come from the inherited profiles. Roles, servers and the prompt are never
// inherited, so no right arrives unseen.
type Profile struct {
	Name            string               `json:"persona"`
	Version         int                  `json:"version"`
	ID              okf.ID               `json:"id"` // of the atom
	Path            string               `json:"path"`
	Line            int                  `json:"line"` // where the profile starts in it
	Blob            string               `json:"blob"`
	URI             string               `json:"uri,omitempty"`
	SystemPromptURI string               `json:"system_prompt_uri,omitempty"`
	Roles           []Role               `json:"roles,omitempty"` // what it may be; none is any role
	Custom          *Custom              `json:"custom_role,omitempty"`
	Operational     []string             `json:"operational,omitempty"`   // MCP servers, always on
	TaskRelevant    []string             `json:"task_relevant,omitempty"` // MCP servers that may be asked for
	KnowledgeBases  []string             `json:"knowledge_bases,omitempty"`
	Surfaces        map[Surface]Settings `json:"surface_profiles,omitempty"`
	BrandDiscipline string               `json:"brand_discipline,omitempty"`
	Inheritance     []string             `json:"inheritance,omitempty"` // profiles it takes from, and documents that govern it
	Retraction      []string             `json:"retraction_conditions,omitempty"`
	Glyphs          Glyphs               `json:"glyphs,omitzero"`
	Standing        Standing             `json:"standing"`
	SupersededBy    string               `json:"superseded_by,omitempty"` // name@version that took its place, or an atom's id

	brandSet bool // brand_discipline is written, though it may be null
}

// Standing says whether a profile is in force.
type Standing string

// The standings. A name without a version means the highest version in force; one of
// another standing only if none is in force.
const (
	InForce    Standing = "in force"
	Draft      Standing = "draft"
	Deprecated Standing = "deprecated"
	Superseded Standing = "superseded"
)

// Settings is what a profile sets for one surface. A nil or zero member sets nothing; any
// other replaces the table's value, whether wider or tighter.
type Settings struct {
	Density       string `json:"density,omitempty"`                   // high, medium, low or variable
	MaxTokens     int    `json:"max_tokens_per_emission,omitempty"`   // estimated
	MaxEmissions  int    `json:"max_emissions_per_session,omitempty"` //
	Structured    *bool  `json:"structured,omitempty"`                // structured_output: required and mixed are true, narrative is false
	Narrative     *bool  `json:"narrative,omitempty"`                 //
	Bidirectional *bool  `json:"bidirectional,omitempty"`             //
	OutputSchema  string `json:"output_schema,omitempty"`             // only the schema of what the role delivers can be met
}

func (s Settings) applyTo(r SurfaceRule) SurfaceRule {
	r.Density = cmp.Or(s.Density, r.Density)
	r.MaxTokens = cmp.Or(s.MaxTokens, r.MaxTokens)
	r.MaxEmissions = cmp.Or(s.MaxEmissions, r.MaxEmissions)
	for _, f := range []struct {
		from *bool
		to   *bool
	}{{s.Structured, &r.Structured}, {s.Narrative, &r.Narrative}, {s.Bidirectional, &r.Bidirectional}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	return r
}

// orElse returns s, completed from t.
func (s Settings) orElse(t Settings) Settings {
	s.Density = cmp.Or(s.Density, t.Density)
	s.MaxTokens = cmp.Or(s.MaxTokens, t.MaxTokens)
	s.MaxEmissions = cmp.Or(s.MaxEmissions, t.MaxEmissions)
	s.OutputSchema = cmp.Or(s.OutputSchema, t.OutputSchema)
	s.Structured = cmp.Or(s.Structured, t.Structured)
	s.Narrative = cmp.Or(s.Narrative, t.Narrative)
	s.Bidirectional = cmp.Or(s.Bidirectional, t.Bidirectional)
	return s
}

// Glyphs are the glyphs that a persona may use, by set. Package surface knows the standard
// sets, and a profile may add its own.
type Glyphs struct {
	Signature []string            `json:"signature,omitempty"`
	Palettes  map[string][]string `json:"palettes,omitempty"` // name → glyphs; two palettes never meet on one surface
}

// Custom composes a role: whose tools, freshness and deliverable it takes, and the mode
// that it is bound to ("" for none). The mode still forbids what it forbids: a builder's
// tools change nothing in exploration, and a session in validation has a fresh context. A
// role that delivers findings changes nothing either, whosever tools it has.
type Custom struct {
	Name        string `json:"name"`
	Tools       Role   `json:"tools"`
	Freshness   Role   `json:"freshness"`
	Deliverable Role   `json:"deliverable"`
	Mode        Mode   `json:"mode,omitempty"`
}

// asRow returns the custom role as a row of the table of roles. What it reads and needs
// follows from its mode.
func (c Custom) asRow() RoleRow {
	tools, _ := roleRow(c.Tools)
	fresh, _ := roleRow(c.Freshness)
	deliverable, _ := roleRow(c.Deliverable)
	row := RoleRow{
		Role: Role(c.Name), Mode: c.Mode, Mutates: tools.Mutates, Freshness: fresh.Freshness, Schema: deliverable.Schema, Next: deliverable.Next,
		Surface: Conversational,
	}
	row.Mutates = row.Mutates && row.Schema != deliver.SchemaFindings
	if m, ok := modeRow(c.Mode); ok {
		bound, _ := roleRow(m.Role)
		if bound.Freshness == FreshStrict {
			row.Freshness = FreshStrict
		}
		row.Reads, row.Needs, row.NeedsArtifact, row.Surface = bound.Reads, bound.Needs, bound.NeedsArtifact, bound.Surface
		if row.Mutates {
			row.Bound = bound.Bound
		}
	}
	return row
}

// SurfacesOf lists the surfaces a profile has settings for, in order of name.
func SurfacesOf(p *Profile) []Surface { return sortedKeys(p.Surfaces) }
