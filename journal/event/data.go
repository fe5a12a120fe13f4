package event

// Data is what a record holds beyond the members of every kind. Each kind has one type, which Append requires and
// Read returns, by value. The fields are in the order of their keys, which is the stored order. A field without
// omitempty is stored even if it is zero. Times are RFC 3339 in UTC.
type Data interface{ listKinds() []Kind }

// ClaimData says what a claim is for. Sessions without a task are one engage record, with the run's id as task;
// older versions of odd wrote a claim instead.
type ClaimData struct {
	Alert        []string  `json:"alert,omitempty"` // budget envelopes that reached their alert share in this month for the first time: "tenant", "unapportioned", or a team
	Artifact     string    `json:"artifact,omitempty"`
	Asked        string    `json:"asked,omitempty"` // the question, for sessions without a task
	Attempt      int       `json:"attempt,omitzero"`
	Base         string    `json:"base,omitempty"`          // the commit that the session works on
	Blob         string    `json:"blob,omitempty"`          // the blob of the task's file
	ContractRole string    `json:"contract_role,omitempty"` // the role, if a person asks for another than the task does
	Handoff      string    `json:"handoff,omitempty"`
	Lease        string    `json:"lease,omitempty"` // the commitment lease, if one is required
	LeaseExpires string    `json:"lease_expires,omitempty"`
	Mode         string    `json:"mode,omitempty"`
	Op           string    `json:"op,omitempty"` // the change through which the task is done
	Override     *Override `json:"override,omitzero"`
	RefreshOf    string    `json:"refresh_of,omitempty"` // the run whose kept output is judged again; no session runs
	Sessions     int64     `json:"sessions,omitzero"`    // how many sessions without a task share the reservation
}

// Override records a person's permission to break some rules of a contract once.
type Override struct {
	By     string   `json:"by"`
	Modes  []string `json:"modes"`
	Reason string   `json:"reason"`
	Risks  []string `json:"risks"`
}

// SessionData is one bounded run of an agent.
type SessionData struct {
	Anchor      *SessionAnchor   `json:"anchor,omitzero"`
	Brief       string           `json:"brief"` // the blob of its text
	Calls       map[string]int64 `json:"calls,omitempty"`
	Class       string           `json:"class,omitempty"`
	Contract    *SessionContract `json:"contract,omitzero"`
	Deliverable string           `json:"deliverable,omitempty"` // its schema
	Detail      string           `json:"detail,omitempty"`      // why the transport failed
	Exploration *Exploration     `json:"exploration,omitzero"`
	Failure     string           `json:"failure,omitempty"`
	Handoff     string           `json:"handoff,omitempty"` // the file that the session handed over
	Hints       int64            `json:"hints,omitzero"`    // the number of hints; a hint refuses nothing
	Model       string           `json:"model,omitempty"`
	Outcome     string           `json:"outcome"`
	Sandbox     string           `json:"sandbox,omitempty"`
	Scratch     *Scratch         `json:"scratch,omitzero"`
	Seen        bool             `json:"seen,omitzero"` // odd saw each of its calls
	Servers     []ServerUse      `json:"servers,omitempty"`
	Substrate   string           `json:"substrate"`
	Tokens      *Tokens          `json:"tokens,omitzero"`
	Turns       int64            `json:"turns"`
}

// SessionAnchor names the permit of a session.
type SessionAnchor struct {
	EmissionAt string `json:"emission_at"` // when its emission had been read
	Mode       string `json:"mode"`
	SHA256     string `json:"sha256"`
	Tier       string `json:"tier"`
	Token      string `json:"token"`
}

// SessionContract is the contract of a session.
type SessionContract struct {
	Artifact     string      `json:"artifact,omitempty"`
	Engagement   string      `json:"engagement"`
	Handoffs     []GivenFile `json:"handoffs,omitempty"`
	Hash         string      `json:"hash"`
	Mode         string      `json:"mode,omitempty"`
	Override     *Override   `json:"override,omitzero"`
	Participants []string    `json:"participants,omitempty"`
	Persona      string      `json:"persona,omitempty"` // name@version
	Role         string      `json:"role"`
	Surface      string      `json:"surface"`
	Tainted      string      `json:"tainted,omitempty"`
	Voice        string      `json:"voice"`
}

