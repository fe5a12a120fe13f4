package pipeline

import (
	"context"
	"fmt"
	"time"
)

// Decision is what a person made of a proposal that waited.
type Decision string

// The decisions.
const (
	Undecided Decision = ""
	WasMerged Decision = "merged"
	WasDenied Decision = "rejected"
)

// Facts are what the world says about an op whose process is gone.
type Facts struct {
	Now       time.Time
	Held      bool     // the task's claim is still this run's, so that work may go on
	Candidate bool     // what the op has made so far is still at hand
	Tip       string   // where the ref of its pending effect is, "" for nowhere
	Holds     bool     // the history of that tip holds the effect's commit
	Decision  Decision // of an op that waits
}

// Action is what to do with an op that is found open.
type Action string

// The actions.
const (
	Leave  Action = "leave"  // it has ended, or it waits
	Finish Action = "finish" // record its ending
	Settle Action = "settle" // its ref was moved: record that, then go on, or end
	GoOn   Action = "go_on"  // do the phase, or the move, that was under way
	Look   Action = "look"   // its records contradict each other; nothing is added to them
)

// Course is what Resume decides. To and Reason are the ending of Finish, and of
// Settle where the op does not go on after it.
type Course struct {
	Do     Action
	To     Phase
	Reason Reason
	Why    string // a line for people
}

// Resume decides what becomes of an op that a process left, by its story and the
// facts. It is pure, and the same question has the same answer: a process that
// dies while it carries the answer out leaves a story that Resume takes further.
//
// Between intent and applied only the ref knows what happened, and it is asked: a
// ref that holds the commit was moved, one that is where it was is moved now, and
// one that is anywhere else is nobody's guess.
func Resume(s Story, f Facts) Course {
	o := s.Op()
	switch {
	case !s.Sound:
		return Course{Do: Look, Why: o.ID + ": its records are not sound; odd check lists what is wrong"}
	case o.Ended():
		return Course{Do: Leave, Why: fmt.Sprintf("%s: ended as %s", o.ID, o.Phase)}
	case o.Phase == Waiting:
		return decided(o, f)
	case o.Pending != Effect{}:
		return unsettled(o, f)
	case !f.Held:
		return finish(o, Abandoned, "the run that worked on it died, and its claim went on")
	case o.Resumes >= maxResumes:
		return finish(o, ResumedTooOften, fmt.Sprintf("the %d. process died in %s", o.Resumes+1, o.Phase))
	case !f.Candidate && behind(o.Phase):
		return finish(o, Abandoned, fmt.Sprintf("what it had made is gone; %s has nothing to work on", o.Phase))
	}
	return Course{Do: GoOn, Why: fmt.Sprintf("%s: goes on in %s", o.ID, o.Phase)}
}

// behind reports a phase that works on what earlier ones made.
func behind(p Phase) bool { return follows(p, Generate) }

func finish(o Op, r Reason, why string) Course {
	return Course{Do: Finish, To: ending(o, r), Reason: r, Why: why}
}

// decided is what becomes of an op that waits.
func decided(o Op, f Facts) Course {
	switch {
	case f.Decision == WasMerged:
		return finish(o, Merged, "approved")
	case f.Decision == WasDenied:
		return Course{Do: Finish, To: Cancelled, Reason: Rejected, Why: "rejected"}
	case !moment(f.Now).Before(o.Clocks.Phase):
		return finish(o, ReviewExpired, "nobody decided until "+stamp(o.Clocks.Phase))
	}
	return Course{Do: Leave, Why: fmt.Sprintf("%s: waits for a person until %s", o.ID, stamp(o.Clocks.Phase))}
}

