package contract

import "github.com/odd-cli/odd/persona/deliver"

// ModeRow is canon's rule for one epistemic mode.
type ModeRow struct {
	Mode        Mode     `json:"mode"`
	Truth       string   `json:"truth_condition"` // a session in this mode is valid if it …
	Obligations []string `json:"obligations"`
	Risk        string   `json:"primary_risk"`
	Role        Role     `json:"role"`      // the one role bound to it
	Tools       []string `json:"tools"`     // reading and drafting tools it may have, besides the session's own
	Forbids     []Class  `json:"forbids"`   // classes of tools it may never have
	Schema      string   `json:"schema"`    // of its deliverable
	Keys        []string `json:"keys"`      // what the deliverable must have
	Emits       []string `json:"emits"`     // kinds of emission, nil for any
	Fresh       bool     `json:"fresh"`     // a session of its own is required, never the one of the mode before
	Reversion   bool     `json:"reversion"` // leaving it for an earlier mode takes a declared reversion
}

// Modes is the table of modes in the order of work. It follows canon's epistemic modes; the
// columns of tools follow the runtime contract.
func Modes() []ModeRow {
	return []ModeRow{
		{
			Mode: Exploration, Role: Explorer, Truth: "reveals something new", Risk: "false closure",
			Obligations: []string{"do not converge", "do not claim decisions", "do not finalise"},
			Tools:       append(lookupTools(), "orient", "challenge", "web-search", "query"), Forbids: []Class{Mutates},
			Schema: deliver.SchemaSynthesis, Keys: []string{"possibilities", "tensions", "unknowns", "frames"},
			Emits: []string{"question", "possibility", "tension", "frame", "synthesis-ledger-entry"},
		},
		{
			Mode: Planning, Role: Planner, Truth: "makes its assumptions visible and challengeable", Risk: "speculative certainty",
			Obligations: []string{"declare what is assumed", "declare what is deferred", "declare what would invalidate it"},
			Tools:       append(lookupTools(), "orient", "challenge", "gate", "encode", "preflight"), Forbids: []Class{Mutates},
			Schema: deliver.SchemaPlan, Keys: []string{"assumptions", "scope_in", "scope_out", "deferred", "would_invalidate"},
		},
		{
			Mode: Execution, Role: Builder, Truth: "produces verifiable outcomes", Risk: "metric laundering", Reversion: true,
			Obligations: []string{"give evidence of completion", "effort is not a result", "state the limits of verification"},
			Tools:       everyTool(), Schema: deliver.SchemaClaims, Keys: []string{"artifact", "does", "does_not", "scope"},
			Emits: []string{"assertion", "reversion", "tool_call_request", "progress"},
		},
		{
			Mode: Validation, Role: Validator, Truth: "grounds its findings in the artifact that was produced", Risk: "scope creep by redesign", Fresh: true, Reversion: true,
			Obligations: []string{"review the whole artifact first", "separate defects from ideas", "give every finding a disposition: fix, pivot or accept"},
			Tools:       append(lookupTools(), "audit", "validate"), Forbids: []Class{Mutates},
			Schema: deliver.SchemaFindings, Keys: []string{"artifact", "findings"},
		},
		{
			Mode: Resolution, Role: Resolver, Truth: "addresses the findings without expanding scope", Risk: "scope creep under cover of repair", Fresh: true, Reversion: true,
			Obligations: []string{"act as each disposition says", "bring no new requirement", "note the remedy of every finding", "hand back to validation"},
			Tools:       everyTool(), Schema: deliver.SchemaRemediation, Keys: []string{"artifact", "remedies"},
		},
	}
}

// RoleRow is canon's rule for one role.
type RoleRow struct {
	Role          Role      `json:"role"`
	Mode          Mode      `json:"mode,omitempty"`
	Mutates       bool      `json:"mutates"`
	Bound         string    `json:"bound,omitempty"` // "plan", "findings" or "": what its mutation may touch
	Freshness     Freshness `json:"freshness"`
	Reads         []Pair    `json:"reads,omitempty"`       // the handoffs it may be given; nil with Needs false is any
	Needs         bool      `json:"needs_handoff"`         // it is downstream: without one of Reads it is refused
	NeedsArtifact bool      `json:"needs_artifact"`        // it is refused without the artifact it judges or mends
	Schema        string    `json:"deliverable,omitempty"` // "" hands over nothing
	Next          Role      `json:"next,omitempty"`
	Surface       Surface   `json:"default_surface"`
	About         string    `json:"about"`
}

// Pair is the two modes of a transition.
type Pair struct {
	From Mode `json:"from"`
	To   Mode `json:"to"`
}

// Freshness is how much of earlier work may reach a session.
type Freshness string

// The kinds of freshness.
const (
	FreshStrict  Freshness = "strict"  // profile, artifact, claims and governance, nothing else
	FreshHandoff Freshness = "handoff" // the handoff it reads, nothing else of the mode before
	FreshLight   Freshness = "light"   // may build on earlier work of its own kind
	FreshNone    Freshness = "none"    // no promise
)

