// Package anchor binds an agent's session to a role before it may write. An agent
// remembers nothing between calls, so each stage is recorded on disk, and tools
// that write stay locked until the last stage is passed:
//
//	LOBBY ──identity──▶ IDENTITY ──context──▶ CONTEXT ──proof──▶ BOUND
//	        role,               BIND shows that      TENSIONS and COMMIT
//	        constitution        it was read          against the ARM
//
// Each stage is one call. Its answer says what is wrong, where, which form was
// expected, and what the next step is, with a template. The server computes the
// ARM (phase, branch, files, focus) and ignores an agent's own. Proof writes
// anchor.json and renames the directory pending/TOKEN to active/TOKEN: before the
// rename the session is locked, after it the session has a permit.
//
// # Modes
//
//   - full: three stages, with the agent's own tensions.
//   - lite: full with strictness quick unless a higher one is asked for.
//   - express: identity, then only COMMIT; Tensions makes the tensions.
//   - untracked: the constitution to read, nothing on disk, never a permit.
//
// # Promises
//
//  1. The state directory holds all of a session. Its token is its id and the name
//     of its directory. Only a session made with Begin is not there: it lives in
//     its process, and nothing of it is written.
//  2. A session whose records cannot be read is locked: a damaged file, a foreign
//     version, a link where a directory belongs.
//  3. A retry is counted in the session's record before it is answered; the third
//     failure of a stage ends the session.
//  4. A permit holds while its constitution, branch, role and time hold. On
//     disk it is signed with a key that no work tool may read or write. HEAD may
//     move to a descendant. The session's own edits inside its paths never end it.
//  5. A session is bound only to a constitution that HEAD has. A permit for some
//     paths commits nothing, so no session can write a role and bind as that role.
//  6. No stage shows what belongs to the next one before it is passed.
//
// # The gate
//
// Decide judges one tool call before it happens. It denies what it cannot judge,
// and Unjudged answers every fault.
//
//   - Reading is allowed, the network included, since a harness has its own rules
//     for that. No call may name the key or its folder, by letters or by a pattern.
//     A search of the whole work tree may find the key; to use it, a session would
//     have to write session records, which no permit allows.
//   - Writing needs a permit that covers every file the call names. Each path is
//     followed over its links, and must end in the work tree, at a plain file with
//     one name or at nothing yet. No permit covers git's own files, sessions,
//     settings of hooks and agents, constitutions and records.
//   - A command line is judged by its syntax tree (policy.JudgeCommand). One that writes
//     nothing is allowed. One that writes known files is judged as if a tool wrote
//     them, and one that has git add or commit files needs a permit that covers
//     them, and all that the index has. At the top of the work tree any permit opens
//     what tests, with flags that name no file, folder or program (policy.IsTest);
//     what a person listed, by its first words in [toolbox] run, word by word in
//     [pipeline] validate; and the GATE of COMMIT word by word. Any other line needs
//     a permit for the whole work tree. A hard finding always denies.
//   - odd anchor is allowed to a locked session, which could not be bound without
//     it: as one plain command, with at most a quoted here-document, and only for
//     what concerns the session itself.
//   - A tool of another program needs a permit for the whole work tree. An unknown
//     tool is denied.
//
// The permit is that of the harness's session, else that of the token the harness
// was started with, else the only one here that names no session of a harness. A
// permit that names another session never counts.
//
// The gate does not confine a program that a permit lets run, such as a test that
// the session wrote. To run untrusted sessions, confine them as drain does, in a
// scratch repository without the key.
//
// Git facts, files, the clock and randomness are values in World.
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

// Code names one thing that can be wrong. Explanations explains each.
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
