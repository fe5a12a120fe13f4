package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/journal/event"
)

// stepCheck collects what is wrong with one step.
type stepCheck struct {
	op  string
	all []error
}

func (c *stepCheck) addComplaint(format string, args ...any) {
	c.all = append(c.all, fmt.Errorf(c.op+": "+format, args...))
}

// checkStep lists why s may not follow o, nil where it may. Writers and readers of records
// both use it, so there is one definition of a legal op.
func (o Op) checkStep(s Step) []error {
	c := &stepCheck{op: o.ID}
	switch {
	case o.Ended():
		c.addComplaint("%s after its ending, %s; nothing follows an ending", s.To, o.Phase)
		return c.all
	case o.N == 0:
		c.checkBeginning(o, s)
	case !s.entersPhase():
		c.checkMark(o, s)
	default:
		c.checkMove(o, s)
	}
	c.checkFields(o, s)
	c.checkFacts(o, s)
	return c.all
}

func (c *stepCheck) checkFields(o Op, s Step) {
	ends := s.entersPhase() && s.To.Ends()
	if ends && !s.Until.IsZero() {
		c.addComplaint("%s has a deadline", s.To)
	}
	if s.Reason != "" && !ends {
		c.addComplaint("%s with reason %s; only an ending has one", s.To, s.Reason)
	}
	if s.At.Before(o.At) || s.At != roundTime(s.At) || s.Until != roundTime(s.Until) {
		c.addComplaint("%s at %s, before %s, or a moment finer than a millisecond", s.To, formatTime(s.At), formatTime(o.At))
	}
	if s.By == "" || s.Spent != o.clampSpent(s.Spent) {
		c.addComplaint("%s by %q that spends %d", s.To, s.By, s.Spent)
	}
	if len(s.Note) > maxNote || !utf8.ValidString(s.Note) {
		c.addComplaint("a note of %d bytes, at most %d of UTF-8", len(s.Note), maxNote)
	}
}

func (c *stepCheck) checkBeginning(o Op, s Step) {
	if !s.entersPhase() || s.To != Classify {
		c.addComplaint("begins with %s; an op begins in classify", s.To)
	}
	if !strings.HasPrefix(o.ID, "op-") || strings.ContainsAny(o.ID, " .\n\t/") || len(o.ID) > 64 {
		c.addComplaint("%q is no op id; want op- and a ULID", o.ID)
	}
	if o.Task == "" {
		c.addComplaint("an op of no task")
	}
	c.checkDeadline(s)
}

// checkMove judges a move to a phase or an ending.
func (c *stepCheck) checkMove(o Op, s Step) {
	if allowed := o.Phase.Next(); !slices.Contains(allowed, s.To) {
		c.addComplaint("cannot move from %s to %s; want one of %s", o.Phase, s.To, strings.ReplaceAll(strings.Trim(fmt.Sprint(allowed), "[]"), " ", ", "))
		return
	}
	moved := len(o.Moved)
	if s.Moved != (Effect{}) {
		c.checkEffect(o, s)
		moved++
	}
	if s.To.Ends() {
		c.checkEnding(o, s, moved)
		return
	}
	tries := o.Tries
	if s.To == Repair {
		tries = o.Repairs + 1
	}
	if tries > s.To.Retries() && (s.To == o.Phase || s.To == Repair) {
		c.addComplaint("%s is tried again %d times, at most %d", s.To, tries, s.To.Retries())
	}
	if !s.At.Before(o.Until) {
		c.addComplaint("%s is entered at %s, after %s had until %s", s.To, formatTime(s.At), o.Phase, formatTime(o.Until))
	}
	if o.pending != (Effect{}) || s.To == Verify && moved != 1 {
		c.addComplaint("%s is entered and no record says that a ref was moved", s.To)
	}
	for _, key := range s.To.phaseRow().needs {
		if cmp.Or(s.Set[key], o.facts[key]) == "" {
			c.addComplaint("%s is entered without the fact %s", s.To, key)
		}
	}
	c.checkDeadline(s)
}

