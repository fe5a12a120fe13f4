package contract

import (
	"slices"

	"github.com/odd-cli/odd/persona/deliver"
)

// ModeRow is canon's rule for one epistemic mode.
type ModeRow struct {
	Mode        Mode
	Truth       string // a session in this mode is valid if it …
	Obligations []string
	Risk        string
	Role        Role     // the one role bound to it
	Tools       []string // reading and drafting tools it may have, besides the session's own
	Forbids     []Class  // classes of tools it may never have
	Emits       []string // kinds of emission, nil for any
}

// Modes is the table of modes in the order of work. It follows canon's epistemic modes; the
// columns of tools follow the runtime contract.
func Modes() []ModeRow {
	return []ModeRow{
		{
			Mode: Exploration, Role: Explorer, Truth: "reveals something new", Risk: "false closure",
			Obligations: []string{"do not converge", "do not claim decisions", "do not finalise"},
			Tools:       append(lookupTools(), "orient", "challenge", "web-search", "query"), Forbids: []Class{Mutates},
			Emits: []string{"question", "possibility", "tension", "frame", "synthesis-ledger-entry"},
		},
		{
			Mode: Planning, Role: Planner, Truth: "makes its assumptions visible and challengeable", Risk: "speculative certainty",
			Obligations: []string{"declare what is assumed", "declare what is deferred", "declare what would invalidate it"},
			Tools:       append(lookupTools(), "orient", "challenge", "gate", "encode", "preflight"), Forbids: []Class{Mutates},
		},
		{
			Mode: Execution, Role: Builder, Truth: "produces verifiable outcomes", Risk: "metric laundering",
			Obligations: []string{"give evidence of completion", "effort is not a result", "state the limits of verification"},
			Tools:       everyTool(),
			Emits:       []string{"assertion", "reversion", "tool_call_request", "progress"},
		},
		{
			Mode: Validation, Role: Validator, Truth: "grounds its findings in the artifact that was produced", Risk: "scope creep by redesign",
			Obligations: []string{"review the whole artifact first", "separate defects from ideas", "give every finding a disposition: fix, pivot or accept"},
			Tools:       append(lookupTools(), "audit", "validate"), Forbids: []Class{Mutates},
		},
		{
			Mode: Resolution, Role: Resolver, Truth: "addresses the findings without expanding scope", Risk: "scope creep under cover of repair",
			Obligations: []string{"act as each disposition says", "bring no new requirement", "note the remedy of every finding", "hand back to validation"},
			Tools:       everyTool(),
		},
	}
}

// RoleRow is canon's rule for one role.
type RoleRow struct {
	Role          Role
	Mode          Mode
	Mutates       bool
	Bound         string // "plan", "findings" or "": what its mutation may touch
	Freshness     Freshness
	Reads         []Pair // the handoffs it may be given; nil with Needs false is any
	Needs         bool   // it is downstream: without one of Reads it is refused
	NeedsArtifact bool   // it is refused without the artifact it judges or mends
	Schema        string // "" hands over nothing
	Next          Role
	Surface       Surface
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
			Surface: SynthesisLedger,
		},
		{
			Role: Planner, Mode: Planning, Freshness: FreshHandoff, Reads: []Pair{{Exploration, Planning}}, Needs: true, Schema: deliver.SchemaPlan, Next: Builder,
			Surface: Conversational,
		},
		{
			Role: Builder, Mode: Execution, Mutates: true, Bound: "plan", Freshness: FreshHandoff, Reads: []Pair{{Planning, Execution}}, Needs: true, Schema: deliver.SchemaClaims, Next: Validator,
			Surface: CodeOutput,
		},
		{
			Role: Validator, Mode: Validation, Freshness: FreshStrict, Reads: []Pair{{Execution, Validation}, {Resolution, Validation}}, Needs: true, NeedsArtifact: true, Schema: deliver.SchemaFindings, Next: Resolver,
			Surface: Audit,
		},
		{
			Role: Resolver, Mode: Resolution, Mutates: true, Bound: "findings", Freshness: FreshHandoff, Reads: []Pair{{Validation, Resolution}}, Needs: true, NeedsArtifact: true, Schema: deliver.SchemaRemediation, Next: Validator,
			Surface: CodeOutput,
		},
		{Role: General, Mutates: true, Freshness: FreshNone, Surface: Conversational},
		{Role: Observer, Freshness: FreshLight, Schema: deliver.SchemaCommentary, Surface: RealTimeStream},
	}
}

// SurfaceRow is canon's rule for one surface.
type SurfaceRow struct {
	SurfaceRule
	Only    Engagement // any other is refused
	Prefers Engagement // any other is rare
	Modes   []Mode     // what it is made for
	Unbound bool       // made for roles without a mode too
	About   string
}

// surfaceRows is the table of surfaces. Canon leaves the density of code output, synthesis
// ledger and conversation open; here it is variable. Canon names conversation without
// defining it; here it is a surface for dialogue that prefers no engagement. The cap of the
// stream is canon's example, and a profile may set another.
func surfaceRows() []SurfaceRow {
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
	return findRow(Modes(), func(r ModeRow) bool { return r.Mode == m })
}

func roleRow(role Role) (row RoleRow, ok bool) {
	return findRow(Roles(), func(r RoleRow) bool { return r.Role == role })
}

