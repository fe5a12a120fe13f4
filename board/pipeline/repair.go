package pipeline

import (
	"cmp"
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
)

// StopReason says why repair stopped. It is one of the codes of Stops, some with a
// colon and what it was behind it.
type StopReason string

// The reasons to stop, in the order in which they are looked for: before an
// iteration, of what was generated, of the run, of the failure.
const (
	StopDeadline   StopReason = "deadline_budget_exhausted"
	StopTimebox    StopReason = "timebox_exhausted"
	StopIterations StopReason = "max_iterations_exhausted"

	StopGenerate StopReason = "generate_error" // some with :reason
	StopUnusable StopReason = "candidate_unusable"

	StopSandbox StopReason = "sandbox_infra_error"

	StopEnv    StopReason = "non_retryable_env" // :sub
	StopCircle StopReason = "oscillation_detected"
	StopStreak StopReason = "no_progress_streak"
)

// Iteration is one try of a repair: the record repair.iter.v1.
type Iteration struct {
	N       int       // from 1
	At      time.Time // when it began
	Retest  bool      // it ran the checks on the candidate there was, without another
	Class   Class     // of its failure, "" where there was none
	Failing int       // ids that failed
	Failure string    // the signature of its failure, its beginning
	Patch   string    // that of its candidate
	Took    time.Duration
	Better  bool       // less failed than before
	Stop    StopReason // of the last one, where the repair stopped for it
}

// Repairer does the work of the phase repair: one iteration at every entry of the
// phase. It goes to repair again, back to validate with a candidate that passed, or
// ends the op with the reason to stop as its note.
//
// The first iteration runs the checks again on the candidate that failed, which
// tells a flake from a failure, unless a check was stopped when its time was over;
// so does one behind a failure of the surroundings. Every other one generates. An
// iteration is about the whole batch: what it generates holds all its files.
type Repairer struct {
	Timebox time.Duration // from the first iteration on
	Now     func() time.Time
	Files   []Edit // the candidate that failed, all of it
	// Last is what Files failed of; nil where running the checks again may tell a flake.
	Last *Failure
	// Generate makes another candidate from the one that failed so. What comes with it is
	// the facts of the candidate, what it cost, or a reason for which the op ends.
	Generate func(context.Context, Failure) ([]Edit, Out, error)
	// Run runs the checks of the candidate that was generated last. An error is one of the
	// place, not of the candidate.
	Run func(context.Context) (Report, error)

	done []Iteration // oldest first
	stop StopReason  // the last one
	said string      // more of it, for people
}

// Work does one iteration.
func (r *Repairer) Work(ctx context.Context, op Op) (Out, error) {
	r.said = ""
	if r.stop = r.limitReached(op.Until); r.stop != "" {
		return r.stopRepair(Out{}), nil
	}
	it := Iteration{N: len(r.done) + 1, At: roundTime(r.Now()), Retest: r.Last == nil || r.Last.Class == ClassEnv}
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
	out.Next, out.Note = Repair, it.String()
	if it.outcome() == "converged" {
		out.Next = Validate
	} else if r.stop = cmp.Or(it.Stop, r.limitReached(op.Until)); r.stop != "" {
		return r.stopRepair(out), nil
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
	}
	return ""
}

func (r *Repairer) stopRepair(out Out) Out {
	out.Next, out.Reason, out.Note = "", RepairStopped, string(r.stop)
	if r.said != "" {
		out.Note += ": " + r.said
	} else if r.Last != nil {
		out.Note += "; " + r.Last.String()
	}
	return out
}

// Unrepaired says in words why the repair stopped: what the reason means, the reason, and
// more where there is more to say.
func (r *Repairer) Unrepaired() string {
	bare, _, _ := strings.Cut(string(r.stop), ":")
	return strings.TrimSuffix(fmt.Sprintf("%s [%s]: %s", lookUp(Stops(), bare), r.stop, r.said), ": ")
}

