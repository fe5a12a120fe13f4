// Package pipeline takes one change to ordinary files, an op, from its signal to
// its ending. It is pure: a clock and the work of each phase are given to it, and it
// reads neither disk nor repository.
//
// # Phases
//
// Everything an op may do is in one table. An op is in one phase, may move to
// those in the second column or to an ending of the third, and to its own phase
// again as often as the fourth says. What needs names the facts that must stand
// before the phase is entered; budget is how long it may take.
//
//	phase     moves to                 ends as                                         retries  budget  needs
//	classify  route                    blocked cancelled expired failed_permanent      0        30s     -
//	route     expand plan generate     cancelled expired failed_permanent              0        10s     -
//	expand    expand plan generate     cancelled expired failed_permanent              1        30s     -
//	plan      generate                 blocked cancelled expired failed_permanent      0        45s     -
//	generate  generate validate        complete blocked cancelled expired failed_permanent 1    3m0s    base
//	validate  validate repair gate     blocked cancelled expired failed_permanent      2        1m0s    candidate
//	repair    repair validate          blocked cancelled expired failed_permanent      5        2m0s    -
//	gate      approve                  blocked cancelled expired failed_permanent      0        1m0s    candidate
//	approve   apply                    blocked cancelled expired failed_permanent      0        10m0s   candidate rules tier
//	apply     verify                   cancelled expired failed_permanent postmortem   0        1m0s    -
//	verify    waiting                  complete postmortem                             0        5m0s    -
//	waiting   -                        complete cancelled expired postmortem           0        -       -
//
// approve settles whose yes the change takes, and asks nobody yet: a person
// approves what lies on the review branch, not a promise of it. apply commits
// the result tree and moves odd/review/TASK from nothing to it; verify reads that
// commit back, which must hold exactly the files that were checked; then the op waits. Waiting is a place,
// not an ending: it survives processes, and a person's merge, a person's no or
// its expiry writes the one ending. Only where configuration lets a low tier land
// by itself, verify moves a second ref, the target, and completes.
//
// A phase whose retries are used up ends the op, but validate goes to repair.
// repair counts every entry of an op, and comes back through validate.
//
// # Endings
//
//	complete          it landed, or there was nothing to do
//	blocked           a rule refused it, and would again
//	cancelled         nobody wants it any more, or the ground under it moved
//	expired           its time ran out
//	failed_permanent  it could not be made; no ref was moved
//	postmortem        it went wrong after a ref was, or may have been, moved
//
// # Tiers
//
// Assess makes a Profile of a change, from bytes, trees and history alone, and asks
// every row of the ladder, highest tier first; the first that holds says the tier.
// What protects the judge itself stands first, whoever asks. Behind the ladder,
// floors, quiet hours, findings and rows that failed may raise the tier. Nothing
// lowers one, and adding a file to a change never does: what counts is its worst
// part. ExplainRisk says what a code means.
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
//     the gate is left, and a tier is never lowered.
//  5. No moment comes from the machine's clock; a clock that goes back stands still.
//  6. A check passes when it ran to its end, well, and ran tests where it was to:
//     a fault, a timeout, a panic and a check that was left out are failures, and
//     so is one that passed only at the second try.
//
// # Checks and repair
//
// Validate and repair run commands on a tree of the change's own: what [Checks]
// chooses, [Examine] runs and a [Report] keeps. [Report.Failure] reads from the
// outputs which class of failure it is: the surroundings first, then what does not
// build, then tests; a flake only when a second run on the same bytes shows one.
//
// Repair is one iteration at every entry of its phase ([Repairer]): the first runs
// the checks again, later ones make another candidate for the whole batch. Each is
// a fact of the op, so its record keeps it.
//
// A tree whose checks pass is held against its base ([Hold]): the numbers the project
// measures may get only so much worse. What it falls short of goes to repair as well.
package pipeline

import (
	"slices"
	"time"
)

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
	Complete        Phase = "complete"
	Blocked         Phase = "blocked"
	Cancelled       Phase = "cancelled"
	Expired         Phase = "expired"
	FailedPermanent Phase = "failed_permanent"
	Postmortem      Phase = "postmortem"
)

// row is a phase in the table.
type row struct {
	phase   Phase
	next    []Phase
	ends    []Phase
	retries int
	budget  time.Duration
	needs   []string // facts that stand before it is entered
	then    Phase    // where a phase goes whose retries are used up
}

// rows is the table. Nothing changes it.
var rows = []row{
	{phase: Classify, next: []Phase{Route}, ends: refusable, budget: 30 * time.Second},
	{phase: Route, next: []Phase{Expand, Plan, Generate}, ends: stoppable, budget: 10 * time.Second},
	{phase: Expand, next: []Phase{Expand, Plan, Generate}, ends: stoppable, retries: 1, budget: 30 * time.Second},
	{phase: Plan, next: []Phase{Generate}, ends: refusable, budget: 45 * time.Second},
	{phase: Generate, next: []Phase{Generate, Validate}, ends: append([]Phase{Complete}, refusable...), retries: 1, budget: 3 * time.Minute, needs: []string{FactBase}},
	{phase: Validate, next: []Phase{Validate, Repair, Gate}, ends: refusable, retries: 2, budget: time.Minute, needs: []string{FactCandidate}, then: Repair},
	{phase: Repair, next: []Phase{Repair, Validate}, ends: refusable, retries: 5, budget: 2 * time.Minute},
	{phase: Gate, next: []Phase{Approve}, ends: refusable, budget: time.Minute, needs: []string{FactCandidate}},
	{phase: Approve, next: []Phase{Apply}, ends: refusable, budget: 10 * time.Minute, needs: []string{FactCandidate, FactRules, FactTier}},
	{phase: Apply, next: []Phase{Verify}, ends: append(slices.Clip(stoppable), Postmortem), budget: time.Minute},
	{phase: Verify, next: []Phase{Waiting}, ends: []Phase{Complete, Postmortem}, budget: 5 * time.Minute},
	{phase: Waiting, ends: []Phase{Complete, Cancelled, Expired, Postmortem}},
}

var (
	stoppable = []Phase{Cancelled, Expired, FailedPermanent}
	refusable = append([]Phase{Blocked}, stoppable...)
)

// Endings lists the endings.
func Endings() []Phase {
	return []Phase{Complete, Blocked, Cancelled, Expired, FailedPermanent, Postmortem}
}

// Ends reports an ending.
func (p Phase) Ends() bool { return slices.Contains(Endings(), p) }

// Next lists where an op in p may go, its own phase first where it may be tried
// again, endings last. An ending, and a word that is no phase, leads nowhere.
func (p Phase) Next() []Phase {
	r := p.row()
	return slices.Concat(r.next, r.ends)
}

// Retries is how often an op may move from p to p. Repair counts every entry.
func (p Phase) Retries() int { return p.row().retries }

func (p Phase) row() row {
	for _, r := range rows {
		if r.phase == p {
			return r
		}
	}
	return row{}
}
