package invoke

import "github.com/odd-cli/odd/persona/session"

// budget is what a whole session may use, and has used. Zero limits do not bound.
type budget struct {
	turns int
	cost  int64 // micro-USD
	begun int   // turns that asked leave
	usage session.Usage
}

// boundRequest narrows a try's request to what is left, and counts its turns.
func (b *budget) boundRequest(q *session.Request) {
	if b.turns > 0 {
		q.MaxTurns = b.turns - b.usedTurns()
	}
	if b.cost > 0 {
		q.MaxCost = b.cost - b.usage.Cost
	}
	ask := q.Turn
	q.Turn = func(spent session.Usage) error {
		b.begun++
		if ask == nil {
			return nil
		}
		return ask(b.usage.Plus(spent))
	}
}

// usedTurns returns how many turns are gone: those that asked leave, or those declared,
// whichever is more.
func (b *budget) usedTurns() int { return max(b.begun, b.usage.Turns) }

// spend adds a try's usage. One unknown cost makes the sum unknown.
func (b *budget) spend(u session.Usage) {
	b.usage = b.usage.Plus(u)
}

// whyExhausted says why there may be no further try, "" while there may. A cost
// that is unknown counts as all that was reserved.
func (b *budget) whyExhausted() string {
	switch {
	case b.turns > 0 && b.usedTurns() >= b.turns:
		return "no turn is left; raise max_turns"
	case b.cost > 0 && !b.usage.CostKnown:
		return "what it cost is unknown, so that nothing of its money counts as left"
	case b.cost > 0 && b.usage.Cost >= b.cost:
		return "no money is left"
	}
	return ""
}
