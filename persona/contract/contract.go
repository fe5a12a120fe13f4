// Package contract decides what one session is and may do. From a persona, a role, a
// surface and an engagement it resolves a contract, or returns all reasons why there is
// none.
//
// The mode follows from the role: five roles are bound to one epistemic mode each, general
// and observer have none. The rules that canon gives for modes, roles, surfaces and
// engagements are tables here (Modes, Roles, Surfaces), which Resolve reads. Only
// structural checks refuse; a detector that guesses at meaning returns a Hint.
//
// Nothing here starts a session, so every refusal is known before one starts. All of them
// are returned at once, each with a stable reason code.
//
// A profile describes a persona. Profiles are read from the bundle (LoadRoster) and found
// by name, version or uri (Roster.Find). A profile can narrow what its roles may do, and
// configure its surfaces; it can never widen a mode.
package contract

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
)

// Mode is an epistemic mode; "" for roles that have none.
type Mode string

// The modes.
const (
	Exploration Mode = "exploration"
	Planning    Mode = "planning"
	Execution   Mode = "execution"
	Validation  Mode = "validation"
	Resolution  Mode = "resolution"
)

// Role is the contract's role, not a work role of the bundle.
type Role string

// The roles. "detection-only" is an old alias for validator, or for observer on a
// surface other than audit.
const (
	Explorer  Role = "explorer"
	Planner   Role = "planner"
	Builder   Role = "builder"
	Validator Role = "validator"
	Resolver  Role = "resolver"
	General   Role = "general"
	Observer  Role = "observer"
)

// Surface is where output goes. Names match regardless of case, "_" and "-".
type Surface string

// The surfaces.
const (
	RealTimeStream       Surface = "real-time-stream"
	Audit                Surface = "audit"
	SidebarChat          Surface = "sidebar-chat"
	Mentorship           Surface = "mentorship"
	StrategicTranslation Surface = "strategic-translation"
	CodeOutput           Surface = "code-output"
	SynthesisLedger      Surface = "synthesis-ledger"
	Conversational       Surface = "conversational"
)

// Engagement says whether the session may ask a person.
type Engagement string

// The engagements.
const (
	Assistant Engagement = "assistant" // turns; a question is a turn
	Agent     Engagement = "agent"     // runs to its end; a question is a failure
)

// Voice is how much of the persona shows in the output.
type Voice string

// The voices.
const (
	VoicePersona Voice = "persona"
	VoiceNeutral Voice = "neutral"
	VoiceStrict  Voice = "strict"
)

// Call is the request for a session. Zero members take the defaults that Resolve documents,
// and names may be spelled in any way that the Parse functions read.
type Call struct {
	Persona      string   // "oddie", "oddie@2" or a uri; "" is no profile
	Participants []string // further personas of the same session; each must be allowed the same role
	WorkRole     string   // the compiled role, "" for none
	Role         Role     // a role, detection-only, or the name of the profile's custom role
	Mode         Mode     // checked against the role when given
	Surface      Surface
	Engagement   Engagement
	Voice        Voice
	Tools        []string // requested by name; none means all that the role may have
	MCP          []string // task-relevant servers, by name
	Artifact     string   // what the session works on: path, id, uri or commit; "" takes the handoff's
	Handoffs     []Handoff
	Override     *Override
}

// Handoff is what Resolve needs to know of a handoff; package handoff makes it.
type Handoff struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Blob     string   `json:"blob"`
	From     Mode     `json:"from"`
	To       Mode     `json:"to"`
	Artifact string   `json:"artifact,omitempty"`
	Journal  string   `json:"journal,omitempty"` // the journal file with the transition's entry, "" for none
	Missing  []string `json:"missing,omitempty"` // the missing part of the minimum content
	Tainted  string   `json:"tainted,omitempty"` // the override that it, or a handoff it derives from, was made under

	Findings map[string]deliver.Disposition `json:"findings,omitempty"` // by id, of a validator's
}

// Override is an operator's declaration that this one session combines several modes.
type Override struct {
	Modes  []Mode   `json:"modes_collapsed"`
	Reason string   `json:"reason"`
	Risks  []string `json:"acknowledged_risks"`
}

// Busy is an artifact that another session works on in a mode. For a session of a general
// role the mode is ""; an observer occupies nothing.
type Busy struct {
	Artifact string
	Mode     Mode
	Session  string
}

