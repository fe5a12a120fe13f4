package anchor

import "fmt"

// Desk is where an agent is bound: the state directory, and the world at one
// moment. Make a new one for each call; it keeps nothing.
//
// A stage is one read, judgement and write under the lock of the state directory.
// Only a payload that does not read or is refused counts as a try. A call out of
// order or in another mode, a constitution, ARM or repository that changed, and a
// record that cannot be written count as none.
type Desk struct {
	Store *Store
	World World
}

// Context judges BIND and answers with the ARM. The payload that was accepted
// may be sent again: while the ARM holds it gets the same answer, and after it
// drifted a fresh ARM, with a warning that names what moved. That is the way out
// of a drift that Proof refuses.
func (d Desk) Context(token string, payload []byte) Result {
	return d.runStage(token, payload, (*stageCall).runContext)
}

// runStage makes one call about a session under the lock.
func (d Desk) runStage(token string, payload []byte, stage func(*stageCall) Result) Result {
	t, ps := d.openCall(token, payload)
	if t == nil {
		return refuseOutside(token, ps...)
	}
	defer t.state.close()
	if r, over := t.checkEnded(); over {
		return r
	}
	return stage(t)
}

func (t *stageCall) runContext() Result {
	switch {
	case t.place == active:
		return t.answerTaken(false)
	case t.hand.Mode == Express:
		return t.refuse(t.wrongMode("an express session sends its COMMIT, and no BIND"))
	case t.stage == AtContext && t.sum != t.hand.PayloadSHA256["context"]:
		return t.refuse(Problem{Code: StageOrder, At: "stage", Text: "BIND was accepted already, and this is another one", Found: string(t.stage), Want: "the proof, or the BIND that was accepted for a fresh ARM"})
	}
	c, arm, warnings, ps := t.readTerms()
	if len(ps) > 0 {
		return t.refuse(ps...)
	}
	if t.stage == AtContext { // accepted before; an ARM that moved is replaced
		moved := compareArms(*t.hand.Arm, arm, atBind)
		if len(moved) == 0 {
			return t.answerContext(c, warnings)
		}
		warnings = append(moved, warnings...)
	} else {
		b, ps := takeBind(t.payload, c, t.hand.Role, t.isBound)
		if len(ps) > 0 {
			return t.countFailure(c, ps)
		}
		t.hand.Bind = &b
	}
	t.hand.Arm = &arm
	if err := t.writeStage(AtContext, "context"); err != nil {
		return t.refuse(persistProblem(err))
	}
	t.stage = AtContext
	return t.answerContext(c, warnings)
}

// answerContext answers an accepted BIND with the ARM and the template of the proof.
func (t *stageCall) answerContext(c Constitution, warnings []Problem) Result {
	r := t.refuse()
	r.Success, r.ServerArm, r.Warnings = true, t.hand.Arm, append(warnings, t.warnSharedFocus()...)
	r.Guidance, r.Template = t.hand.guide(c, nil)
	return r
}

// readConstitution reads the role's again: it must be the one the session was
// opened with.
func (t *stageCall) readConstitution() (Constitution, []Problem) {
	c, err := t.World.Constitution(t.hand.Role)
	if err != nil {
		return c, append([]Problem{changedProblem(t.hand.Role, "it does not read now")}, constitutionProblems(t.hand.Role, err)...)
	}
	if c.SHA256 != t.hand.ConstSHA256 {
		return c, []Problem{changedProblem(t.hand.Role, "it is not the one the session was opened with")}
	}
	return c, nil
}

// readTerms reads the constitution again, and where the session stands now.
func (t *stageCall) readTerms() (c Constitution, a Arm, warnings, ps []Problem) {
	if c, ps = t.readConstitution(); len(ps) == 0 {
		a, warnings, ps = t.World.computeArm(t.hand.Topic, t.hand.Strictness, c)
	}
	return c, a, warnings, ps
}

// computeArm puts an ARM together. A project whose phase cannot be read is a warning,
// under deep a refusal.
func (w World) computeArm(topic string, s Strictness, c Constitution) (a Arm, warnings, ps []Problem) {
	f, err := w.Facts()
	if err != nil {
		return a, nil, []Problem{noGitProblem(err)}
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

// atBind is when the ARM of a handshake was seen.
const atBind = "BIND was accepted"

func (t *stageCall) wrongMode(text string) Problem {
	return Problem{Code: ModeUnknown, At: "mode", Text: fmt.Sprintf("the mode of a session does not change: %s", text), Found: string(t.hand.Mode), Want: nextCommand(t.stage, t.hand.Mode, t.token)}
}

// warnSharedFocus warns of other bound sessions with the same focus.
func (t *stageCall) warnSharedFocus() []Problem {
	if t.state == nil {
		return nil
	}
	tokens, err := t.state.listTokens(active)
	if err != nil {
		return nil
	}
	var ps []Problem
	for _, token := range tokens {
		b, err := t.state.readBound(token)
		if err != nil || token == t.token || b.Arm.Focus != t.hand.Arm.Focus || !t.World.Now.Before(b.Permit.ExpiresAt) {
			continue
		}
		ps = append(ps, Problem{Code: FocusTaken, At: "ARM.FOCUS", Text: fmt.Sprintf("session %s of %s has the same focus, bound at %s on %s", token, b.Role, formatTime(b.Timestamp), b.Arm.Branch), Found: b.Arm.Focus})
	}
	return ps
}
