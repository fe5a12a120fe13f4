// Package ledger keeps what happened to runs, one JSON object per line.
//
// A run has one file, ledger/YYYY-MM/RUN.jsonl below the bundle root, and is
// its only writer. A line is written once and never changed:
//
//	{"kind":"claim","reserved_micro_usd":250000,"run":"run-01J…","seq":1,"task":"tasks/tidy","ts":"2026-07-01T09:00:00Z","v":1}
//	{"cost_micro_usd":18000,"data":{"verdict":"review"},"kind":"outcome","run":"run-01J…","seq":2,"task":"tasks/tidy","trace":"9f2c…","ts":"2026-07-01T09:04:12Z","v":1}
//
// Keys are sorted, money is integer micro-USD, moments are RFC 3339 in UTC to
// the second, members that are zero are left out (v, ts, run, seq and kind
// never are). The names of version 1 are frozen; a change of meaning is a new
// version.
//
// # Kinds and their data
//
//	claim      a task is claimed and its money reserved. Members task, role, team,
//	           reserved_micro_usd; data attempt, lease_expires, base, lease (the id
//	           of the commitment lease it is made under, where one is required),
//	           override (by, modes, reason, risks), contract_role where a person
//	           asks for another than the task does, alert (the envelopes of which a
//	           month's share was reached for the first time: "tenant", "unapportioned",
//	           or a team). Sessions that no task asks for are claimed
//	           together under the run's own id as task; data lease_expires, base,
//	           sessions (how many share the reservation), contract_role, mode, artifact,
//	           asked (in words)
//	session    one bounded run of an agent. Members task, cost_micro_usd; data
//	           substrate, model, turns, tokens (input, output, cache_read, cache_write),
//	           outcome, failure, class and detail (of a failed transport), brief, and contract (hash,
//	           role, mode, surface, engagement, voice, persona, artifact, tainted,
//	           override, handoffs with their path and blob), deliverable (its schema),
//	           handoff (the file it is written to), scratch (what it left in its
//	           scratch repository: changed and ignored, how many files, or refused,
//	           the codes of why that is no change), hints (how many; none refuses), and
//	           anchor (token, sha256, mode, tier, emission_at: when it had been read)
//	anchor     the permit that a session worked under, released: one record a token.
//	           Members task, role (as the anchor has it), dead_run where this run swept it
//	           after one that died; data token, tier, mode, generated_by (who made the
//	           tensions: agent or server), bound_at, expires_at, released_at, reason, arm
//	           (head, branch, phase, focus, focus_source), context_hash (of that arm),
//	           constitution (path, blob and sha256 as head has it), allow and deny (globs),
//	           artifact, gate, payload_sha256, anchor_sha256
//	reconcile  what the membrane did. Data counts (by effect), held (what it kept
//	           out: effect, id, path, reason)
//	op         a transition of an op, a change going through the pipeline; what its
//	           data holds, board/pipeline says. Members task; data op, id, mark, to,
//	           at, until, op_until, clock, set, spent_micro_usd, ref, old, new,
//	           note, prev and hash
//	op_end     the ending of an op, of which there is one: data as op, and reason. One that a
//	           person's word brings is alone in a file that has the op's id as its run
//	outcome    the task's verdict; closes the run's claim of it. Members task, team,
//	           cost_micro_usd, trace (SHA-256 of the file's earlier bytes, repeated
//	           in the trailers of the task's proposal and result commits); data
//	           verdict (review, blocked, or lost when the claim was no longer
//	           this run's; completed, yielded, failed, handoff_insufficient or
//	           refused where no task asked), reason, artifacts, alert as a claim's,
//	           over_micro_usd (what it cost above its reservation), and of the proposal its commit,
//	           branch, base and paths (each with its base and result blob)
//	abandoned  a dead run's task, swept by this run; closes that run's claim of it.
//	           Members task, dead_run, team, cost_micro_usd (= its reservation). Data
//	           killed where the run was found dead in its own clone before its claim ended
//	refused    a drain that stopped. Data code, reason
//	paused     a drain that stopped the board. Data reason
//
// Data holds strings, booleans, integers, lists and objects of these; a
// fraction is refused, because no two programs print one alike.
//
// # Promises
//
// Append is idempotent per (run, seq): a drain that dies and runs again leaves
// the same file, and two different records are never taken for one. A file
// only grows (invariant 14). A torn last line, left by a machine that died
// while writing, is reported with its number and never repaired: the next
// commit would hide the damage. Kinds this program does not know are kept.
package ledger

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

// The kinds. claim carries the reservation; outcome, abandoned close it.
const (
	Claim     Kind = "claim"     // task, role, attempt, reserved_micro_usd, lease_expires, base
	Session   Kind = "session"   // substrate, model, turns, cost_micro_usd, outcome, brief manifest hash
	Anchor    Kind = "anchor"    // token, role, what it allowed, from when to when
	Reconcile Kind = "reconcile" // counts by effect, what was held
	Op        Kind = "op"        // a transition of a change in the pipeline
	OpEnd     Kind = "op_end"    // its one ending
	Outcome   Kind = "outcome"   // verdict, reason, cost_micro_usd, trace, artifacts, the proposal
	Abandoned Kind = "abandoned" // a dead run's task swept by this run: dead_run, cost_micro_usd = its reservation
	Refused   Kind = "refused"   // a drain that stopped: reason code
	Paused    Kind = "paused"
)

// Kinds lists the kinds in the order a run writes them.
func Kinds() []Kind {
	return []Kind{Claim, Session, Anchor, Reconcile, Op, OpEnd, Outcome, Abandoned, Refused, Paused}
}

// Record is one line. Money is integer micro-USD. Zero members are not stored. Data carries what is
// particular to a kind, keys as in the kind list. Read returns its integers as int64.
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
	Data     map[string]any
}

// Torn is the error of Read for a last line without its newline.
type Torn struct{ Line int }

// Error says which line is torn, and the way out.
func (t *Torn) Error() string {
	return fmt.Sprintf("line %d: torn, the last line has no newline; a machine died while writing it: restore the file from git, or remove that line by hand", t.Line)
}

// Append returns f with r as its last line: sorted keys, "v":1, one newline. A record whose (run, seq) is already
// there leaves f as it is, byte for byte; a different record under that (run, seq) is an error, and so are a second
// run in one file, a seq below the last, a negative amount and a file Read refuses. f itself is never changed.
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

// encodeListed is encode of a record whose kind is in the list.
func encodeListed(r Record) ([]byte, error) {
	if !slices.Contains(Kinds(), r.Kind) {
		return nil, fmt.Errorf("record %d of %s: kind %q is not in the list", r.Seq, r.Run, r.Kind)
	}
	line, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("record %d of %s: %w", r.Seq, r.Run, err)
	}
	return line, nil
}

// Read returns the records of one file in order. A torn last line returns the records before it and a *Torn; a line
// that is no record of this version, or that repeats a (run, seq), returns the records before it and an error that
// begins with its number. An empty file has no records.
func Read(b []byte) ([]Record, error) { return new(told).read(b) }

// Trace is the hex SHA-256 of the bytes before an outcome line.
func Trace(prefix []byte) string {
	sum := sha256.Sum256(prefix)
	return hex.EncodeToString(sum[:])
}

// Path is where a run's file lies below the bundle root: ledger/YYYY-MM/RUN.jsonl by the UTC month of the run's start.
func Path(run string, start time.Time) string {
	return path.Join("ledger", Month(start), run+".jsonl")
}

// Month is the UTC calendar month of t, "2006-01": the month its money counts in.
func Month(t time.Time) string { return t.UTC().Format("2006-01") }
