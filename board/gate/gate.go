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
// became of them. A line is read only if it is byte for byte what odd writes, so
// that no two readers can understand it differently.
//
// # Stance
//
// Exactly one of sensemaking, discovery, execution and evaluation; it changes
// only at a gate and at most once an act (Next). lease.toml repeats it, and a
// lease whose stance is not the chain's is not valid. Execution is entered only
// with an active lease that has time left.
//
// # Lease
//
// At most one. What an act makes of it:
//
//	draft    none, draft, expired, released, suspended → draft
//	activate draft → active                    renew, revise  active → active
//	expire   active → expired                  release        draft, active, suspended → released
//	suspend  draft, active, suspended → suspended; where there is none, only the stance moves
//
// acknowledge leaves the lease and the stance alone: it names findings of odd check that
// history cannot mend, each as COMMIT:INVARIANT:PATH.
//
// A draft over a draft or a suspended lease is the same lease; over an ended one
// it is the next, L-0002 after L-0001. It is valid or not by a pure function
// (Valid) whose first reason, in a fixed order, is the code a refused drain
// prints. What was used of it is counted from the ledger since the row that
// activated or last renewed it (Chain.Since) and never stored.
//
// # Promises
//
//  1. Nothing here acts: Do takes a person's word (By) and the proposals it
//     answers, and returns the files of one commit. No function turns a
//     proposal into a state.
//  2. What a gate may write is a table (Writes), and Do and Audit read the
//     same one: what history is checked against is what was allowed.
//  3. A file that cannot be read is never "no rules": it refuses.
//  4. An emergency suspends. It never lengthens authority: until a suspended
//     lease is activated again, its expiry can only move earlier.
package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

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

// transitions holds where each gate leads from each stance.
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

// usual is where a gate leads when nobody says. From evaluation, the evaluation
// gate's is not among its targets: a person must say whether work goes on.
var defaultStances = map[Gate]Stance{Framing: Sensemaking, Commitment: Execution, EvaluationGate: Evaluation, Emergency: Sensemaking}

// Next is the stance a gate leads to from another; to "" takes the gate's
// default. A pair that the table does not hold is an error that names what
// the gate allows from there.
func Next(from Stance, g Gate, to Stance) (Stance, error) {
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

// nextStance is Next for an act at the gate.
func nextStance(from Stance, g Gate, act string, to Stance) (Stance, error) {
	if act != Acknowledge {
		return Next(from, g, to)
	}
	if to != "" && to != from {
		return "", fmt.Errorf("%s leaves the stance as it is, %s", act, from)
	}
	return from, nil
}

// Kinds are the task kinds a stance may drain. Discovery may what sensemaking
// may, and more; an unknown stance may nothing.
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

// Explores reports whether a kind is exploration: what a draft lease permits.
func Explores(kind string) bool { return slices.Contains(Kinds(Discovery), kind) }

func knownKind(kind string) bool {
	return slices.ContainsFunc(Stances(), func(s Stance) bool { return slices.Contains(Kinds(s), kind) })
}

// texts are the words of a closed list.
func toStrings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// didYouMean returns the way out of a mistyped word: the near one, or all there are.
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
