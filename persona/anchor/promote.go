package anchor

import (
	"errors"
	"fmt"
)

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
	if err := t.reseal(&a); err != nil {
		return t.refuse(persistProblem(err))
	}
	return t.answerAnchored(a, v.Warnings)
}

// reseal writes a bound session's anchor again.
func (t *stageCall) reseal(a *Anchor) error {
	key, err := t.Store.key(nil, "")
	if err != nil {
		return err
	}
	next, b, err := a.seal(key)
	if err != nil {
		return err
	}
	*a = next
	return t.write(anchorFile, b)
}

// promote writes the anchor beside the handshake and moves the directory, which
// is the moment that binds. A move that cannot be made to last is taken back. What
// one process holds is not signed, because no other process reads it.
func (t *stageCall) promote(a Anchor) (Anchor, error) {
	if t.state == nil {
		a, _, err := a.seal(nil)
		return a, err
	}
	key, err := t.Store.key(t.World.Random, t.token)
	if err != nil {
		return a, err
	}
	a, b, err := a.seal(key)
	if err != nil {
		return a, err
	}
	if err := t.advance(AtBound, "proof"); err != nil {
		return a, err
	}
	if err := t.write(anchorFile, b); err != nil {
		return a, err
	}
	return a, t.state.promote(t.token)
}

// promote renames pending/TOKEN to active/TOKEN, if it has its anchor and
// nothing stands there.
func (d *dir) promote(token string) error {
	from, to := pending+"/"+token, active+"/"+token
	if _, err := d.readRecord(pending, token, anchorFile, AnchorMissing); err != nil {
		return fmt.Errorf("promote %s: it has no anchor: %w", token, err)
	}
	if err := d.mkdir(active); err != nil {
		return err
	}
	if there, err := d.exists(to); there || err != nil {
		return errors.Join(fmt.Errorf("promote %s: %s/%s is there already", token, d.path, to), err)
	}
	if err := d.step("promote"); err != nil {
		return err
	}
	if err := d.root.Rename(from, to); err != nil {
		return err
	}
	if err := errors.Join(d.sync(active), d.sync(pending)); err != nil {
		return errors.Join(err, d.root.Rename(to, from))
	}
	return nil
}