// Roles is the table of roles (canon: the persona-shaped runtime).
func Roles() []RoleRow {
	return []RoleRow{
		{
			Role: Explorer, Mode: Exploration, Freshness: FreshLight, Reads: []Pair{{Exploration, Planning}}, Schema: deliver.SchemaSynthesis, Next: Planner,
			Surface: SynthesisLedger, About: "finds possibilities, tensions and unknowns; decides nothing",
		},
		{
			Role: Planner, Mode: Planning, Freshness: FreshHandoff, Reads: []Pair{{Exploration, Planning}}, Needs: true, Schema: deliver.SchemaPlan, Next: Builder,
			Surface: Conversational, About: "commits to a plan and says what would undo it; builds nothing",
		},
		{
			Role: Builder, Mode: Execution, Mutates: true, Bound: "plan", Freshness: FreshHandoff, Reads: []Pair{{Planning, Execution}}, Needs: true, Schema: deliver.SchemaClaims, Next: Validator,
			Surface: CodeOutput, About: "builds what the plan has in scope, and claims no more than it built",
		},
		{
			Role: Validator, Mode: Validation, Freshness: FreshStrict, Reads: []Pair{{Execution, Validation}, {Resolution, Validation}}, Needs: true, NeedsArtifact: true, Schema: deliver.SchemaFindings, Next: Resolver,
			Surface: Audit, About: "judges the artifact against its claims; changes nothing",
		},
		{
			Role: Resolver, Mode: Resolution, Mutates: true, Bound: "findings", Freshness: FreshHandoff, Reads: []Pair{{Validation, Resolution}}, Needs: true, NeedsArtifact: true, Schema: deliver.SchemaRemediation, Next: Validator,
			Surface: CodeOutput, About: "does what each finding's disposition says, and nothing else",
		},
		{Role: General, Mutates: true, Freshness: FreshNone, Surface: Conversational, About: "the escape hatch, chosen on purpose: no mode, no freshness, no deliverable is promised"},
		{Role: Observer, Freshness: FreshLight, Schema: deliver.SchemaCommentary, Surface: RealTimeStream, About: "comments on what happens elsewhere; hands over to nobody"},
	}
}

// SurfaceRow is canon's rule for one surface.
type SurfaceRow struct {
	SurfaceRule
	Only    Engagement `json:"engagement_only,omitempty"`      // any other is refused
	Prefers Engagement `json:"engagement_preferred,omitempty"` // any other is rare
	Modes   []Mode     `json:"modes,omitempty"`                // what it is made for
	Unbound bool       `json:"unbound,omitempty"`              // made for roles without a mode too
	About   string     `json:"about"`
}

// Surfaces is the table of surfaces. Canon leaves the density of code output, synthesis
// ledger and conversation open; here it is variable. Canon names conversation without
// defining it; here it is a surface for dialogue that prefers no engagement. The cap of the
// stream is canon's example, and a profile may set another.
func Surfaces() []SurfaceRow {
	return []SurfaceRow{
		{SurfaceRule: SurfaceRule{Name: RealTimeStream, Density: "high", MaxTokens: 60}, Only: Agent, Unbound: true, About: "single sentences at machine speed; nobody can answer"},
		{SurfaceRule: SurfaceRule{Name: Audit, Density: "medium", Structured: true}, Prefers: Agent, Modes: []Mode{Validation}, About: "structured findings in one batch"},
		{SurfaceRule: SurfaceRule{Name: SidebarChat, Density: "medium", Narrative: true}, Only: Assistant, Modes: []Mode{Exploration, Planning}, Unbound: true, About: "the surface is the dialogue"},
		{SurfaceRule: SurfaceRule{Name: Mentorship, Density: "low", Narrative: true}, Prefers: Assistant, Modes: []Mode{Exploration, Planning}, Unbound: true, About: "prose is the point"},
		{SurfaceRule: SurfaceRule{Name: StrategicTranslation, Density: "variable", Narrative: true, Bidirectional: true}, Modes: []Mode{Exploration, Planning}, Unbound: true, About: "translates between those who decide and those who do, both ways"},
		{SurfaceRule: SurfaceRule{Name: CodeOutput, Density: "variable", Structured: true, Machine: true}, Prefers: Agent, Modes: []Mode{Execution, Resolution}, Unbound: true, About: "artifacts that code will parse"},
		{SurfaceRule: SurfaceRule{Name: SynthesisLedger, Density: "variable", Structured: true, Narrative: true}, Modes: []Mode{Exploration}, About: "what exploration found, for people"},
		{SurfaceRule: SurfaceRule{Name: Conversational, Density: "variable", Narrative: true}, Modes: []Mode{Exploration, Planning}, Unbound: true, About: "dialogue"},
	}
}

// modeRow returns the row of a mode; ok is false for "" and unknown modes.
func modeRow(m Mode) (row ModeRow, ok bool) {
	for _, r := range Modes() {
		if r.Mode == m {
			return r, true
		}
	}
	return ModeRow{}, false
}

// roleRow returns the row of a role.
func roleRow(role Role) (row RoleRow, ok bool) {
	for _, r := range Roles() {
		if r.Role == role {
			return r, true
		}
	}
	return RoleRow{}, false
}

// surfaceRow returns the row of a surface.
func surfaceRow(s Surface) (row SurfaceRow, ok bool) {
	for _, r := range Surfaces() {
		if r.Name == s {
			return r, true
		}
	}
	return SurfaceRow{}, false
}
