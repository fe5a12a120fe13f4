package anchor

import (
	"errors"
	"fmt"
	"time"
)

// Proof judges TENSIONS and COMMIT against the ARM that was seen, and binds the
// session. The payload that won may be sent again and gets the same anchor.
func (d Desk) Proof(token string, payload []byte) Result {
	return d.runStage(token, payload, (*stageCall).runProof)
}

func (t *stageCall) runProof() Result {
	switch {
	case t.place == active:
		return t.answerTaken(t.bound.Mode != Express)
	case t.hand.Mode == Express:
		return t.refuse(t.wrongMode("an express session sends its COMMIT only"))
	case t.stage != AtContext:
		return t.refuse(Problem{Code: StageOrder, At: "stage", Text: "the proof comes after BIND was accepted", Found: string(t.stage), Want: string(AtContext)})
	}
	c, arm, warnings, ps := t.readTerms()
	if len(ps) > 0 {
		return t.refuse(ps...)
	}
	if moved := compareArms(*t.hand.Arm, arm, atBind); len(moved) > 0 {
		r := t.refuse(moved...)
		r.NextStep = "odd anchor context " + t.token + " -  with the BIND that was accepted gives a fresh ARM; then the proof"
		return r
	}
	p, ps := takeProof(t.payload, t.proofRules(c))
	return t.bindSession(p, "agent", c, ps, warnings)
}

// Express judges a COMMIT, makes the tensions itself and binds the session. A
// constitution that yields too few is refused, and costs no try.
func (d Desk) Express(token string, payload []byte) Result {
	return d.runStage(token, payload, (*stageCall).runExpress)
}

func (t *stageCall) runExpress() Result {
	switch {
	case t.place == active:
		return t.answerTaken(t.bound.Mode == Express)
	case t.hand.Mode != Express:
		return t.refuse(t.wrongMode("its tensions are its agent's, not the server's"))
	}
	c, arm, warnings, ps := t.readTerms()
	if len(ps) > 0 {
		return t.refuse(ps...)
	}
	tensions, ps := Tensions(c, t.hand.Strictness)
	t.hand.Arm = &arm
	t.hand.Bind = &Bind{Role: t.hand.Role, Cognition: c.Cognition, Archetypes: c.Archetypes, Authority: Authority{Scope: arm.Focus}}
	if len(ps) == 0 {
		tensions, ps = judgeTensions(Proof{Tensions: tensions}, t.proofRules(c))
	}
	if len(ps) > 0 {
		return t.refuse(ps...)
	}
	commit, ps := takeCommit(t.payload, t.proofRules(c))
	return t.bindSession(Proof{Tensions: tensions, Commit: commit}, "server", c, ps, warnings)
}

func (t *stageCall) proofRules(c Constitution) Judging {
	return Judging{Strictness: t.hand.Strictness, Files: t.World.Files, Constitution: c, Protected: t.World.Protected}
}

// bindSession ends the last stage: what was refused is counted, else the anchor is
// written and the session promoted.
func (t *stageCall) bindSession(p Proof, by string, c Constitution, ps, warnings []Problem) Result {
	if len(ps) > 0 {
		return t.countFailure(c, ps)
	}
	permit := t.newPermit(p.Commit, c)
	if parent := permit.Parent; parent != "" && !t.isBound(parent) {
		return t.refuse(Problem{Code: BindParent, At: "BIND.AUTHORITY", Text: "the session it answers to is not bound any more", Found: parent, Want: "a session that is bound now"})
	}
	a := Anchor{
		Version: recordVersion, Validated: true, Timestamp: t.World.Now.UTC(), Token: t.token, Role: t.hand.Role, Tier: t.hand.Strictness,
		Mode: t.hand.Mode, GeneratedBy: by, Bind: *t.hand.Bind, Arm: *t.hand.Arm, Tensions: p.Tensions, Commit: p.Commit, Permit: permit,
	}
	a, err := t.bindAnchor(a)
	if err != nil {
		return t.refuse(persistProblem(err))
	}
	t.place, t.stage, t.bound.Anchor = active, AtBound, a
	return t.answerAnchored(a, append(warnings, t.warnSharedFocus()...))
}

func (t *stageCall) newPermit(commit Commit, c Constitution) Permit {
	h, now := t.hand, t.World.Now.UTC()
	return Permit{
		Version: recordVersion, Token: t.token, Role: h.Role, Tier: h.Strictness, Mode: h.Mode, IssuedAt: now, ExpiresAt: now.Add(t.World.permitTime()),
		Branch: h.Arm.Branch, Head: h.Arm.Head, ContextHash: h.Arm.Hash, Constitution: c.SHA256, Allow: c.Paths, Deny: c.BlockedPath,
		Artifact: commit.Artifact, Gate: commit.Gate, Parent: h.Bind.Authority.Parent, Harness: h.HarnessSession, Payload: t.sum,
	}
}

