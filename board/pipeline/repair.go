package pipeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// RepairLimits bound the repair of one op. Zero members are those of
// DefaultRepair; configuration may lower them and, but for the timebox, not raise
// them: how long a project's checks take, it knows best.
type RepairLimits struct {
	Iterations int           // in all
	Timebox    time.Duration // from the first iteration on
	Left       time.Duration // that must be left of the phase's time to begin another
	Lines      int           // that one repair may change, added and removed
	Files      int           // that one repair may change; a larger batch may be changed whole
	Runs       int           // of the checks, second tries included
	Streak     int           // iterations without progress, one after the other
	Retries    map[Class]int // further tries after the first failure of a class
	NoAgain    bool          // checks that failed are not run again to tell a flake
}

// DefaultRepair is the table of limits.
func DefaultRepair() RepairLimits {
	return RepairLimits{
		Iterations: 5, Timebox: 120 * time.Second, Left: 10 * time.Second, Lines: 150, Files: 3, Runs: 8, Streak: 2,
		Retries: map[Class]int{ClassSyntax: 2, ClassTest: 3, ClassFlake: 2, ClassEnv: 1},
	}
}

// table is l where it asks for less than the table, else the table. A class that
// l does not name keeps its own number; Left may only grow. Timebox is what l says.
func (l RepairLimits) table() RepairLimits {
	t := DefaultRepair()
	t.Iterations = lower(l.Iterations, t.Iterations)
	if l.Timebox > 0 {
		t.Timebox = l.Timebox
	}
	t.Left = max(l.Left, t.Left)
	t.Lines, t.Files = lower(l.Lines, t.Lines), lower(l.Files, t.Files)
	t.Runs, t.Streak = lower(l.Runs, t.Runs), lower(l.Streak, t.Streak)
	t.NoAgain = l.NoAgain
	for class, n := range l.Retries {
		if was, known := t.Retries[class]; known {
			t.Retries[class] = min(max(n, 0), was)
		}
	}
	return t
}

func lower[T cmp.Ordered](is, table T) T {
	var none T
	if is <= none {
		return table
	}
	return min(is, table)
}

// StopReason says why repair stopped. It is one of the codes below, some with a
// colon and what it was behind it.
type StopReason string

// The reasons to stop, in the order in which they are looked for: before an
// iteration, of what was generated, of the run, of the failure.
const (
	StopDeadline   StopReason = "deadline_budget_exhausted"
	StopTimebox    StopReason = "timebox_exhausted"
	StopIterations StopReason = "max_iterations_exhausted"
	StopRuns       StopReason = "max_validation_runs_exhausted"

	StopGenerate StopReason = "generate_error" // :what
	StopEmpty    StopReason = "empty_candidates"
	StopLines    StopReason = "diff_expansion_rejected"
	StopFiles    StopReason = "diff_files_rejected"
	StopUnusable StopReason = "candidate_unusable"

	StopSandbox StopReason = "sandbox_infra_error" // :what

	StopEnv    StopReason = "non_retryable_env" // :sub
	StopCircle StopReason = "oscillation_detected"
	StopStreak StopReason = "no_progress_streak"
	StopClass  StopReason = "class_retries_exhausted" // :class
)

func (s StopReason) of(what string) StopReason {
	return s + ":" + StopReason(what)
}

// Code is the reason without what it was.
func (s StopReason) Code() StopReason {
	code, _, _ := strings.Cut(string(s), ":")
	return StopReason(code)
}

// IterationOutcome is what an iteration came to.
type IterationOutcome string

// The outcomes.
const (
	Progress   IterationOutcome = "progress"
	NoProgress IterationOutcome = "no_progress"
	Converged  IterationOutcome = "converged"
	Stopped    IterationOutcome = "stopped"
)

// Iteration is one try of a repair: the record repair.iter.v1.
type Iteration struct {
	N       int       // from 1
	At      time.Time // when it began
	Retest  bool      // it ran the checks on the candidate there was, without another
	Class   Class     // of its failure, "" where there was none
	Failing int       // ids that failed
	Failure string    // Failure.Sig, its beginning
	Patch   string    // PatchSig, its beginning
	Lines   int       // changed since the candidate before, added and removed
	Files   int       // changed since the candidate before
	Runs    int       // of the checks
	Took    time.Duration
	Outcome IterationOutcome
	Stop    StopReason // of an iteration that is Stopped, "" else
}