// GivenFile is a file that a session was given.
type GivenFile struct {
	Blob string `json:"blob"`
	Path string `json:"path"`
}

// Exploration is how widely a session read before it wrote.
type Exploration struct {
	Categories []string `json:"categories"`
	ScoreMilli int64    `json:"score_milli"`
	Unique     int64    `json:"unique"`
}

// Scratch is what a session left in its scratch repository: how many files it changed and how many were ignored, or
// the codes of why it is not a change.
type Scratch struct {
	Changed int64    `json:"changed,omitzero"`
	Ignored int64    `json:"ignored,omitzero"`
	Refused []string `json:"refused,omitempty"`
}

// ServerUse is how a session used one MCP server.
type ServerUse struct {
	Calls      int64    `json:"calls"`
	Code       string   `json:"code,omitempty"`
	Detail     string   `json:"detail,omitempty"`
	Failed     int64    `json:"failed"`
	Held       string   `json:"held,omitempty"`
	ListSHA256 string   `json:"list_sha256,omitempty"`
	Name       string   `json:"name"`
	Notes      []string `json:"notes,omitempty"`
	Says       string   `json:"says,omitempty"`
	Tools      int64    `json:"tools"`
}

// Tokens are the billed tokens.
type Tokens struct {
	CacheRead  int64 `json:"cache_read,omitzero"`
	CacheWrite int64 `json:"cache_write,omitzero"`
	Input      int64 `json:"input,omitzero"`
	Output     int64 `json:"output,omitzero"`
}

// AnchorData is a released permit of a session, one record a token. If a later run swept it, only the permit's own
// data is known.
type AnchorData struct {
	Allow         []string      `json:"allow,omitempty"` // globs
	AnchorSHA256  string        `json:"anchor_sha256"`
	Arm           *Arm          `json:"arm,omitzero"`
	Artifact      string        `json:"artifact,omitempty"`
	BoundAt       string        `json:"bound_at"`
	Constitution  *Constitution `json:"constitution,omitzero"`
	ContextHash   string        `json:"context_hash"` // hash of the arm
	Deny          []string      `json:"deny,omitempty"`
	ExpiresAt     string        `json:"expires_at,omitempty"`
	Gate          string        `json:"gate,omitempty"`
	GeneratedBy   string        `json:"generated_by,omitempty"` // who made the tensions: agent or server
	Mode          string        `json:"mode"`
	PayloadSHA256 string        `json:"payload_sha256"`
	Reason        string        `json:"reason"`
	ReleasedAt    string        `json:"released_at"`
	Tier          string        `json:"tier"`
	Token         string        `json:"token"`
}

// Arm is the state of the repository when a session was bound.
type Arm struct {
	Branch      string `json:"branch,omitempty"`
	Focus       string `json:"focus,omitempty"`
	FocusSource string `json:"focus_source,omitempty"`
	Head        string `json:"head,omitempty"`
	Phase       string `json:"phase,omitempty"`
}

