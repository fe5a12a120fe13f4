package invoke

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// brokenRule is the rule of the contract that an emission breaks, "" for none. These
// are structure, not judgement: what was emitted, never how good it is. What a
// surface sees as well (the deliverable, its schema, its remedies) it judges.
func (r *run) brokenRule(e session.Emission) (name, detail string) {
	c := r.Contract
	switch d := e.Deliverable; {
	case !c.Mutates && e.Change != nil:
		return ReadOnly, fmt.Sprintf("a %s changes nothing; it emitted a change", c.Role)
	case !c.Mutates && len(e.Atoms) > 0:
		return ReadOnly, fmt.Sprintf("a %s changes nothing; it emitted %d atoms", c.Role, len(e.Atoms))
	case d == nil:
		return "", ""
	case d.Schema == deliver.SchemaFindings && c.Deliverable != deliver.SchemaFindings:
		return Certifies, fmt.Sprintf("a %s does not judge; findings are a fresh validator's", c.Role)
	case d.Schema != c.Deliverable:
		return WrongDeliverable, fmt.Sprintf("%s, want %s", d.Schema, cmp.Or(c.Deliverable, "none: a "+string(c.Role)+" hands over nothing"))
	case c.Bound == "findings" && d.Remediation != nil:
		return r.outsideRemedies(e)
	}
	return "", ""
}

// outsideRemedies holds what a resolver changed to what its remedies say it changed:
// the surface holds the remedies to the findings, so that no atom can come in
// under cover of a repair.
func (r *run) outsideRemedies(e session.Emission) (name, detail string) {
	var named, out []string
	for _, m := range e.Deliverable.Remediation.Remedies {
		named = append(named, m.Changed...)
	}
	for _, a := range e.Atoms {
		names := []string{string(a.Atom.ID)}
		if a.Atom.Path != "" {
			names = append(names, a.Atom.Path, path.Join(r.Request.BundleRoot, a.Atom.Path))
		}
		if !slices.ContainsFunc(named, func(s string) bool { return slices.Contains(names, s) }) {
			out = append(out, fmt.Sprintf("%s: no remedy says that %s changed", a.At, cmp.Or(a.Atom.Path, string(a.Atom.ID))))
		}
	}
	if len(out) > 0 {
		return OutsideFindings, strings.Join(out, "\n")
	}
	return "", ""
}

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

// addUsage adds a try's usage. One unknown cost makes the sum unknown.
func (b *budget) addUsage(u session.Usage) {
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

// AnchorRefused is the failure of a session that did not prove who it is: every
// try is used, or nothing is left for another.
const AnchorRefused = "anchor-refused"

// Answered is what an anchor made of one answer.
type Answered struct {
	Bound bool   // the session has a permit; what it emitted counts from here on
	Final string // why it may not try again, "" while it may
	Say   string // what the next try is told: what was wrong and the form that is wanted, or what the permit covers
}

// Anchored is b with what the session is bound by, or must prove first.
func (b Brief) Anchored(text string) Brief { return b.withPart("anchor", text, capAnchor) }

// Lacking is b with the servers whose tools its session has to do without.
func (b Brief) Lacking(text string) Brief {
	return b.withPart("missing-tools", "Go on without the tools of these servers. What the task asks and cannot be done without them, say in what you hand over.\n\n"+text, capWrong)
}

// Again is b with what was wrong with what its session made of it, for the next one.
func (b Brief) Again(text string) Brief { return b.withPart("again", text, capWrong) }

// proveSession holds a try to the handshake: done with its emission, or back for the
// next try, unless the session is bound and may be judged.
//
// Of an answer that does not bind nothing is kept. One that binds and ends
// without an outcome was the proof alone, and the session goes on to its work.
func (r *run) proveSession(e session.Emission) (end session.Emission, done, bound bool) {
	alone := e.Failure == session.Silent
	switch {
	case r.Prove == nil || r.bound:
		return e, false, true
	case e.Outcome != session.Completed && !alone:
		return e, true, false // it failed, or gave up, before it was anybody
	}
	a := r.Prove(e.Payloads)
	if a.Final != "" {
		return session.Fail(AnchorRefused, a.Final), true, false
	}
	r.brief = r.brief.Anchored(a.Say)
	r.bound = a.Bound
	why := r.budget.whyExhausted()
	switch {
	case a.Bound && (!alone || len(e.Says) > 0):
		return e, false, true
	case a.Bound && why != "":
		return session.Fail(session.TurnRefused, why+"; the session proved who it is and had nothing left to work with"), true, false
	case why != "":
		return session.Fail(AnchorRefused, strings.TrimSpace(why+"\n"+a.Say)), true, false
	}
	return session.Emission{}, false, false
}