func (w World) permitTime() time.Duration {
	if w.TTL <= 0 {
		return time.Hour
	}
	return w.TTL
}

// answerAnchored answers with the anchor and permit of a bound session.
func (t *stageCall) answerAnchored(a Anchor, warnings []Problem) Result {
	return Result{
		Success: true, Stage: string(AtBound), Token: t.token, ConstitutionPath: t.hand.ConstPath, ServerArm: &a.Arm, Anchor: string(anchorText(a)),
		Permit: &a.Permit, NextStep: nextCommand(AtBound, a.Mode, t.token), Warnings: warnings,
	}
}

// answerTaken answers a stage of a session that is bound. The payload that bound it
// gets the anchor again while the permit holds; any other is refused, with the payload
// that won.
func (t *stageCall) answerTaken(replay bool) Result {
	v := t.newPermitCheck().judgeSession(t.token, "", t.storedSession)
	if v.Anchor == nil {
		return t.refuse(v.Errors...)
	}
	a := *v.Anchor
	if !replay || a.Permit.Payload != t.sum {
		return t.refuse(Problem{
			Code: Taken, At: "token", Found: t.sum[:12], Want: nextCommand(AtBound, a.Mode, t.token),
			Text: fmt.Sprintf("the session is %s already: %s, %s, since %s until %s, by the payload %s", AtBound, a.Role, a.Mode, formatTime(a.Timestamp), formatTime(a.Permit.ExpiresAt), a.Permit.Payload[:min(12, len(a.Permit.Payload))]),
		})
	}
	if !v.Valid {
		return t.refuse(v.Errors...)
	}
	return t.answerAnchored(a, v.Warnings)
}

// Renew gives a bound session a new permit with a later end: the same role,
// tier, branch, paths and constitution, at most three times, while the permit is
// younger than four hours and did not end more than a quarter of an hour ago.
func (d Desk) Renew(token string) Result { return d.runStage(token, nil, (*stageCall).runRenew) }

func (t *stageCall) runRenew() Result {
	if t.place != active {
		return t.refuse(Problem{Code: StageOrder, At: "stage", Text: "only a session that is bound can be renewed", Found: string(t.stage), Want: string(AtBound)})
	}
	soon := t.newPermitCheck()
	soon.anyTime = true
	v := soon.judgeSession(t.token, "", t.storedSession)
	if !v.Valid {
		return t.refuse(v.Errors...)
	}
	a := *v.Anchor
	if ps := a.Permit.checkRenewable(t.World.Now); len(ps) > 0 {
		return t.refuse(ps...)
	}
	now := t.World.Now.UTC()
	a.Permit.IssuedAt, a.Permit.ExpiresAt = now, now.Add(t.World.permitTime())
	a.Permit.Renewals++
	a, b, err := t.sealAnchor(a, nil)
	if err == nil {
		err = t.write(anchorFile, b)
	}
	if err != nil {
		return t.refuse(persistProblem(err))
	}
	return t.answerAnchored(a, v.Warnings)
}

// sealAnchor signs an anchor with the key of the repository, which random makes where there
// is none. What one process holds is not signed, because no other process reads it.
func (t *stageCall) sealAnchor(a Anchor, random func([]byte) error) (Anchor, []byte, error) {
	if t.state == nil {
		return a.seal(nil)
	}
	key, err := t.Store.readKey(random, t.token)
	if err != nil {
		return a, nil, err
	}
	return a.seal(key)
}

// bindAnchor writes the anchor beside the handshake and moves the directory, which
// is the moment that binds. A move that cannot be made to last is taken back.
func (t *stageCall) bindAnchor(a Anchor) (Anchor, error) {
	a, b, err := t.sealAnchor(a, t.World.Random)
	if err == nil {
		err = t.writeStage(AtBound, "proof")
	}
	if err == nil {
		err = t.write(anchorFile, b)
	}
	if err == nil && t.state != nil {
		err = t.state.moveToActive(t.token)
	}
	return a, err
}

// moveToActive renames pending/TOKEN to active/TOKEN, if it has its anchor and
// nothing stands there.
func (d *dir) moveToActive(token string) error {
	from, to := pending+"/"+token, active+"/"+token
	if _, err := d.readRecord(pending, token, anchorFile, AnchorMissing); err != nil {
		return fmt.Errorf("promote %s: it has no anchor: %w", token, err)
	}
	if err := d.mkdir(active); err != nil {
		return err
	}
	there, err := d.exists(to)
	if there {
		err = fmt.Errorf("promote %s: %s/%s is there already", token, d.path, to)
	}
	if err == nil {
		err = d.step("promote")
	}
	if err == nil {
		err = d.root.Rename(from, to)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(d.sync(active), d.sync(pending)); err != nil {
		return errors.Join(err, d.root.Rename(to, from))
	}
	return nil
}
