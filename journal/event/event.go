// Package event reads and writes the ledger: records of what happened in each run, one JSON
// object per line.
//
// A run has one file, ledger/YYYY-MM/RUN.jsonl below the bundle root, and is its only
// writer. A line is never changed:
//
//	{"kind":"claim","reserved_micro_usd":250000,"run":"run-01J…","seq":1,"task":"tasks/tidy","ts":"2026-07-01T09:00:00Z","v":1}
//	{"cost_micro_usd":18000,"data":{"verdict":"review"},"kind":"outcome","run":"run-01J…","seq":2,"task":"tasks/tidy","trace":"9f2c…","ts":"2026-07-01T09:04:12Z","v":1}
//
// Keys are sorted. Money is integer micro-USD. Times are RFC 3339 in UTC to the second.
// Zero members are left out, except v, ts, run, seq and kind. The names of version 1 are
// frozen; a change of meaning needs a new version.
//
// # Kinds and their data
//
//	claim      a task is claimed and its money reserved. Members task, role, team, reserved_micro_usd
//	engage     like claim, for sessions without a task, which change nothing, so that other
//	           runs can work beside them. Its task is its run
//	session    one bounded run of an agent. Members task, cost_micro_usd
//	anchor     a session's permit is released. Members task, role (as in the anchor),
//	           dead_run if this run swept it after a run that died
//	reconcile  the result of merging an emission into the bundle. Members task
//	op         a transition of an op, which is a change in the pipeline. Members task
//	op_end     the only ending of an op
//	outcome    the task's verdict; closes the run's claim of it. Members task, team,
//	           cost_micro_usd, trace (SHA-256 of the file's earlier bytes, repeated
//	           in the trailers of the task's proposal and result commits)
//	abandoned  a dead run's task, swept by this run; closes that run's claim of it.
//	           Members task, dead_run, team, cost_micro_usd (= its reservation)
//	refused    a drain that stopped
//	paused     a drain that stopped the board
//
// The rest of each kind is its type of [Data].
//
// # Promises
//
// Append is idempotent per (run, seq): a drain that dies and runs again leaves the same
// file. A different record with the same (run, seq) is an error. Files are append-only
// (invariant 14). A torn last line, from a machine that died while writing, is reported with
// its number and never repaired, because the next commit would hide the damage. Unknown
// kinds are kept. An unknown key in a known kind is refused, because a newer odd wrote it.
package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"time"
)

// Kind says what a record is about. Append takes only the kinds below; Read
// keeps others, so that an older odd can read a newer one's file.
type Kind string

// The kinds. Claim and Engage reserve money; Outcome and Abandoned close the reservation.
const (
	Claim     Kind = "claim"
	Engage    Kind = "engage"
	Session   Kind = "session"
	Anchor    Kind = "anchor"
	Reconcile Kind = "reconcile"
	Op        Kind = "op"
	OpEnd     Kind = "op_end"
	Outcome   Kind = "outcome"
	Abandoned Kind = "abandoned"
	Refused   Kind = "refused"
	Paused    Kind = "paused"
)

// allKinds lists the kinds in the order a run writes them.
func allKinds() []Kind {
	return []Kind{Claim, Engage, Session, Anchor, Reconcile, Op, OpEnd, Outcome, Abandoned, Refused, Paused}
}

// Record is one line. Money is integer micro-USD. Zero members are not stored.
type Record struct {
	TS       time.Time // stored in UTC, cut to the second
	Run      string
	Seq      int // 0 or more, rising through the file
	Kind     Kind
	Task     string
	DeadRun  string
	Role     string
	Team     string
	Reserved int64 // micro-USD
	Cost     int64 // micro-USD
	Trace    string
	Data     Data // of the type of its kind; nil for none
}

// Opens reports whether a record reserves money until an outcome or a sweep closes it.
func (r Record) Opens() bool { return r.Kind == Claim || r.Kind == Engage }

// Torn is the error of Read for a last line without a newline.
type Torn struct{ Line int }

// Error says which line is torn and what to do.
func (t *Torn) Error() string {
	return fmt.Sprintf("line %d: torn, the last line has no newline; a machine died while writing it: restore the file from git, or remove that line by hand", t.Line)
}

// Append returns f with r as its last line: sorted keys, "v":1, one newline. If the same record is already there, f
// is returned unchanged. Errors are: a different record under that (run, seq), a second run in one file, a seq
// below the last, a negative amount, and a file that Read refuses. f itself is never changed.
func Append(f []byte, r Record) ([]byte, error) {
	line, err := encodeListed(r)
	if err != nil {
		return nil, err
	}
	recs, err := Read(f)
	if err != nil {
		return nil, err
	}
	for i, old := range recs {
		if old.Run != r.Run {
			return nil, fmt.Errorf("line %d: the file is of run %q; a record of %q goes into that run's own file", i+1, old.Run, r.Run)
		}
		if old.Seq != r.Seq {
			continue
		}
		if same, err := encode(old); err != nil || !bytes.Equal(same, line) {
			return nil, fmt.Errorf("line %d: run %s already has another record %d; a ledger line is never changed, append one with a new seq", i+1, r.Run, r.Seq)
		}
		return f, nil
	}
	if n := len(recs); n > 0 && r.Seq < recs[n-1].Seq {
		return nil, fmt.Errorf("record %d of %s: comes after record %d; number records upwards", r.Seq, r.Run, recs[n-1].Seq)
	}
	return append(append(make([]byte, 0, len(f)+len(line)), f...), line...), nil
}

// encodeListed is encode for a record of a known kind.
func encodeListed(r Record) ([]byte, error) {
	if !slices.Contains(allKinds(), r.Kind) {
		return nil, fmt.Errorf("record %d of %s: kind %q is not in the list", r.Seq, r.Run, r.Kind)
	}
	line, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("record %d of %s: %w", r.Seq, r.Run, err)
	}
	return line, nil
}

// Read returns the records of one file in order. A torn last line returns the records before it and a *Torn. A
// malformed line, or one that repeats a (run, seq), returns the records before it and an error that begins with its
// line number. An empty file has no records.
func Read(b []byte) ([]Record, error) { return new(readFile).read(b) }

// Trace returns the hex SHA-256 of the bytes before an outcome line.
func Trace(prefix []byte) string {
	sum := sha256.Sum256(prefix)
	return hex.EncodeToString(sum[:])
}

// Path returns the path of a run's file below the bundle root: ledger/YYYY-MM/RUN.jsonl by the UTC month in which
// the run began.
func Path(run string, start time.Time) string {
	return path.Join("ledger", Month(start), run+".jsonl")
}

// Month returns the UTC calendar month of t, "2006-01", in which its money counts.
func Month(t time.Time) string { return t.UTC().Format("2006-01") }
