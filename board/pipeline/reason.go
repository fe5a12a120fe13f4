package pipeline

import (
	"slices"
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
	row, _ := r.reasonRowOf()
	return row.explain
}

func (r Reason) reasonRowOf() (reasonRow, bool) {
	i := slices.IndexFunc(reasons, func(row reasonRow) bool { return row.reason == r })
	if i < 0 {
		return reasonRow{}, false
	}
	return reasons[i], true
}

// Meaning is what a code means that a session's work is sent back or stopped for.
type Meaning struct{ Code, Text string }

func lookUp(of []Meaning, code string) string {
	for _, m := range of {
		if m.Code == code {
			return m.Text
		}
	}
	return ""
}

// Held is why a change that configuration and its tier would let land by itself
// waits for a person like every other.
type Held string

// The codes, as the fact FactHeld has them.
const (
	HeldAtoms    Held = "carries_atoms"
	HeldUnseen   Held = "nobody_to_see_it"
	HeldDeclined Held = "preview_declined"
	HeldMoved    Held = "target_moved"
	HeldActive   Held = "human_active_on_target"
	HeldRefused  Held = "landing_refused"
	HeldKind     Held = "kind_rejected"
)

// Helds says of every code what it means. Nothing changes it.
func Helds() []Meaning {
	return []Meaning{
		{string(HeldAtoms), "the agent delivered atoms too, and only a person's approval adds those"},
		{string(HeldUnseen), "its tier is NOTIFY_APPLY, and no person was at a terminal to look at it"},
		{string(HeldDeclined), "a person saw it at the terminal and did not let it land"},
		{string(HeldMoved), "the target branch moved after the change was made, so what would land was not checked"},
		{string(HeldActive), "a person is working on a file that it writes: uncommitted, open in an editor, or saved in the last three minutes"},
		{string(HeldRefused), "it could not land: the push was refused, a checkout was in the way, or the board was paused"},
		{string(HeldKind), "people rejected the last three results of its kind of task; once they accept one, changes land again"},
	}
}

// ExplainHeld says what a code means, "" for a word that is none.
func ExplainHeld(h Held) string { return lookUp(Helds(), string(h)) }

// Stops says of every reason to stop a repair what it means, in their order.
func Stops() []Meaning {
	return []Meaning{
		{string(StopDeadline), "too little time was left for a repair"},
		{string(StopTimebox), "the repair took as long as [pipeline] repair_timebox allows; raise it in odd.toml if the checks alone take that long"},
		{string(StopIterations), "it was repaired as often as it may be"},
		{string(StopGenerate), "the agent's next try failed"},
		{string(StopUnusable), "the repair does not contain every file of the change exactly once"},
		{string(StopSandbox), "odd could not make the folder in which the checks run; free some disk space (df -h), then `odd task ready TASK`"},
		{string(StopEnv), "the failure is not in the change but in a command, a module, a permission or a rule, named after the colon; correct that first, because another try would fail the same way"},
		{string(StopCircle), "the same change failed in the same way as before"},
		{string(StopStreak), "several tries in a row made nothing better"},
		{"class_retries_exhausted", "it failed in the same way, named after the colon, as often as an older odd let it"},
		{"diff_expansion_rejected", "the repair changes more lines than an older odd let it"},
		{"diff_files_rejected", "the repair changes more files than an older odd let it"},
		{"max_validation_runs_exhausted", "its checks ran as often as an older odd let them"},
	}
}

// CheckFindings says what is found about a change with its checks and its handoffs in view.
func CheckFindings() []Meaning {
	return []Meaning{
		{"beyond_findings", "a resolver changed a file that no finding of its handoff is about"},
		{"beyond_plan", "the change has a file that the plan it was made from does not name"},
		{"check_empty", "a command that should check the change names no program"},
		{"check_edited", "the change edits a file that one of its checks reads"},
		{"check_skipped", "no check covers a part of the change"},
	}
}

// Faults says of every code that a delivery of a session is sent back for what it
// means, sorted. The codes of paths and of files are those of the iron gate.
func Faults() []Meaning {
	return []Meaning{
		{"bad-name", "a file name in the agent's scratch clone is not valid on every system"},
		{"base_unreadable", "a file that the change writes cannot be read in the commit it is made on"},
		{"candidate_count", "the delivery has no candidate (version of the change), or too many"},
		{"case-collision", "two file names differ only in upper and lower case"},
		{"converted", "git would store a file as other bytes than odd judged, because of a filter, an encoding or line ends"},
		{"in_bundle", "a change writes a file of the bundle, which only atoms may change"},
		{"json", "the delivery is not one JSON object of its schema"},
		{"missing_member", "a file of the change block has no file_path or no full_content"},
		{"missing_reason", "the agent says that there is nothing to do, and not why"},
		{"nested-repository", "the agent's scratch clone contains another git repository"},
		{"no_files", "the delivery has no file"},
		{"noop_with_writes", "the agent says that there is nothing to do, and wrote files"},
		{"not-a-file", "something in the agent's scratch clone is neither a file nor a folder"},
		{"not_a_file", "something in the change is not a regular file"},
		{"nothing_delivered", "the task asks for a change of files, and the agent delivered none"},
		{"path_taken", "the path of a new file is taken: by a file, or by a name that differs only in case"},
		{"plan_no_overlap", "the plan changes none of the task's files"},
		{"plan_order", "a step of the plan depends on a file that no step before it changes"},
		{"plan_path_twice", "the plan names a file twice"},
		{"submodule", "the agent's scratch clone contains a submodule"},
		{"symlink", "the agent's scratch clone contains a symbolic link, and a change may hold only files"},
		{"too-deep", "the folders of the agent's scratch clone are nested too deep"},
		{"too-large", "the changed files are too large together"},
		{"too-many-files", "too many files were changed"},
		{"too_large", "the delivery has more bytes than odd reads"},
		{"tree-gone", "the agent deleted its own scratch clone"},
		{"two_deliveries", "the agent delivered more than one of: files in its scratch clone, a change block, a block that says there is nothing to do"},
		{"unchanged", "a file of the change is the same as before"},
		{"unknown_version", "odd does not read this schema_version"},
		{"unreadable", "a file of the agent's scratch clone cannot be read"},
	}
}
