package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Repairer does the work of the phase repair: one iteration at every entry of
// the phase, so that each is a record before the next begins. Its Work is the
// Repair of Steps; it goes to repair again, back to validate with a candidate
// that passed, or ends the op with the reason to stop as its note.
type Repairer struct {
	Limits RepairLimits
	Now    func() time.Time
	// Until ends a context at a moment, as that of World; nil: nothing ends when
	// the timebox does, and only the next iteration is not begun.
	Until func(context.Context, time.Time) (context.Context, context.CancelFunc)
	// Files is the candidate that failed, all of it, and Tree its tree: in a
	// process that goes on with an op, that of the fact candidate.
	Files []Edit
	Tree  string
	// Steady is what Files failed of where it is not run again to tell a flake, see
	// Failure.Steady. nil otherwise.
	Steady *Failure
	// Generate makes another candidate from what failed. An error that is a Stop
	// ends the op for its own reason.
	Generate func(context.Context, RepairAsk) (RepairAnswer, error)
	// Run lays a candidate out in a tree of its own and examines it there, with a
	// second try if again. An error is one of the place, not of the candidate.
	Run func(ctx context.Context, files []Edit, again bool) (Report, error)

	last  *Failure // of Files, when this process has seen it
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
}

// Work does one iteration.
func (r *Repairer) Work(ctx context.Context, op Op) (Out, error) {
	r.spent, r.said = 0, ""
	done, err := Iterations(op)
	if err != nil {
		return Out{}, err
	}
	if len(done) == 0 {
		r.last = r.Steady
	}
	loop := RepairLoop{Limits: r.Limits, Done: done}
	end := op.Clocks.End()
	if stop := loop.Next(r.Now(), end); stop != "" {
		return r.stopped(stop, nil), nil
	}
	it := Iteration{N: len(done) + 1, At: moment(r.Now()), Retest: loop.retests(r.last)}
	within, cancel := r.timebox(ctx, loop, it)
	defer cancel()
	it, err = r.iterate(within, loop, it)
	it.Took = max(r.Now().Sub(it.At), 0)
	if ctx.Err() == nil && within.Err() != nil {
		it.Stop, it.Outcome, err = StopTimebox, Stopped, nil
	}
	var own *Stop
	switch {
	case ctx.Err() != nil:
		return Out{Spent: r.spent}, ctx.Err()
	case errors.As(err, &own):
		return Out{Next: ending(op, own.Reason), Reason: own.Reason, Set: it.Facts(), Spent: r.spent + max(own.Spent, 0), Note: own.Text}, nil
	case err != nil:
		return Out{Spent: r.spent}, err
	}
	loop.Done = append(done[:len(done):len(done)], it)
	return r.follow(loop, it, end), nil
}

// timebox is ctx, ended when the timebox of the whole repair is over.
func (r *Repairer) timebox(ctx context.Context, loop RepairLoop, it Iteration) (context.Context, context.CancelFunc) {
	if r.Until == nil {
		return ctx, func() {}
	}
	began := append(loop.Done, it)[0].At
	return r.Until(ctx, began.Add(loop.Limits.table().Timebox))
}

// follow is where an iteration leads.
func (r *Repairer) follow(loop RepairLoop, it Iteration, end time.Time) Out {
	set := it.Facts()
	if r.Tree != "" && it.Stop == "" {
		set[FactCandidate] = r.Tree
		maps.Copy(set, FactsOf(r.Files))
	}
	switch {
	case it.Outcome == Converged:
		return Out{Next: Validate, Set: set, Spent: r.spent, Note: it.String()}
	case it.Stop != "":
		return r.stopped(it.Stop, set)
	}
	if stop := loop.Next(r.Now(), end); stop != "" {
		return r.stopped(stop, set)
	}
	return Out{Next: Repair, Set: set, Spent: r.spent, Note: it.String()}
}

func (r *Repairer) stopped(stop StopReason, set map[string]string) Out {
	note := string(stop)
	if r.said != "" {
		note += ": " + r.said
	} else if r.last != nil {
		note += "; " + r.last.String()
	}
	return Out{Next: FailedPermanent, Reason: RepairStopped, Set: set, Spent: r.spent, Note: note}
}

// iterate generates, unless it tests again, and runs the checks.
func (r *Repairer) iterate(ctx context.Context, loop RepairLoop, it Iteration) (Iteration, error) {
	if !it.Retest {
		stop, err := r.generate(ctx, loop, &it)
		if stop != "" || err != nil {
			it.Stop, it.Outcome = stop, Stopped
			return it, err
		}
	}
	it.Patch = short16(PatchSig(r.Files))
	report, err := r.Run(ctx, r.Files, loop.again())
	if err != nil {
		r.said = err.Error()
		it.Stop, it.Outcome = StopSandbox.of(kindOf(err)), Stopped
		return it, nil
	}
	it.Runs = max(report.Runs, 1)
	f, failed := report.Failure()
	if !failed {
		r.last = nil
		return loop.After(it, nil), nil
	}
	r.last = &f
	return loop.After(it, &f), nil
}

// generate asks for another candidate and takes it in, or says why not.
func (r *Repairer) generate(ctx context.Context, loop RepairLoop, it *Iteration) (StopReason, error) {
	a, err := r.Generate(ctx, RepairAsk{Iteration: it.N, Files: r.Files, Failure: *r.last})
	r.spent += max(a.Spent, 0)
	var own *Stop
	switch {
	case errors.As(err, &own):
		return StopGenerate.of(string(own.Reason)), err
	case err != nil:
		r.said = err.Error()
		return StopGenerate.of(kindOf(err)), nil
	case len(a.Files) == 0:
		return StopEmpty, nil
	}
	it.Lines, it.Files = changed(r.Files, a.Files)
	if stop := loop.Sized(it.Lines, it.Files, len(r.Files)); stop != "" {
		r.said = fmt.Sprintf("it changes %d lines in %d files", it.Lines, it.Files)
		return stop, nil
	}
	if r.said = unusable(r.Files, a); r.said != "" {
		return StopUnusable, nil
	}
	r.Files, r.Tree = a.Files, a.Tree
	return "", nil
}

// kindOf is an error in one word.
func kindOf(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "error"
}

// unusable says why an answer is no candidate for the batch that failed.
func unusable(was []Edit, a RepairAnswer) string {
	given := map[string]bool{}
	for _, f := range a.Files {
		if given[f.Path] {
			return f.Path + " is in it twice"
		}
		given[f.Path] = true
	}
	for _, f := range was {
		if !given[f.Path] {
			return f.Path + " is missing; a repair delivers every file of the change, changed or not"
		}
	}
	if a.Tree == "" {
		return "it has no tree"
	}
	return ""
}

// changed counts the lines, added and removed, and the files in which two
// candidates differ.
func changed(was, is []Edit) (lines, files int) {
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
		lines += differing(old.After, f.After)
	}
	return lines, files
}

// differing counts the lines that are in one text and not, as often, in the
// other. Lines that only moved count nothing, which a limit on size can bear.
func differing(a, b []byte) int {
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
