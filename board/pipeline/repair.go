package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Limits of the repair of one op. How long it may take, configuration says.
const (
	repairIterations = 5                // in all
	repairLeft       = 10 * time.Second // that must be left of the phase's time to begin another
	repairLines      = 150              // that one repair may change, added and removed
	repairFiles      = 3                // that one repair may change; a larger batch may be changed whole
	repairRuns       = 8                // of the checks, second tries included
	repairStreak     = 2                // iterations without progress, one after the other
)

// tryAgain is how often a failure may be tried again, by its class.
var tryAgain = map[Class]int{ClassSyntax: 2, ClassTest: 3, ClassFlake: 2, ClassEnv: 1}

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

func (s StopReason) withDetail(what string) StopReason {
	return s + ":" + StopReason(what)
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

// Repairer does the work of the phase repair: one iteration at every entry of the
// phase. It goes to repair again, back to validate with a candidate that passed, or
// ends the op with the reason to stop as its note.
//
// The first iteration runs the checks again on the candidate that failed, which
// tells a flake from a failure, unless a check was stopped when its time was over;
// so does one behind a flake or a failure of the surroundings. Every other one
// generates. An iteration is about the whole batch: what it generates holds all its files.
type Repairer struct {
	Timebox time.Duration // from the first iteration on
	Now     func() time.Time
	Files   []Edit // the candidate that failed, all of it
	// Last is what Files failed of; nil where running the checks again may tell a flake.
	Last *Failure
	// Generate makes another candidate from the one that failed so. What comes with it is
	// the facts of the candidate, what it cost, or a reason for which the op ends.
	Generate func(context.Context, Failure) ([]Edit, Out, error)
	// Run runs the checks of the candidate that was generated last, with a second try if
	// again. An error is one of the place, not of the candidate.
	Run func(ctx context.Context, again bool) (Report, error)

	done []Iteration // oldest first
	said string      // what an error said, for the note
}

// Work does one iteration.
func (r *Repairer) Work(ctx context.Context, op Op) (Out, error) {
	r.said = ""
	if stop := r.limitReached(op.Until); stop != "" {
		return r.stopRepair(Out{}, stop), nil
	}
	it := Iteration{N: len(r.done) + 1, At: roundTime(r.Now()), Retest: r.Last == nil || r.Last.Class == ClassFlake || r.Last.Class == ClassEnv}
	out := r.runIteration(ctx, &it)
	it.Took = max(r.Now().Sub(it.At), 0)
	if ctx.Err() != nil {
		return Out{Spent: out.Spent}, ctx.Err()
	}
	set := it.iterationFacts()
	maps.Copy(set, out.Set)
	out.Set = set
	if out.Reason != "" {
		return out, nil
	}
	r.done = append(r.done, it)
	if out.Next, out.Note = Repair, it.String(); it.Outcome == Converged {
		out.Next = Validate
	} else if stop := cmp.Or(it.Stop, r.limitReached(op.Until)); stop != "" {
		return r.stopRepair(out, stop), nil
	}
	return out, nil
}

// limitReached says why no further iteration may begin, "" if one may. end is when the
// phase, or the op, ends.
func (r *Repairer) limitReached(end time.Time) StopReason {
	now := r.Now()
	switch {
	case end.Sub(now) < repairLeft:
		return StopDeadline
	case len(r.done) > 0 && now.Sub(r.done[0].At) >= r.Timebox:
		return StopTimebox
	case len(r.done) >= repairIterations:
		return StopIterations
	case r.countRuns() >= repairRuns:
		return StopRuns
	}
	return ""
}

func (r *Repairer) countRuns() int {
	n := 0
	for _, it := range r.done {
		n += it.Runs
	}
	return n
}

func (r *Repairer) stopRepair(out Out, stop StopReason) Out {
	out.Next, out.Reason, out.Note = "", RepairStopped, string(stop)
	if r.said != "" {
		out.Note += ": " + r.said
	} else if r.Last != nil {
		out.Note += "; " + r.Last.String()
	}
	return out
}

// runIteration generates, unless it tests again, and runs the checks.
func (r *Repairer) runIteration(ctx context.Context, it *Iteration) (out Out) {
	if !it.Retest {
		files, made, err := r.Generate(ctx, *r.Last)
		out = made
		if it.Stop = r.acceptFiles(it, files, made.Reason, err); it.Stop != "" {
			out.Set, it.Outcome = nil, Stopped
			return out
		}
	}
	it.Patch = hashPrefix(patchSignature(r.Files))
	report, err := r.Run(ctx, r.countRuns()+1 < repairRuns)
	if err != nil {
		r.said, it.Stop, it.Outcome = err.Error(), StopSandbox.withDetail(errorKind(err)), Stopped
		return out
	}
	it.Runs = max(report.Runs, 1)
	r.Last = nil
	if f, failed := report.Failure(); failed {
		r.Last = &f
	}
	r.noteOutcome(it)
	return out
}

func (r *Repairer) acceptFiles(it *Iteration, files []Edit, ends Reason, err error) StopReason {
	switch {
	case ends != "":
		return StopGenerate.withDetail(string(ends))
	case err != nil:
		r.said = err.Error()
		return StopGenerate.withDetail(errorKind(err))
	case len(files) == 0:
		return StopEmpty
	}
	it.Lines, it.Files = countChanged(r.Files, files)
	r.said = fmt.Sprintf("it changes %d lines in %d files", it.Lines, it.Files)
	switch {
	case it.Lines > repairLines:
		return StopLines
	case it.Files > max(repairFiles, len(r.Files)):
		return StopFiles
	}
	for _, f := range r.Files {
		if !slices.ContainsFunc(files, func(is Edit) bool { return is.Path == f.Path }) {
			r.said = f.Path + " is missing; a repair delivers every file of the change, changed or not"
			return StopUnusable
		}
	}
	r.Files, r.said = files, ""
	return ""
}

func (r *Repairer) noteOutcome(it *Iteration) {
	f := r.Last
	if f == nil {
		it.Outcome = Converged
		return
	}
	it.Class, it.Failing, it.Failure = f.Class, len(f.IDs), hashPrefix(f.signature())
	it.Outcome = NoProgress
	if r.madeProgress(*it) {
		it.Outcome = Progress
	}
	if it.Stop = r.stopReason(*it, *f); it.Stop != "" {
		it.Outcome = Stopped
	}
}

// stopReason looks for a reason to stop, in their order.
func (r *Repairer) stopReason(it Iteration, f Failure) StopReason {
	streak, same := 0, 0
	for i, was := range append(r.done[:len(r.done):len(r.done)], it) {
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
	seen := slices.ContainsFunc(r.done, func(was Iteration) bool { return was.Failure == it.Failure && was.Patch == it.Patch })
	switch {
	case !f.Retryable():
		return StopEnv.withDetail(f.Sub)
	case !it.Retest && seen:
		return StopCircle
	case streak >= repairStreak:
		return StopStreak
	case same > tryAgain[it.Class]:
		return StopClass.withDetail(string(it.Class))
	}
	return ""
}

// madeProgress compares with the last failure: the first is progress, and fewer ids
// are, and a failure of tests behind one of another class. The same failure of the
// same bytes is what it was.
func (r *Repairer) madeProgress(it Iteration) bool {
	last, found := Iteration{}, false
	for _, was := range r.done {
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

// hashPrefix is the beginning of a hash, enough to tell a few apart.
func hashPrefix(s string) string { return s[:min(16, len(s))] }

// iterationFacts names the facts that keep iterations, by the iteration's number.
var iterationFacts = []string{"repair_one", "repair_two", "repair_three", "repair_four", "repair_five"}

// iterationFacts returns the iteration as a fact of its op, so that the op's record holds all of it.
// Signatures keep their beginnings:
//
//	repair_two  repair.iter.v1 n=2 at=1795309500000 class=test ids=3 fail=… patch=… lines=12 files=2 runs=2 ms=1200 outcome=progress
func (it Iteration) iterationFacts() map[string]string {
	s := fmt.Sprintf("repair.iter.v1 n=%d at=%d", it.N, it.At.UnixMilli())
	if it.Class != "" {
		s += fmt.Sprintf(" class=%s ids=%d fail=%s", it.Class, it.Failing, it.Failure)
	}
	if it.Patch != "" {
		s += " patch=" + it.Patch
	}
	s += fmt.Sprintf(" lines=%d files=%d runs=%d ms=%d", it.Lines, it.Files, it.Runs, it.Took.Milliseconds())
	if it.Retest {
		s += " retest=1"
	}
	if it.Stop != "" { // which is an outcome
		s += " stop=" + string(it.Stop)
	} else {
		s += " outcome=" + string(it.Outcome)
	}
	return map[string]string{iterationFacts[it.N-1]: clipText(s, maxFact, nil)}
}

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

func errorKind(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "error"
}

// countChanged counts the lines, added and removed, and the files in which two
// candidates differ.
func countChanged(was, is []Edit) (lines, files int) {
	before := map[string]Edit{}
	for _, f := range was {
		before[f.Path] = f
	}
	for _, f := range is {
		old, known := before[f.Path]
		if !known {
			old = Edit{After: f.Before, NewMode: f.OldMode}
		}
		if bytes.Equal(old.After, f.After) && (old.After == nil) == (f.After == nil) && old.NewMode == f.NewMode {
			continue
		}
		files++
		lines += countDifferingLines(old.After, f.After)
	}
	return lines, files
}

// countDifferingLines counts the lines that are in one text and not, as often, in the
// other. Lines that only moved count nothing, which a limit on size can bear.
func countDifferingLines(a, b []byte) int {
	count := map[string]int{}
	for line := range bytes.Lines(a) {
		count[string(bytes.TrimRight(line, "\r\n"))]++
	}
	for line := range bytes.Lines(b) {
		count[string(bytes.TrimRight(line, "\r\n"))]--
	}
	n := 0
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}
