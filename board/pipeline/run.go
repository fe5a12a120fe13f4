package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// World is what an op cannot be without and this package does not have.
type World struct {
	Run  string                                 // who writes the records
	Now  func() time.Time                       // the clock
	Work func(context.Context, Op) (Out, error) // of the phase that the op is in
	Keep func(Op)                               // keeps the record of its last transition
	Tidy func(string) string                    // takes secrets out of what is for people; nil: nothing
}

// Out is what the work of a phase asks for.
type Out struct {
	Next   Phase             // a phase, its own to be tried again
	Reason Reason            // to end the op for, instead
	Set    map[string]string // facts
	Spent  int64             // micro-USD
	Moved  Effect            // from apply: the ref that moves with the op's records; from verify: the target, to end as Landed
	Note   string            // a line for people
}

// Run takes an op that Begin has just made to its ending, or to Waiting, phase by
// phase. The work of each gets a context that ends with its deadline, and must return
// soon after that.
func Run(ctx context.Context, w World, l Limits, o Op) Op {
	w.Keep(o)
	end := l.end(o.Began)
	for !o.Ended() && o.Phase != Waiting {
		var out Out
		var fault error
		if ctx.Err() == nil {
			out, fault = w.work(ctx, o)
		}
		now := o.not(w.Now())
		s := Step{By: w.Run, At: now}
		s.take(o, decide(o, out, fault, context.Cause(ctx), now, end), w.Tidy)
		if !s.To.Ends() {
			s.Until, end = l.until(s.To, now, end)
		}
		next, err := o.Advance(s)
		if err != nil {
			s = Step{By: w.Run, At: now}
			s.take(o, stop(o, out, IllegalMove, err.Error()), w.Tidy)
			if next, err = o.Advance(s); err != nil {
				panic("unreachable: " + err.Error()) // an op that has begun can end as illegal anywhere
			}
		}
		o = next
		w.Keep(o)
	}
	return o
}

// take makes of a step what the work of the op's phase asks for.
func (s *Step) take(o Op, out Out, tidy func(string) string) {
	s.To, s.Set, s.Spent, s.Moved, s.Reason, s.Note = out.Next, out.Set, out.Spent, out.Moved, out.Reason, Note(out.Note, tidy)
	if out.Reason != "" {
		s.To = ending(o, out.Reason)
	}
}

// panicked is the error of work that panicked.
type panicked struct{ text string }

func (p *panicked) Error() string { return p.text }

// work does the work of a phase; a panic comes back as an error.
func (w World) work(ctx context.Context, o Op) (out Out, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Until.Sub(w.Now()))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{fmt.Sprint(p)}
		}
	}()
	return w.Work(ctx, o)
}

// stop is an op that ends for a reason of odd's own.
func stop(o Op, out Out, r Reason, note string) Out {
	return Out{Reason: r, Spent: o.spendable(out.Spent), Note: note}
}

// decide is what follows from the work of a phase: what it asked for, or the reason
// why that cannot be. end is the deadline of the op.
func decide(o Op, out Out, fault, interrupted error, now, end time.Time) Out {
	var broke *panicked
	inTime := now.Before(o.Until)
	switch {
	case interrupted != nil:
		return stop(o, out, Interrupted, interrupted.Error())
	case errors.As(fault, &broke):
		return stop(o, out, StepPanicked, fmt.Sprintf("%s: %s", o.Phase, broke.text))
	case fault != nil && inTime:
		return stop(o, out, StepFailed, fmt.Sprintf("%s: %v", o.Phase, fault))
	case !inTime && (fault != nil || out.Reason == "" || out.Moved != Effect{}):
		if o.Until.Before(end) {
			return stop(o, out, PhaseDeadline, fmt.Sprintf("%s had until %s", o.Phase, stamp(o.Until)))
		}
		return stop(o, out, LeaseExpired, fmt.Sprintf("the claim on the task ended at %s, in %s; raise [drain] lease in odd.toml, or split the task", stamp(end), o.Phase))
	case out.Reason != "":
		return out
	}
	out.Next = o.retryPhase(out.Next)
	if o.wornOut(out.Next) {
		return stop(o, out, RetriesExhausted, fmt.Sprintf("%s: %s", out.Next, cmp.Or(out.Note, "another try was needed")))
	}
	return out
}

// retryPhase returns where a move to p leads: to what comes then, where p is the op's own
// phase and tried as often as it may be.
func (o Op) retryPhase(p Phase) Phase {
	if then := p.row().then; p == o.Phase && then != "" && o.tries(p) > p.Retries() {
		return then
	}
	return p
}

// wornOut reports a move that would try a phase once too often.
func (o Op) wornOut(p Phase) bool {
	again := p == o.Phase && p.Retries() > 0 || p == Repair && o.Phase == Validate
	return again && o.tries(p) > p.Retries()
}

// ending is the ending that a reason has in the place where the op is.
func ending(o Op, r Reason) Phase {
	ends := r.Ends()
	if o.mayHaveMoved() && o.Phase != Waiting && slices.Contains(ends, Postmortem) {
		return Postmortem
	}
	for _, e := range ends {
		if slices.Contains(o.Phase.Next(), e) {
			return e
		}
	}
	return ""
}

// Note makes a line for people fit for a record: tidy takes secrets out of the
// whole text first, nil for none; then it is cut to what a record holds.
func Note(s string, tidy func(string) string) string { return clip(s, maxNote, tidy) }

func clip(s string, most int, tidy func(string) string) string {
	if tidy != nil {
		s = tidy(s)
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[:most-len("…")], "")
	return s + "…"
}
