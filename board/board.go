// Package board knows a task, its states, what drain may do to it and which is next.
package board

import (
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
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

// Task is a task atom read.
type Task struct {
	ID            okf.ID
	Path          string // below the bundle root
	Blob          string
	Title         string
	State         State
	Kind          string
	Priority      string // p0..p3, default p2
	Role          string
	Team          string
	Dependencies  []okf.ID
	Soft          []okf.ID
	Acceptance    []string
	Inputs        []string
	Paths         []string
	Commands      [][]string
	Budget        budget.MicroUSD // 0: the session default
	MaxTurns      int
	ClaimedBy     string
	LeaseExpires  time.Time
	Attempts      int
	BlockedReason string
	Rejected      []Rejection
	Created       string // generated.at
	Atom          *okf.Atom
}

// Rejection is one person's no.
type Rejection struct{ By, At, Reason string }

// Parse reads a task atom. The error is an okf.Problem (unknown state, bad lease, commands that are not argv …).
func Parse(a *okf.Atom) (Task, error) { return Task{}, nil }

// Tasks reads every task atom of g in id order, with the problems of those that cannot be read.
func Tasks(g *okf.Graph) ([]Task, []okf.Problem) { return nil, nil }

// Verdict is all that agent code can say of a task.
type Verdict uint8

// The verdicts.
const (
	ToReview Verdict = iota + 1
	ToBlocked
)

// Claim returns the file of t as claimed: in_progress, claimed_by, lease_expires, attempts+1. t must be ready.
func Claim(t Task, run string, expires time.Time) ([]byte, error) { return nil, nil }

// Finish returns the file of t, claimed by run, with its verdict: claimed_by and lease_expires go, and result (run, branch,
// commit) or blocked_reason come.
func Finish(t Task, run string, v Verdict, result Result) ([]byte, error) { return nil, nil }

// Result is what Finish records.
type Result struct {
	Run, Branch, Commit string
	Reason              string // for ToBlocked
}

// Sweep returns the file of t whose lease expired: ready again, or blocked when attempts reached max.
func Sweep(t Task, now time.Time, maxAttempts int) ([]byte, State, error) { return nil, "", nil }

// Reason is why a task is not eligible; "" is eligible.
type Reason string

// Eligible says why t may not be drained now, given all tasks by id.
func Eligible(t Task, all map[okf.ID]Task, now time.Time) Reason { return "" }

// Order sorts eligible tasks in the total order: priority, dependents unblocked (more first), created, id.
func Order(ts []Task, all map[okf.ID]Task) []Task { return nil }

// Select is the first of Order(eligible).
func Select(ts []Task, now time.Time) (Task, bool) { return Task{}, false }

// Slug is the review-branch stem of an id: lower case, [a-z0-9-], at most 60 bytes, never empty.
func Slug(id okf.ID) string { return "" }
