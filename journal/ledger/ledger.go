// Package ledger keeps what happened to runs, one JSON object per line.
package ledger

import (
	"io/fs"
	"time"
)

// Kind says what a record is about. The list is closed.
type Kind string

// The kinds. claim carries the reservation; outcome, abandoned close it.
const (
	Claim     Kind = "claim"     // task, role, attempt, reserved_micro_usd, lease_expires, base
	Session   Kind = "session"   // substrate, model, turns, cost_micro_usd, outcome, brief manifest hash
	Reconcile Kind = "reconcile" // counts by effect, guarded ids
	Proposal  Kind = "proposal"  // oid, branch, base, patch_id, paths with base and result blobs
	Outcome   Kind = "outcome"   // verdict review|blocked, reason, cost_micro_usd, trace, artifacts oid
	Abandoned Kind = "abandoned" // a dead run's task swept by this run: dead_run, cost_micro_usd = its reservation
	Refused   Kind = "refused"   // a drain that stopped: reason code
	Paused    Kind = "paused"
)

// Record is one line. Money is integer micro-USD. Zero members are not stored. Data carries what is
// particular to a kind, keys as in the kind list.
type Record struct {
	TS       time.Time
	Run      string
	Seq      int
	Kind     Kind
	Task     string
	DeadRun  string
	Role     string
	Team     string
	Reserved int64 // micro-USD
	Cost     int64 // micro-USD
	Trace    string
	Data     map[string]any
}

// Append returns f with r as its last line: sorted keys, "v":1, one newline. A record whose (run, seq) is already
// there leaves f as it is.
func Append(f []byte, r Record) ([]byte, error) { return nil, nil }

// Torn is the error of Read for a last line without its newline.
type Torn struct{ Line int }

func (t *Torn) Error() string { return "" }

// Read returns the records of one file in order. A torn last line returns the records before it and a *Torn.
func Read(b []byte) ([]Record, error) { return nil, nil }

// Trace is the hex SHA-256 of the bytes before an outcome line.
func Trace(prefix []byte) string { return "" }

// Path is where a run's file lies below the bundle root: ledger/YYYY-MM/RUN.jsonl by the UTC month of the run's start.
func Path(run string, start time.Time) string { return "" }

// Spend is what the ledgers below dir "ledger" of f say was spent: per month (UTC "2006-01" of the record's ts) and per
// team; reservations not closed by an outcome or an abandoned record count in full, whatever their month.
type Spend struct {
	Month map[string]int64
	Team  map[string]map[string]int64 // month → team → micro-USD
	Open  []Record                    // unclosed claims
}

// Sum reads every ledger file of the bundle f. An unreadable or torn file is an error: money fails closed.
func Sum(f fs.FS) (Spend, error) { return Spend{}, nil }