func (c *stepCheck) checkDeadline(s Step) {
	if !s.Until.After(s.At) {
		c.addComplaint("%s at %s has until %s", s.To, formatTime(s.At), formatTime(s.Until))
	}
}

func (c *stepCheck) checkEnding(o Op, s Step, moved int) {
	r, known := s.Reason.reasonRowOf()
	switch {
	case !known:
		c.addComplaint("ends as %s for %q, which is no reason", s.To, s.Reason)
	case !slices.Contains(r.ends, s.To) || len(r.from) > 0 && !slices.Contains(r.from, o.Phase):
		c.addComplaint("ends in %s as %s for %s, which is no reason for it", o.Phase, s.To, s.Reason)
	}
	if o.mayHaveMoved() != (s.To == Postmortem) && o.Phase != Waiting && s.To != Complete {
		c.addComplaint("ends in %s as %s; postmortem is the ending, and the only one, of what may have moved a ref", o.Phase, s.To)
	}
	if (s.Reason == PhaseDeadline || s.Reason == ReviewExpired) && s.At.Before(o.Until) {
		c.addComplaint("%s at %s, it had until %s", s.Reason, formatTime(s.At), formatTime(o.Until))
	}
	tier := cmp.Or(s.Set[FactTier], o.facts[FactTier])
	if s.Reason == TierBlocked && tier != "BLOCKED" {
		c.addComplaint("blocked by its tier, which is %s", cmp.Or(tier, "not known"))
	}
	if s.Reason == Landed && (moved != 2 || o.pending != Effect{}) {
		c.addComplaint("landed by itself with %d refs moved", moved)
	}
}

// MayLand reports a tier that configuration may let land without a person, the
// preview of NOTIFY_APPLY aside.
func MayLand(tier string) bool { return slices.Contains(Tiers()[:2], tier) }

func (c *stepCheck) checkEffect(o Op, s Step) {
	e := s.Moved
	before := map[Phase]int{Verify: 1}[o.Phase] // refs that earlier phases moved
	switch {
	case o.Phase != Apply && o.Phase != Verify || s.mark == "" && s.To != map[Phase]Phase{Apply: Verify, Verify: Complete}[o.Phase]:
		c.addComplaint("%s moves %s and goes to %s; only apply and verify move a ref, and go on", o.Phase, e.Ref, s.To)
	case !strings.HasPrefix(e.Ref, "refs/") || e.New == "" || e.Old == e.New || len(e.Ref)+len(e.Old)+len(e.New) > maxEffect:
		c.addComplaint("moves %q from %q to %q", e.Ref, e.Old, e.New)
	case slices.ContainsFunc(o.Moved, func(m Effect) bool { return m.Ref == e.Ref }):
		c.addComplaint("applies twice: %s was moved before", e.Ref)
	case len(o.Moved) > before:
		c.addComplaint("applies twice in %s", o.Phase)
	case o.Phase == Verify:
		c.checkLanding(o, e)
	}
	if !s.At.Before(o.Until) {
		c.addComplaint("%s is moved at %s, after %s had until %s", e.Ref, formatTime(s.At), o.Phase, formatTime(o.Until))
	}
}

// checkLanding judges the move by which a change lands without a person: its tier must allow
// it, a person must have seen it where the tier asks for that, and it must be what was
// verified.
func (c *stepCheck) checkLanding(o Op, e Effect) {
	tier := o.facts[FactTier]
	switch {
	case !MayLand(tier):
		c.addComplaint("lands by itself as %s", tier)
	case tier == string(NotifyApply) && !strings.HasPrefix(o.facts[FactPreviewed], "human:"):
		c.addComplaint("lands by itself as %s, and no person saw it first", NotifyApply)
	case e.New != o.Moved[0].New || e.Old != o.facts[FactBase]:
		c.addComplaint("lands %s on %s by itself; what was verified is %s on %s", e.New, cmp.Or(e.Old, "nothing"), o.Moved[0].New, o.facts[FactBase])
	}
}

