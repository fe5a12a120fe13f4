package event

// Data is what a record says beyond the members that every kind has. Each kind has
// one type; Append takes no other and Read returns no other, by value. The fields
// stand in the order of their keys, which is the order that they are stored in. A
// field without omitempty is stored even where it is zero. Moments are RFC 3339 in UTC.
type Data interface{ of() []Kind }

// ClaimData says what a claim is for. Sessions that no task asks for are engaged
// together, under the run's own id as task; an older odd claimed them.
type ClaimData struct {
	Alert        []string  `json:"alert,omitempty"` // the envelopes of which a month's share was reached for the first time: "tenant", "unapportioned", or a team
	Artifact     string    `json:"artifact,omitempty"`
	Asked        string    `json:"asked,omitempty"` // of sessions without a task, the question in words
	Attempt      int       `json:"attempt,omitzero"`
	Base         string    `json:"base,omitempty"`          // the commit that is worked on
	Blob         string    `json:"blob,omitempty"`          // of the task's file
	ContractRole string    `json:"contract_role,omitempty"` // where a person asks for another role than the task does
	Handoff      string    `json:"handoff,omitempty"`
	Lease        string    `json:"lease,omitempty"` // the commitment lease that it is made under, where one is required
	LeaseExpires string    `json:"lease_expires,omitempty"`
	Mode         string    `json:"mode,omitempty"`
	Op           string    `json:"op,omitempty"` // the change that it will be worked on by
	Override     *Override `json:"override,omitzero"`
	RefreshOf    string    `json:"refresh_of,omitempty"` // the run whose kept output is judged again; no session runs
	Sessions     int64     `json:"sessions,omitzero"`    // how many share the reservation, of those without a task
}

// Override is a person's word that some rules of a contract do not hold for once.
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
	Detail      string           `json:"detail,omitempty"`      // of a transport that failed
	Exploration *Exploration     `json:"exploration,omitzero"`
	Failure     string           `json:"failure,omitempty"`
	Handoff     string           `json:"handoff,omitempty"` // the file that it handed over
	Hints       int64            `json:"hints,omitzero"`    // how many; none refuses
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

// SessionAnchor names the permit that a session worked under.
type SessionAnchor struct {
	EmissionAt string `json:"emission_at"` // when what it emitted had been read
	Mode       string `json:"mode"`
	SHA256     string `json:"sha256"`
	Tier       string `json:"tier"`
	Token      string `json:"token"`
}

// SessionContract is what a session was held to.
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

// GivenFile is a file as a session was given it.
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

// Scratch is what a session left in its scratch repository: how many files it
// changed and how many of them are ignored, or the codes of why that is no change.
type Scratch struct {
	Changed int64    `json:"changed,omitzero"`
	Ignored int64    `json:"ignored,omitzero"`
	Refused []string `json:"refused,omitempty"`
}

// ServerUse is what became of one MCP server that was lent to a session.
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

// Tokens are what was billed.
type Tokens struct {
	CacheRead  int64 `json:"cache_read,omitzero"`
	CacheWrite int64 `json:"cache_write,omitzero"`
	Input      int64 `json:"input,omitzero"`
	Output     int64 `json:"output,omitzero"`
}

