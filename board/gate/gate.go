// Package gate is odd's governance: people decide at four gates whether to work, on what and
// for how long. Machines can only propose.
//
// # Files, below governance/ of the bundle root
//
//	lease.toml       the one commitment lease, with its stance; written whole at a gate
//	gates.jsonl      one row for each act at a gate, with the SHA-256 of the row before
//	decisions.jsonl  what was decided and why; append-only, superseded and never edited
//
// proposals/WRITER.jsonl holds proposals and what became of them, append-only, one file for
// each writer. A line is read only if it is byte for byte what odd writes, so that no two
// readers understand it differently.
//
// # Stance
//
// The stance is one of sensemaking, discovery, execution and evaluation. It says which kinds
// of tasks may run. It changes only at a gate, and at most once for each act (Next).
// lease.toml repeats it; a lease whose stance differs from the chain's is not valid. Execution
// needs an active lease that has time left.
//
// # Lease
//
// There is at most one lease. It permits work for a time, a number of tasks and an amount of
// money. The acts change its state:
//
//	draft    none, draft, expired, released, suspended → draft
//	activate draft → active                    renew, revise  active → active
//	expire   active → expired                  release        draft, active, suspended → released
//	suspend  draft, active, suspended → suspended; without a lease, only the stance moves
//
// acknowledge changes neither the lease nor the stance. It names findings of odd check that
// nobody can repair in history, each as COMMIT:INVARIANT:PATH.
//
// A draft over a draft or a suspended lease is the same lease; over an ended one it is the
// next, L-0002 after L-0001. Valid decides whether a lease is valid. It tests reasons in a
// fixed order, and the first one is the code that a refused drain prints. The use of a lease
// is never stored. It is counted from the ledger since the row that last drafted, activated
// or renewed the lease.
//
// # Promises
//
//  1. This package acts on nothing by itself. Do takes a person's act (By) with the proposals it answers, and returns the files of one commit. No function turns a proposal into a state.
//  2. Do and Audit read the same table of what a gate may write (Writes). So history is checked against what was allowed.
//  3. A file that cannot be read refuses the act. It never means that there are no rules.
//  4. An emergency suspends and never prolongs. Until a suspended lease is activated again, its expiry can only move earlier.
package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Stance says which kinds of tasks may run.
type Stance string

// The stances. A repository without a gate act is in Sensemaking.
const (
	Sensemaking Stance = "sensemaking"
	Discovery   Stance = "discovery"
	Execution   Stance = "execution"
	Evaluation  Stance = "evaluation"
)

// Stances returns them in that order.
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

// Gates returns them in that order.
func Gates() []Gate { return []Gate{Framing, Commitment, EvaluationGate, Emergency} }

// transitions maps a gate and a stance to the stances that the gate leads to.
var transitions = map[Gate]map[Stance][]Stance{
	Framing: {
		Sensemaking: {Sensemaking, Discovery}, Discovery: {Sensemaking, Discovery},
		Execution: {Sensemaking, Discovery}, Evaluation: {Sensemaking, Discovery},
	},
	Commitment: {
		Sensemaking: {Execution}, Discovery: {Execution}, Execution: {Execution}, Evaluation: {Execution},
	},
	EvaluationGate: {
		Sensemaking: {Evaluation}, Discovery: {Evaluation}, Execution: {Evaluation}, Evaluation: {Sensemaking, Execution},
	},
	Emergency: {
		Sensemaking: {Sensemaking}, Discovery: {Sensemaking}, Execution: {Sensemaking}, Evaluation: {Sensemaking},
	},
}

// defaultStances holds where a gate leads by default. The evaluation gate does not lead from
// evaluation to evaluation, so there a person must say whether work goes on.
var defaultStances = map[Gate]Stance{Framing: Sensemaking, Commitment: Execution, EvaluationGate: Evaluation, Emergency: Sensemaking}

// stanceAfter returns the stance that a gate leads to; to "" takes the default. If the gate does
// not lead there, the error names the stances it leads to.
func stanceAfter(from Stance, g Gate, to Stance) (Stance, error) {
	rows, ok := transitions[g]
	if !ok {
		return "", fmt.Errorf("unknown gate %q; %s", g, didYouMean(string(g), toStrings(Gates())))
	}
	if _, ok := rows[from]; !ok {
		return "", fmt.Errorf("unknown stance %q; %s", from, didYouMean(string(from), toStrings(Stances())))
	}
	if to != "" && !slices.Contains(Stances(), to) {
		return "", fmt.Errorf("unknown stance %q; %s", to, didYouMean(string(to), toStrings(Stances())))
	}
	if want := cmp.Or(to, defaultStances[g]); slices.Contains(rows[from], want) {
		return want, nil
	}
	may := strings.Join(toStrings(rows[from]), " or ")
	if to == "" {
		return "", fmt.Errorf("the %s gate from %s leads to %s; say which with --to", g, from, may)
	}
	return "", fmt.Errorf("the %s gate from %s leads to %s, not to %s", g, from, may, to)
}

// nextStance is stanceAfter for an act at the gate.
func nextStance(from Stance, g Gate, act string, to Stance) (Stance, error) {
	if act != Acknowledge {
		return stanceAfter(from, g, to)
	}
	if to != "" && to != from {
		return "", fmt.Errorf("%s leaves the stance as it is, %s", act, from)
	}
	return from, nil
}

// Kinds returns the task kinds that may be drained in a stance. Discovery includes those of
// sensemaking; an unknown stance has none.
func Kinds(s Stance) []string {
	sense := []string{"research", "question", "audit"}
	switch s {
	case Sensemaking:
		return sense
	case Discovery:
		return append(sense, "option", "prototype", "experiment")
	case Execution:
		return []string{"implement", "produce", "extract", "document", "fix", "change"}
	case Evaluation:
		return []string{"review", "assess", "verify", "measure"}
	}
	return nil
}

// Explores reports whether a kind is exploration, which a draft lease permits.
func Explores(kind string) bool { return slices.Contains(Kinds(Discovery), kind) }

func knownKind(kind string) bool {
	return slices.ContainsFunc(Stances(), func(s Stance) bool { return slices.Contains(Kinds(s), kind) })
}

func toStrings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// didYouMean suggests the known word nearest to a mistyped one, or lists them all.
func didYouMean(word string, known []string) string {
	best, least := "", 4
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), k); d < least && d < len(k)/2+1 {
			best, least = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "one of " + strings.Join(known, ", ")
}
