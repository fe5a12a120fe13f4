// Package anchor is the Odyssean anchor: an agent remembers nothing, so who it
// is, where it stands and what it means to do are bound in stages on disk, and
// work tools stay locked until all three are.
//
//	LOBBY ──identity──▶ IDENTITY ──context──▶ CONTEXT ──proof──▶ BOUND
//	        role,               BIND proves           TENSIONS and COMMIT
//	        constitution        the reading           against the ARM seen
//
// Each stage is one call that answers with what is wrong, where, the form that
// was expected, a template for the part that failed and the next step. The
// server computes the ARM (phase, branch, files, focus); an agent's own is not
// read. Proof writes anchor.json and promotes pending/TOKEN to active/TOKEN by
// one directory rename: before it the session is locked, after it the session
// has a permit, and nothing is in between.
//
// # Modes
//
//   - full: three stages, the agent's own tensions.
//   - lite: full with strictness quick unless a higher one is asked for.
//   - express: identity, then a COMMIT only; the tensions are made from the
//     constitution by a fixed rule and marked as the server's.
//   - untracked: the constitution to read, nothing on disk, never a permit.
//
// # Promises
//
//  1. The tree of the state directory says everything. A token is the session's
//     id and its directory's name; there is no map and no memory of a process.
//  2. What cannot be read is locked: a damaged file, a foreign version, a link
//     where a directory belongs.
//  3. A retry is counted on disk before its answer is given; the third failure
//     of a stage is the end of the session.
//  4. A permit holds while its constitution, branch, role and time hold, and is
//     signed with a key that no work tool may read or write. HEAD may move to a
//     descendant. The session's own edits inside its paths never lock it out.
//  5. A session is bound only to a constitution as HEAD holds it. Under a permit
//     for some paths nothing is committed, so no session widens its own rights by
//     writing a role and binding again as that.
//  6. No stage shows what belongs to the next before it is passed.
//
// # The gate
//
// Decide judges one use of a tool before it happens. What it cannot judge it
// denies; Unjudged is the answer to every fault.
//
//   - What only reads is open, the network included, since a harness has rules of
//     its own for that; but no call names the key, or the folder it is in, by its
//     letters or by a pattern. A search of the whole work tree may come across it:
//     to use it takes a write to the sessions, which stay shut.
//   - What writes needs a permit that covers every file the call names. Each path
//     is followed over every link that is there, and must end in the work tree, on
//     a plain file with one name or on nothing yet. What no session may write
//     stays shut under every permit: git's own files, sessions, settings of hooks
//     and agents, constitutions, records.
//   - A command line is judged by its syntax tree (policy.JudgeCommand). Known to
//     write nothing: open. Known to write these files: as if a tool wrote them.
//     Otherwise it needs a permit for the whole work tree, or to be, word by word,
//     the command that COMMIT names as its gate. A hard finding is final.
//   - odd anchor is open to a locked session, else it could never be bound, but
//     only alone, as one plain command, which may have a quoted here-document for
//     its payload, and only for what a session does for itself.
//   - A tool of another program needs a permit for the whole work tree, a tool
//     that nobody knows stays shut.
//
// A permit is found by the harness's id of the session, else by the token that
// the harness was started with, else it is the only one here that names no
// session of a harness. One that names another never counts.
//
// What the gate does not promise: a program that a permit lets run is not held
// back by it. A test that a session wrote and then runs as its gate does what the
// system lets it do, and under a permit for the whole work tree so does any
// program. Who runs sessions that are not trusted so far confines them as drain
// does, in a scratch repository without the key, or narrows the paths.
//
// Git facts, files, the clock and chance arrive as values (World).
package anchor

