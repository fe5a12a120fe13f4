package gate

import "time"

// State is where the lease stands.
type State string

// The states. Expired by time or use is derived and never stored; the stored
// one is what an evaluation gate wrote.
const (
	None      State = "none"
	Draft     State = "draft"
	Active    State = "active"
	Suspended State = "suspended"
	Expired   State = "expired"
	Released  State = "released"
)

// Lease is the commitment lease.
type Lease struct {
	ID            string // L-0001 …
	State         State
	Frame         string
	Horizon       string   // short, mid, long: at most 3, 14, 60 days
	Success       []string // 1 to 3
	NonGoals      []string // 1 to 3
	RenewalPrompt string
	ActivatedAt   time.Time // UTC; zero until activated
	ExpiresAt     time.Time
	MaxTasks      int      // 20 by default; what is used is counted from the ledger
	Milestone     []string // task ids; all done ends the lease
	Budget        int64    // micro-USD; 0 is no limit of its own
	Scope         Scope
}

// Scope bounds what may be drained. An empty list of kinds, roles, tags or
// tasks does not narrow.
type Scope struct {
	Kinds, Roles, Tags, Tasks []string
	Paths                     []string          // globs a change may touch; governance is never among them
	WorkOrders                map[string]string // task id → "sha256:…" of its file without odd's own keys
}

// File is lease.toml: the lease with the stance it was written under.
type File struct {
	Version int
	Stance  Stance
	Lease   Lease
}

// ParseLease reads lease.toml strictly: an unknown key, a value of another
// shape, a horizon that its dates exceed and a placeholder are errors with
// their line. name stands in front of them.
func ParseLease(name string, b []byte) (File, error) { return File{}, nil }

// PrintLease prints lease.toml. ParseLease of it is f.
func PrintLease(f File) []byte { return nil }

// Facts are what validity is judged by, all of them derived.
type Facts struct {
	Now           time.Time
	Present       bool  // lease.toml exists
	Unreadable    error // ParseLease's
	Committed     bool  // it is the committed one, untouched in the work tree
	Chain         Chain
	ChainErr      error
	Sum           string // hex SHA-256 of lease.toml's bytes
	UsedTasks     int    // drained under this lease since its activation or renewal
	Spent         int64  // micro-USD, the same
	Done          func(task string) bool
	OpenEmergency string // id of an open emergency proposal, "" for none
}

// Verdict is whether a lease is valid, and what is left of it.
type Verdict struct {
	Valid     bool          `json:"valid"`
	Code      string        `json:"code,omitempty"` // the first reason that it is not, see Codes
	Text      string        `json:"text,omitempty"`
	Way       string        `json:"way,omitempty"`
	Remaining time.Duration `json:"remaining_ns"`
	Tasks     int           `json:"remaining_tasks"`
	Budget    int64         `json:"remaining_micro_usd"`
}

// Codes are the reason codes in the order they are tested.
func Codes() []string {
	return []string{"unreadable", "schema", "none", "draft", "suspended", "released", "not_yet_active", "time_expired", "tasks_exhausted",
		"milestone_reached", "budget_exhausted", "stance_mismatch", "chain_broken", "head_not_committed", "emergency_open", "clock"}
}

// Valid judges the lease for a task kind ("" for none in particular).
func (f File) Valid(kind string, facts Facts) Verdict { return Verdict{} }

// WorkOrder is what the hash lock of a task takes: its file's bytes without the
// keys that odd writes while it works.
func WorkOrder(task []byte) string { return "" }
