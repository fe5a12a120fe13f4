package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// Step is one transition of an op: what a record keeps.
type Step struct {
	To     Phase
	By     string // the run that writes the record
	At     time.Time
	Until  time.Time         // the deadline of the phase it enters; zero for an ending
	Set    map[string]string // facts that are new or changed
	Spent  int64             // micro-USD since the transition before
	Moved  Effect            // the ref that the phase before moves, with the commit that holds this record
	Reason Reason            // of an ending
	Note   string            // for people; never read by a rule

	mark string // of a version-1 record
}

// Op is one change on its way. It is a value and never changes: Advance returns
// the next one.
type Op struct {
	ID    string // op-ULID
	Task  string
	Run   string // that began it
	N     int    // transitions so far
	Phase Phase
	From  Phase // where it came from, "" at the beginning

	Began, Entered, At time.Time // the op, its phase, its last transition
	Until              time.Time // the deadline of its phase

	Tries   int      // of this phase, from 1
	Repairs int      // entries into repair
	Spent   int64    // micro-USD in all
	Moved   []Effect // refs it moved
	Reason  Reason   // of its ending

	last    Step
	facts   map[string]string
	pending Effect // of version 1: what it is about to move
	hash    string // of version 1: covers all that the op is
}

// Fact is one of the op's facts, "" for none.
func (o Op) Fact(key string) string { return o.facts[key] }

// Facts are the op's facts, a copy.
func (o Op) Facts() map[string]string { return maps.Clone(o.facts) }

// Ended reports that the op has its ending.
func (o Op) Ended() bool { return o.Phase.Ends() }

// Last is the transition that made this value.
func (o Op) Last() Step { return o.last }

// mayHaveMoved reports that a ref was, or may have been, moved.
func (o Op) mayHaveMoved() bool { return o.pending != Effect{} || len(o.Moved) > 0 }

// Begin is a new op of a task, in classify.
func Begin(id, task, run string, now time.Time, l Limits, facts map[string]string) (Op, error) {
	now = roundTime(now)
	return Op{ID: id, Task: task}.Advance(Step{To: Classify, By: run, At: now, Until: l.opDeadline(now), Set: facts})
}

// Advance is the op after a transition, or what is wrong with it.
func (o Op) Advance(s Step) (Op, error) {
	if all := o.checkStep(s); len(all) > 0 {
		return o, all[0]
	}
	return o.applyStep(s), nil
}

// applyStep returns the op after s, whatever s is.
func (o Op) applyStep(s Step) Op {
	n := o
	n.facts = maps.Clone(o.facts)
	if n.facts == nil {
		n.facts = map[string]string{}
	}
	maps.Copy(n.facts, s.Set)
	n.N, n.At, n.Until, n.Reason, n.last, n.hash = o.N+1, s.At, s.Until, s.Reason, s, ""
	n.Spent += s.Spent
	n.pending = Effect{}
	if s.mark == intent {
		n.pending = s.Moved
	} else if s.Moved != (Effect{}) {
		n.Moved = append(slices.Clip(o.Moved), s.Moved)
	}
	if s.entersPhase() {
		n.From, n.Phase, n.Entered, n.Tries = o.Phase, s.To, s.At, 1
		if o.Phase == s.To {
			n.Tries = o.Tries + 1
		}
		if s.To == Repair {
			n.Repairs++
		}
	}
	if o.N == 0 {
		n.Run, n.Began = s.By, s.At
	}
	return n
}

func roundTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

const layout = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// Beat is what a process says of the op it is at work on, so that others see it
// before the records are committed. Nothing decides by it.
type Beat struct {
	Run   string    `json:"run"` // that is at work
	Op    string    `json:"op"`
	Task  string    `json:"task"`            // that asked for it
	Phase Phase     `json:"phase"`           // or its ending
	Began time.Time `json:"began"`           // the op
	At    time.Time `json:"at"`              // of its last record
	Until time.Time `json:"until,omitzero"`  // the deadline, zero after an ending: a beat past it is of nobody
	Spent int64     `json:"spent_micro_usd"` // in all
}

// Alive reports that somebody is at work on the op at now.
func (b Beat) Alive(now time.Time) bool {
	return now.Before(b.Until) && b.Phase != Waiting && !b.Phase.Ends()
}

// Live is the file that shows a run at work on an op: a Beat as a line of JSON.
func (o Op) Live() []byte {
	b, _ := json.Marshal(Beat{Run: o.last.By, Op: o.ID, Task: o.Task, Phase: o.Phase, Began: o.Began, At: o.At, Until: o.Until, Spent: o.Spent}) // texts and integers
	return append(b, '\n')
}

// Beats reads the beats of a Live file. What does not read is passed over: the file is
// another process's, and may be gone tomorrow.
func Beats(b []byte) []Beat {
	var out []Beat
	for line := range bytes.Lines(b) {
		var beat Beat
		if json.Unmarshal(line, &beat) == nil && beat.Run != "" && beat.Op != "" {
			out = append(out, beat)
		}
	}
	return out
}

// Match is the one op that a person means by name: its id, or what only its id
// begins with or ends in, the op- left out or not. The error of a name that several
// have lists them.
func Match(ids []string, name string) (string, error) {
	var found []string
	bare := strings.ToUpper(strings.TrimPrefix(strings.ToLower(name), "op-"))
	for _, id := range ids {
		ulid := strings.ToUpper(strings.TrimPrefix(id, "op-"))
		switch {
		case id == name:
			return id, nil
		case bare != "" && (strings.HasPrefix(ulid, bare) || strings.HasSuffix(ulid, bare)):
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: there is no change with this id; odd op list --all lists them", name)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: it fits several changes: %s; type more of the id", name, strings.Join(found, ", "))
}

// Unbound lists what of a proposal is not what the op was judged on, nil for
// nothing: an approval of it would be of something else. branch is a short name;
// op and tier are the proposal commit's own trailers.
func (o Op) Unbound(commit, branch, base, op, tier string) []string {
	moved := append(slices.Clone(o.Moved), Effect{})[0]
	var out []string
	for _, c := range [][3]string{
		{"commit", commit, moved.New}, {"branch", branch, strings.TrimPrefix(moved.Ref, "refs/heads/")}, {"base", base, o.facts[FactBase]}, {"op", op, o.ID}, {"tier", tier, o.facts[FactTier]},
	} {
		if c[1] != c[2] {
			out = append(out, fmt.Sprintf("its %s is %s, checked was %s", c[0], cmp.Or(c[1], "none"), cmp.Or(c[2], "none")))
		}
	}
	return out
}
