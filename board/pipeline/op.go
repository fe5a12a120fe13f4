package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Facts an op gathers on its way. Others may be added; these are needed.
const (
	FactBase      = "base"      // the commit the change is made on
	FactCandidate = "candidate" // the candidate's tree
	FactRules     = "rules"     // hash of the rules that judged it
	FactTier      = "tier"      // what they made of it, one of Tiers
	FactFiles     = "files"     // how many files the candidate changes
	FactTouched   = "touched"   // their paths, a JSON list of as many as fit
	FactDied      = "died"      // the run that died with the op, of one that another run ends for it
	FactSignal    = "signal"    // what asked for the op, in words or an id
	FactSeen      = "seen"      // "yes" where odd saw every act of the sessions that made the candidate
	FactUnread    = "unread"    // what is missing where its seen session looked at too little for the change it made
	FactRefused   = "refused"   // the rules that refused a candidate before, for which the session was asked again
	FactMended    = "mended"    // what odd wrote otherwise in the names of the candidate's files
	FactPreviewed = "previewed" // who saw a NOTIFY_APPLY change on a terminal and let it land, human:ADDRESS
	FactSandbox   = "sandbox"   // what the kernel held of its checks, "none" where it held nothing
	FactHeld      = "held"      // why it waits though it might have landed by itself, one of Helds
)

// Caps of what an op carries.
const (
	maxNote   = 400  // bytes
	maxFact   = 256  // bytes
	maxFacts  = 32   // of an op
	maxEffect = 1024 // bytes
)

// Tiers lists the risk tiers from the lowest.
func Tiers() []string {
	return []string{"SAFE_AUTO", "NOTIFY_APPLY", "APPROVAL_REQUIRED", "BLOCKED"}
}

// Effect is one move of a ref by compare-and-swap. An empty Old creates it.
type Effect struct {
	Ref, Old, New string
}

// Mark says what a transition is.
type Mark string

// The marks.
const (
	Enter   Mark = "enter"   // another phase, or the same tried again, or an ending
	Intent  Mark = "intent"  // a ref is about to be moved
	Applied Mark = "applied" // it has been
)

// Step is one transition of an op: what a record keeps.
type Step struct {
	Mark   Mark
	To     Phase
	By     string // the run that writes the record
	At     time.Time
	Clocks Clocks
	Set    map[string]string // facts that are new or changed
	Spent  int64             // micro-USD since the transition before
	Effect Effect            // of Intent and Applied
	Reason Reason            // of an ending
	Note   string            // for people; never read by a rule
}

// Op is one change on its way. It is a value and never changes: Advance returns
// the next one. Its Hash covers all that it is, the hash before it included.
type Op struct {
	ID    string // op-ULID
	Task  string
	Run   string // that began it
	N     int    // transitions so far
	Phase Phase
	From  Phase // where the last Enter came from, "" at the beginning

	Began, Entered, At time.Time // the op, its phase, its last transition

	Tries   int // of this phase, from 1
	Repairs int // entries into repair
	Clocks  Clocks
	Spent   int64    // micro-USD in all
	Pending Effect   // of an Intent that nothing answers yet
	Moved   []Effect // refs it moved
	Reason  Reason   // of its ending
	Prev    string   // the hash before
	Hash    string   // SHA-256, hex, of the canonical JSON of all the rest

	last  Step
	facts map[string]string
}

// Fact is one of the op's facts, "" for none.
func (o Op) Fact(key string) string { return o.facts[key] }

// Facts are the op's facts, a copy.
func (o Op) Facts() map[string]string { return maps.Clone(o.facts) }

// Ended reports that the op has its ending.
func (o Op) Ended() bool { return o.Phase.Ends() }

// Last is the transition that made this value.
func (o Op) Last() Step { return o.last }

// touched reports that a ref was, or may have been, moved.
func (o Op) touched() bool { return o.Pending != Effect{} || len(o.Moved) > 0 }

// Begin is a new op of a task, in classify.
func Begin(id, task, run string, now time.Time, l Limits, facts map[string]string) (Op, error) {
	now = moment(now)
	s := Step{Mark: Enter, To: Classify, By: run, At: now, Clocks: l.begin(now), Set: facts}
	return Op{ID: id, Task: task}.Advance(s)
}

// Advance is the op after a transition, or everything that is wrong with it.
func (o Op) Advance(s Step) (Op, error) {
	if all := o.wrong(s); len(all) > 0 {
		return o, all[0]
	}
	return o.fold(s), nil
}

// fold is the op after s, whatever s is.
func (o Op) fold(s Step) Op {
	n := o
	n.facts = maps.Clone(o.facts)
	if n.facts == nil {
		n.facts = map[string]string{}
	}
	maps.Copy(n.facts, s.Set)
	n.N, n.At, n.Clocks, n.Reason, n.last, n.Prev = o.N+1, s.At, s.Clocks, s.Reason, s, o.Hash
	n.Spent += s.Spent
	switch s.Mark {
	case Enter:
		n.From, n.Phase, n.Entered, n.Pending = o.Phase, s.To, s.At, Effect{}
		n.Tries = 1
		if o.Phase == s.To {
			n.Tries = o.Tries + 1
		}
		if s.To == Repair {
			n.Repairs++
		}
	case Intent:
		n.Pending = s.Effect
	case Applied:
		n.Pending, n.Moved = Effect{}, append(slices.Clip(o.Moved), s.Effect)
	}
	if o.N == 0 {
		n.Run, n.Began = s.By, s.At
	}
	n.Hash = n.sum()
	return n
}

// hashed is all that an op's hash covers. The keys stand in sorted order.
type hashed struct {
	At         string            `json:"at,omitempty"`
	Began      string            `json:"began"`
	By         string            `json:"by"`
	CameFrom   Phase             `json:"came_from"`
	Clock      string            `json:"clock,omitempty"`
	Entered    string            `json:"entered"`
	Facts      map[string]string `json:"facts"`
	Is         Phase             `json:"is"`
	Mark       Mark              `json:"mark,omitempty"`
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
	To         Phase             `json:"to,omitempty"`
	Tries      int               `json:"tries"`
	Until      string            `json:"until,omitempty"`
}

type hashedEffect struct {
	New string `json:"new,omitempty"`
	Old string `json:"old,omitempty"`
	Ref string `json:"ref,omitempty"`
}

// sum is the hash of the op: SHA-256 over JSON with sorted keys of everything but
// itself.
func (o Op) sum() string {
	effect := func(e Effect) hashedEffect { return hashedEffect{New: e.New, Old: e.Old, Ref: e.Ref} }
	d := o.last.data()
	all := hashed{
		At: d.At, Began: stamp(o.Began), By: o.last.By, CameFrom: o.From, Clock: d.Clock, Entered: stamp(o.Entered), Facts: o.facts, Is: o.Phase,
		Mark: o.last.Mark, N: o.N, New: d.New, Note: d.Note, Old: d.Old, Op: o.ID, OpUntil: d.OpUntil, Pending: effect(o.Pending), Prev: o.Prev,
		Reason: d.Reason, Ref: d.Ref, Repairs: o.Repairs, Run: o.Run, Set: d.Set, SpentInAll: o.Spent, Spent: d.Spent, Task: o.Task, To: o.last.To,
		Tries: o.Tries, Until: d.Until,
	}
	for _, e := range o.Moved {
		all.Moved = append(all.Moved, effect(e))
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic("unreachable: " + err.Error()) // strings, integers and maps of strings
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// moment is t as records keep it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

const layout = "2006-01-02T15:04:05.000Z"

// stamp writes a moment; the zero one is empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}
