package pipeline

import (
	"slices"
	"time"
)

// Reason is the code an ending carries. The list is closed.
type Reason string

// The reasons, by the ending they are for first.
const (
	Noop   Reason = "noop"
	Merged Reason = "merged"
	Landed Reason = "landed"

	RuleRefused Reason = "rule_refused"
	TierBlocked Reason = "tier_blocked"

	CancelledByPerson Reason = "cancelled_by_person"
	Rejected          Reason = "rejected"
	Interrupted       Reason = "interrupted"
	Abandoned         Reason = "abandoned"
	Superseded        Reason = "superseded"
	StaleBase         Reason = "stale_base"

	ReviewExpired Reason = "review_expired"
	PhaseDeadline Reason = "phase_deadline"
	OpDeadline    Reason = "op_deadline"

	StepFailed        Reason = "step_failed"
	StepPanicked      Reason = "step_panicked"
	IllegalMove       Reason = "illegal_move"
	RetriesExhausted  Reason = "retries_exhausted"
	SinkFailed        Reason = "sink_failed"
	PlanWrong         Reason = "plan_wrong"
	CandidateUnusable Reason = "candidate_unusable"
	CostCapExceeded   Reason = "cost_cap_exceeded"
	ValidationFailed  Reason = "validation_failed"
	RepairStopped     Reason = "repair_stopped"

	VerifyFailed Reason = "verify_failed"
	ApplyFailed  Reason = "apply_failed"
	RefMoved     Reason = "ref_moved"
)

// reasonRow says which endings a reason is for, from which phases (none: any),
// and what it means.
type reasonRow struct {
	reason  Reason
	ends    []Phase
	from    []Phase
	explain string
}

var (
	completed  = []Phase{Complete}
	blocked    = []Phase{Blocked}
	cancelled  = []Phase{Cancelled}
	failed     = []Phase{FailedPermanent}
	wrecked    = []Phase{Postmortem}
	gaveUp     = []Phase{FailedPermanent, Postmortem}
	outOfTime  = []Phase{Expired, Postmortem}
	calledBack = []Phase{Cancelled, Postmortem}
)

// reasons is the closed list. Nothing changes it.
var reasons = []reasonRow{
	{Noop, completed, []Phase{Generate}, "there was nothing to change; no file was written"},
	{Merged, completed, []Phase{Waiting}, "a person approved the proposal and merged it"},
	{Landed, completed, []Phase{Verify}, "its tier may land by itself, it passed verify, and the target was moved to it; the task still waits for a person"},
	{RuleRefused, blocked, nil, "a rule of the iron gate refused it and would refuse it again; odd op show lists every finding"},
	{TierBlocked, blocked, nil, "the risk ladder makes it BLOCKED: it touches what only a person may change"},
	{CancelledByPerson, calledBack, nil, "a person called it off; odd op retry begins another"},
	{Rejected, cancelled, []Phase{Waiting}, "a person turned the proposal down; the reason is part of the task's next brief"},
	{Interrupted, calledBack, nil, "the run was told to stop before the op was through"},
	{Abandoned, calledBack, nil, "the run died and the task's claim is no longer its own, so nobody goes on with it"},
	{Superseded, cancelled, nil, "another op took its place, made on a newer base or under newer rules"},
	{StaleBase, cancelled, nil, "a file it writes moved since its base; odd op retry makes the change again on what is there now"},
	{ReviewExpired, []Phase{Expired}, []Phase{Waiting}, "nobody decided within [pipeline] review_ttl; the task went back to backlog"},
	{PhaseDeadline, outOfTime, nil, "a phase took longer than its budget: a session's is that of its lane, or [session] timeout where odd.toml says it; a check's is [pipeline] check_timeout"},
	{OpDeadline, outOfTime, nil, "the op took longer than it may in all"},
	{StepFailed, gaveUp, nil, "a phase ended with an error, which the record's note quotes"},
	{StepPanicked, gaveUp, nil, "a phase stopped by a fault of odd itself; please report it with the record's note"},
	{IllegalMove, gaveUp, nil, "a phase asked for a step that the table of phases does not allow; please report it with the record's note"},
	{RetriesExhausted, failed, nil, "a phase was tried as often as it may be"},
	{SinkFailed, gaveUp, nil, "a record could not be written, so nothing further was done"},
	{PlanWrong, failed, []Phase{Plan}, "the plan has a cycle, names none of the task's files, or is not in the order of its own dependencies"},
	{CandidateUnusable, failed, []Phase{Generate, Repair}, "what the session delivered is no candidate; the record's note says what is wrong with it"},
	{CostCapExceeded, failed, nil, "it spent what it may spend"},
	{ValidationFailed, failed, []Phase{Validate}, "the candidate did not pass the project's checks, and repair was not possible"},
	{RepairStopped, failed, []Phase{Repair}, "repair stopped making progress, went in circles, or used up its limits"},
	{VerifyFailed, wrecked, []Phase{Verify}, "the project's checks failed on the commit that would land; its review branch is not put in front of anybody"},
	{ApplyFailed, wrecked, []Phase{Apply, Verify}, "the ref could not be moved; it is where it was"},
	{RefMoved, wrecked, nil, "somebody else moved the ref it was to move, or the branch it waits on; look at it with odd op show before anything else"},
}

// Reasons lists the codes.
func Reasons() []Reason {
	out := make([]Reason, len(reasons))
	for i, r := range reasons {
		out[i] = r.reason
	}
	return out
}

// Explain says what a code means and what can be done, "" for a word that is none.
func Explain(r Reason) string {
	row, _ := r.row()
	return row.explain
}

// Ends lists the endings a reason is for.
func (r Reason) Ends() []Phase {
	row, _ := r.row()
	return slices.Clone(row.ends)
}

func (r Reason) row() (reasonRow, bool) {
	i := slices.IndexFunc(reasons, func(row reasonRow) bool { return row.reason == r })
	if i < 0 {
		return reasonRow{}, false
	}
	return reasons[i], true
}

// due is the moment from which a reason about time may be given.
func (r Reason) due(c Clocks) (time.Time, bool) {
	switch r {
	case PhaseDeadline, ReviewExpired:
		return c.Phase, true
	case OpDeadline:
		return c.Op, true
	}
	return time.Time{}, false
}
