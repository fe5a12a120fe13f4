package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/event"
)

// World is what an op cannot be without and this package does not have.
type World struct {
	Run   string           // who writes the records
	Now   func() time.Time // the clock
	Until func(context.Context, time.Time) (context.Context, context.CancelFunc)
	Sink  func(event.Record) error                              // keeps a record, durably, or says why not
	Move  func(context.Context, Effect) error                   // one compare-and-swap; an error may leave it done
	Tip   func(context.Context, string) (oid string, err error) // where a ref is, "" for nowhere
	Tidy  func(string) string                                   // takes secrets out of what is for people; nil: nothing
}

// Steps are the work of the phases. One that is nil fails when it is asked for.
type Steps struct {
	Classify, Route, Expand, Plan, Generate, Validate, Repair, Gate, Approve, Apply, Verify Work
}

// Work is the work of one phase. It gets the op as it is and a context that ends
// with the phase's deadline, and must return soon after that. What goes wrong it
// says with an error: Stop for an ending of its own choice.
type Work func(context.Context, Op) (Out, error)

// Out is what a phase asks for.
type Out struct {
	Next   Phase             // a phase, its own to be tried again, or an ending
	Reason Reason            // of an ending
	Set    map[string]string // facts
	Spent  int64             // micro-USD
	Effect Effect            // from apply: the ref to move before verify; from verify: the target, to complete as Landed
	Note   string            // a line for people
}

// Stop is the error of a phase that knows what the op should end for.
type Stop struct {
	Reason Reason
	Text   string
	Spent  int64 // micro-USD
}

func (s *Stop) Error() string { return string(s.Reason) + ": " + s.Text }

func (s Steps) of(p Phase) Work {
	return map[Phase]Work{
		Classify: s.Classify, Route: s.Route, Expand: s.Expand, Plan: s.Plan, Generate: s.Generate, Validate: s.Validate,
		Repair: s.Repair, Gate: s.Gate, Approve: s.Approve, Apply: s.Apply, Verify: s.Verify,
	}[p]
}

// driver is one op in one process.
type driver struct {
	World
	limits Limits
	steps  Steps
	op     Op // as the sink has it
}

// errUnsettled says that a ref may have been moved and no record says so: the op
// is left as it is, and whoever ends it makes it a postmortem.
var errUnsettled = errors.New("a ref may have moved, and that could not be recorded; look at the ref, the next odd drain ends the change as a postmortem")

// Run takes an op that Begin has just made to its ending, or to Waiting, and
// returns it as the records have it. The error is of the sink alone: the op is
// then ended in the value, and in the records if they could still be written; or
// it is open, and the next process must Abandon it.
func Run(ctx context.Context, w World, l Limits, s Steps, op Op) (Op, error) {
	d := &driver{World: w, limits: l, steps: s}
	if err := w.Sink(op.Record()); err != nil {
		return op, fmt.Errorf("%s: not begun: %w", op.ID, err)
	}
	d.op = op
	return d.run(ctx)
}

// run goes on until there is nothing to do.
func (d *driver) run(ctx context.Context) (Op, error) {
	for !d.op.Ended() && d.op.Phase != Waiting {
		if err := d.turn(ctx); err != nil {
			return d.op, err
		}
	}
	return d.op, nil
}

// turn is the work of one phase and what follows from it.
func (d *driver) turn(ctx context.Context) error {
	if ctx.Err() != nil {
		return d.end(ending(d.op, Interrupted), Interrupted, Out{Note: context.Cause(ctx).Error()})
	}
	out, fault := d.work(ctx)
	now := d.now()
	next := decide(d.op, out, fault, context.Cause(ctx), now)
	switch {
	case next.Next.Ends() && next.Effect == (Effect{}):
		return d.end(next.Next, next.Reason, next)
	case next.Effect != Effect{}:
		return d.intend(ctx, next, now)
	}
	return d.put(Step{Mark: Enter, To: next.Next, At: now, Clocks: d.limits.enter(d.op.Clocks, next.Next, now), Set: next.Set, Spent: next.Spent, Note: next.Note})
}