// Constitution is the file that a role is bound to, as in the head of its arm.
type Constitution struct {
	Blob   string `json:"blob,omitempty"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ReconcileData is the result of merging an emission into the bundle.
type ReconcileData struct {
	Counts map[string]int64 `json:"counts"` // by effect
	Held   []Held           `json:"held,omitempty"`
}

// Held is an atom that was left out of a proposal, for a person to look at.
type Held struct {
	Effect string `json:"effect"`
	ID     string `json:"id"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// OpData is a transition of a change in the pipeline, or its only ending. If a person ends the op, the record is
// alone in a file whose run is the op's id. board/pipeline explains the keys.
type OpData struct {
	At      string            `json:"at,omitempty"`
	Clock   string            `json:"clock,omitempty"`
	Hash    string            `json:"hash,omitempty"`
	ID      string            `json:"id,omitempty"`
	Mark    string            `json:"mark,omitempty"`
	New     string            `json:"new,omitempty"`
	Note    string            `json:"note,omitempty"`
	Old     string            `json:"old,omitempty"`
	Op      string            `json:"op,omitempty"`
	OpUntil string            `json:"op_until,omitempty"`
	Prev    string            `json:"prev,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Ref     string            `json:"ref,omitempty"`
	Set     map[string]string `json:"set,omitempty"`
	Spent   int64             `json:"spent_micro_usd,omitzero"`
	To      string            `json:"to,omitempty"`
	Until   string            `json:"until,omitempty"`
	V       int               `json:"v,omitzero"` // 2; version 1 has none, but clock, hash, mark, op_until and prev
}

// OutcomeData is how a claim ended.
type OutcomeData struct {
	Alert     []string       `json:"alert,omitempty"` // as a claim's
	Artifacts string         `json:"artifacts"`       // the tree that the run kept
	Base      string         `json:"base,omitempty"`
	Branch    string         `json:"branch,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	Op        string         `json:"op,omitempty"`
	Over      int64          `json:"over_micro_usd,omitzero"` // cost above the reservation
	Paths     []ProposedPath `json:"paths,omitempty"`
	Proposal  string         `json:"proposal,omitempty"` // the proposal's commit
	Reason    string         `json:"reason,omitempty"`
	Verdict   string         `json:"verdict"` // review, blocked, or lost if the claim was no longer this run's; without a task: completed, yielded, failed, handoff_insufficient or refused
}

// ProposedPath is a file that a proposal writes, with its blobs before and after; "" means no file.
type ProposedPath struct {
	Base   string `json:"base"`
	Path   string `json:"path"`
	Result string `json:"result"`
}

// AbandonedData is the data of a claim that another run swept.
type AbandonedData struct {
	Killed bool `json:"killed,omitzero"` // the run was found dead in its own clone before its claim ended
}

// StopData is why a drain stopped, or paused the board.
type StopData struct {
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// UnknownData is the data of a kind that this version does not know, unchanged.
type UnknownData struct {
	Kind Kind
	JSON string
}

// MarshalJSON returns the data as it was read.
func (d UnknownData) MarshalJSON() ([]byte, error) { return []byte(d.JSON), nil }

func (d UnknownData) listKinds() []Kind { return []Kind{d.Kind} }
func (ClaimData) listKinds() []Kind     { return []Kind{Claim, Engage} }
func (SessionData) listKinds() []Kind   { return []Kind{Session} }
func (AnchorData) listKinds() []Kind    { return []Kind{Anchor} }
func (ReconcileData) listKinds() []Kind { return []Kind{Reconcile} }
func (OpData) listKinds() []Kind        { return []Kind{Op, OpEnd} }
func (OutcomeData) listKinds() []Kind   { return []Kind{Outcome} }
func (AbandonedData) listKinds() []Kind { return []Kind{Abandoned} }
func (StopData) listKinds() []Kind      { return []Kind{Refused, Paused} }

// Claim returns the record's ClaimData, zero for another kind.
func (r Record) Claim() ClaimData { return dataAs[ClaimData](r) }

// Session returns the record's SessionData, zero for another kind.
func (r Record) Session() SessionData { return dataAs[SessionData](r) }

// Anchor returns the record's AnchorData, zero for another kind.
func (r Record) Anchor() AnchorData { return dataAs[AnchorData](r) }

// Reconcile returns the record's ReconcileData, zero for another kind.
func (r Record) Reconcile() ReconcileData { return dataAs[ReconcileData](r) }

// Op returns the record's OpData, zero for another kind.
func (r Record) Op() OpData { return dataAs[OpData](r) }

// Outcome returns the record's OutcomeData, zero for another kind.
func (r Record) Outcome() OutcomeData { return dataAs[OutcomeData](r) }

// Abandoned returns the record's AbandonedData, zero for another kind.
func (r Record) Abandoned() AbandonedData { return dataAs[AbandonedData](r) }

// Stop returns the record's StopData, zero for another kind.
func (r Record) Stop() StopData { return dataAs[StopData](r) }

func dataAs[T Data](r Record) T {
	d, _ := r.Data.(T)
	return d
}