// clampSpent returns n, at least zero, and so that the sum fits what every JSON reader can
// hold.
func (o Op) clampSpent(n int64) int64 { return min(max(n, 0), 1<<53-o.Spent) }

// frozenFacts do not change after the gate.
var frozenFacts = []string{FactBase, FactCandidate, FactRules, FactTier}

func (c *stepCheck) checkFacts(o Op, s Step) {
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		c.checkFact(o, key, s.Set[key])
	}
	if s.To == Approve && cmp.Or(s.Set[FactTier], o.facts[FactTier]) == "BLOCKED" {
		c.addComplaint("a BLOCKED change leaves the gate")
	}
}

func (c *stepCheck) checkFact(o Op, key, is string) {
	was, behind := o.facts[key], slices.Contains([]Phase{Approve, Apply, Verify, Waiting}, o.Phase)
	if !isFactName(key) || is == "" || len(is) > maxFact || !utf8.ValidString(is) {
		c.addComplaint("fact %q of %d bytes; a name of a-z and _, a text of at most %d bytes", key, len(is), maxFact)
	}
	if behind && was != "" && is != was && slices.Contains(frozenFacts, key) {
		c.addComplaint("fact %s changes behind the gate; what was judged is what lands", key)
	}
	if now := slices.Index(Tiers(), is); key == FactTier && (now < 0 || now < slices.Index(Tiers(), was)) {
		c.addComplaint("tier %s after %s; a tier only rises", is, cmp.Or(was, "none"))
	}
}

func isFactName(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// Version-1 records are read and judged for ever. They differ in three things from
// what is written today: every record has the hash of the op after it and of the
// record before; the move of a ref has two records of its own, intent before it and
// applied behind it; and the deadline of the op stands beside that of the phase.
const (
	enter   = "enter"
	intent  = "intent"
	applied = "applied"
)

// entersPhase reports a step to a phase or an ending: all but the two around a move.
func (s Step) entersPhase() bool { return s.mark != intent && s.mark != applied }

// checkMark judges a record around the move of a ref.
func (c *stepCheck) checkMark(o Op, s Step) {
	switch {
	case s.mark == applied && (o.pending == Effect{} || s.Moved != o.pending):
		c.addComplaint("applied %s, and the intent was %s", s.Moved.Ref, cmp.Or(o.pending.Ref, "none"))
	case s.mark == intent && o.pending != Effect{}:
		c.addComplaint("a second intent before %s is answered", o.pending.Ref)
	case s.mark == intent && s.To != o.Phase:
		c.addComplaint("%s in %s; only apply and verify move a ref", s.mark, o.Phase)
	case s.mark == intent:
		c.checkEffect(o, s)
	}
}

// hashVersion1 is the hash of the op after a version-1 record that follows prev: of the members
// of its data, and of what it makes of the op.
func (o Op) hashVersion1(r event.Record, prev string) string {
	type effect struct {
		New string `json:"new,omitempty"`
		Old string `json:"old,omitempty"`
		Ref string `json:"ref,omitempty"`
	}
	var moved []effect
	for _, e := range o.Moved {
		moved = append(moved, effect{e.New, e.Old, e.Ref})
	}
	d, all := r.Op(), map[string]any{}
	d.Hash, d.ID, d.V = "", "", 0
	b, _ := json.Marshal(d)
	_ = json.Unmarshal(b, &all)
	maps.Copy(all, map[string]any{
		"began": formatTime(o.Began), "by": r.Run, "came_from": o.From, "entered": formatTime(o.Entered), "facts": o.facts, "is": o.Phase, "moved": moved, "n": o.N, "op": o.ID,
		"pending": effect{o.pending.New, o.pending.Old, o.pending.Ref}, "prev": prev, "repairs": o.Repairs, "run": o.Run, "spent_in_all": o.Spent, "task": o.Task, "tries": o.Tries,
	})
	b, _ = json.Marshal(all) // strings, integers and maps of strings; it sorts the keys
	return hexSum(b)
}
