// Package session runs one bounded session over a substrate and owns the
// Emission type: whatever an agent is, what it hands back is one value.
//
// # Text emissions
//
// A text substrate says its emission in fenced blocks. Anything outside them is
// prose: it is kept in the transcript and means nothing to the machine.
//
//	I read the handbook and found one term.
//
//	```atom path=terms/embargo.md base=0f3c…
//	---
//	type: term
//	id: embargo
//	title: Embargo
//	---
//
//	News that may not be printed before its hour.
//	```
//
//	```json
//	{"schema": "odd.notes.1", "notes": [
//	  {"type": "O", "facet": "open", "title": "two hours named", "content": "…"}]}
//	```
//
//	```json
//	{"schema": "odd.say.1", "says": [
//	  {"kind": "question", "text": "Which hour binds?", "marker": "yielding"}]}
//	```
//
//	```json
//	{"schema": "odd.proposal.1", "severity": "high", "gate": "framing",
//	 "reason": "the handbook contradicts the frame"}
//	```
//
//	```json
//	{"schema": "odd.usage.1", "turns": 3, "cost_micro_usd": 12500, "model": "acme/1"}
//	```
//
//	```json
//	{"schema": "odd.finish.1", "outcome": "completed"}
//	```
//
// A fence is a line that starts in column one with three or more backticks and
// a word; the block ends at the next line of at least as many backticks and
// nothing else, so a block that holds fences is written with a longer one. The
// words are:
//
//   - atom: the content is one whole atom file. base names the blob id the atom
//     was made against and is left out for a new one; path is where it stands
//     below the bundle root and may be left out when the file has an id.
//   - json: one object with a schema and nothing beside it. The schemas are
//     odd.notes.1, odd.say.1, odd.proposal.1, odd.usage.1, odd.handoff.1
//     {"handoff": text}, odd.finish.1 {"outcome", "failure", "detail",
//     "missing"} and the six deliverables of package deliver. An unknown schema, key or outcome is a
//     problem, never skipped, because skipping would lose what the agent said.
//     Usage, handoff, finish and the deliverable stand once: two deliverables
//     are a problem, of one schema or of two.
//   - change: proposed edits to files that are not atoms, as one JSON object that
//     package pipeline reads; here it is kept as it stands. It stands once.
//   - plan, expansion: what a session that was asked to plan a change means to do,
//     or what it wants to read first. They stand once and are kept as they stand.
//   - octave: a payload of the anchor, who the session is (BIND) or what it means
//     to do (TENSIONS and COMMIT), for a session that must prove it before what it
//     emits counts. Package anchor reads it; elsewhere it means nothing.
//
// A block of any other word, or of none, is prose.
//
// # Promises
//
//  1. One bad block and nothing of the emission is returned; every bad block is
//     reported with its line, so that one more turn can mend them all.
//  2. The outcome is what the agent declared, once, in odd.finish.1. Silence is
//     a failure ("no declared outcome"), and then no atom is returned either.
//  3. A cost the agent did not state is unknown, never zero.
//  4. handoff_insufficient names what is missing; no other outcome does.
//  5. A proposal is heard whatever the outcome: an alarm does not depend on
//     success. It names no source, because an agent speaks only for itself.
//  6. Input of any shape returns; it never panics.
package session

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Atom is one emitted atom: its text, the blob it was made against ("" for a
// new one), where it stood in the emission ("emission:12"). Its Path is "" when
// the emission named none; the id is explicit then.
type Atom struct {
	Atom okf.Atom
	Base string
	At   string
}

// Outcome is what the session declared.
type Outcome string

// The outcomes. Failed carries a name in Emission.Failure.
const (
	Completed           Outcome = "completed"
	Failed              Outcome = "failed"
	HandoffInsufficient Outcome = "handoff_insufficient"
	Refused             Outcome = "refused"
)

// The markers a say may carry under the engagement assistant (deliver.Markers):
// the turn goes on, waits for the other, or was the last.
const (
	Holding  = "holding"
	Yielding = "yielding"
	Done     = "done"
)

// The names of the failures that odd itself finds. An agent may declare others.
const (
	Timeout     = "timeout"             // the wall time was used up
	Cancelled   = "cancelled"           // the drain was interrupted
	Malformed   = "malformed"           // a block of the emission is bad; Detail has every place
	Silent      = "no declared outcome" // no odd.finish.1
	TooLarge    = "output too large"
	TooMany     = "too many atoms"
	TurnRefused = "turn refused" // Request.Turn said no; Detail has its reason
	NoInputs    = "no inputs"    // the task names nothing that can be read
	DiskFull    = "disk-full"    // the program wrote more than the desk may hold
	BadExit     = "exit"         // the program ended with a fault and declared nothing
	OverBudget  = "over budget"  // the next turn could pass Request.MaxCost
	TurnLimit   = "turn limit"   // all of Request.MaxTurns are used
	Panicked    = "panic"        // odd's own code for the agent failed; Detail has what it said
	Transport   = "transport"    // the agent or its model could not be reached or went on no further; Class says how
)

// Usage is what a session cost. CostKnown false means: charge the reserved maximum.
type Usage struct {
	Turns     int
	Cost      int64 // micro-USD
	CostKnown bool
	Model     string
	Tokens    Tokens
}

// Tokens are the units a model's answers were billed in; all zero where nobody said.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int64 }

// Plus is the sum of what two parts of a session cost: its model is the later
// one's, and one unknown cost makes the sum unknown.
func (u Usage) Plus(v Usage) Usage {
	u.Turns, u.Cost, u.CostKnown = u.Turns+v.Turns, u.Cost+v.Cost, u.CostKnown && v.CostKnown
	u.Tokens = Tokens{u.Tokens.Input + v.Tokens.Input, u.Tokens.Output + v.Tokens.Output,
		u.Tokens.CacheRead + v.Tokens.CacheRead, u.Tokens.CacheWrite + v.Tokens.CacheWrite}
	if v.Model != "" {
		u.Model = v.Model
	}
	return u
}

// Class is why a transport failed, for who decides whether another may take over.
// The content of an answer is never the transport's fault.
type Class string

// The classes, in the words of the failover table. Content covers whatever an
// agent said or did not say, and a limit of odd's own.
const (
	Content            Class = "content"
	RateLimited        Class = "rate_limited"
	TimedOut           Class = "timeout"
	ServerError        Class = "server_error"
	ConnectionError    Class = "connection_error"
	ContextOverflow    Class = "context_overflow"
	TransientTransport Class = "transient_transport"
	Permanent          Class = "permanent" // a key that is refused, a model that is not there, a program that cannot start
)

// Note is one observation in the journal's sense: Type is the DOLCHEO
// letter and Facet its facet, as "O" and "open".
type Note struct{ Type, Facet, Title, Content string }

// LeftOut begins the title of the note that counts what a session found and does not
// propose. The message of a proposal's commit has it.
const LeftOut = "left out: "

// Proposal is what an agent asks of the people at the gates: a severity
// (emergency, high, medium, low), the gate that would have to act (framing,
// commitment, evaluation, emergency) and why, at most 500 bytes. It moves nothing.
type Proposal struct{ Severity, Gate, Reason string }

// Payload is one octave block. Late says that work was emitted above it.
type Payload struct {
	Text []byte
	Line int // of its fence
	Late bool
}

// Change is one change block, proposed edits to files that are not atoms, or one
// of those that lead to it.
type Change struct {
	Text []byte
	Line int // of its fence
}

// Emission is everything a session hands back.
type Emission struct {
	Atoms       []Atom
	Change      *Change // nil when none was emitted
	Plan        *Change // as Change
	Expansion   *Change // as Change
	Notes       []Note
	Handoff     string
	Says        []deliver.Say        // odd.say.1, in order
	Deliverable *deliver.Deliverable // nil when none was emitted
	Proposals   []Proposal           // odd.proposal.1, in order; kept whatever the outcome
	Payloads    []Payload            // octave blocks, in order
	Known       int                  // atoms that the session found and the bundle holds as they are
	Usage       Usage
	Outcome     Outcome
	Failure     string // name of the failure, e.g. "timeout", "malformed", "exit"
	Class       Class  // of a failure; "" is Content
	Detail      string
	Thread      string       // the substrate's own name of this conversation, by which it goes on; "" cannot
	Seen        bool         // every act of the session went through odd, so that Calls is all it did
	Calls       []Call       // the acts odd saw, in order
	Exploration *Exploration // what Calls come to as reading up; nil where they were not seen
	Missing     []string     // what an insufficient handoff should have held; never empty then
	Raw         []byte       // what the substrate said, for the run tree (capped, not yet redacted)
	Transcript  []byte
	Sandbox     string // what held the program that ran, as package cage says it; "" where none ran
}

// Words makes the lists of e its own and returns its texts, to be changed in place: all that is told of
// it besides its atoms, changes, payloads and deliverable.
func (e *Emission) Words() []*string {
	e.Notes, e.Says, e.Proposals, e.Missing = slices.Clone(e.Notes), slices.Clone(e.Says), slices.Clone(e.Proposals), slices.Clone(e.Missing)
	out := []*string{&e.Handoff, &e.Failure, &e.Detail, &e.Usage.Model}
	for i := range e.Notes {
		out = append(out, &e.Notes[i].Title, &e.Notes[i].Content)
	}
	for i := range e.Says {
		out = append(out, &e.Says[i].Text)
	}
	for i := range e.Proposals {
		out = append(out, &e.Proposals[i].Reason)
	}
	for i := range e.Missing {
		out = append(out, &e.Missing[i])
	}
	return out
}

// Call is one act of a session that odd saw: a tool it called. Key is the
// SHA-256, in hex, of its arguments as compact JSON with sorted keys. What a run keeps has these names.
type Call struct {
	Round  int    `json:"round"` // of the conversation, from 1
	Tool   string `json:"tool"`
	Key    string `json:"arguments_sha256"`
	Path   string `json:"path,omitempty"` // the file it was about, "" for none
	Status string `json:"status"`         // CallOK, CallDenied, CallFailed, CallTimeout or CallCancelled
	Code   string `json:"code,omitempty"` // of a denial or failure, "" else
	Bytes  int    `json:"output_bytes"`   // of what it answered
	Millis int64  `json:"duration_ms"`    // from its begin to its answer, waiting included
}

// How a call ended.
const (
	CallOK        = "success"
	CallDenied    = "policy_denied"
	CallFailed    = "exec_error"
	CallTimeout   = "timeout"
	CallCancelled = "cancelled"
)

// Tool is one tool as a model is told of it. Its name is of lower-case letters,
// digits, - and _, at most 64, as every API takes it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments: a JSON Schema of type object
	Mutates     bool            // it changes something outside the conversation
	Timeout     time.Duration   // of one call; 0 is that of every tool
	Run         func(ctx context.Context, args json.RawMessage) (string, error)
}

