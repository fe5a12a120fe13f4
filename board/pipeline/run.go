package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/secrets"
)

// World is what an op cannot be without and this package does not have.
type World struct {
	Run  string                                 // who writes the records
	Now  func() time.Time                       // the clock
	Work func(context.Context, Op) (Out, error) // of the phase that the op is in
	Keep func(Op)                               // keeps the record of its last transition
}

// Limits are how long an op may take. The zero value of each is a default.
type Limits struct {
	Op      time.Duration // from its beginning: as long as the claim on its task; 30 minutes
	Session time.Duration // of a phase that runs one; as long as the op
	Checks  time.Duration // that the checks of a candidate get, however little the op has left; 10 minutes
	Wait    time.Duration // for a person; 14 days
}

// opDeadline is when an op that began at that moment has to be done.
func (l Limits) opDeadline(began time.Time) time.Time {
	return roundTime(began.Add(cmp.Or(l.Op, 30*time.Minute)))
}

// phaseDeadline is the deadline of a phase that is entered now, of an op whose own is end. No
// slow check loses what a session made: from the checks on, a phase has at least the time
// that checks take.
func (l Limits) phaseDeadline(p Phase, now, end time.Time) time.Time {
	session, checks := cmp.Or(l.Session, end.Sub(now)), cmp.Or(l.Checks, 10*time.Minute)
	switch p {
	case Waiting:
		return roundTime(now.Add(cmp.Or(l.Wait, 14*24*time.Hour)))
	case Expand, Plan, Generate:
		if at := roundTime(now.Add(session)); at.Before(end) {
			return at
		}
	case Repair:
		return laterOf(end, roundTime(now.Add(session+checks)))
	case Validate, Gate, Approve, Apply, Verify:
		return laterOf(end, roundTime(now.Add(checks)))
	}
	return end
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// clampTime returns now, or the op's last moment where the clock went back.
func (o Op) clampTime(now time.Time) time.Time { return laterOf(roundTime(now), o.At) }

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
// soon after that. What the work asks for and the table does not allow ends the op.
func Run(ctx context.Context, w World, l Limits, o Op) Op {
	w.Keep(o)
	end := l.opDeadline(o.Began)
	for !o.Ended() && o.Phase != Waiting {
		out, fault, err := w.runWork(ctx, o)
		now := o.clampTime(w.Now())
		out = decideOut(o, out, fault, err, context.Cause(ctx), now, end)
		next, err := o.Advance(w.makeStep(o, out, l, now, end))
		if err != nil {
			out = endFor(o, out, IllegalMove, err.Error())
			if next, err = o.Advance(w.makeStep(o, out, l, now, end)); err != nil {
				panic("unreachable: " + err.Error()) // an op that has begun can end as illegal anywhere
			}
		}
		o = next
		w.Keep(o)
	}
	return o
}

// runWork does the work of a phase. Of an error it also says which reason that is; a panic is
// an error.
func (w World) runWork(ctx context.Context, o Op) (out Out, fault Reason, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Until.Sub(w.Now()))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			fault, err = StepPanicked, fmt.Errorf("%v", p)
		}
	}()
	out, err = w.Work(ctx, o)
	return out, StepFailed, err
}

// makeStep is the transition that out asks for.
func (w World) makeStep(o Op, out Out, l Limits, now, end time.Time) Step {
	s := Step{To: out.Next, By: w.Run, At: now, Set: out.Set, Spent: out.Spent, Moved: out.Moved, Reason: out.Reason, Note: noteText(out.Note)}
	if s.Reason != "" {
		s.To = endingFor(o, s.Reason)
	}
	if !s.To.Ends() {
		s.Until = l.phaseDeadline(s.To, now, end)
	}
	return s
}

func endFor(o Op, out Out, r Reason, note string) Out {
	return Out{Reason: r, Spent: o.clampSpent(out.Spent), Note: note}
}

// decideOut is what follows from the work of a phase: what it asked for, or the reason
// why that cannot be. end is the deadline of the op.
func decideOut(o Op, out Out, fault Reason, err, interrupted error, now, end time.Time) Out {
	late := !now.Before(o.Until)
	switch {
	case interrupted != nil:
		return endFor(o, out, Interrupted, interrupted.Error())
	case late && fault != StepPanicked && (err != nil || out.Reason == "" || out.Moved != Effect{}):
		if !o.Until.Equal(end) {
			return endFor(o, out, PhaseDeadline, fmt.Sprintf("%s had until %s", o.Phase, formatTime(o.Until)))
		}
		return endFor(o, out, LeaseExpired, fmt.Sprintf("the claim on the task ended at %s, in %s; raise [drain] lease in odd.toml, or split the task", formatTime(end), o.Phase))
	case err != nil:
		return endFor(o, out, fault, fmt.Sprintf("%s: %v", o.Phase, err))
	}
	return out
}

// endingFor is the ending that a reason has in the place where the op is.
func endingFor(o Op, r Reason) Phase {
	row, _ := r.reasonRowOf()
	if o.mayHaveMoved() && o.Phase != Waiting && slices.Contains(row.ends, Postmortem) {
		return Postmortem
	}
	for _, e := range row.ends {
		if slices.Contains(o.Phase.Next(), e) {
			return e
		}
	}
	return ""
}

// Abandon is the op of a process that died, with its ending: nothing of it is
// carried on, because what it made died with it. It is postmortem where a ref was,
// or may have been, moved. ok is false for an op to which nothing is added: it has
// ended, it waits for a person, or its records contradict each other.
func Abandon(s Story, by string, now time.Time, why string) (o Op, ok bool, err error) {
	if o = s.Op(); !s.Sound || !s.Open() || o.Phase == Waiting {
		return o, false, nil
	}
	o, err = End(o, by, now, Abandoned, why)
	return o, err == nil, err
}

// End is the op with its ending, the one that the reason has where the op is: for
// a person's merge Merged, for a person's no Rejected or CancelledByPerson. by is
// the run that says so; of a person, who has none, the op's own id. The error says
// why it cannot end so: it has ended, or the reason is for another place.
func End(o Op, by string, now time.Time, r Reason, note string) (Op, error) {
	return o.Advance(Step{To: endingFor(o, r), By: by, At: o.clampTime(now), Reason: r, Note: noteText(note)})
}

// Expire is the op that waited too long, as expired; the error of one whose time
// is not over says until when.
func Expire(o Op, by string, now time.Time) (Op, error) {
	return End(o, by, now, ReviewExpired, "nobody approved or rejected it until "+formatTime(o.Until))
}

// noteText makes a line for people fit for a record.
func noteText(s string) string { return clipText(s, maxNote) }

// clipText is a text as one line without secrets, cut to so many bytes.
func clipText(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(secrets.RedactText(s), "\uFFFD")), " ")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
