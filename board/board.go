// Package board defines tasks, their states, who may change them, and which task is next.
//
// A task is an atom of type task. Its key state is its place on the board. Its key status is
// OKF's lifecycle and has nothing to do with the board.
//
//	---
//	type: task
//	title: Read the handbook
//	state: ready                 # backlog ready in_progress review blocked done
//	kind: extract
//	priority: p1                 # p0..p3, p2 when absent
//	role: shore-lead             # the persona to compile
//	team: desk                   # a capability atom
//	dependencies: [open-jetty]   # hard: done before this may start
//	inputs: [docs/]
//	paths: [docs/**]             # what a change may touch; with one of atoms, no others land
//	acceptance: [every atom names its lines]
//	commands: [[make, test]]     # argv lists; a person wrote them, odd runs them
//	budget_usd: 0.25
//	max_turns: 12
//	contract_role: builder       # what the session is, else what its kind makes it
//	persona: oddie@2             # the profile it speaks as
//	surface: code-output         # where its output goes
//	engagement: agent
//	voice: neutral
//	handoff: [2026-03-01-slack]  # what it works from: ids or paths
//	artifact: knowledge/terms/slack-water.md
//	---
//
// odd adds claimed_by, lease_expires and attempts while a run holds the task, and afterwards
// result or blocked_reason. odd edits only these keys and state; every other byte stays as a
// person wrote it.
//
// # Who moves a task
//
//	backlog, blocked → ready, blocked → backlog   a person
//	ready → in_progress                           drain's claim
//	in_progress → review, blocked                 the claim's own run
//	in_progress → ready, blocked                  a sweep, once the lease expired
//	in_progress → blocked                         a person, at an emergency gate
//	review → done, backlog, ready                 a person
//	review → backlog                              drain, once a change waited longer than review_ttl
//
// There are no other moves, and none leaves done: file a new task instead. Agent code can only
// return a Verdict, and no Verdict is done (invariant 3). board/review makes people's moves, and
// drain may not import it.
package board

import (
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// State is a task's place on the board.
type State string

// The states.
const (
	Backlog    State = "backlog"
	Ready      State = "ready"
	InProgress State = "in_progress"
	Review     State = "review"
	Blocked    State = "blocked"
	Done       State = "done"
)

// States returns the states in the order that a task passes them, blocked last but one.
func States() []State { return []State{Backlog, Ready, InProgress, Review, Blocked, Done} }

// Type is the atom type of a task.
const Type = "task"

// Kinds returns the kinds of work. A task without a kind is implement; a task of an unknown
// kind is never drained. The commitment lease's stance decides which kinds may run.
func Kinds() []string {
	return []string{
		"research", "question", "audit",
		"option", "prototype", "experiment",
		"implement", "produce", "extract", "document", "fix", "change",
		"review", "assess", "verify", "measure",
	}
}

// Signals returns what a task may name as the reason it was filed for. The signal decides
// how soon and on which budget the task is worked on, and nothing about what it may do.
func Signals() []string {
	return []string{
		"test_failure", "runtime_health", // something is broken
		"contract_drift", "github_issue", "performance_regression", "scheduled", "repeated_failure",
		"backlog", "code_marks", "doc_staleness", "exploration", "architecture", // can wait
		"intent", // a guess at what people may want
	}
}

// Task is a parsed task atom.
type Task struct {
	Row
	Blob         string
	Team         string   // a capability; Parse keeps it as written, Tasks resolves it to an id
	Signal       string   // what made somebody ask for it, one of Signals; "" is nothing in particular
	Soft         []okf.ID // soft dependencies, resolved like Row.Dependencies
	Acceptance   []string
	Inputs       []string // repository paths, a folder ending in "/", or URIs
	Paths        []string // globs of repository paths that a change may touch; with a glob of atoms, only those land
	Commands     [][]string
	Budget       budget.MicroUSD // 0: the session default
	MaxTurns     int             // 0: the session default
	ContractRole contract.Role   // "": by its kind
	Persona      string          // a profile, "" for [contract] profile
	Surface      contract.Surface
	Engagement   contract.Engagement
	Voice        contract.Voice
	Handoffs     []string // ids or paths of handoffs
	Artifact     string   // what is worked on; "" takes the handoff's
	Attempts     int
	Rejected     []Rejection // oldest first
	Declined     []Decline   // oldest first
	Endorsed     []Endorsement
	Result       Result // of the last attempt that reached review
	Atom         *okf.Atom
}

// Contracted returns the contract role of a session on t: the task's own, the one that
// odd.toml gives its kind, or the default of its kind. Builders, planners and resolvers work
// from what another mode left behind. So a kind makes a session one of these only if the
// task names a handoff; otherwise a person asked for the work directly, and the role is
// general.
func (t Task) Contracted(kinds map[string]contract.Role) contract.Role {
	if t.ContractRole != "" {
		return t.ContractRole
	}
	if r := kinds[t.Kind]; r != "" {
		return r
	}
	role := contract.Builder
	switch t.Kind {
	case "research", "question":
		return contract.Explorer
	case "audit", "review", "assess", "verify", "measure":
		return contract.Validator
	case "option":
		role = contract.Planner
	case "fix":
		role = contract.Resolver
	}
	if len(t.Handoffs) == 0 {
		return contract.General
	}
	return role
}

// Rejection is one person's rejection of a proposal.
type Rejection struct{ By, At, Reason string }

// Result is what Finish records.
type Result struct {
	Run, Branch, Commit string
	Reason              string // for ToBlocked
}

// Verdict is all that agent code can say about a task.
type Verdict uint8

// The verdicts.
const (
	ToReview Verdict = iota + 1
	ToBlocked
)

// targetState returns where a verdict puts a task, "" for a value that is no verdict.
func (v Verdict) targetState() State {
	switch v {
	case ToReview:
		return Review
	case ToBlocked:
		return Blocked
	}
	return ""
}

// Expired reports whether the task's lease has run out at now, the instant of expiry
// included. A task that no run holds has no lease to expire.
func (t *Row) Expired(now time.Time) bool {
	return !t.LeaseExpires.IsZero() && !now.Before(t.LeaseExpires)
}

// DoneAt is when a person approved the task; zero for one that is not done.
func (t Task) DoneAt() time.Time {
	if t.State != Done || t.Atom == nil {
		return time.Time{}
	}
	var at time.Time
	for _, v := range t.Atom.Verified {
		if when, err := time.Parse(time.RFC3339, v.At); err == nil && v.Human() && when.After(at) {
			at = when
		}
	}
	return at
}