// AnchorData is the permit that a session worked under, released: one record a
// token. Of one that a later run swept, only what the permit itself says is known.
type AnchorData struct {
	Allow         []string      `json:"allow,omitempty"` // globs
	AnchorSHA256  string        `json:"anchor_sha256"`
	Arm           *Arm          `json:"arm,omitzero"`
	Artifact      string        `json:"artifact,omitempty"`
	BoundAt       string        `json:"bound_at"`
	Constitution  *Constitution `json:"constitution,omitzero"`
	ContextHash   string        `json:"context_hash"` // of the arm
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

// Arm is where a session stood when it was bound.
type Arm struct {
	Branch      string `json:"branch,omitempty"`
	Focus       string `json:"focus,omitempty"`
	FocusSource string `json:"focus_source,omitempty"`
	Head        string `json:"head,omitempty"`
	Phase       string `json:"phase,omitempty"`
}

// Constitution is the file that a role is bound to, as the head of its arm has it.
type Constitution struct {
	Blob   string `json:"blob,omitempty"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ReconcileData is what merging an emission into the bundle came to.
type ReconcileData struct {
	Counts map[string]int64 `json:"counts"` // by effect
	Held   []Held           `json:"held,omitempty"`
}

// Held is an atom that was kept out of a proposal, for a person to see.
type Held struct {
	Effect string `json:"effect"`
	ID     string `json:"id"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// OpData is a transition of a change that goes through the pipeline, or its one
// ending. The ending that a person's word brings is alone in a file that has the
// op's id as its run. What the keys mean, board/pipeline says.
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
	V       int               `json:"v,omitzero"` // 2; none is version 1, which also has clock, hash, mark, op_until and prev
}

// OutcomeData is how a claim ended.
type OutcomeData struct {
	Alert     []string       `json:"alert,omitempty"` // as a claim's
	Artifacts string         `json:"artifacts"`       // the tree that the run kept
	Base      string         `json:"base,omitempty"`
	Branch    string         `json:"branch,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	Op        string         `json:"op,omitempty"`
	Over      int64          `json:"over_micro_usd,omitzero"` // what it cost above its reservation
	Paths     []ProposedPath `json:"paths,omitempty"`
	Proposal  string         `json:"proposal,omitempty"` // its commit
	Reason    string         `json:"reason,omitempty"`
	Verdict   string         `json:"verdict"` // review, blocked, or lost when the claim was no longer this run's; completed, yielded, failed, handoff_insufficient or refused where no task asked
}

// ProposedPath is a file that a proposal writes, with its blobs before and after; "" is no file.
type ProposedPath struct {
	Base   string `json:"base"`
	Path   string `json:"path"`
	Result string `json:"result"`
}

// AbandonedData is what is known of a claim that another run swept.
type AbandonedData struct {
	Killed bool `json:"killed,omitzero"` // the run was found dead in its own clone before its claim ended
}

// StopData is why a drain stopped, or stopped the board.
type StopData struct {
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// UnknownData is the data of a kind that this program does not know, as it stands.
type UnknownData struct {
	Kind Kind
	JSON string
}

// MarshalJSON is the data as it was read.
func (d UnknownData) MarshalJSON() ([]byte, error) { return []byte(d.JSON), nil }

func (d UnknownData) of() []Kind { return []Kind{d.Kind} }
func (ClaimData) of() []Kind     { return []Kind{Claim, Engage} }
func (SessionData) of() []Kind   { return []Kind{Session} }
func (AnchorData) of() []Kind    { return []Kind{Anchor} }
func (ReconcileData) of() []Kind { return []Kind{Reconcile} }
func (OpData) of() []Kind        { return []Kind{Op, OpEnd} }
func (OutcomeData) of() []Kind   { return []Kind{Outcome} }
func (AbandonedData) of() []Kind { return []Kind{Abandoned} }
func (StopData) of() []Kind      { return []Kind{Refused, Paused} }

// Claim is the data of a record as ClaimData: zero where the record is of another kind.
func (r Record) Claim() ClaimData { return of[ClaimData](r) }

// Session is the data of a record as SessionData: zero where the record is of another kind.
func (r Record) Session() SessionData { return of[SessionData](r) }

// Anchor is the data of a record as AnchorData: zero where the record is of another kind.
func (r Record) Anchor() AnchorData { return of[AnchorData](r) }

// Reconcile is the data of a record as ReconcileData: zero where the record is of another kind.
func (r Record) Reconcile() ReconcileData { return of[ReconcileData](r) }

// Op is the data of a record as OpData: zero where the record is of another kind.
func (r Record) Op() OpData { return of[OpData](r) }

// Outcome is the data of a record as OutcomeData: zero where the record is of another kind.
func (r Record) Outcome() OutcomeData { return of[OutcomeData](r) }

// Abandoned is the data of a record as AbandonedData: zero where the record is of another kind.
func (r Record) Abandoned() AbandonedData { return of[AbandonedData](r) }

// Stop is the data of a record as StopData: zero where the record is of another kind.
func (r Record) Stop() StopData { return of[StopData](r) }

func of[T Data](r Record) T {
	d, _ := r.Data.(T)
	return d
}
