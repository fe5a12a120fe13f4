package pipeline

import "time"

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

// Wait is the op as it waits for a person, from verify; by is the run that says
// so, h why it did not land by itself.
func Wait(o Op, by string, now time.Time, l Limits, h Held, note string) (Op, error) {
	now = o.not(now)
	return o.Advance(Step{To: Waiting, By: by, At: now, Until: now.Add(l.budget(Waiting)), Set: map[string]string{FactHeld: string(h)}, Note: Note(note, nil)})
}

// End is the op with its ending, the one that the reason has where the op is: for
// a person's merge Merged, for a person's no Rejected or CancelledByPerson. by is
// the run that says so; of a person, who has none, the op's own id. The error says
// why it cannot end so: it has ended, or the reason is for another place.
func End(o Op, by string, now time.Time, r Reason, note string) (Op, error) {
	return o.Advance(Step{To: ending(o, r), By: by, At: o.not(now), Reason: r, Note: Note(note, nil)})
}

// Expire is the op that waited too long, as expired; the error of one whose time
// is not over says until when.
func Expire(o Op, by string, now time.Time) (Op, error) {
	return End(o, by, now, ReviewExpired, "nobody approved or rejected it until "+stamp(o.Until))
}
