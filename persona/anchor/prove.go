package anchor

import (
	"time"
)

// Proof judges TENSIONS and COMMIT against the ARM that was seen, and binds the
// session. The payload that won may be sent again and gets the same anchor;
// another one is told who won.
func (d Desk) Proof(token string, payload []byte) Result {
	return d.call(token, payload, (*turn).proof)
}

func (t *turn) proof() Result {
	switch {
	case t.place == active:
		return t.answerTaken(t.bound.Mode != Express)
	case t.hand.Mode == Express:
		return t.no(t.otherMode("an express session sends its COMMIT only"))
	case t.stage != AtContext:
		return t.no(Problem{Code: StageOrder, At: "stage", Text: "the proof comes after BIND was accepted", Found: string(t.stage), Want: string(AtContext)})
	}
	c, ps := t.constitution()
	if len(ps) > 0 {
		return t.no(ps...)
	}
	arm, warnings, ps := t.arm(c)
	if len(ps) > 0 {
		return t.no(ps...)
	}
	if moved := Drift(*t.hand.Arm, arm); len(moved) > 0 {
		r := t.no(driftProblems(moved, atBind)...)
		r.NextStep = "odd anchor context " + t.token + " -  with the BIND that was accepted gives a fresh ARM; then the proof"
		return r
	}
	p, ps := TakeProof(t.payload, t.judging(c))
	return t.bind(p, "agent", c, ps, warnings)
}

// Express judges a COMMIT, makes the tensions itself and binds the session. A
// constitution that yields too few is refused, and costs no try.
func (d Desk) Express(token string, payload []byte) Result {
	return d.call(token, payload, (*turn).express)
}

func (t *turn) express() Result {
	switch {
	case t.place == active:
		return t.answerTaken(t.bound.Mode == Express)
	case t.hand.Mode != Express:
		return t.no(t.otherMode("its tensions are its agent's, not the server's"))
	}
	c, ps := t.constitution()
	if len(ps) > 0 {
		return t.no(ps...)
	}
	arm, warnings, ps := t.arm(c)
	if len(ps) > 0 {
		return t.no(ps...)
	}
	tensions, ps := Tensions(c, t.hand.Strictness)
	t.hand.Arm = &arm
	t.hand.Bind = &Bind{Role: t.hand.Role, Cognition: c.Cognition, Archetypes: c.Archetypes, Authority: Authority{Scope: arm.Focus}}
	if len(ps) == 0 {
		tensions, ps = judgeTensions(Proof{Tensions: tensions}, t.judging(c))
	}
	if len(ps) > 0 {
		return t.no(ps...)
	}
	commit, ps := TakeCommit(t.payload, t.judging(c))
	return t.bind(Proof{Tensions: tensions, Commit: commit}, "server", c, ps, warnings)
}

func (t *turn) judging(c Constitution) Judging {
	return Judging{Strictness: t.hand.Strictness, Files: t.World.Files, Constitution: c, Protected: t.World.Protected}
}

// bind ends the last stage: what was refused is counted, else the anchor is
// written and the session promoted.
func (t *turn) bind(p Proof, by string, c Constitution, ps, warnings []Problem) Result {
	if len(ps) > 0 {
		return t.miss("proof", AtBound, c, ps)
	}
	permit := t.permit(p.Commit, c)
	if parent := permit.Parent; parent != "" && !t.holds(parent) {
		return t.no(Problem{Code: BindParent, At: "BIND.AUTHORITY", Text: "the session it answers to is not bound any more", Found: parent, Want: "a session that is bound now"})
	}
	a := Anchor{
		Version: recordVersion, Validated: true, Timestamp: t.World.Now.UTC(), Token: t.token, Role: t.hand.Role, Tier: t.hand.Strictness,
		Mode: t.hand.Mode, GeneratedBy: by, Bind: *t.hand.Bind, Arm: *t.hand.Arm, Tensions: p.Tensions, Commit: p.Commit, Permit: permit,
	}
	a, err := t.promote(a)
	if err != nil {
		return t.no(unwritten(err))
	}
	t.place, t.stage, t.bound.Anchor = active, AtBound, a
	return t.answerAnchored(a, append(warnings, t.sharers()...))
}

// permit is what the session may touch.
func (t *turn) permit(commit Commit, c Constitution) Permit {
	h, now := t.hand, t.World.Now.UTC()
	return Permit{
		Version: recordVersion, Token: t.token, Role: h.Role, Tier: h.Strictness, Mode: h.Mode, IssuedAt: now, ExpiresAt: now.Add(t.World.ttl()),
		Branch: h.Arm.Branch, Head: h.Arm.Head, ContextHash: h.Arm.Hash, Constitution: c.SHA256, Allow: c.Paths, Deny: c.BlockedPath,
		Artifact: commit.Artifact, Gate: commit.Gate, Parent: h.Bind.Authority.Parent, Harness: h.HarnessSession, Payload: t.sum,
	}
}

func (w World) ttl() time.Duration {
	if w.TTL <= 0 {
		return time.Hour
	}
	return w.TTL
}

// answerAnchored returns the answer of a session that is bound.
func (t *turn) answerAnchored(a Anchor, warnings []Problem) Result {
	return Result{
		Success: true, Stage: string(AtBound), Token: t.token, ConstitutionPath: t.hand.ConstPath, ServerArm: &a.Arm, Anchor: string(Text(a)),
		Permit: &a.Permit, NextStep: next(AtBound, a.Mode, t.token), Warnings: warnings,
	}
}
