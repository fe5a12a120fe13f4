package pipeline

import (
	"cmp"
	"encoding/json"

	"github.com/odd-cli/odd/journal/event"
)

// Version-1 records are read and judged for ever. They differ in three things from
// what is written today: every record has the hash of the op after it and of the
// record before; the move of a ref has two records of its own, intent before it and
// applied behind it; and the deadline of the op stands beside that of the phase.
const (
	enter   = "enter"
	intent  = "intent"
	applied = "applied"
)

// enters reports a step to a phase or an ending: all but the two around a move.
func (s Step) enters() bool { return s.mark != intent && s.mark != applied }

// checkMark judges a record around the move of a ref.
func (c *stepCheck) checkMark(o Op, s Step) {
	switch {
	case s.mark == applied && (o.pending == Effect{} || s.Moved != o.pending):
		c.add("applied %s, and the intent was %s", s.Moved.Ref, cmp.Or(o.pending.Ref, "none"))
	case s.mark == intent && o.pending != Effect{}:
		c.add("a second intent before %s is answered", o.pending.Ref)
	case s.mark == intent && s.To != o.Phase:
		c.add("%s in %s; only apply and verify move a ref", s.mark, o.Phase)
	case s.mark == intent:
		c.checkEffect(o, s)
	}
}

// hashVersion1 is the hash of the op after a version-1 record that follows prev.
func (o Op) hashVersion1(r event.Record, prev string) string {
	d := r.Op()
	var moved []any
	for _, e := range o.Moved {
		moved = append(moved, hashedEffect(e))
	}
	all := map[string]any{
		"began": formatTime(o.Began), "by": r.Run, "came_from": o.From, "entered": formatTime(o.Entered), "facts": o.facts, "is": o.Phase, "moved": moved, "n": o.N, "op": o.ID,
		"pending": hashedEffect(o.pending), "prev": prev, "repairs": o.Repairs, "run": o.Run, "spent_in_all": o.Spent, "task": o.Task, "tries": o.Tries,
	}
	setTexts(all, map[string]string{
		"at": d.At, "clock": d.Clock, "mark": d.Mark, "new": d.New, "note": d.Note, "old": d.Old, "op_until": d.OpUntil, "reason": d.Reason, "ref": d.Ref, "to": d.To, "until": d.Until,
	})
	if len(d.Set) > 0 {
		all["set"] = d.Set
	}
	if d.Spent != 0 {
		all["spent_micro_usd"] = d.Spent
	}
	b, err := json.Marshal(all) // which sorts the keys
	if err != nil {
		panic("unreachable: " + err.Error()) // strings, integers and maps of strings
	}
	return hexSum(b)
}

func hashedEffect(e Effect) map[string]any {
	out := map[string]any{}
	setTexts(out, map[string]string{"new": e.New, "old": e.Old, "ref": e.Ref})
	return out
}

// setTexts sets the members that are not empty.
func setTexts(all map[string]any, texts map[string]string) {
	for key, text := range texts {
		if text != "" {
			all[key] = text
		}
	}
}
