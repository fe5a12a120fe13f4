package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// complaints are what is wrong with one step.
type complaints struct {
	op  string
	all []error
}

func (c *complaints) say(format string, args ...any) {
	c.all = append(c.all, fmt.Errorf(c.op+": "+format, args...))
}

// wrong lists what does not allow s after o, nil for nothing. It is the one place
// that says what a legal op is: for those who write records and for who reads them.
func (o Op) wrong(s Step) []error {
	c := &complaints{op: o.ID}
	switch {
	case o.Ended():
		c.say("%s after its ending, %s; nothing follows an ending", s.Mark, o.Phase)
		return c.all
	case o.N == 0:
		c.begins(o, s)
	case s.Mark == Enter:
		c.enters(o, s)
	case s.Mark == Intent || s.Mark == Applied:
		c.moves(o, s)
	default:
		c.say("%q is no mark", s.Mark)
	}
	c.fields(o, s)
	c.facts(o, s)
	return c.all
}

// fields judges what a step of any mark may hold.
func (c *complaints) fields(o Op, s Step) {
	ends, moves := s.Mark == Enter && s.To.Ends(), s.Mark == Intent || s.Mark == Applied
	switch {
	case moves != (s.Effect != Effect{}):
		c.say("%s with the effect %v", s.Mark, s.Effect)
	case moves && s.Clocks != o.Clocks, ends && s.Clocks != Clocks{}:
		c.say("%s %s sets a clock", s.Mark, s.To)
	case s.Reason != "" && !ends:
		c.say("%s %s with reason %s; only an ending has one", s.Mark, s.To, s.Reason)
	}
	if s.At.Before(o.At) || s.At != moment(s.At) {
		c.say("%s at %s, before %s or finer than a millisecond", s.Mark, stamp(s.At), stamp(o.At))
	}
	if s.By == "" || s.Spent != o.spendable(s.Spent) {
		c.say("%s by %q that spends %d", s.Mark, s.By, s.Spent)
	}
	if len(s.Note) > maxNote || !utf8.ValidString(s.Note) {
		c.say("a note of %d bytes, at most %d of UTF-8", len(s.Note), maxNote)
	}
}

func (c *complaints) begins(o Op, s Step) {
	if s.Mark != Enter || s.To != Classify {
		c.say("begins with %s %s; an op begins in classify", s.Mark, s.To)
	}
	if !strings.HasPrefix(o.ID, "op-") || strings.ContainsAny(o.ID, " .\n\t/") || len(o.ID) > 64 {
		c.say("%q is no op id; want op- and a ULID", o.ID)
	}
	if o.Task == "" {
		c.say("an op of no task")
	}
	c.clocks(o, s)
}

// enters judges a move to a phase or an ending.
func (c *complaints) enters(o Op, s Step) {
	if !slices.Contains(o.Phase.Next(), s.To) {
		c.all = append(c.all, &Illegal{o.ID, o.Phase, s.To})
		return
	}
	if s.To.Ends() {
		c.ends(o, s)
		return
	}
	if tries := o.tries(s.To); tries > s.To.Retries() && (s.To == o.Phase || s.To == Repair) {
		c.say("%s is tried again %d times, at most %d", s.To, tries, s.To.Retries())
	}
	if o.Pending != (Effect{}) {
		c.say("%s is entered while %s may have been moved; record applied, or end as postmortem", s.To, o.Pending.Ref)
	}
	if end := o.Clocks.End(); !s.At.Before(end) {
		c.say("%s is entered at %s, after %s had until %s", s.To, stamp(s.At), o.Phase, stamp(end))
	}
	if s.To == Verify && len(o.Moved) != 1 {
		c.say("verify is entered and apply moved no ref")
	}
	for _, key := range s.To.row().needs {
		if cmp.Or(s.Set[key], o.facts[key]) == "" {
			c.say("%s is entered without the fact %s", s.To, key)
		}
	}
	c.clocks(o, s)
}

// tries is how often p would have been tried again, entered once more.
func (o Op) tries(p Phase) int {
	if p == Repair {
		return o.Repairs + 1
	}
	return o.Tries
}

// clocks judges the deadlines that a step sets.
func (c *complaints) clocks(o Op, s Step) {
	if !s.Clocks.Phase.After(s.At) || s.Clocks.Op.Before(o.Clocks.Op) || s.Clocks.By == "" {
		c.say("%s has until %s, the op until %s; a clock runs after its beginning and is never set back", s.To, stamp(s.Clocks.Phase), stamp(s.Clocks.Op))
	}
	if s.Clocks.Phase != moment(s.Clocks.Phase) || s.Clocks.Op != moment(s.Clocks.Op) {
		c.say("a deadline is finer than a millisecond")
	}
}