// unsettled is what becomes of an op between intent and applied.
func unsettled(o Op, f Facts) Course {
	e := o.Pending
	switch {
	case f.Tip == e.New || f.Holds:
		return settled(o, f)
	case f.Tip != e.Old:
		return finish(o, RefMoved, fmt.Sprintf("%s is at %s, neither where it was nor where it was to go", e.Ref, or(f.Tip, "nothing")))
	case !f.Held:
		return finish(o, Abandoned, fmt.Sprintf("%s was not moved, and the claim went on", e.Ref))
	case o.Resumes >= maxResumes:
		return finish(o, ResumedTooOften, e.Ref+" was not moved")
	}
	return Course{Do: GoOn, Why: fmt.Sprintf("%s was not moved; it is now", e.Ref)}
}

// settled is what becomes of an op whose ref was moved and no record says so.
func settled(o Op, f Facts) Course {
	n := Course{Do: Settle, Why: fmt.Sprintf("%s is moved already", o.Pending.Ref)}
	switch {
	case o.Phase == Verify:
		n.To, n.Reason = Complete, Landed
	case !f.Held:
		n.To, n.Reason = Postmortem, Abandoned
	case o.Resumes >= maxResumes:
		n.To, n.Reason = Postmortem, ResumedTooOften
	}
	return n
}

// Carry does what Resume decided, and takes the op to its ending or to Waiting as
// Run does. Its error is Run's.
func Carry(ctx context.Context, w World, l Limits, s Steps, story Story, n Course) (Op, error) {
	d := &driver{World: w, limits: l, steps: s, op: story.Op()}
	err := d.carry(ctx, n)
	if err != nil || n.Do == Leave || n.Do == Look {
		return d.op, err
	}
	return d.run(ctx)
}

func (d *driver) carry(ctx context.Context, n Course) error {
	switch {
	case n.Do == Finish:
		return d.end(n.To, n.Reason, Out{Note: n.Why})
	case n.Do == Settle && n.To.Ends():
		if err := d.put(Step{Mark: Applied, To: d.op.Phase, At: d.now(), Clocks: d.op.Clocks, Effect: d.op.Pending}); err != nil {
			return err
		}
		return d.end(n.To, n.Reason, Out{Note: n.Why})
	case n.Do == Settle:
		if err := d.again(n.Why); err != nil {
			return err
		}
		return d.moved(ctx)
	case n.Do == GoOn:
		return d.again(n.Why)
	}
	return nil
}

// again records that this process goes on, on clocks of its own: those that ran
// while nobody was there do not count.
func (d *driver) again(why string) error {
	now := d.now()
	return d.put(Step{Mark: Resumed, To: d.op.Phase, At: now, Clocks: d.limits.resume(d.op.Clocks, d.op.Phase, now), Note: why})
}

// Wait is the op as it waits for a person, from verify; by is the run that says
// so, h why it did not land by itself.
func Wait(o Op, by string, now time.Time, l Limits, h Held, note string) (Op, error) {
	now = o.not(now)
	return o.Advance(Step{Mark: Enter, To: Waiting, By: by, At: now, Clocks: l.enter(o.Clocks, Waiting, now), Set: map[string]string{FactHeld: string(h)}, Note: Note(note, nil)})
}

// End is the op with its ending, the one that the reason has where the op is: for
// a person's merge Merged, for a person's no Rejected or CancelledByPerson. by is
// the run that says so; of a person, who has none, the op's own id. The error says
// why it cannot end so: it has ended, or the reason is for another place.
func End(o Op, by string, now time.Time, r Reason, note string) (Op, error) {
	return o.Advance(Step{Mark: Enter, To: ending(o, r), By: by, At: o.not(now), Reason: r, Note: Note(note, nil)})
}

// Expire is the op that waited too long, as expired; the error of one whose time
// is not over says until when.
func Expire(o Op, by string, now time.Time) (Op, error) {
	return End(o, by, now, ReviewExpired, "nobody decided until "+stamp(o.Clocks.Phase))
}

// not is now, or the op's last moment where now lies before it.
func (o Op) not(now time.Time) time.Time {
	if now = moment(now); now.Before(o.At) {
		return o.At
	}
	return now
}