// work runs a phase in a goroutine of its own, so that whatever it does, panic
// and Goexit too, it comes back as an error.
func (d *driver) work(ctx context.Context) (out Out, err error) {
	w := d.steps.of(d.op.Phase)
	if w == nil {
		return Out{}, fmt.Errorf("nothing does the work of %s", d.op.Phase)
	}
	ctx, cancel := d.Until(ctx, d.op.Clocks.End())
	defer cancel()
	op := d.op
	op.facts = op.Facts()
	op.Moved = slices.Clone(op.Moved)
	return guarded(func() (Out, error) { return w(ctx, op) })
}

// panicked is the error of work that did not return.
type panicked struct{ text string }

func (p *panicked) Error() string { return p.text }

// guarded calls f and turns a panic, or the end of its goroutine, into an error.
func guarded(f func() (Out, error)) (out Out, err error) {
	done := make(chan struct{})
	err = &panicked{"it ended its goroutine"}
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = &panicked{fmt.Sprint(p)}
			}
		}()
		out, err = f()
	}()
	<-done
	return out, err
}

// decide is what follows from the work of a phase: what it asked for where that
// is allowed, and otherwise the ending that says why not. It is pure.
func decide(o Op, out Out, fault, interrupted error, now time.Time) Out {
	stop := func(r Reason, note string) Out {
		return Out{Next: ending(o, r), Reason: r, Spent: o.spendable(out.Spent), Note: note}
	}
	var broke *panicked
	var own *Stop
	if errors.As(fault, &own) {
		out, fault = Out{Next: ending(o, own.Reason), Reason: own.Reason, Spent: own.Spent, Note: own.Text}, nil
	}
	inTime := now.Before(o.Clocks.End())
	switch {
	case interrupted != nil:
		return stop(Interrupted, interrupted.Error())
	case errors.As(fault, &broke):
		return stop(StepPanicked, fmt.Sprintf("%s: %s", o.Phase, broke.text))
	case fault != nil && inTime:
		return stop(StepFailed, fmt.Sprintf("%s: %v", o.Phase, fault))
	case !inTime && (fault != nil || !out.Next.Ends() || out.Effect != Effect{}):
		return late(o, stop)
	}
	out.Next = o.retried(out.Next)
	if o.wornOut(out.Next) {
		return stop(RetriesExhausted, fmt.Sprintf("%s: %s", out.Next, cmp.Or(out.Note, "another try was needed")))
	}
	if err := o.refuses(out, now); err != nil {
		return stop(IllegalMove, err.Error())
	}
	return out
}

