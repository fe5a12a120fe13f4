// Package gate is the slow loop: whether to work, on what and for how long is
// decided by people, at four gates, and everything fast can only propose.
//
// # Files, below governance/ of the bundle root
//
//	lease.toml       the one commitment lease, with its stance; written whole at a gate
//	gates.jsonl      one row a gate act, each with the SHA-256 of the row before
//	decisions.jsonl  what was decided and why; append-only, superseded and never edited
//
// and proposals/WRITER.jsonl, append-only, one file a writer: proposals and what
// became of them.
//
// # Stance
//
// Exactly one of sensemaking, discovery, execution and evaluation; it changes
// only at a gate and at most once an act (Next). lease.toml repeats it, and a
// lease whose stance is not the chain's is not valid.
//
// # Lease
//
// At most one; none → draft → active → expired or released, and active →
// suspended by an emergency. It is valid or not by a pure function (Valid) whose
// first reason, in a fixed order, is the code a refused drain prints. What was
// used of it is counted from the ledger and never stored.
//
// # Promises
//
//  1. Nothing here acts: Act takes a person's word (By) and the proposals it
//     answers, and returns the files of one commit. No function turns a
//     proposal into a state.
//  2. What a gate may write is a table (Writes), and Act and Audit read the
//     same one: what history is checked against is what was allowed.
//  3. A file that cannot be read is never "no rules": it refuses.
//  4. An emergency suspends. It never lengthens authority.
package gate

import "time"

// Stance is what good behaviour means now.
type Stance string

// The stances. A repository without a gate act is in Sensemaking.
const (
	Sensemaking Stance = "sensemaking"
	Discovery   Stance = "discovery"
	Execution   Stance = "execution"
	Evaluation  Stance = "evaluation"
)

// Stances lists them in that order.
func Stances() []Stance { return []Stance{Sensemaking, Discovery, Execution, Evaluation} }

// Gate is one of the four places where people decide.
type Gate string

// The gates.
const (
	Framing        Gate = "framing"
	Commitment     Gate = "commitment"
	EvaluationGate Gate = "evaluation"
	Emergency      Gate = "emergency"
)

// Gates lists them in that order.
func Gates() []Gate { return []Gate{Framing, Commitment, EvaluationGate, Emergency} }

// Next is the stance a gate leads to from another; to "" takes the gate's
// default. A pair that the table does not hold is an error that names what
// the gate allows from there.
func Next(from Stance, g Gate, to Stance) (Stance, error) { return "", nil }

// Kinds are the task kinds a stance may drain, exploration first.
func Kinds(s Stance) []string { return nil }

// Explores reports whether a kind is exploration: what a draft lease permits.
func Explores(kind string) bool { return false }

// Row is one line of gates.jsonl.
type Row struct {
	V         int       `json:"v"`
	ID        string    `json:"id"` // G-0001 …, rising
	TS        time.Time `json:"ts"`
	Gate      Gate      `json:"gate"`
	From      Stance    `json:"from"`
	To        Stance    `json:"to"`
	Act       string    `json:"act"` // frame, draft, activate, renew, revise, enter, expire, release, suspend
	Lease     string    `json:"lease,omitempty"`
	LeaseSum  string    `json:"lease_sha256,omitempty"` // of lease.toml as this act left it
	By        string    `json:"by"`                     // human:ADDRESS
	Reason    string    `json:"reason"`
	Proposals []string  `json:"proposals,omitempty"` // it answers
	Prev      string    `json:"prev"`                // hex SHA-256 of the line before, without its newline; "" for the first
}

// Chain is gates.jsonl read.
type Chain struct{ Rows []Row }

// ReadChain reads gates.jsonl and proves its links, its order, its ids and its
// transitions. The error names the line. An empty file is a chain without rows.
func ReadChain(b []byte) (Chain, error) { return Chain{}, nil }

// Append returns b with row as its last line: ID, V and Prev are filled in, and
// the transition is checked.
func Append(b []byte, row Row) ([]byte, Row, error) { return nil, Row{}, nil }

// Stance is where the chain stands.
func (c Chain) Stance() Stance { return Sensemaking }

// Last is the last row about the lease, and whether there is one.
func (c Chain) Last(lease string) (Row, bool) { return Row{}, false }
