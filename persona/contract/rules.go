package contract

import "slices"

// Verdict is what a table says of a combination.
type Verdict string

// The verdicts.
const (
	Forbidden   Verdict = "forbidden"
	Rare        Verdict = "rare"         // legal, and worth a note
	WellTrodden Verdict = "well-trodden" // known to work; never rare
	Legal       Verdict = "ok"
)

// When says where a rule is kept.
type When string

// The moments.
const (
	AtSubmit   When = "submit"   // before anything is spawned: Resolve
	AtEmission When = "emission" // on what the session says or makes
	ByShape    When = "shape"    // no call can express it
)

// Combination is one rule about dimensions together. An empty dimension is any;
// Unbound is the mode that roles without one have.
type Combination struct {
	Name       string     `json:"name"`
	Verdict    Verdict    `json:"verdict"`
	Mode       Mode       `json:"mode,omitempty"`
	Role       Role       `json:"role,omitempty"`
	Surface    Surface    `json:"surface,omitempty"`
	Engagement Engagement `json:"engagement,omitempty"`
	Unbound    bool       `json:"unbound,omitempty"`
	When       When       `json:"when"`
	Code       string     `json:"code,omitempty"` // the reason code that keeps it
	Why        string     `json:"why"`
}

// matches reports whether the rule is about a session of these dimensions.
func (c Combination) matches(m Mode, r Role, s Surface, e Engagement) bool {
	return (c.Mode == "" || c.Mode == m) && (c.Role == "" || c.Role == r) && (c.Surface == "" || c.Surface == s) &&
		(c.Engagement == "" || c.Engagement == e) && (!c.Unbound || m == "")
}

// Combinations is canon's list: eight that are forbidden and what follows from
// them, the rare ones, and the well-trodden. A surface that is not made for a
// mode, or an engagement it does not prefer, is rare too; the table of surfaces
// says so, not this one.
func Combinations() []Combination {
	return []Combination{
		{Name: "validator with mutating tools", Verdict: Forbidden, Role: Validator, When: AtSubmit, Code: "tool-mutates", Why: "a critic is no resolver"},
		{Name: "observer with mutating tools", Verdict: Forbidden, Role: Observer, When: AtSubmit, Code: "tool-mutates", Why: "who watches does not change"},
		{Name: "execution then validation in one session", Verdict: Forbidden, When: ByShape, Why: "a creator cannot judge what it made; a call has one role, and a role one mode"},
		{Name: "validation then resolution in one session", Verdict: Forbidden, When: ByShape, Why: "a critic is no resolver"},
		{Name: "resolution then validation in one session", Verdict: Forbidden, When: ByShape, Why: "a resolver cannot certify its own repair"},
		{Name: "resolver outside the findings", Verdict: Forbidden, Role: Resolver, When: AtEmission, Code: "outside-findings", Why: "the scope is what the findings name"},
		{Name: "downstream without an encoded handoff", Verdict: Forbidden, When: AtSubmit, Code: "handoff-missing", Why: "without it the mode before collapses into this one"},
		{Name: "clarifying question in an agent's execution", Verdict: Forbidden, Mode: Execution, Engagement: Agent, When: AtEmission, Code: "clarifying-question", Why: "nobody is there to answer; a reversion names what is unknown"},
		{Name: "assistant on a real-time stream", Verdict: Forbidden, Surface: RealTimeStream, Engagement: Assistant, When: AtSubmit, Code: "surface-engagement", Why: "no dialogue fits that density"},
		{Name: "agent in a sidebar chat", Verdict: Forbidden, Surface: SidebarChat, Engagement: Agent, When: AtSubmit, Code: "surface-engagement", Why: "the surface is the dialogue"},
		{Name: "mode that is not the role's", Verdict: Forbidden, When: AtSubmit, Code: "mode-mismatch", Why: "five roles are bound to one mode each, the others to none"},
		{Name: "one artifact in two modes at once", Verdict: Forbidden, When: AtSubmit, Code: "artifact-busy", Why: "the one pattern of parallel work canon forbids"},

		{Name: "planning by an agent", Verdict: Rare, Mode: Planning, Engagement: Agent, When: AtSubmit, Why: "plans are usually argued over"},
		{Name: "execution by an assistant", Verdict: Rare, Mode: Execution, Engagement: Assistant, When: AtSubmit, Why: "execution usually runs to its end"},
		{Name: "exploration by an agent", Verdict: Rare, Mode: Exploration, Engagement: Agent, When: AtSubmit, Why: "exploration usually talks"},

		{Name: "audit gate", Verdict: WellTrodden, Mode: Validation, Role: Validator, Surface: Audit, Engagement: Agent, When: AtSubmit, Why: "one reviewer, one artifact, findings"},
		{Name: "observer on a stream", Verdict: WellTrodden, Role: Observer, Surface: RealTimeStream, Engagement: Agent, Unbound: true, When: AtSubmit, Why: "a guide that comments"},
		{Name: "observer in a chat", Verdict: WellTrodden, Role: Observer, Surface: SidebarChat, Engagement: Assistant, Unbound: true, When: AtSubmit, Why: "a guide that answers"},
		{Name: "observer as mentor", Verdict: WellTrodden, Role: Observer, Surface: Mentorship, Engagement: Assistant, Unbound: true, When: AtSubmit, Why: "a guide that explains"},
		{Name: "docs writer", Verdict: WellTrodden, Mode: Execution, Role: Builder, Surface: CodeOutput, When: AtSubmit, Why: "builds documents, with somebody or alone"},
		{Name: "planning helper", Verdict: WellTrodden, Mode: Planning, Role: Planner, Surface: Conversational, Engagement: Assistant, When: AtSubmit, Why: "plans with somebody"},
		{Name: "research scout", Verdict: WellTrodden, Mode: Exploration, Role: Explorer, Surface: SynthesisLedger, Engagement: Agent, When: AtSubmit, Why: "explores alone and writes the ledger"},
		{Name: "release resolver", Verdict: WellTrodden, Mode: Resolution, Role: Resolver, Surface: CodeOutput, Engagement: Agent, When: AtSubmit, Why: "repairs what a validator found"},
		{Name: "governance author", Verdict: WellTrodden, Role: General, Surface: Conversational, Engagement: Assistant, Unbound: true, When: AtSubmit, Why: "modes collapsed on purpose, with a person"},
	}
}

