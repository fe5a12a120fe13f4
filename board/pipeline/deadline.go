package pipeline

import "time"

// Limits are how long an op and its phases may take. The zero Limits are those
// of the table.
type Limits struct {
	Op    time.Duration           // from its beginning to verify; 0 is DefaultOp
	Phase map[Phase]time.Duration // instead of the table's budget
	Wait  time.Duration           // how long it waits for a person; 0 is DefaultWait
}

// Without configuration.
const (
	DefaultOp   = 30 * time.Minute    // of work
	DefaultWait = 14 * 24 * time.Hour // for a person, then the op expires
)

// budget is what a phase has: what the limits say, or else the table.
func (l Limits) budget(p Phase) time.Duration {
	if p == Waiting {
		return span(l.Wait, DefaultWait)
	}
	return span(l.Phase[p], p.row().budget)
}

// span is d in whole milliseconds, of which there is one at least; without d it
// is what is usual.
func span(d, usual time.Duration) time.Duration {
	if d <= 0 {
		d = usual
	}
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}

// end is when an op that began at that moment has to be done.
func (l Limits) end(began time.Time) time.Time { return began.Add(span(l.Op, DefaultOp)) }

// until is the deadline of a phase that is entered now, and that of its op, which was
// end. Validate and repair have all of their budget at every entry, however little the
// op has left, so that no slow check loses what a session made: the op's deadline is
// moved so that they and what follows them have theirs. A person has no other deadline.
func (l Limits) until(p Phase, now, end time.Time) (until, opEnd time.Time) {
	until = now.Add(l.budget(p))
	switch {
	case p == Waiting:
		return until, end
	case p == Repair, p == Validate:
		last := until
		for _, after := range []Phase{Validate, Gate, Approve, Apply, Verify} {
			if after != p {
				last = last.Add(l.budget(after))
			}
		}
		return until, later(end, last)
	case end.Before(until):
		return end, end
	}
	return until, end
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// not is now, or the op's last moment where now lies before it.
func (o Op) not(now time.Time) time.Time { return later(moment(now), o.At) }
