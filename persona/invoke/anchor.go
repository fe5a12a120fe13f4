package invoke

import (
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

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
func (b Brief) Anchored(text string) Brief { return b.with("anchor", text, capAnchor) }

// Lacking is b with the servers whose tools its session has to do without.
func (b Brief) Lacking(text string) Brief {
	return b.with("missing-tools", "Go on without the tools of these servers. What the task asks and cannot be done without them, say in what you hand over.\n\n"+text, capWrong)
}

// Again is b with what was wrong with what its session made of it, for the next one.
func (b Brief) Again(text string) Brief { return b.with("again", text, capWrong) }

// proven holds a try to the handshake: done with its emission, or back for the
// next try, unless the session is bound and may be judged.
//
// Of an answer that does not bind nothing is kept. One that binds and ends
// without an outcome was the proof alone, and the session goes on to its work.
func (r *run) proven(e session.Emission) (end session.Emission, done, bound bool) {
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
