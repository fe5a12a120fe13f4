// Package pipeline takes one change to ordinary files, an op, from its signal to
// its ending. It is pure: a clock and the work of each phase are given to it, and it
// reads neither disk nor repository.
//
// # Phases
//
// An op is in one phase, moves to another one of the table, rows, and gets one ending.
// approve settles whose yes the change takes, and asks nobody yet: a person
// approves what lies on the review branch, not a promise of it. apply commits
// the result tree and moves odd/review/TASK from nothing to it; verify reads that
// commit back, which must hold exactly the files that were checked; then the op waits.
// Waiting survives processes: a person's merge, a person's no or its expiry writes the
// one ending. Only where configuration lets a low tier land by itself, verify moves a
// second ref, the target, and completes.
//
// # Records
//
// An op is told in the ledgers of runs, a record for each transition, numbered within the op. While a
// run works on it, its records are a Log in memory. They reach git with the result of its task:
//
//	claim commit      claim, which announces the op's id       board/drain
//	  in memory       1 classify … n apply                     Run: every try, check and repair
//	proposal commit   its message has the trace of 1 … n       board/drain, in apply
//	result commit     1 … n, outcome, n+1 verify, n+2          board/drain, with the review branch
//	                  n+2 is waiting, or complete: landed
//	  later           the ending of an op that waited:
//	                  merged, rejected, cancelled_by_person    a person's commit, in a file of the op's own
//	                  superseded                               the run that judged it again
//	                  review_expired                           the drain that looks next
//
// An op that ends before it is proposed has all its records before the outcome. One that was to wait,
// and whose task or lease is gone when the result lands, is told as abandoned in apply (Log.Rescind);
// one that was to land and cannot, as waiting (Log.Wait). If its run dies, or ends before the op has
// begun, whoever closes the claim tells that it began and was abandoned (Unbegun): of every op that a
// claim announced, history says once how it ended. ReadOps reads all of that back.
//
// # Promises
//
//  1. An op that was recorded ends in exactly one record, whatever a phase does
//     (invariant 15): returns an error, asks for an illegal move, panics, takes too
//     long, or is cancelled. A process that dies leaves a story that another one
//     ends with Abandon; nothing is carried on.
//  2. The record of a phase says which ref the phase before moves, each at most once
//     an op. Records and refs land together, in one transaction.
//  3. Every transition is a record with its own id. ReadOps replays them through
//     the same function that made them. Records of version 1 have a hash each and
//     the hash of the one before; both are held to what they say.
//  4. What is judged is what lands: base, candidate, rules and tier are frozen when
//     the gate is left. Nothing lowers a tier, and adding a file to a change never
//     does: what counts is its worst part.
//  5. No moment comes from the machine's clock; a clock that goes back stands still.
//  6. A check passes when it ran to its end, well, and ran tests where it was to:
//     a fault, a timeout, an output that tells of failed tests and a check that was
//     left out are failures.
package pipeline

import "slices"

// Phase is where an op is: a phase, Waiting, or one of the endings.
type Phase string

// The phases, in their order, and the place where an op waits for a person.
const (
	Classify Phase = "classify" // what kind of change, and whether it may be tried at all
	Route    Phase = "route"    // which way and on which budget
	Expand   Phase = "expand"   // further files to read
	Plan     Phase = "plan"     // the order of changes
	Generate Phase = "generate" // the candidate
	Validate Phase = "validate" // the candidate in a tree of its own
	Repair   Phase = "repair"   // another candidate, from what failed
	Gate     Phase = "gate"     // the rules, and the tier
	Approve  Phase = "approve"  // whose yes the tier takes
	Apply    Phase = "apply"    // commit, and move the review branch
	Verify   Phase = "verify"   // the checks on that commit
	Waiting  Phase = "waiting"  // for a person
)

// The endings.
const (
	Complete        Phase = "complete"         // it landed, or there was nothing to do
	Blocked         Phase = "blocked"          // a rule refused it, and would again
	Cancelled       Phase = "cancelled"        // nobody wants it any more, or the ground under it moved
	Expired         Phase = "expired"          // its time ran out
	FailedPermanent Phase = "failed_permanent" // it could not be made; no ref was moved
	Postmortem      Phase = "postmortem"       // it went wrong after a ref was, or may have been, moved
)

// row is a phase in the table.
type row struct {
	phase   Phase
	next    []Phase // where it goes
	ends    []Phase
	retries int      // how often it may go to itself; repair counts every entry of an op
	needs   []string // facts that stand before it is entered
}

// rows is the table of phases. Nothing changes it.
var rows = []row{
	{phase: Classify, next: []Phase{Route}, ends: refusable},
	{phase: Route, next: []Phase{Expand, Plan, Generate}, ends: stoppable},
	{phase: Expand, next: []Phase{Expand, Plan, Generate}, ends: stoppable, retries: 1},
	{phase: Plan, next: []Phase{Generate}, ends: refusable},
	{phase: Generate, next: []Phase{Generate, Validate}, ends: append([]Phase{Complete}, refusable...), retries: 1, needs: []string{FactBase}},
	{phase: Validate, next: []Phase{Validate, Repair, Gate}, ends: refusable, retries: 2, needs: []string{FactCandidate}},
	{phase: Repair, next: []Phase{Repair, Validate}, ends: refusable, retries: 5},
	{phase: Gate, next: []Phase{Approve}, ends: refusable, needs: []string{FactCandidate}},
	{phase: Approve, next: []Phase{Apply}, ends: refusable, needs: []string{FactCandidate, FactRules, FactTier}},
	{phase: Apply, next: []Phase{Verify}, ends: append(slices.Clip(stoppable), Postmortem)},
	{phase: Verify, next: []Phase{Waiting}, ends: []Phase{Complete, Postmortem}},
	{phase: Waiting, ends: []Phase{Complete, Cancelled, Expired, Postmortem}},
}

var (
	stoppable = []Phase{Cancelled, Expired, FailedPermanent}
	refusable = append([]Phase{Blocked}, stoppable...)
)

// endingPhases lists the endings.
func endingPhases() []Phase {
	return []Phase{Complete, Blocked, Cancelled, Expired, FailedPermanent, Postmortem}
}

// Ends reports an ending.
func (p Phase) Ends() bool { return slices.Contains(endingPhases(), p) }

// Next lists where an op in p may go, its own phase first where it may be tried
// again, endings last. An ending, and a word that is no phase, leads nowhere.
func (p Phase) Next() []Phase {
	r := p.phaseRow()
	return slices.Concat(r.next, r.ends)
}

// Retries is how often an op may move from p to p. Repair counts every entry.
func (p Phase) Retries() int { return p.phaseRow().retries }

func (p Phase) phaseRow() row {
	for _, r := range rows {
		if r.phase == p {
			return r
		}
	}
	return row{}
}