func surfaceRow(s Surface) (row SurfaceRow, ok bool) {
	return findRow(surfaceRows(), func(r SurfaceRow) bool { return r.Name == s })
}

func findRow[T any](rows []T, is func(T) bool) (row T, ok bool) {
	i := slices.IndexFunc(rows, is)
	if i < 0 {
		return row, false
	}
	return rows[i], true
}

// Verdict is how the tables rate a combination.
type Verdict string

// The verdicts.
const (
	Rare        Verdict = "rare"         // legal, with a note
	WellTrodden Verdict = "well-trodden" // known to work; never rare
	Legal       Verdict = "ok"
)

// combination is canon's verdict on several dimensions together. An empty dimension matches
// any value.
type combination struct {
	Name       string
	Verdict    Verdict
	Mode       Mode
	Role       Role
	Surface    Surface
	Engagement Engagement
	Why        string
}

// matches reports whether the rule applies to a session with these dimensions.
func (c combination) matches(m Mode, r Role, s Surface, e Engagement) bool {
	return (c.Mode == "" || c.Mode == m) && (c.Role == "" || c.Role == r) && (c.Surface == "" || c.Surface == s) &&
		(c.Engagement == "" || c.Engagement == e)
}

// namedCombinations lists canon's rare and well-trodden combinations. Resolve refuses those that
// canon forbids, or a call cannot express them. A surface that is not made for a mode, or
// an engagement it does not prefer, is rare too; the table of surfaces has those.
func namedCombinations() []combination {
	return []combination{
		{Name: "planning by an agent", Verdict: Rare, Mode: Planning, Engagement: Agent, Why: "plans are usually argued over"},
		{Name: "execution by an assistant", Verdict: Rare, Mode: Execution, Engagement: Assistant, Why: "execution usually runs to its end"},
		{Name: "exploration by an agent", Verdict: Rare, Mode: Exploration, Engagement: Agent, Why: "exploration usually talks"},

		{Name: "audit gate", Verdict: WellTrodden, Mode: Validation, Role: Validator, Surface: Audit, Engagement: Agent, Why: "one reviewer, one artifact, findings"},
		{Name: "observer on a stream", Verdict: WellTrodden, Role: Observer, Surface: RealTimeStream, Engagement: Agent, Why: "a guide that comments"},
		{Name: "observer in a chat", Verdict: WellTrodden, Role: Observer, Surface: SidebarChat, Engagement: Assistant, Why: "a guide that answers"},
		{Name: "observer as mentor", Verdict: WellTrodden, Role: Observer, Surface: Mentorship, Engagement: Assistant, Why: "a guide that explains"},
		{Name: "docs writer", Verdict: WellTrodden, Mode: Execution, Role: Builder, Surface: CodeOutput, Why: "builds documents, with somebody or alone"},
		{Name: "planning helper", Verdict: WellTrodden, Mode: Planning, Role: Planner, Surface: Conversational, Engagement: Assistant, Why: "plans with somebody"},
		{Name: "research scout", Verdict: WellTrodden, Mode: Exploration, Role: Explorer, Surface: SynthesisLedger, Engagement: Agent, Why: "explores alone and writes the ledger"},
		{Name: "release resolver", Verdict: WellTrodden, Mode: Resolution, Role: Resolver, Surface: CodeOutput, Engagement: Agent, Why: "repairs what a validator found"},
		{Name: "governance author", Verdict: WellTrodden, Role: General, Surface: Conversational, Engagement: Assistant, Why: "modes collapsed on purpose, with a person"},
	}
}

// Judge rates four dimensions that Resolve accepts: well-trodden with the name of the
// combination, rare with every reason, or ok.
func Judge(m Mode, r Role, s Surface, e Engagement) (v Verdict, why []string) {
	for _, c := range namedCombinations() {
		switch {
		case !c.matches(m, r, s, e):
		case c.Verdict == WellTrodden:
			return WellTrodden, []string{c.Name + ": " + c.Why}
		case c.Verdict == Rare:
			why = append(why, c.Name+": "+c.Why)
		}
	}
	if row, ok := surfaceRow(s); ok {
		if row.Prefers != "" && row.Prefers != e {
			why = append(why, "on "+string(s)+" the engagement "+string(row.Prefers)+" is preferred")
		}
		if m != "" && !slices.Contains(row.Modes, m) || m == "" && !row.Unbound {
			why = append(why, string(s)+" is not made for "+describeMode(m))
		}
	}
	if len(why) > 0 {
		return Rare, why
	}
	return Legal, nil
}

func describeMode(m Mode) string {
	if m == "" {
		return "a role without a mode"
	}
	return string(m)
}

// Transition is one step from a mode to the next, with the schema of its handoff.
type Transition struct {
	Pair
	Schema string
}

// String formats "planning → execution", as in journals.
func (t Transition) String() string { return string(t.From) + " → " + string(t.To) }

// Transitions lists canon's five: each role hands over to the mode of the next role.
func Transitions() []Transition {
	var out []Transition
	for _, r := range Roles() {
		if next, ok := roleRow(r.Next); ok && r.Mode != "" {
			out = append(out, Transition{Pair{r.Mode, next.Mode}, r.Schema})
		}
	}
	return out
}