// Request is all a substrate gets. A program outside odd gets the brief, the
// run's and task's ids and the desk, no more; Inputs, Files and Graph are for substrates that
// live in odd, and are what those may read. Under a contract that asks for a
// fresh context package invoke narrows all three, so that a substrate reaches
// no more than the brief tells.
type Request struct {
	Run, Task  string
	Role       string // the contract's role, "" without a contract
	After      string // the mode its handoff came from, "" for none
	Member     int    // which of a fan-out's sessions this is, from 1; 0 outside one
	Step       string // what of a change it is asked for: StepPlan, StepExpand; "" is its work
	Try        int    // which call of one session this is, from 1: sent back, or one turn of a dialogue further
	Brief      []byte
	Inputs     []string                            // paths and globs of the task, repository-relative
	Files      fs.FS                               // the pinned base commit, read-only
	Desk       func(context.Context) (Desk, error) // made at the first call, the same at every other; nil: there is none
	Graph      *okf.Graph                          // the bundle at the base
	BundleRoot string                              // "knowledge"
	By         string                              // generated.by
	Now        time.Time
	MaxTurns   int                                                        // questions to a model, or starts of a program; 0 is no limit, here and of the next three
	MaxCost    int64                                                      // micro-USD
	Timeout    time.Duration                                              // wall time of the session
	MaxAtoms   int                                                        // of an emission; one more fails it whole
	Contract   contract.Contract                                          // the zero value without one
	Complexity string                                                     // of the change it is asked for, as package pipeline has it; "" asks for none, or nobody said
	Given      []string                                                   // repository paths of the files whose text is in the brief
	Explored   []Call                                                     // what earlier sessions of the same work looked at
	History    *History                                                   // of the repository up to the base; nil: it may not be asked
	Extra      []Tool                                                     // of servers outside, named mcp_SERVER_TOOL; a fresh context has none
	Checks     [][]string                                                 // the commands that will judge the work; the session may run them too
	Thread     string                                                     // the conversation to go on with, as its last Emission named it; "" begins one
	Declined   func(id okf.ID, grounds string) string                     // how people declined such an atom, of these okf.Grounds, "" where they did not; nil: nobody says
	Allow      func(policy.Action) error                                  // asked before every act odd sees, as policy.Grant.Allow; nil is the zero grant, which only reads
	Ask        func(ctx context.Context, question string) (string, error) // asks a person; nil: nobody is there, or the contract lets nobody be asked
	Turn       func(spent Usage) error                                    // called before every turn with what the session cost so far; an error ends it with outcome failed
	Progress   func(string)
}

