package pipeline

import "slices"

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
	OpDeadline    Reason = "op_deadline" // of an older odd, for LeaseExpired
	LeaseExpired  Reason = "lease_expired"

	StepFailed        Reason = "step_failed"
	StepPanicked      Reason = "step_panicked"
	IllegalMove       Reason = "illegal_move"
	RetriesExhausted  Reason = "retries_exhausted" // of an older odd
	SinkFailed        Reason = "sink_failed"       // of an older odd
	PlanWrong         Reason = "plan_wrong"
	CandidateUnusable Reason = "candidate_unusable"
	CostCapExceeded   Reason = "cost_cap_exceeded"
	SessionTimeout    Reason = "session_timeout"
	TurnLimit         Reason = "turn_limit"
	DegenerateLoop    Reason = "degenerate_loop"
	NoOutcome         Reason = "no_outcome"
	TransportFailed   Reason = "transport_failed"
	ValidationFailed  Reason = "validation_failed"
	RepairStopped     Reason = "repair_stopped"

	VerifyFailed Reason = "verify_failed"
	ApplyFailed  Reason = "apply_failed" // of an older odd
	RefMoved     Reason = "ref_moved"    // of an older odd
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
	{Noop, completed, []Phase{Generate}, "there was nothing to change, and no file was written"},
	{Merged, completed, []Phase{Waiting}, "a person approved the proposal and merged it"},
	{Landed, completed, []Phase{Verify}, "its risk tier lets it land by itself, and it passed the checks; a person still reviews the task (`odd review`)"},
	{RuleRefused, blocked, nil, "a rule about changes refused it, and would refuse it again; `odd op show OP` lists every finding"},
	{TierBlocked, blocked, nil, "its risk tier is BLOCKED, because it touches something that only a person may change; `odd op show OP` names the rule and the way out"},
	{CancelledByPerson, calledBack, nil, "a person cancelled it; `odd task ready TASK` starts over"},
	{Rejected, cancelled, []Phase{Waiting}, "a person rejected the proposal; the next attempt reads the reason"},
	{Interrupted, calledBack, nil, "the run was stopped before the change was finished; `odd task ready TASK` starts over"},
	{Abandoned, calledBack, nil, "the run crashed and lost its claim on the task, so nobody finishes this change"},
	{Superseded, cancelled, nil, "another change took its place, made from newer files or under newer rules; `odd op list` shows it"},
	{StaleBase, cancelled, nil, "a file that it writes was changed in the meantime; `odd task ready TASK` makes the change again from the current files"},
	{ReviewExpired, []Phase{Expired}, []Phase{Waiting}, "nobody decided within [pipeline] review_ttl, so the task went back to the backlog; `odd task ready TASK` puts it on the board again"},
	{PhaseDeadline, outOfTime, nil, "a step took longer than it may; if a check is slow, raise [pipeline] check_timeout in odd.toml"},
	{OpDeadline, outOfTime, nil, "the change took longer than its claim on the task holds; raise [drain] lease in odd.toml, or split the task"},
	{LeaseExpired, outOfTime, nil, "the claim on the task ended before the agent did; raise [drain] lease in odd.toml, or split the task"},
	{StepFailed, gaveUp, nil, "a step ended with an error; `odd op show OP` quotes it"},
	{StepPanicked, gaveUp, nil, "odd itself failed in a step; report it with what `odd op show OP` says"},
	{IllegalMove, gaveUp, nil, "odd tried a step that is not allowed here; report it with what `odd op show OP` says"},
	{RetriesExhausted, failed, nil, "a step was tried as often as it may be; `odd op show OP` lists the tries"},
	{SinkFailed, gaveUp, nil, "odd could not write its record, so it stopped; free some disk space (df -h), then `odd task ready TASK`"},
	{PlanWrong, failed, []Phase{Plan}, "the agent's plan has a cycle, names none of the task's files, or is in the wrong order; `odd task ready TASK` starts over"},
	{CandidateUnusable, failed, []Phase{Generate, Repair}, "the agent's delivery cannot be used as a change; `odd op show OP` says what is wrong with it"},
	{CostCapExceeded, failed, nil, "the agent spent all the money that it may; `odd task edit TASK --budget-usd USD` allows more for this task"},
	{SessionTimeout, failed, nil, "the agent took longer than a session may on its lane; `odd op classify --limits` shows the limits and the lines of odd.toml that set them"},
	{TurnLimit, failed, nil, "the agent used all the turns that it may; `odd task edit TASK --max-turns N` allows more for this task"},
	{DegenerateLoop, failed, nil, "the model repeated one tool call too often; `odd task ready TASK` tries again, or split the task"},
	{NoOutcome, failed, nil, "the agent ended without the block odd.finish.1, which says how it ended; `odd op prompt OP` shows what it was told to print, `odd review TASK --emission` what it printed"},
	{TransportFailed, failed, nil, "the agent or its model could not be reached, or broke off; `odd status` shows the agents, `odd task ready TASK` tries again"},
	{ValidationFailed, failed, []Phase{Validate}, "the project's checks failed, and a repair was not possible; `odd op show OP` shows what they said"},
	{RepairStopped, failed, []Phase{Repair}, "the repair made no progress, went in circles or reached a limit; `odd op show OP` shows every try"},
	{VerifyFailed, wrecked, []Phase{Verify}, "the commit on the review branch does not hold the files that were checked, so nobody is asked to review it; `odd op show OP` shows more"},
	{ApplyFailed, wrecked, []Phase{Apply, Verify}, "git could not move the branch, which is where it was; `odd op show OP` shows git's error"},
	{RefMoved, wrecked, nil, "somebody else moved the branch that it would move or that it waits on; look at it with `odd op show OP` first"},
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

func (r Reason) row() (reasonRow, bool) {
	i := slices.IndexFunc(reasons, func(row reasonRow) bool { return row.reason == r })
	if i < 0 {
		return reasonRow{}, false
	}
	return reasons[i], true
}
