package anchor

import "fmt"

// Desk is where an agent is bound: the state directory, and the world at one
// moment. Make a new one for each call; it keeps nothing.
//
// A stage is one read, judgement and write under the session's lock. What costs
// no try: a call out of order, a mode that is another, a constitution, an ARM or
// a repository that is not as it was, a record that cannot be written. What
// costs one: a payload that does not read or is refused.
type Desk struct {
	Store *Store
	World World
}

// Context judges BIND and answers with the ARM. The payload that was accepted
// may be sent again: while the ARM holds it gets the same answer, and after it
// drifted a fresh ARM, with a warning that names what moved. That is the way out
// of a drift that Proof refuses.
func (d Desk) Context(token string, payload []byte) Result {
	return d.call(token, payload, (*turn).context)
}

// call makes one call about a session under the lock.
func (d Desk) call(token string, payload []byte, stage func(*turn) Result) Result {
	t, ps := d.turn(token, payload)
	if t == nil {
		return lobby(token, ps...)
	}
	defer t.state.close()
	if r, over := t.over(); over {
		return r
	}
	return stage(t)
}

func (t *turn) context() Result {
	switch {
	case t.place == active:
		return t.answerTaken(false)
	case t.hand.Mode == Express:
		return t.no(t.otherMode("an express session sends its COMMIT, and no BIND"))
	case t.stage == AtContext && t.sum != t.hand.PayloadSHA256["context"]:
		return t.no(Problem{Code: StageOrder, At: "stage", Text: "BIND was accepted already, and this is another one", Found: string(t.stage), Want: "the proof, or the BIND that was accepted for a fresh ARM"})
	}
	c, ps := t.constitution()
	if len(ps) > 0 {
		return t.no(ps...)
	}
	if t.stage == AtContext {
		return t.again(c)
	}
	b, ps := TakeBind(t.payload, c, t.hand.Role, t.holds)
	if len(ps) > 0 {
		return t.miss("context", AtContext, c, ps)
	}
	arm, warnings, ps := t.arm(c)
	if len(ps) > 0 {
		return t.no(ps...)
	}
	t.hand.Bind, t.hand.Arm = &b, &arm
	if err := t.advance(AtContext, "context"); err != nil {
		return t.no(unwritten(err))
	}
	t.stage = AtContext
	return t.stands(c, warnings)
}

// again answers a BIND that was accepted before.
func (t *turn) again(c Constitution) Result {
	arm, warnings, ps := t.arm(c)
	if len(ps) > 0 {
		return t.no(ps...)
	}
	moved := Drift(*t.hand.Arm, arm)
	if len(moved) == 0 {
		return t.stands(c, warnings)
	}
	t.hand.Arm = &arm
	if err := t.advance(AtContext, "context"); err != nil {
		return t.no(unwritten(err))
	}
	return t.stands(c, append(driftProblems(moved, atBind), warnings...))
}

// stands is the answer to a BIND that holds: the ARM, and what proves it.
func (t *turn) stands(c Constitution, warnings []Problem) Result {
	r := t.no()
	r.Success, r.ServerArm, r.Warnings = true, t.hand.Arm, append(warnings, t.sharers()...)
	r.Guidance, r.Template = Guide(AtBound, nil, t.givenOf(c, 1))
	return r
}

// constitution reads the role's again: it must be the one the session was
// opened with.
func (t *turn) constitution() (Constitution, []Problem) {
	c, err := t.World.Constitution(t.hand.Role)
	if err != nil {
		return c, append([]Problem{changedProblem(t.hand.Role, "it does not read now")}, whyUnconstituted(t.hand.Role, err)...)
	}
	if c.SHA256 != t.hand.ConstSHA256 {
		return c, []Problem{changedProblem(t.hand.Role, "it is not the one the session was opened with")}
	}
	return c, nil
}

// arm is where the session stands now.
func (t *turn) arm(c Constitution) (Arm, []Problem, []Problem) {
	return t.World.arm(t.hand.Topic, t.hand.Strictness, c)
}

// arm puts an ARM together. A phase that is not told is a warning, under deep a
// refusal.
func (w World) arm(topic string, s Strictness, c Constitution) (a Arm, warnings, ps []Problem) {
	f, err := w.Facts()
	if err != nil || !f.OK {
		return a, nil, []Problem{silent(err)}
	}
	phase, untold := w.Phase()
	focus, source := Focus(topic, f.Branch)
	if untold != "" {
		warnings = []Problem{{Code: PhaseUntold, At: "ARM.PHASE", Text: untold, Want: "PHASE::B1 or another in the project's context file"}}
	}
	if s == Deep {
		warnings, ps = nil, warnings
	}
	return NewArm(f, phase, focus, source, c.SHA256), warnings, ps
}

// driftProblems says what is not as it was when an ARM was seen.
func driftProblems(moved []Member, when string) []Problem {
	var ps []Problem
	for _, m := range moved {
		ps = append(ps, Problem{Code: ArmDrift, At: "ARM." + m.Name, Text: m.Name + " is not what it was when " + when, Found: m.New, Want: m.Old})
	}
	return ps
}

// atBind is when the ARM of a handshake was seen.
const atBind = "BIND was accepted"

func (t *turn) otherMode(text string) Problem {
	return Problem{Code: ModeUnknown, At: "mode", Text: fmt.Sprintf("the mode of a session does not change: %s", text), Found: string(t.hand.Mode), Want: next(t.stage, t.hand.Mode, t.token)}
}

// sharers warns of other bound sessions with the same focus.
func (t *turn) sharers() []Problem {
	if t.state == nil {
		return nil
	}
	tokens, err := t.state.tokens(active)
	if err != nil {
		return nil
	}
	var ps []Problem
	for _, token := range tokens {
		b, err := t.state.readBound(token)
		if err != nil || token == t.token || b.Arm.Focus != t.hand.Arm.Focus || !t.World.Now.Before(b.Permit.ExpiresAt) {
			continue
		}
		ps = append(ps, Problem{Code: FocusTaken, At: "ARM.FOCUS", Text: fmt.Sprintf("session %s of %s has the same focus, bound at %s on %s", token, b.Role, stamp(b.Timestamp), b.Arm.Branch), Found: b.Arm.Focus})
	}
	return ps
}
