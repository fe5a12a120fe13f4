// Package contract resolves persona × role × surface × engagement into the
// contract of one session, or into every refusal at once.
//
// The mode follows from the role: five roles are bound to one epistemic mode
// each, general and observer have none. What canon says of modes, roles,
// surfaces and engagements is data here (Modes, Roles, Surfaces),
// and Resolve reads it. A structural check refuses; a detector that guesses at
// meaning only hints, and Hint says which it is.
//
// Nothing here starts anything. A refusal is known before a session is spawned,
// and all of them are told at once, each with a stable reason code.
//
// Profiles are who a session may be. They are read from the bundle (LoadRoster)
// and found by name, version or uri (Roster.Find). A profile can narrow what its
// roles may do, and set what its surfaces look like; it can never widen a mode.
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

// The roles. "detection-only" is read as an alias: validator, or observer on a
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

// Surface is where output goes. Names match however they are spelled: case,
// "_" and "-" do not count.
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

// Engagement says who may turn to whom.
type Engagement string

// The engagements.
const (
	Assistant Engagement = "assistant" // turns; a question is a turn
	Agent     Engagement = "agent"     // runs to its end; a question is a failure
)

// Voice is how much of the persona may be heard.
type Voice string

// The voices.
const (
	VoicePersona Voice = "persona"
	VoiceNeutral Voice = "neutral"
	VoiceStrict  Voice = "strict"
)

// Call is what is asked for. Zero members take the default Resolve documents,
// and names may be spelled any way the Parse functions read.
type Call struct {
	Persona      string   // "oddie", "oddie@2" or a uri; "" is no profile
	Participants []string // further personas of the same session; each must be allowed the same role
	WorkRole     string   // the compiled role, "" for none
	Role         Role     // a role, detection-only, or the name of the profile's custom role
	Mode         Mode     // checked against the role when given
	Surface      Surface
	Engagement   Engagement
	Voice        Voice
	Tools        []string // asked for by name; none is all the role may have
	MCP          []string // task-relevant servers, by name
	Artifact     string   // what is worked on: path, id, uri or commit; "" takes the handoff's
	Handoffs     []Handoff
	Override     *Override
}

// Handoff is what resolution knows of a handoff; package handoff makes it.
type Handoff struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Blob     string   `json:"blob"`
	From     Mode     `json:"from"`
	To       Mode     `json:"to"`
	Artifact string   `json:"artifact,omitempty"`
	Journal  string   `json:"journal,omitempty"` // the entry that tells of the transition, "" for none
	Missing  []string `json:"missing,omitempty"` // minimum content that is not there
	Tainted  string   `json:"tainted,omitempty"` // the override it or what it derives from was made under

	Findings map[string]deliver.Disposition `json:"findings,omitempty"` // by id, of a validator's
}

// Override is an operator's declaration that this one session collapses modes.
type Override struct {
	Modes  []Mode   `json:"modes_collapsed"`
	Reason string   `json:"reason"`
	Risks  []string `json:"acknowledged_risks"`
}

// Busy is an artifact that another session holds in a mode. A session of a
// general role holds its artifact in the mode ""; an observer holds nothing.
type Busy struct {
	Artifact string
	Mode     Mode
	Session  string
}

// World is what resolution may look at besides the call.
type World struct {
	Roster  Roster
	Servers []string // MCP servers that are configured; "odd" is built in
	Granted []Grant  // of those, what the configuration gives to this work without being asked
	Busy    []Busy
}

// Grant is a server that is given to some roles; without any, to every one. A
// session with a fresh context and one that validates are given none.
type Grant struct {
	Server string
	Roles  []Role
}

// Contract is a resolved session. It is data: the brief prints it, the ledger
// keeps its Hash, the surface and the toolbox obey it.
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
	Tainted      string      `json:"tainted,omitempty"` // override-produced input or session; tags every output
	Notes        []string    `json:"notes,omitempty"`   // aliases, superseded versions, rare combinations
}

// Tool is one tool with the reason it is in or out.
type Tool struct {
	Name  string `json:"name"`
	Class Class  `json:"class"`
	In    bool   `json:"in"`
	Why   string `json:"why"`
}

// Class is what a tool can do to the world.
type Class string

// The classes.
const (
	Reads   Class = "read"   // looks
	Drafts  Class = "draft"  // writes scratch that nobody keeps, or the deliverable itself
	Mutates Class = "mutate" // changes an artifact
)

// SurfaceRule is a surface as it binds one session: the table's row with the
// profile's surface settings laid over it.
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

// Refusal is one structural no, with the way out.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Way     string `json:"way,omitempty"`
}

// Refusals are all of them, in the order of the checks; none is nil.
type Refusals []Refusal

// Error is one refusal a line, each with its way out and its code.
func (r Refusals) Error() string {
	lines := make([]string, len(r))
	for i, one := range r {
		lines[i] = one.Message
		if one.Way != "" {
			lines[i] += "; " + one.Way
		}
		if len(r) > 1 {
			lines[i] += " [" + one.Code + "]"
		}
	}
	return strings.Join(lines, "\n")
}

// Refused is the code of the first.
func (r Refusals) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return r[0].Code
}

// Codes lists the codes of all, each once, in order.
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
