package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// Files is the candidate that failed, all of it, and Tree its tree.
	Files []Edit
	Tree  string
	// Steady is what Files failed of where it is not run again to tell a flake, see
	// Failure.Steady. nil otherwise.
	Steady *Failure
	// Generate makes another candidate from what failed.
	Generate func(context.Context, RepairAsk) (RepairAnswer, error)
	// Run lays a candidate out in a tree of its own and examines it there, with a
	// second try if again. An error is one of the place, not of the candidate.
	Run func(ctx context.Context, files []Edit, again bool) (Report, error)

	done  []Iteration // oldest first
	last  *Failure    // of Files, once it is known
	spent int64
	said  string // what an error said, for the note
}

// RepairAsk is what a repair is made from.
type RepairAsk struct {
	Iteration int    // from 1, the one that ran the checks again included
	Files     []Edit // the candidate that failed; the answer holds each of them
	Failure   Failure
}

// RepairAnswer is another candidate.
type RepairAnswer struct {
	Files []Edit
	Tree  string // of the base with the files, for the fact candidate
	Spent int64  // micro-USD
	End   Out    // with a reason, where the op ends for it
}

// Work does one iteration.
func (r *Repairer) Work(ctx context.Context, op Op) (Out, error) {
	r.spent, r.said = 0, ""
	if len(r.done) == 0 {
		r.last = r.Steady
	}
	if stop := r.next(op.Until); stop != "" {
		return r.stopWith(stop, nil), nil
	}
	it := Iteration{N: len(r.done) + 1, At: moment(r.Now()), Retest: r.last == nil || r.last.Class == ClassFlake || r.last.Class == ClassEnv}
	it, end := r.iterate(ctx, it)
	it.Took = max(r.Now().Sub(it.At), 0)
	switch {
	case ctx.Err() != nil:
		return Out{Spent: r.spent}, ctx.Err()
	case end.Reason != "":
		end.Set, end.Spent = it.Facts(), r.spent+max(end.Spent, 0)
		return end, nil
	}
	r.done = append(r.done, it)
	return r.follow(it, op.Until), nil
}

// next says why no further iteration may begin, "" if one may. end is when the
// phase, or the op, ends.
func (r *Repairer) next(end time.Time) StopReason {
	now := r.Now()
	switch {
	case end.Sub(now) < repairLeft:
		return StopDeadline
	case len(r.done) > 0 && now.Sub(r.done[0].At) >= r.Timebox:
		return StopTimebox
	case len(r.done) >= repairIterations:
		return StopIterations
	case r.runs() >= repairRuns:
		return StopRuns
	}
	return ""
}

// runs is how often the checks were run so far.
func (r *Repairer) runs() int {
	n := 0
	for _, it := range r.done {
		n += it.Runs
	}
	return n
}

// follow is where an iteration leads.
func (r *Repairer) follow(it Iteration, end time.Time) Out {
	set := it.Facts()
	if r.Tree != "" && it.Stop == "" {
		set[FactCandidate] = r.Tree
		maps.Copy(set, FactsOf(r.Files))
	}
	switch {
	case it.Outcome == Converged:
		return Out{Next: Validate, Set: set, Spent: r.spent, Note: it.String()}
	case it.Stop != "":
		return r.stopWith(it.Stop, set)
	}
	if stop := r.next(end); stop != "" {
		return r.stopWith(stop, set)
	}
	return Out{Next: Repair, Set: set, Spent: r.spent, Note: it.String()}
}

func (r *Repairer) stopWith(stop StopReason, set map[string]string) Out {
	note := string(stop)
	if r.said != "" {
		note += ": " + r.said
	} else if r.last != nil {
		note += "; " + r.last.String()
	}
	return Out{Reason: RepairStopped, Set: set, Spent: r.spent, Note: note}
}

// iterate generates, unless it tests again, and runs the checks. end has a reason
// where the op ends for it.
func (r *Repairer) iterate(ctx context.Context, it Iteration) (_ Iteration, end Out) {
	if !it.Retest {
		var stop StopReason
		if stop, end = r.generate(ctx, &it); stop != "" {
			it.Stop, it.Outcome = stop, Stopped
			return it, end
		}
	}
	it.Patch = short16(PatchSig(r.Files))
	report, err := r.Run(ctx, r.Files, r.runs()+1 < repairRuns)
	if err != nil {
		r.said = err.Error()
		it.Stop, it.Outcome = StopSandbox.of(kindOf(err)), Stopped
		return it, end
	}
	it.Runs = max(report.Runs, 1)
	r.last = nil
	if f, failed := report.Failure(); failed {
		r.last = &f
	}
	return r.conclude(it), end
}

// generate asks for another candidate and takes it in, or says why not.
func (r *Repairer) generate(ctx context.Context, it *Iteration) (StopReason, Out) {
	a, err := r.Generate(ctx, RepairAsk{Iteration: it.N, Files: r.Files, Failure: *r.last})
	r.spent += max(a.Spent, 0)
	switch {
	case a.End.Reason != "":
		return StopGenerate.of(string(a.End.Reason)), a.End
	case err != nil:
		r.said = err.Error()
		return StopGenerate.of(kindOf(err)), Out{}
	case len(a.Files) == 0:
		return StopEmpty, Out{}
	}
	it.Lines, it.Files = countChanged(r.Files, a.Files)
	if stop := tooLarge(it.Lines, it.Files, len(r.Files)); stop != "" {
		r.said = fmt.Sprintf("it changes %d lines in %d files", it.Lines, it.Files)
		return stop, Out{}
	}
	if r.said = unusable(r.Files, a); r.said != "" {
		return StopUnusable, Out{}
	}
	r.Files, r.Tree = a.Files, a.Tree
	return "", Out{}
}

// tooLarge says why a repair that changes so much may not be tried. batch is how many
// files the candidate before had.
func tooLarge(lines, files, batch int) StopReason {
	switch {
	case lines > repairLines:
		return StopLines
	case files > max(repairFiles, batch):
		return StopFiles
	}
	return ""
}

// conclude is the iteration with its outcome, from what the checks said last.
func (r *Repairer) conclude(it Iteration) Iteration {
	f := r.last
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
func (r *Repairer) stops(it Iteration, f Failure) StopReason {
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
		return StopEnv.of(f.Sub)
	case !it.Retest && seen:
		return StopCircle
	case streak >= repairStreak:
		return StopStreak
	case same > tryAgain[it.Class]:
		return StopClass.of(string(it.Class))
	}
	return ""
}

// progress compares with the last failure: the first is progress, and fewer ids
// are, and a failure of tests behind one of another class. The same failure of the
// same bytes is what it was.
func (r *Repairer) progress(it Iteration) bool {
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

// short16 is the beginning of a hash, enough to tell a few apart.
func short16(s string) string { return s[:min(16, len(s))] }