import (
	"io/fs"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Mode is how a session is bound.
type Mode string

// The modes.
const (
	Full      Mode = "full"
	Express   Mode = "express"
	Lite      Mode = "lite"
	Untracked Mode = "untracked"
)

// Strictness is how much proof is asked for: 1, 2 or 3 tensions, and under deep
// each with its own range of lines.
type Strictness string

// The strictnesses, from the least.
const (
	Quick   Strictness = "quick"
	Default Strictness = "default"
	Deep    Strictness = "deep"
)

// Stage is how far a handshake has come. A session without a record is in the lobby.
type Stage string

// The stages.
const (
	AtIdentity Stage = "IDENTITY"
	AtContext  Stage = "CONTEXT"
	AtBound    Stage = "BOUND"
)

// Code names one thing that can be wrong. Codes lists them; Explain tells them.
type Code string

// Problem is one thing that is wrong with a payload or a call.
type Problem struct {
	Code  Code   `json:"code"`
	At    string `json:"at"`              // "BIND.ROLE", "TENSIONS.L2", "COMMIT.GATE", "token"
	Line  int    `json:"line,omitempty"`  // of the payload, from 1
	Text  string `json:"text"`            // what is wrong
	Found string `json:"found,omitempty"` // what was there
	Want  string `json:"want,omitempty"`  // the form that was expected
}

// Rule is one sentence of a constitution and where it stands in its file.
type Rule struct {
	Text string `json:"text"`
	Line int    `json:"line,omitempty"`
}

// Constitution is what a role is and may do, read from an OCTAVE agent file or
// compiled from a role atom; the rest of the package does not know which.
type Constitution struct {
	Role        string   // lower case with hyphens
	Path        string   // where it was read, repository-relative
	SHA256      string   // of the file's bytes; of all files' bytes, framed, where there are several
	Cognition   string   // LOGOS, ETHOS or PATHOS; "" where the role names none
	Archetypes  []string // declared names without their qualifiers
	Mission     string
	MustAlways  []Rule
	MustNever   []Rule
	Gates       []Rule   // what it may NEVER pass
	Blocking    []Rule   // what it has authority to block
	Escalation  string   // who is asked: the target of an escalation
	Paths       []string // globs it may write; none is the whole work tree
	BlockedPath []string // globs it may not write
	GateCommand []string // prefixes of commands a COMMIT may name as its gate; none is the built-in list
	Excerpt     string   // what an agent is shown of it
	Lines       int      // of the file at Path
}

// Authority is BIND's AUTHORITY: RESPONSIBLE[scope], DELEGATED[parent] or
// DELEGATED[parent::task].
type Authority struct {
	Delegated bool   `json:"delegated"`
	Scope     string `json:"scope,omitempty"`  // of RESPONSIBLE, or the task of DELEGATED
	Parent    string `json:"parent,omitempty"` // a token that must be active
}

// Bind is who the agent says it is.
type Bind struct {
	Role       string    `json:"role"`
	Cognition  string    `json:"cognition"`
	Archetypes []string  `json:"archetypes,omitempty"`
	Authority  Authority `json:"authority"`
}

// Tension is a constraint against a place in the work tree: why it matters
// there, in which state, and what it makes the agent do.
type Tension struct {
	N           int    `json:"n"`
	Constraint  string `json:"constraint"`
	Path        string `json:"path"`
	Start       int    `json:"start,omitzero"` // first line cited, 0 for none
	End         int    `json:"end,omitzero"`
	RangeSHA256 string `json:"range_sha256,omitempty"` // of the cited lines, or of the file
	State       string `json:"state"`
	Trigger     string `json:"trigger"`
	GeneratedBy string `json:"generated_by"` // "agent" or "server"
	Line        int    `json:"-"`            // of the payload it was read from
}

// Commit is what the session will make and how it will be judged.
type Commit struct {
	Artifact string `json:"artifact"` // repository path
	Gate     string `json:"gate"`     // a command
}

// Proof is the payload of the last stage.
type Proof struct {
	Tensions []Tension
	Unread   int // lines that were meant as tensions and are not; they are told of, not counted as missing
	Commit   Commit
}

// Change is one entry of git's status.
type Change struct {
	XY   string `json:"xy"` // git's two letters, "??" for untracked
	Path string `json:"path"`
	From string `json:"from,omitempty"` // of a rename
}

// Facts are what git says of the work tree, from one call. Files leave out the
// state directory and are sorted by path.
type Facts struct {
	OK       bool   // false outside a repository
	Head     string // commit id, "(initial)" on an unborn branch
	Branch   string // "detached[12345678]" when no branch is checked out
	Upstream string // "" for none
	Ahead    int    // commits that Upstream does not have
	Behind   int    // commits of Upstream that Head does not have
	Files    []Change
}

// Arm is the server's account of where the session stands. Hash covers every
// member, each by name, so that a drift can name the one that moved.
type Arm struct {
	Version      int      `json:"v"`
	Head         string   `json:"head_oid"`
	Branch       string   `json:"branch"`
	Upstream     string   `json:"upstream"`
	Ahead        int      `json:"ahead"`
	Behind       int      `json:"behind"`
	Phase        string   `json:"phase"`
	Focus        string   `json:"focus"`
	FocusSource  string   `json:"focus_source"`
	Constitution string   `json:"constitution_sha256"`
	Files        []Change `json:"files"`
	Hash         string   `json:"context_hash"` // "sha256:…" over the canonical JSON of the others
}

// Handshake is pending/TOKEN/handshake.json.
type Handshake struct {
	Version        int               `json:"v"`
	Token          string            `json:"token"`
	Stage          Stage             `json:"stage"`
	Role           string            `json:"role"`
	Mode           Mode              `json:"mode"`
	Strictness     Strictness        `json:"strictness"`
	Topic          string            `json:"topic,omitempty"`
	WorkTree       string            `json:"working_dir"` // absolute, its top
	ConstPath      string            `json:"constitution_path"`
	ConstSHA256    string            `json:"constitution_sha256"`
	CreatedAt      time.Time         `json:"created_at"`
	UpdatedAt      time.Time         `json:"updated_at"`
	ExpiresAt      time.Time         `json:"expires_at"`
	Retries        map[string]int    `json:"retries"` // failures so far, by stage: "context", "proof"
	Terminal       bool              `json:"terminal,omitzero"`
	Bind           *Bind             `json:"bind"`
	Arm            *Arm              `json:"server_arm"`
	PayloadSHA256  map[string]string `json:"payload_sha256,omitempty"` // of each accepted stage, for a replay
	HarnessSession string            `json:"harness_session_id,omitempty"`
	Extra          jsontext.Value    `json:",embed"` // keys that odd does not know; they are kept
}

// Permit is what an anchored session may touch.
type Permit struct {
	Version      int        `json:"v"`
	Token        string     `json:"token"`
	Role         string     `json:"role"`
	Tier         Strictness `json:"tier"`
	Mode         Mode       `json:"mode"`
	IssuedAt     time.Time  `json:"issued_at"`
	ExpiresAt    time.Time  `json:"expires_at"`
	Renewals     int        `json:"renewals"`
	Branch       string     `json:"branch"`
	Head         string     `json:"head_oid"`
	ContextHash  string     `json:"context_hash"`
	Constitution string     `json:"constitution_sha256"`
	Allow        []string   `json:"allow_paths"`
	Deny         []string   `json:"deny_paths"`
	Artifact     string     `json:"artifact"`
	Gate         string     `json:"gate"`
	Parent       string     `json:"parent,omitempty"`
	Harness      string     `json:"harness_session_id,omitempty"` // the harness's session it was asked for in; it unlocks no other
	Payload      string     `json:"payload_sha256"`
}

// Anchor is active/TOKEN/anchor.json.
type Anchor struct {
	Version     int        `json:"v"`
	Validated   bool       `json:"validated"`
	Timestamp   time.Time  `json:"timestamp"`
	Token       string     `json:"token"`
	Role        string     `json:"role"`
	Tier        Strictness `json:"tier"`
	Mode        Mode       `json:"mode"`
	GeneratedBy string     `json:"generated_by"` // who made the tensions: "agent" or "server"
	Bind        Bind       `json:"bind"`
	Arm         Arm        `json:"arm"`
	Tensions    []Tension  `json:"tensions"`
	Commit      Commit     `json:"commit"`
	Permit      Permit     `json:"permit"`
	SHA256      string     `json:"anchor_sha256,omitempty"` // of the canonical JSON without SHA256 and MAC
	MAC         string     `json:"mac,omitempty"`           // HMAC-SHA-256 of SHA256 under the state directory's key
}

// World is what a stage may ask of everything outside its directory.
type World struct {
	Now          time.Time
	Random       func(b []byte) error                     // fills b
	WorkTree     string                                   // absolute
	Files        fs.FS                                    // the work tree, confined to it
	Facts        func() (Facts, error)                    // git's status, read when asked; the gate's may leave out Files
	Descends     func(head, from string) (bool, error)    // whether head has from among its ancestors
	Constitution func(role string) (Constitution, error)  // finds and reads a role's; an error that is a Refusal says its codes
	Committed    func(path string) (why string, ok bool)  // whether HEAD holds a file as it is; nil where Files are a commit's own
	Protected    func(path string) (why string, yes bool) // what no session may write
	Phase        func() (phase string, problem string)    // from the project's own context file
	TTL          time.Duration                            // of a permit; an hour by default
}

// Result is what every stage answers, and the whole contract of the tool.
type Result struct {
	Success             bool      `json:"success"`
	Stage               string    `json:"stage"` // the stage the session is at now: LOBBY, IDENTITY, CONTEXT, BOUND
	Token               string    `json:"token,omitempty"`
	ConstitutionPath    string    `json:"constitution_path,omitempty"`
	ConstitutionExcerpt string    `json:"constitution_excerpt,omitempty"`
	ServerArm           *Arm      `json:"server_arm,omitempty"`
	Anchor              string    `json:"anchor,omitempty"` // canonical OCTAVE text
	Permit              *Permit   `json:"permit,omitempty"`
	NextStep            string    `json:"next_step"`
	Template            string    `json:"template,omitempty"`
	Errors              []Problem `json:"errors"`
	Warnings            []Problem `json:"warnings,omitempty"`
	Guidance            string    `json:"guidance,omitempty"`
	Terminal            bool      `json:"terminal"`
}
