package gate

import "time"

// Severity orders proposals.
type Severity string

// The severities, the gravest first.
const (
	EmergencySeverity Severity = "emergency"
	High              Severity = "high"
	Medium            Severity = "medium"
	Low               Severity = "low"
)

// Source says who proposes. The list is closed: an unknown one is an error.
type Source string

// The sources, in their order of priority.
const (
	UserSignal     Source = "user_signal"
	DecayManager   Source = "decay_manager"
	Perception     Source = "perception"
	ContinuousEval Source = "continuous_eval"
	TaskAgent      Source = "task_agent"
)

// Proposal is one line of proposals/WRITER.jsonl with t "proposal".
type Proposal struct {
	ID       string    `json:"id"` // P-ULID
	TS       time.Time `json:"ts"`
	Source   Source    `json:"source"`
	Severity Severity  `json:"severity"`
	Gate     Gate      `json:"gate"`
	Reason   string    `json:"reason"` // at most 500 bytes, one line
	Lease    string    `json:"lease,omitempty"`
	Task     string    `json:"task,omitempty"`
	Run      string    `json:"run,omitempty"`
	Key      string    `json:"key"` // the same key while open is not appended again
}

// Disposition is one line with t "disposition": what became of a proposal.
type Disposition struct {
	ID       string    `json:"id"` // the proposal's
	TS       time.Time `json:"ts"`
	By       string    `json:"by"`            // human:ADDRESS
	Decision string    `json:"decision"`      // accepted, rejected, superseded, expired
	Act      string    `json:"act,omitempty"` // the gate row that acts on it, G-0004
	Reason   string    `json:"reason,omitempty"`
}

// Buffer is every proposal of every writer, with its disposition.
type Buffer struct {
	Proposals    []Proposal // in order of Order
	Dispositions map[string]Disposition
}

// ReadProposals reads one writer's file into the buffer. The error names the line.
func (b *Buffer) ReadProposals(text []byte) error { return nil }

// Open lists the proposals without a disposition, gravest first: severity, then
// source, then the earlier, then the id.
func (b Buffer) Open() []Proposal { return nil }

// AppendProposal returns the writer's file with p as its last line, and false
// where an open proposal of the same key exists. Control characters are taken
// out of the reason; one over 500 bytes is cut at a character.
func (b Buffer) AppendProposal(file []byte, p Proposal) ([]byte, bool, error) { return nil, false, nil }

// AppendDisposition returns the writer's file with d as its last line. A
// proposal that is unknown or has a disposition is an error.
func (b Buffer) AppendDisposition(file []byte, d Disposition) ([]byte, error) { return nil, nil }

// MaxPerDrain is how many proposals one drain may append.
const MaxPerDrain = 10