// runIteration generates, unless it tests again, and runs the checks.
func (r *Repairer) runIteration(ctx context.Context, it *Iteration) (out Out) {
	if !it.Retest {
		files, made, err := r.Generate(ctx, *r.Last)
		out = made
		if it.Stop = r.acceptFiles(files, made.Reason, err); it.Stop != "" {
			out.Set = nil
			return out
		}
	}
	it.Patch = patchSignature(r.Files)[:16]
	report, err := r.Run(ctx)
	if err != nil {
		r.said, it.Stop = err.Error(), StopSandbox
		return out
	}
	f, failed := report.Failure()
	if r.Last = nil; failed {
		r.Last = &f
		r.judgeFailure(it, f)
	}
	return out
}

func (r *Repairer) acceptFiles(files []Edit, ends Reason, err error) StopReason {
	switch {
	case ends != "":
		return StopGenerate + ":" + StopReason(ends)
	case err != nil:
		r.said = err.Error()
		return StopGenerate
	}
	for _, f := range r.Files {
		if !slices.ContainsFunc(files, func(is Edit) bool { return is.Path == f.Path }) {
			r.said = f.Path + " is missing; a repair delivers every file of the change, changed or not"
			return StopUnusable
		}
	}
	r.Files = files
	return ""
}

// judgeFailure compares a failure with those before: the first is better than nothing, and so
// is one that came further, from the surroundings to syntax to tests, or of which less failed.
// It looks for a reason to stop.
func (r *Repairer) judgeFailure(it *Iteration, f Failure) {
	var last Iteration
	if len(r.done) > 0 {
		last = r.done[len(r.done)-1]
	}
	it.Class, it.Failing, it.Failure = f.Class, len(f.IDs), f.signature()[:16]
	further := Failure{Class: it.Class}.rank() - Failure{Class: last.Class}.rank()
	it.Better = last.Class == "" || further > 0 || it.Class == last.Class && it.Failing < last.Failing
	switch {
	case !f.Retryable(), f.Class == ClassEnv && last.Class == ClassEnv:
		it.Stop = StopEnv + ":" + StopReason(f.Sub)
	case !it.Retest && slices.ContainsFunc(r.done, func(was Iteration) bool { return was.Failure == it.Failure && was.Patch == it.Patch }):
		it.Stop = StopCircle
	case !it.Better && !last.Better:
		it.Stop = StopStreak
	}
}

// iterationFacts names the facts that keep iterations, by the iteration's number.
var iterationFacts = []string{"repair_one", "repair_two", "repair_three", "repair_four", "repair_five"}

// iterationFacts returns the iteration as a fact of its op, so that the op's record holds all of it.
// Signatures keep their beginnings:
//
//	repair_two  repair.iter.v1 n=2 at=1795309500000 class=test ids=3 fail=… patch=… ms=1200 outcome=progress
func (it Iteration) iterationFacts() map[string]string {
	s := fmt.Sprintf("repair.iter.v1 n=%d at=%d", it.N, it.At.UnixMilli())
	if it.Class != "" {
		s += fmt.Sprintf(" class=%s ids=%d fail=%s", it.Class, it.Failing, it.Failure)
	}
	if it.Patch != "" {
		s += " patch=" + it.Patch
	}
	s += fmt.Sprintf(" ms=%d", it.Took.Milliseconds())
	if it.Retest {
		s += " retest=1"
	}
	if it.Stop != "" { // which is an outcome
		s += " stop=" + string(it.Stop)
	} else {
		s += " outcome=" + it.outcome()
	}
	return map[string]string{iterationFacts[it.N-1]: clipText(s, maxFact)}
}

func (it Iteration) outcome() string {
	switch {
	case it.Stop != "":
		return "stopped"
	case it.Class == "":
		return "converged"
	case it.Better:
		return "progress"
	}
	return "no_progress"
}

// String is a line about the iteration for people.
func (it Iteration) String() string {
	s := fmt.Sprintf("iteration %d: %s", it.N, it.outcome())
	if it.Class != "" {
		s += fmt.Sprintf(", %d failing (%s)", it.Failing, it.Class)
	}
	if it.Stop != "" {
		s += ", " + string(it.Stop)
	}
	return s
}
