package gate

import "time"

// Slow is the slow memory at one commit: what an act starts from.
type Slow struct {
	LeaseFile []byte // nil: none
	Gates     []byte
	Decisions []byte
	Buffer    Buffer
}

// Act is what a person does at a gate.
type Act struct {
	Gate     Gate
	Kind     string // frame, draft, activate, renew, revise, enter, expire, release, suspend
	To       Stance // "" takes the gate's default
	Lease    *Lease // a draft or a revision, where the act writes one
	Extend   time.Duration
	Decision *Decision
	Because  []string // proposals it accepts
	Reason   string
	By       string // human:ADDRESS
	Now      time.Time
	Drained  int // tasks drained since the last emergency, from the ledger
}

// Outcome is what an act writes, path below the bundle root → new bytes, and the
// row it appended.
type Outcome struct {
	Files map[string][]byte
	Row   Row
	Lease File
	Diff  []Change // of the lease, field by field, for the person to read
	Asks  string   // the renewal prompt, where the person must answer it
}

// Change is one field of the lease before and after.
type Change struct{ Field, Before, After string }

// Do judges the act by the transition table, the write matrix and the lease's
// own rules, and returns what it writes. Every reason against it is in the
// error, a Refusals.
func Do(s Slow, a Act) (Outcome, error) { return Outcome{}, nil }

// Write is one thing a gate may write, by the act that does.
type Write struct {
	Gate   Gate
	Object string   // lease, decisions, principles, pause, tasks, odd.toml
	Acts   []string // "" for any
}

// Writes is the matrix of what each gate may write.
func Writes() []Write { return nil }

// Decision is one line of decisions.jsonl.
type Decision struct {
	ID         string    `json:"id"` // D-0001 …
	TS         time.Time `json:"ts"`
	Decision   string    `json:"decision"`
	Rationale  []string  `json:"rationale"` // 1 to 3
	Tradeoffs  string    `json:"tradeoffs"`
	Confidence string    `json:"confidence"`                 // low, med, high
	Revisit    []string  `json:"revisit_triggers,omitempty"` // a date, "task ID done", or words
	Supersedes string    `json:"supersedes,omitempty"`
	By         string    `json:"by"`
	Act        string    `json:"act"` // the gate row it was made at
}
