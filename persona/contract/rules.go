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