// retried is where a move to p leads: to what comes then, where p is the op's own
// phase and tried as often as it may be.
func (o Op) retried(p Phase) Phase {
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

// late is the ending of an op whose time is over.
func late(o Op, stop func(Reason, string) Out) Out {
	if o.Clocks.By == ClockOp {
		return stop(LeaseExpired, fmt.Sprintf("the claim on the task ended at %s, in %s; raise [drain] lease in odd.toml, or split the task", stamp(o.Clocks.Op), o.Phase))
	}
	return stop(PhaseDeadline, fmt.Sprintf("%s had until %s", o.Phase, stamp(o.Clocks.Phase)))
}

// refuses says why what a phase asks for cannot be.
func (o Op) refuses(out Out, now time.Time) error {
	s := Step{Mark: Enter, To: out.Next, By: "run", At: now, Set: out.Set, Spent: out.Spent, Reason: out.Reason}
	if out.Effect != (Effect{}) {
		want := Out{Next: Verify}
		if o.Phase == Verify {
			want = Out{Next: Complete, Reason: Landed}
		}
		if out.Next != want.Next || out.Reason != want.Reason {
			return fmt.Errorf("%s moves %s and goes to %s", o.Phase, out.Effect.Ref, out.Next)
		}
		s = Step{Mark: Intent, To: o.Phase, By: "run", At: now, Clocks: o.Clocks, Set: out.Set, Spent: out.Spent, Effect: out.Effect}
	} else if !out.Next.Ends() {
		s.Clocks = Limits{}.enter(o.Clocks, out.Next, now)
	}
	return errors.Join(o.wrong(s)...)
}

// ending is the ending that a reason has in the place where the op is.
func ending(o Op, r Reason) Phase {
	ends := r.Ends()
	if o.touched() && o.Phase != Waiting && slices.Contains(ends, Postmortem) {
		return Postmortem
	}
	for _, e := range ends {
		if slices.Contains(o.Phase.Next(), e) {
			return e
		}
	}
	return ""
}

// now is the clock, which never goes back.
func (d *driver) now() time.Time { return d.op.not(d.Now()) }

// put records a transition. A record that is not kept ends the op.
func (d *driver) put(s Step) error {
	next, err := d.next(s)
	if err != nil {
		panic("unreachable: " + err.Error()) // decide has asked the same question
	}
	if err := d.Sink(next.Record()); err != nil {
		return d.unrecorded(err)
	}
	d.op = next
	return nil
}

// next is the op after a step of this process.
func (d *driver) next(s Step) (Op, error) {
	s.By, s.Note = d.Run, d.note(s.Note)
	return d.op.Advance(s)
}

// unrecorded ends the op because a record was not kept. The ending may not be
// kept either: then the records are open, and the next process ends them.
func (d *driver) unrecorded(fault error) error {
	s := Step{Mark: Enter, To: ending(d.op, SinkFailed), At: d.now(), Reason: SinkFailed, Note: fault.Error()}
	last, err := d.next(s)
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	again := d.Sink(last.Record())
	d.op = last
	if again != nil {
		return fmt.Errorf("%s: its end could not be recorded either: %w", last.ID, errors.Join(fault, again))
	}
	return fmt.Errorf("%s: it ended because a record could not be saved: %w", last.ID, fault)
}

// end records the ending.
func (d *driver) end(to Phase, r Reason, out Out) error {
	return d.put(Step{Mark: Enter, To: to, At: d.now(), Set: out.Set, Spent: out.Spent, Reason: r, Note: out.Note})
}

// intend records that a ref is about to be moved, and moves it.
func (d *driver) intend(ctx context.Context, out Out, now time.Time) error {
	if err := d.put(Step{Mark: Intent, To: d.op.Phase, At: now, Clocks: d.op.Clocks, Set: out.Set, Spent: out.Spent, Effect: out.Effect, Note: out.Note}); err != nil {
		return err
	}
	return d.move(ctx)
}

// move moves the ref of the pending intent and records it. What the swap says is
// not believed when it failed: the ref is.
func (d *driver) move(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // a swap takes no time, and half of one is nobody's wish
	e := d.op.Pending
	_, fault := guarded(func() (Out, error) { return Out{}, d.Move(ctx, e) })
	if fault != nil {
		tip, err := d.Tip(ctx, e.Ref)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %s: %w: %w", d.op.ID, e.Ref, errUnsettled, errors.Join(fault, err))
		case tip == e.Old:
			return d.end(Postmortem, ApplyFailed, Out{Note: fault.Error()})
		case tip != e.New:
			return d.end(Postmortem, RefMoved, Out{Note: fmt.Sprintf("somebody else moved %s, it is at %s: %v", e.Ref, cmp.Or(tip, "nothing"), fault)})
		}
	}
	return d.moved(ctx)
}

// moved records that the pending intent has happened, and goes where that leads. A
// record that is not kept takes the ref back.
func (d *driver) moved(ctx context.Context) error {
	e := d.op.Pending
	next, err := d.next(Step{Mark: Applied, To: d.op.Phase, At: d.now(), Clocks: d.op.Clocks, Effect: e})
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	if err := d.Sink(next.Record()); err != nil {
		if _, back := guarded(func() (Out, error) { return Out{}, d.Move(ctx, Effect{Ref: e.Ref, Old: e.New, New: e.Old}) }); back != nil {
			return fmt.Errorf("%s: %s: %w: %w", d.op.ID, e.Ref, errUnsettled, errors.Join(err, back))
		}
		return d.unrecorded(err)
	}
	d.op = next
	if d.op.Phase == Verify {
		return d.end(Complete, Landed, Out{})
	}
	now := d.now()
	if !now.Before(d.op.Clocks.End()) {
		out := late(d.op, func(r Reason, note string) Out { return Out{Reason: r, Note: note} })
		return d.end(Postmortem, out.Reason, out)
	}
	return d.put(Step{Mark: Enter, To: Verify, At: now, Clocks: d.limits.enter(d.op.Clocks, Verify, now)})
}

// note is a text as a record holds it: without secrets, of whole runes, capped.
func (d *driver) note(s string) string { return Note(s, d.Tidy) }

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
