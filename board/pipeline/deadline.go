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

// Which clock gave a phase its time.
const (
	ClockPhase  = "phase"  // the phase's own budget
	ClockOp     = "op"     // the op ends before that budget would
	ClockFresh  = "fresh"  // the phase's own budget, for which the op's clock was moved
	ClockReview = "review" // a person has this long
)

// Clocks are the two deadlines an op runs under, and which of them counts.
type Clocks struct {
	Phase time.Time // zero after an ending
	Op    time.Time
	By    string // one of the Clock words
}

// End is the moment that counts: the earlier of the two, while a person is waited
// for the phase's alone.
func (c Clocks) End() time.Time {
	if c.By != ClockReview && c.Op.Before(c.Phase) {
		return c.Op
	}
	return c.Phase
}

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

// begin are the clocks of a new op.
func (l Limits) begin(now time.Time) Clocks {
	return l.enter(Clocks{Op: now.Add(span(l.Op, DefaultOp))}, Classify, now)
}

// enter are the clocks of an op that enters a phase. They never take the op's
// time away. Validate and repair have all of their budget at every entry, however
// little the op has left, so that no slow check loses what a session made: the op's
// clock is moved so that they and what follows them have theirs.
func (l Limits) enter(was Clocks, p Phase, now time.Time) Clocks {
	c := Clocks{Phase: now.Add(l.budget(p)), Op: was.Op, By: ClockPhase}
	switch {
	case p == Waiting:
		c.By = ClockReview
	case p == Repair, p == Validate:
		c = l.renew(c, p)
	case c.Op.Before(c.Phase):
		c.By = ClockOp
	}
	return c
}

// renew moves the op's clock, never back, so that p and what must follow it have
// their budgets.
func (l Limits) renew(c Clocks, p Phase) Clocks {
	end := c.Phase
	for _, after := range []Phase{Validate, Gate, Approve, Apply, Verify} {
		if after != p {
			end = end.Add(l.budget(after))
		}
	}
	if c.Op.Before(end) {
		c.Op, c.By = end, ClockFresh
	}
	return c
}

// follows reports that a stands behind p in the table.
func follows(a, p Phase) bool {
	seen := false
	for _, r := range rows {
		if r.phase == a {
			return seen
		}
		seen = seen || r.phase == p
	}
	return false
}
