package contract

import "github.com/odd-cli/odd/okf"

// Profile is a persona profile: an atom of type persona, or the first yaml
// block that names "persona:" in the body of a voice canon.
type Profile struct {
	Name            string                  `json:"persona"`
	Version         int                     `json:"version"`
	ID              okf.ID                  `json:"id"` // of the atom
	Path            string                  `json:"path"`
	Blob            string                  `json:"blob"`
	URI             string                  `json:"uri,omitempty"`
	SystemPromptURI string                  `json:"system_prompt_uri,omitempty"`
	Roles           []Role                  `json:"roles,omitempty"`
	Custom          *Custom                 `json:"custom_role,omitempty"`
	Operational     []string                `json:"operational,omitempty"`   // MCP servers, always on
	TaskRelevant    []string                `json:"task_relevant,omitempty"` // MCP servers that may be asked for
	KnowledgeBases  []string                `json:"knowledge_bases,omitempty"`
	Surfaces        map[Surface]SurfaceRule `json:"surface_profiles,omitempty"`
	BrandDiscipline string                  `json:"brand_discipline,omitempty"`
	Inheritance     []string                `json:"inheritance,omitempty"`
	Retraction      []string                `json:"retraction_conditions,omitempty"`
	Glyphs          Glyphs                  `json:"glyphs,omitzero"`
	SupersededBy    string                  `json:"superseded_by,omitempty"` // name@version that took its place
}

// Glyphs are the marks a persona may use, by set; package surface knows the
// standard ones. A profile may name its own.
type Glyphs struct {
	Signature []string            `json:"signature,omitempty"`
	Palettes  map[string][]string `json:"palettes,omitempty"` // name → glyphs; two palettes never meet on one surface
}

// Custom composes a role of its own: whose tools, whose freshness, whose
// deliverable, and the mode it is bound to ("" for none).
type Custom struct {
	Name        string `json:"name"`
	Tools       Role   `json:"tools"`
	Freshness   Role   `json:"freshness"`
	Deliverable Role   `json:"deliverable"`
	Mode        Mode   `json:"mode,omitempty"`
}

// Roster is every profile of a bundle, each version of each name.
type Roster struct {
	Profiles []*Profile
	Problems []okf.Problem // profiles that cannot be read; they are in no list
}
