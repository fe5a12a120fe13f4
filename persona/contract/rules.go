package contract

import "slices"

// Verdict is how the tables rate a combination.
type Verdict string

// The verdicts.
const (
	Rare        Verdict = "rare"         // legal, with a note
	WellTrodden Verdict = "well-trodden" // known to work; never rare
	Legal       Verdict = "ok"
)

// combination is canon's verdict on several dimensions together. An empty dimension matches
// any value; Unbound matches only roles without a mode.
type combination struct {
	Name       string
	Verdict    Verdict
	Mode       Mode
	Role       Role
	Surface    Surface
	Engagement Engagement
	Unbound    bool
	Why        string
}

// matches reports whether the rule applies to a session with these dimensions.
func (c combination) matches(m Mode, r Role, s Surface, e Engagement) bool {
	return (c.Mode == "" || c.Mode == m) && (c.Role == "" || c.Role == r) && (c.Surface == "" || c.Surface == s) &&
		(c.Engagement == "" || c.Engagement == e) && (!c.Unbound || m == "")
}

// combinations lists canon's rare and well-trodden combinations. Resolve refuses those that
// canon forbids, or a call cannot express them. A surface that is not made for a mode, or
// an engagement it does not prefer, is rare too; the table of surfaces has those.
func combinations() []combination {
	return []combination{
		{Name: "planning by an agent", Verdict: Rare, Mode: Planning, Engagement: Agent, Why: "plans are usually argued over"},
		{Name: "execution by an assistant", Verdict: Rare, Mode: Execution, Engagement: Assistant, Why: "execution usually runs to its end"},
		{Name: "exploration by an agent", Verdict: Rare, Mode: Exploration, Engagement: Agent, Why: "exploration usually talks"},

		{Name: "audit gate", Verdict: WellTrodden, Mode: Validation, Role: Validator, Surface: Audit, Engagement: Agent, Why: "one reviewer, one artifact, findings"},
		{Name: "observer on a stream", Verdict: WellTrodden, Role: Observer, Surface: RealTimeStream, Engagement: Agent, Unbound: true, Why: "a guide that comments"},
		{Name: "observer in a chat", Verdict: WellTrodden, Role: Observer, Surface: SidebarChat, Engagement: Assistant, Unbound: true, Why: "a guide that answers"},
		{Name: "observer as mentor", Verdict: WellTrodden, Role: Observer, Surface: Mentorship, Engagement: Assistant, Unbound: true, Why: "a guide that explains"},
		{Name: "docs writer", Verdict: WellTrodden, Mode: Execution, Role: Builder, Surface: CodeOutput, Why: "builds documents, with somebody or alone"},
		{Name: "planning helper", Verdict: WellTrodden, Mode: Planning, Role: Planner, Surface: Conversational, Engagement: Assistant, Why: "plans with somebody"},
		{Name: "research scout", Verdict: WellTrodden, Mode: Exploration, Role: Explorer, Surface: SynthesisLedger, Engagement: Agent, Why: "explores alone and writes the ledger"},
		{Name: "release resolver", Verdict: WellTrodden, Mode: Resolution, Role: Resolver, Surface: CodeOutput, Engagement: Agent, Why: "repairs what a validator found"},
		{Name: "governance author", Verdict: WellTrodden, Role: General, Surface: Conversational, Engagement: Assistant, Unbound: true, Why: "modes collapsed on purpose, with a person"},
	}
}

// Judge rates four dimensions that Resolve accepts: well-trodden with the name of the
// combination, rare with every reason, or ok.
func Judge(m Mode, r Role, s Surface, e Engagement) (v Verdict, why []string) {
	for _, c := range combinations() {
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

// Point is one of the seven places where the runtime enforces what canon says.
type Point struct {
	Name  string   `json:"name"`
	Codes []string `json:"codes"` // the reason codes that enforce it
	Where string   `json:"where"` // what enforces it besides the codes
}

// Points lists the seven. odd promises no more than canon: not the voice of a text's
// content, the order of sessions, or who may call.
func Points() []Point {
	return []Point{
		{"mode discipline", []string{"mode-mismatch", "tool-not-allowed", "tool-mutates", "artifact-busy", "wrong-deliverable", "incomplete-deliverable", "unknown-kind"}, "one session has one role, and a role one mode"},
		{"bottleneck respect", []string{"clarifying-question", "unnamed-reversion", "surface-engagement"}, "a reversion names one unknown and its cause"},
		{"critic is not resolver", []string{"tool-mutates", "read-only", "certifies", "outside-findings", "artifact-busy"}, "a validator's toolbox holds no tool that changes anything"},
		{"fresh context", []string{"handoff-missing", "handoff-incomplete", "handoff-wrong-transition", "journal-missing", "artifact-missing"}, "a validator's brief is made of the profile, the artifact, the claims and governance, and has no room for more"},
		{"brand discipline", nil, "the surface cleans each text as a machine's or a person's before anybody reads it"},
		{"profile resolution", []string{"unknown-persona", "unknown-version", "persona-unreadable", "role-not-allowed", "unknown-server", "server-not-listed", "server-not-configured"}, "operational servers are never taken away"},
		{"substrate independence", nil, "a contract is resolved before a substrate is chosen, and names none"},
	}
}

// Rule is one way in which a mode must not act as another. Codes are the structural rules
// that refuse it. Hints are the heuristic detectors that only notice it, because whether a
// text decides or judges is too uncertain to block on.
type Rule struct {
	Mode  Mode     `json:"mode"`
	Never string   `json:"never"`
	Codes []string `json:"codes"`
	Hints []string `json:"hints,omitempty"`
}

// NonCollapse lists canon's nine rules.
func NonCollapse() []Rule {
	return []Rule{
		{Exploration, "pretends to decide", []string{"wrong-deliverable", "tool-mutates"}, []string{"premature-closure"}},
		{Planning, "pretends to execute", []string{"tool-mutates", "read-only"}, []string{"planning-executes"}},
		{Execution, "explores alternatives after the fact", []string{"tool-not-allowed", "unknown-kind"}, []string{"mid-build-pivot"}},
		{Execution, "pretends to validate", []string{"certifies"}, []string{"certification"}},
		{Validation, "pretends to plan", []string{"wrong-deliverable"}, []string{"redesign"}},
		{Validation, "pretends to execute or resolve", []string{"tool-mutates", "read-only"}, []string{"inline-fix"}},
		{Resolution, "pretends to plan", []string{"outside-findings"}, []string{"new-requirement"}},
		{Resolution, "pretends to validate", []string{"certifies"}, []string{"certification"}},
		{Resolution, "executes anew", []string{"outside-findings"}, []string{"new-requirement"}},
	}
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
