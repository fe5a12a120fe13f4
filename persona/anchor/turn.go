package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// stageCall is one call about one session, under its lock.
type stageCall struct {
	Desk
	storedSession
	state   *dir // under its lock; nil for a session that one process holds
	token   string
	payload []byte
	sum     string // of the payload
}

// openCall locks the state directory and reads where a session stands. It returns no
// call if there is no such session, and why.
func (d Desk) openCall(token string, payload []byte) (*stageCall, []Problem) {
	if p, bad := TokenProblem(token); bad {
		return nil, []Problem{p}
	}
	if p, bad := d.World.checkWorkTree(); bad {
		return nil, []Problem{p}
	}
	state, err := d.Store.lockState(false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{unknownToken(token)}
	case errors.Is(err, errIrregular), errors.Is(err, errFile):
		return nil, []Problem{damagedRecord(Damaged, d.Store.at.Dir, err)}
	case err != nil:
		return nil, []Problem{persistProblem(err)}
	}
	t := &stageCall{Desk: d, state: state, token: token, storedSession: state.readSession(token), payload: payload, sum: hexSum(payload)}
	if t.place == "" {
		state.close()
		return nil, []Problem{unknownToken(token)}
	}
	return t, nil
}

// write writes a file of the session's directory, if it has one.
func (t *stageCall) write(name string, b []byte) error {
	if t.state == nil {
		return nil
	}
	return t.state.write(t.place+"/"+t.token+"/"+name, b)
}

// checkEnded answers where no stage goes on: of a session that ended or does not read. One
// that is bound may be replayed.
func (t *stageCall) checkEnded() (Result, bool) {
	var p Problem
	var bad bool
	switch {
	case t.err != nil:
		p, bad = firstProblem(t.err), true
	case t.place == pending:
		p, bad = t.hand.checkEnded(t.World.Now)
	}
	if !bad {
		return Result{}, false
	}
	r := t.refuse(p)
	r.Terminal = t.place == pending && t.hand.Terminal
	return r, true
}

// checkEnded says why a pending session has ended.
func (h Handshake) checkEnded(now time.Time) (Problem, bool) {
	again := "a new session by `odd anchor identity " + h.Role + "`"
	switch {
	case h.Terminal:
		return Problem{Code: Exhausted, At: "token", Text: fmt.Sprintf("a stage of this session failed %d times, and it is over", maxTries), Want: "a person who looks at what failed, and then " + again}, true
	case !now.Before(h.ExpiresAt):
		return Problem{Code: TokenExpired, At: "token", Text: "the session was not bound before " + formatTime(h.ExpiresAt), Want: again}, true
	}
	return Problem{}, false
}

// refuseOutside answers a call that has no session.
func refuseOutside(token string, ps ...Problem) Result {
	return Result{Stage: "LOBBY", Token: token, Errors: ps, NextStep: "odd anchor identity ROLE"}
}

// refuse answers a call without changing anything or counting a try.
func (t *stageCall) refuse(ps ...Problem) Result {
	r := Result{Stage: string(t.stage), Token: t.token, Errors: ps, NextStep: nextCommand(t.stage, t.hand.Mode, t.token)}
	if r.Stage == "" {
		r.Stage = "LOBBY"
	}
	if _, ended := t.hand.checkEnded(t.World.Now); t.place == pending && ended {
		r.NextStep = nextCommand("", "", "")
	}
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	r.Guidance = strings.Join(lines, "\n")
	return r
}

// countFailure counts a try that failed, on disk, and then answers with the guidance of
// the stage that it was to pass. The last one is the end of the session.
func (t *stageCall) countFailure(key string, to Stage, c Constitution, ps []Problem) Result {
	if t.hand.Retries == nil {
		t.hand.Retries = map[string]int{}
	}
	t.hand.Retries[key]++
	n := t.hand.Retries[key]
	t.hand.Terminal = n >= maxTries
	if err := t.save(); err != nil {
		return t.refuse(persistProblem(err))
	}
	r := t.refuse(ps...)
	r.Terminal = t.hand.Terminal
	r.Guidance, r.Template = Guide(to, ps, t.guideFor(c, n))
	if r.Terminal {
		r.Template = ""
	}
	return r
}

func (t *stageCall) guideFor(c Constitution, attempt int) Given {
	return Given{Mode: t.hand.Mode, Strictness: t.hand.Strictness, Role: t.hand.Role, Attempt: attempt, Of: maxTries, Constitution: c}
}

// save writes the handshake where it is now.
func (t *stageCall) save() error {
	t.hand.UpdatedAt = t.World.Now.UTC()
	b, err := pretty(t.hand)
	if err != nil {
		return err
	}
	return t.write(handshakeFile, b)
}

// advance writes the handshake at a new stage, with the payload that led there.
func (t *stageCall) advance(to Stage, passed string) error {
	t.hand.Stage = to
	if t.hand.PayloadSHA256 == nil {
		t.hand.PayloadSHA256 = map[string]string{}
	}
	t.hand.PayloadSHA256[passed] = t.sum
	return t.save()
}

// nextCommand returns the command that goes on from a stage.
func nextCommand(s Stage, m Mode, token string) string {
	switch {
	case s == AtBound:
		return "work inside the permit; odd anchor release " + token + " at the end"
	case s != "" && m == Express:
		return "odd anchor express " + token + " - <<'END'  (then COMMIT, then a line END)"
	case s == AtContext:
		return "odd anchor proof " + token + " - <<'END'  (then TENSIONS and COMMIT, then a line END)"
	case s == AtIdentity:
		return "odd anchor context " + token + " - <<'END'  (then BIND, then a line END)"
	}
	return "odd anchor identity ROLE"
}