// ends judges an ending by its reason and by what the op moved.
func (c *complaints) ends(o Op, s Step) {
	r, known := s.Reason.row()
	switch {
	case !known:
		c.say("ends as %s for %q, which is no reason", s.To, s.Reason)
	case !slices.Contains(r.ends, s.To) || len(r.from) > 0 && !slices.Contains(r.from, o.Phase):
		c.say("ends in %s as %s for %s, which is no reason for it", o.Phase, s.To, s.Reason)
	}
	if o.touched() != (s.To == Postmortem) && o.Phase != Waiting && s.To != Complete {
		c.say("ends in %s as %s; postmortem is the ending, and the only one, of what may have moved a ref", o.Phase, s.To)
	}
	if due, timed := s.Reason.due(o.Clocks); timed && s.At.Before(due) {
		c.say("%s at %s, it had until %s", s.Reason, stamp(s.At), stamp(due))
	}
	tier := cmp.Or(s.Set[FactTier], o.facts[FactTier])
	if s.Reason == TierBlocked && tier != "BLOCKED" {
		c.say("blocked by its tier, which is %s", cmp.Or(tier, "not known"))
	}
	if s.Reason == Landed {
		c.lands(o, tier)
	}
}

// lands judges an op that completes without a person.
func (c *complaints) lands(o Op, tier string) {
	if len(o.Moved) != 2 || o.Pending != (Effect{}) || !landsAlone(tier) {
		c.say("landed by itself with %d refs moved, as %s", len(o.Moved), cmp.Or(tier, "no tier"))
	}
}

// landsAlone reports a tier that configuration may let land without a person.
func landsAlone(tier string) bool { return slices.Contains(Tiers()[:2], tier) }

// moves judges the two records around the move of a ref.
func (c *complaints) moves(o Op, s Step) {
	if s.To != o.Phase || !o.Phase.row().moves {
		c.say("%s in %s; only apply and verify move a ref", s.Mark, o.Phase)
		return
	}
	if s.Mark == Applied {
		if o.Pending == (Effect{}) || s.Effect != o.Pending {
			c.say("applied %s, and the intent was %s", s.Effect.Ref, cmp.Or(o.Pending.Ref, "none"))
		}
		return
	}
	c.intends(o, s.Effect)
	if end := o.Clocks.End(); !s.At.Before(end) {
		c.say("an intent at %s, after %s had until %s", stamp(s.At), o.Phase, stamp(end))
	}
}

// intends judges what is about to be moved.
func (c *complaints) intends(o Op, e Effect) {
	before := map[Phase]int{Verify: 1}[o.Phase] // refs that earlier phases moved
	switch {
	case o.Pending != (Effect{}):
		c.say("a second intent before %s is answered", o.Pending.Ref)
	case !strings.HasPrefix(e.Ref, "refs/") || e.New == "" || e.Old == e.New || len(e.Ref)+len(e.Old)+len(e.New) > maxEffect:
		c.say("an intent to move %q from %q to %q", e.Ref, e.Old, e.New)
	case slices.ContainsFunc(o.Moved, func(m Effect) bool { return m.Ref == e.Ref }):
		c.say("applies twice: %s was moved before", e.Ref)
	case len(o.Moved) > before:
		c.say("applies twice in %s", o.Phase)
	case o.Phase == Verify:
		c.landing(o, e)
	}
}

// landing judges the move by which a change is to land without a person: its tier lets
// it, a person saw it where the tier wants that, and it is what was verified.
func (c *complaints) landing(o Op, e Effect) {
	tier := o.facts[FactTier]
	switch {
	case !landsAlone(tier):
		c.say("lands by itself as %s", tier)
	case tier == string(NotifyApply) && !strings.HasPrefix(o.facts[FactPreviewed], "human:"):
		c.say("lands by itself as %s, and no person saw it first", NotifyApply)
	case e.New != o.Moved[0].New || e.Old != o.facts[FactBase]:
		c.say("lands %s on %s by itself; what was verified is %s on %s", e.New, cmp.Or(e.Old, "nothing"), o.Moved[0].New, o.facts[FactBase])
	}
}

// spendable is n as far as an op can have spent it: not below zero, and in all no
// more than every reader of JSON can hold.
func (o Op) spendable(n int64) int64 { return min(max(n, 0), 1<<53-o.Spent) }

// judged are the facts that stay as they are behind the gate.
var judged = []string{FactBase, FactCandidate, FactRules, FactTier}

// facts judges new and changed facts.
func (c *complaints) facts(o Op, s Step) {
	all := maps.Clone(s.Set)
	for key, was := range o.facts {
		if _, changed := s.Set[key]; !changed {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = was
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		c.fact(o, key, s.Set[key])
	}
	if len(all) > maxFacts {
		c.say("%d facts, at most %d", len(all), maxFacts)
	}
	if s.Mark == Enter && s.To == Approve && all[FactTier] == "BLOCKED" {
		c.say("a BLOCKED change leaves the gate")
	}
}

// fact judges one: behind the gate what was judged stays, and a tier only rises.
func (c *complaints) fact(o Op, key, is string) {
	was, behind := o.facts[key], o.Phase == Approve || follows(o.Phase, Approve)
	if !factName(key) || is == "" || len(is) > maxFact || !utf8.ValidString(is) {
		c.say("fact %q of %d bytes; a name of a-z and _, a text of at most %d bytes", key, len(is), maxFact)
	}
	if behind && was != "" && is != was && slices.Contains(judged, key) {
		c.say("fact %s changes behind the gate; what was judged is what lands", key)
	}
	if now := slices.Index(Tiers(), is); key == FactTier && (now < 0 || now < slices.Index(Tiers(), was)) {
		c.say("tier %s after %s; a tier only rises", is, cmp.Or(was, "none"))
	}
}

func factName(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}