// What a session may be asked for before the work itself.
const (
	StepExpand = "expand" // which files it wants to read
	StepPlan   = "plan"   // what it means to change, in which order
)

// Desk is where a session that runs a program may write: three absolute
// directories that are gone after it. Tree is a repository of its own with the
// base checked out, Home and Temp are empty at first. Read are places outside
// that Tree needs to be read: where it borrows its objects, and modules of the user's.
// Cache is one more place to write, which stays for later desks: what compilers and
// package managers keep. "" is none.
type Desk struct {
	Tree, Home, Temp string
	Cache            string
	Read             []string
}

// Place is where a command runs that is started on the desk.
func (d Desk) Place() policy.Place {
	if d.Tree == "" {
		return policy.Place{}
	}
	return policy.Place{Root: d.Tree, Outside: []string{d.Temp, d.Home}, Files: os.DirFS(d.Tree), Disk: os.DirFS("/")}
}

// History answers questions about the commits behind the pinned base, as text. A
// path is one of the repository, "" all of it; most bounds commits or lines. An
// error is about the question and may be shown.
type History struct {
	Log   func(ctx context.Context, path string, most int) (string, error)
	Diff  func(ctx context.Context, from, to, path string) (string, error) // of two commits; "" is the base, and before it for from
	Blame func(ctx context.Context, path string, first, last int) (string, error)
	Work  func(ctx context.Context, path string) (string, error) // the desk's files against its base; nil without a desk
}

// Permits asks leave for an act: nil or a *policy.Refusal.
func (r Request) Permits(a policy.Action) error {
	if r.Allow == nil {
		return policy.Grant{}.Allow(a)
	}
	return r.Allow(a)
}

// Substrate runs a session. Run returns an error only for a fault of odd's own
// or of its configuration; a failing agent is an Emission with a Failure. Run
// obeys ctx at once, calls BeginTurn before every turn with what the session
// cost so far, and leaves Usage.CostKnown false unless it was told the cost.
type Substrate interface {
	Run(ctx context.Context, r Request) (Emission, error)
}