// RepairLoop is a repair on its way: its limits and the iterations so far. It is
// a value; what follows from it is a function of it and of what is given.
//
// The first iteration runs the checks again on the candidate that failed, which
// tells a flake from a failure, unless a check was stopped when its time was over;
// so does one behind a flake or a failure of the
// surroundings, and the first one of another process. Every other one generates.
// An iteration is about the whole batch: what it generates holds all its files.
type RepairLoop struct {
	Limits RepairLimits
	Done   []Iteration // oldest first
}

// Next says why no further iteration may begin, "" if one may. end is when the
// phase, or the op, ends.
func (r RepairLoop) Next(now, end time.Time) StopReason {
	t := r.Limits.table()
	switch {
	case end.Sub(now) < t.Left:
		return StopDeadline
	case len(r.Done) > 0 && now.Sub(r.Done[0].At) >= t.Timebox:
		return StopTimebox
	case len(r.Done) >= t.Iterations:
		return StopIterations
	case r.runs() >= t.Runs:
		return StopRuns
	}
	return ""
}

// runs is how often the checks were run so far.
func (r RepairLoop) runs() int {
	n := 0
	for _, it := range r.Done {
		n += it.Runs
	}
	return n
}

// again reports that an iteration may run checks that failed a second time.
func (r RepairLoop) again() bool {
	t := r.Limits.table()
	return !t.NoAgain && r.runs()+1 < t.Runs
}

// Sized says why a repair that changes so much may not be tried. batch is how many
// files the candidate before had.
func (r RepairLoop) Sized(lines, files, batch int) StopReason {
	t := r.Limits.table()
	switch {
	case lines > t.Lines:
		return StopLines
	case files > max(t.Files, batch):
		return StopFiles
	}
	return ""
}

// After is the iteration with its outcome, from what the checks said: f is nil
// where they passed.
func (r RepairLoop) After(it Iteration, f *Failure) Iteration {
	if f == nil {
		it.Outcome = Converged
		return it
	}
	it.Class, it.Failing, it.Failure = f.Class, len(f.IDs), short16(f.Sig())
	it.Outcome = NoProgress
	if r.progress(it) {
		it.Outcome = Progress
	}
	if it.Stop = r.stops(it, *f); it.Stop != "" {
		it.Outcome = Stopped
	}
	return it
}

// stops looks for a reason to stop, in their order.
func (r RepairLoop) stops(it Iteration, f Failure) StopReason {
	t := r.Limits.table()
	streak, same := 0, 0
	for i, was := range append(r.Done[:len(r.Done):len(r.Done)], it) {
		switch {
		case was.Outcome != NoProgress:
			streak = 0
		case i == 0 || !was.Retest: // nothing new was tried otherwise
			streak++
		}
		if was.Class == it.Class {
			same++
		}
	}
	switch {
	case !f.Retryable():
		return StopEnv.of(f.Sub)
	case !it.Retest && r.seen(it):
		return StopCircle
	case streak >= t.Streak:
		return StopStreak
	case same > t.Retries[it.Class]:
		return StopClass.of(string(it.Class))
	}
	return ""
}

// progress compares with the last failure: the first is progress, and fewer ids
// are, and a failure of tests behind one of another class. The same failure of the
// same bytes is what it was.
func (r RepairLoop) progress(it Iteration) bool {
	last, found := Iteration{}, false
	for _, was := range r.Done {
		if was.Class != "" {
			last, found = was, true
		}
	}
	switch {
	case !found, it.Class == ClassTest && last.Class != ClassTest:
		return true
	case it.Patch == last.Patch && it.Failure == last.Failure:
		return last.Outcome == Progress
	}
	return it.Class == last.Class && it.Failing < last.Failing
}

// seen reports that the same bytes failed in the same way before.
func (r RepairLoop) seen(it Iteration) bool {
	for _, was := range r.Done {
		if was.Failure == it.Failure && was.Patch == it.Patch {
			return true
		}
	}
	return false
}

// retests reports that the next iteration has nothing to repair from what is
// known: nothing has failed yet, or not for a reason in the candidate.
func (r RepairLoop) retests(last *Failure) bool {
	return last == nil || last.Class == ClassFlake || last.Class == ClassEnv
}

// short16 is the beginning of a hash, enough to tell a few apart.
func short16(s string) string { return s[:min(16, len(s))] }

// String is a line about the iteration for people.
func (it Iteration) String() string {
	s := fmt.Sprintf("iteration %d: %s", it.N, it.Outcome)
	if it.Class != "" {
		s += fmt.Sprintf(", %d failing (%s)", it.Failing, it.Class)
	}
	if it.Stop != "" {
		s += ", " + string(it.Stop)
	}
	return s
}
