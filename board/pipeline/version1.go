package pipeline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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

// around judges a record around the move of a ref.
func (c *complaints) around(o Op, s Step) {
	switch {
	case s.mark == applied && (o.pending == Effect{} || s.Moved != o.pending):
		c.say("applied %s, and the intent was %s", s.Moved.Ref, cmp.Or(o.pending.Ref, "none"))
	case s.mark == intent && o.pending != Effect{}:
		c.say("a second intent before %s is answered", o.pending.Ref)
	case s.mark == intent && s.To != o.Phase:
		c.say("%s in %s; only apply and verify move a ref", s.mark, o.Phase)
	case s.mark == intent:
		c.moves(o, s)
	}
}

// hashed is all that the hash of a version-1 record covers, keys in sorted order.
type hashed struct {
	At         string            `json:"at,omitempty"`
	Began      string            `json:"began"`
	By         string            `json:"by"`
	CameFrom   Phase             `json:"came_from"`
	Clock      string            `json:"clock,omitempty"`
	Entered    string            `json:"entered"`
	Facts      map[string]string `json:"facts"`
	Is         Phase             `json:"is"`
	Mark       string            `json:"mark,omitempty"`
	Moved      []hashedEffect    `json:"moved"`
	N          int               `json:"n"`
	New        string            `json:"new,omitempty"`
	Note       string            `json:"note,omitempty"`
	Old        string            `json:"old,omitempty"`
	Op         string            `json:"op"`
	OpUntil    string            `json:"op_until,omitempty"`
	Pending    hashedEffect      `json:"pending"`
	Prev       string            `json:"prev"`
	Reason     string            `json:"reason,omitempty"`
	Ref        string            `json:"ref,omitempty"`
	Repairs    int               `json:"repairs"`
	Run        string            `json:"run"`
	Set        map[string]string `json:"set,omitempty"`
	SpentInAll int64             `json:"spent_in_all"`
	Spent      int64             `json:"spent_micro_usd,omitempty"`
	Task       string            `json:"task"`
	To         string            `json:"to,omitempty"`
	Tries      int               `json:"tries"`
	Until      string            `json:"until,omitempty"`
}

type hashedEffect struct {
	New string `json:"new,omitempty"`
	Old string `json:"old,omitempty"`
	Ref string `json:"ref,omitempty"`
}

// sum is the hash of the op after a version-1 record that follows prev.
func (o Op) sum(r event.Record, prev string) string {
	d := r.Op()
	all := hashed{
		At: d.At, Began: stamp(o.Began), By: r.Run, CameFrom: o.From, Clock: d.Clock, Entered: stamp(o.Entered), Facts: o.facts, Is: o.Phase,
		Mark: d.Mark, N: o.N, New: d.New, Note: d.Note, Old: d.Old, Op: o.ID, OpUntil: d.OpUntil, Pending: hashedEffect{o.pending.New, o.pending.Old, o.pending.Ref},
		Prev: prev, Reason: d.Reason, Ref: d.Ref, Repairs: o.Repairs, Run: o.Run, Set: d.Set, SpentInAll: o.Spent, Spent: d.Spent, Task: o.Task, To: d.To,
		Tries: o.Tries, Until: d.Until,
	}
	for _, e := range o.Moved {
		all.Moved = append(all.Moved, hashedEffect{e.New, e.Old, e.Ref})
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic("unreachable: " + err.Error()) // strings, integers and maps of strings
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