// Judge is what the tables say of four dimensions that Resolve would not
// refuse: well-trodden with the name of the way, rare with every reason, or ok.
func Judge(m Mode, r Role, s Surface, e Engagement) (v Verdict, why []string) {
	for _, c := range Combinations() {
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
			why = append(why, string(s)+" is not made for "+orNone(m))
		}
	}
	if len(why) > 0 {
		return Rare, why
	}
	return Legal, nil
}

func orNone(m Mode) string {
	if m == "" {
		return "a role without a mode"
	}
	return string(m)
}

// Point is one of the seven places where the runtime enforces what canon says.
type Point struct {
	Name  string   `json:"name"`
	Codes []string `json:"codes"` // the reason codes that realise it
	Where string   `json:"where"` // what keeps it where no code does
}

// Points lists the seven. What canon does not promise, odd does not either: the
// voice of a text's content, an order of sessions, and who may call.
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

// Rule is one way in which a mode may not pass for another. Codes are the
// structural rules that refuse it; Hints are the heuristic detectors that only
// notice it, because whether a text decides or judges is not a thing to gate on.
type Rule struct {
	Mode  Mode     `json:"mode"`
	Never string   `json:"never"`
	Codes []string `json:"codes"`
	Hints []string `json:"hints,omitempty"`
}

// NonCollapse is canon's list of nine.
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

// TransitionKind is how work may pass from one mode to another.
type TransitionKind string

// The kinds. All but Stay are journaled.
const (
	Forward TransitionKind = "forward"   // needs its handoff, complete
	Revert  TransitionKind = "reversion" // back to an earlier mode: always allowed, with its cause
	Skip    TransitionKind = "skip"      // past a mode: allowed where somebody acknowledges what is lost
	Stay    TransitionKind = "stay"      // no transition
)

// Transition is one passage between modes. What a handoff of it must hold is
// known to package deliver, by the deliverable of From's role.
type Transition struct {
	Pair
	Kind   TransitionKind `json:"kind"`
	Schema string         `json:"schema,omitempty"` // of the handoff, for a forward one
	Why    string         `json:"why"`
}

// Transitions is the whole square of modes, in the order of Modes.
func Transitions() []Transition {
	var out []Transition
	for _, from := range Modes() {
		for _, to := range Modes() {
			out = append(out, TransitionOf(from.Mode, to.Mode))
		}
	}
	return out
}

// TransitionOf says what passing between two modes is. The five forward ones
// are canon's; Kind is "" where from or to is no mode.
func TransitionOf(from, to Mode) Transition {
	t := Transition{Pair: Pair{from, to}}
	f, known := modeRow(from)
	_, also := modeRow(to)
	if !known || !also {
		return t
	}
	at := func(m Mode) int { return slices.IndexFunc(Modes(), func(r ModeRow) bool { return r.Mode == m }) }
	switch forward := at(to) == at(from)+1 || from == Resolution && to == Validation; {
	case forward:
		t.Kind, t.Schema, t.Why = Forward, f.Schema, "needs a complete handoff and a journal entry"
	case from == to:
		t.Kind, t.Why = Stay, "fan-out within one mode needs no handoff"
	case at(to) < at(from):
		t.Kind, t.Why = Revert, "always allowed; the journal names its one cause"
	default:
		t.Kind, t.Why = Skip, "allowed where it is acknowledged; the journal says by whom and what is lost"
	}
	return t
}