// World is what Resolve may look at besides the call.
type World struct {
	Roster  Roster
	Servers []string // the configured MCP servers; "odd" is built in
	Granted []Grant  // the servers that the configuration grants this task without a request
	Busy    []Busy
}

// Grant is a server that is granted to some roles; to all if it lists none. A session with
// a fresh context and a validator get no grants.
type Grant struct {
	Server string
	Roles  []Role
}

// Contract is a resolved session. It is data: the brief prints it, the ledger keeps its
// Hash, and the surface and the toolbox obey it.
type Contract struct {
	Persona      *Profile    `json:"persona,omitempty"`
	Participants []*Profile  `json:"participants,omitempty"`
	WorkRole     string      `json:"work_role,omitempty"`
	Role         Role        `json:"role"`
	Mode         Mode        `json:"mode,omitempty"`
	Modes        []Mode      `json:"modes_collapsed,omitempty"` // under an override
	Surface      SurfaceRule `json:"surface"`
	Engagement   Engagement  `json:"engagement"`
	Voice        Voice       `json:"voice"`
	Mutates      bool        `json:"mutates"`
	Bound        string      `json:"bound,omitempty"` // what bounds mutation: "plan", "findings" or ""
	Freshness    Freshness   `json:"freshness"`
	Strict       bool        `json:"strict"` // fresh context: profile, artifact, claims and governance only
	Deliverable  string      `json:"deliverable,omitempty"`
	Next         Role        `json:"next,omitempty"`
	Artifact     string      `json:"artifact,omitempty"`
	Handoffs     []Handoff   `json:"handoffs,omitempty"`
	Tools        []Tool      `json:"tools"`
	Servers      []string    `json:"servers,omitempty"`
	Override     *Override   `json:"override,omitempty"`
	Tainted      string      `json:"tainted,omitempty"` // the override behind the session or its input; tags every output
	Notes        []string    `json:"notes,omitempty"`   // aliases, superseded versions, rare combinations
}

// Tool is one tool, and why it is allowed or not.
type Tool struct {
	Name  string `json:"name"`
	Class Class  `json:"class"`
	In    bool   `json:"in"`
	Why   string `json:"why"`
}

// Class is what a tool can change.
type Class string

// The classes.
const (
	Reads   Class = "read"   // looks
	Drafts  Class = "draft"  // writes scratch that nobody keeps, or the deliverable itself
	Mutates Class = "mutate" // changes an artifact
)

// SurfaceRule is a surface with the settings that bind one session: the row of the table,
// changed by the profile's settings.
type SurfaceRule struct {
	Name          Surface `json:"name"`
	Density       string  `json:"density"`        // high, medium, low, variable
	MaxTokens     int     `json:"max_tokens"`     // an emission's, estimated; 0 is no cap
	MaxEmissions  int     `json:"max_emissions"`  // a session's; 0 is no cap
	Structured    bool    `json:"structured"`     // the deliverable must parse; prose alone is refused
	Narrative     bool    `json:"narrative"`      // prose is expected
	Bidirectional bool    `json:"bidirectional"`  // translates both ways
	Machine       bool    `json:"machine_tagged"` // every field is a machine's
}

// Refusal is one reason against a session, with the way out.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Way     string `json:"fix,omitempty"`
}

// Refusals are all reasons against a session, in the order of the checks; empty means none.
type Refusals []Refusal

// Lines returns one refusal a line, each with its way out and its code.
func (r Refusals) Lines() []string {
	lines := make([]string, len(r))
	for i, one := range r {
		lines[i] = one.Message
		if one.Way != "" {
			lines[i] += "; " + one.Way
		}
		lines[i] += " [" + one.Code + "]"
	}
	return lines
}

// Error returns Lines, or the only refusal without its code.
func (r Refusals) Error() string {
	if len(r) == 1 {
		return strings.TrimSuffix(r.Lines()[0], " ["+r[0].Code+"]")
	}
	return strings.Join(r.Lines(), "\n")
}

// Refused returns the code of the first refusal.
func (r Refusals) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return r[0].Code
}

// Codes lists the distinct codes in order.
func (r Refusals) Codes() []string {
	var out []string
	for _, one := range r {
		if !slices.Contains(out, one.Code) {
			out = append(out, one.Code)
		}
	}
	return out
}

// Hint is what a heuristic detector noticed. It never refuses anything.
type Hint struct {
	Detector string `json:"detector"` // e.g. "premature-closure"
	At       string `json:"at,omitempty"`
	Message  string `json:"message"`
}
