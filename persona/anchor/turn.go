package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// turn is one call about one session, under its lock.
type turn struct {
	Desk
	found
	state   *dir // under its lock; nil for a session that one process holds
	token   string
	payload []byte
	sum     string // of the payload
}

// turn locks a session and reads where it stands. Without a turn there is the
// reason why not.
func (d Desk) turn(token string, payload []byte) (*turn, []Problem) {
	if p, bad := TokenProblem(token); bad {
		return nil, []Problem{p}
	}
	if p, bad := d.World.isGone(); bad {
		return nil, []Problem{p}
	}
	state, err := d.Store.lockState(false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{unknown(token)}
	case errors.Is(err, errIrregular), errors.Is(err, errFile):
		return nil, []Problem{damagedRecord(Damaged, d.Store.at.Dir, err)}
	case err != nil:
		return nil, []Problem{unwritten(err)}
	}
	t := &turn{Desk: d, state: state, token: token, found: state.look(token), payload: payload, sum: hexSum(payload)}
	if t.place == "" {
		state.close()
		return nil, []Problem{unknown(token)}
	}
	return t, nil
}

// write writes a file of the session's directory, if it has one.
func (t *turn) write(name string, b []byte) error {
	if t.state == nil {
		return nil
	}
	return t.state.write(t.place+"/"+t.token+"/"+name, b)
}

// over answers where no stage goes on: of a session that ended or does not read. One
// that is bound may be replayed.
func (t *turn) over() (Result, bool) {
	var p Problem
	var bad bool
	switch {
	case t.place == archive:
		p, bad = releasedProblem(t.token), true
	case t.err != nil:
		p, bad = flaw(t.err), true
	case t.place == pending:
		p, bad = t.hand.over(t.World.Now)
	}
	if !bad {
		return Result{}, false
	}
	r := t.no(p)
	r.Terminal = t.place == pending && t.hand.Terminal
	return r, true
}

// over says why a pending session has ended.
func (h Handshake) over(now time.Time) (Problem, bool) {
	again := "a new session by `odd anchor identity " + h.Role + "`"
	switch {
	case h.Terminal:
		return Problem{Code: Exhausted, At: "token", Text: fmt.Sprintf("a stage of this session failed %d times, and it is over", maxTries), Want: "a person who looks at what failed, and then " + again}, true
	case !now.Before(h.ExpiresAt):
		return Problem{Code: TokenExpired, At: "token", Text: "the session was not bound before " + stamp(h.ExpiresAt), Want: again}, true
	}
	return Problem{}, false
}

// lobby is the answer without a session.
func lobby(token string, ps ...Problem) Result {
	return Result{Stage: "LOBBY", Token: token, Errors: ps, NextStep: "odd anchor identity ROLE"}
}

// no is an answer that changes nothing and costs no try.
func (t *turn) no(ps ...Problem) Result {
	r := Result{Stage: string(t.stage), Token: t.token, Errors: ps, NextStep: next(t.stage, t.hand.Mode, t.token)}
	if r.Stage == "" {
		r.Stage = "LOBBY"
	}
	if _, ended := t.hand.over(t.World.Now); t.place == pending && ended {
		r.NextStep = next("", "", "")
	}
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	r.Guidance = strings.Join(lines, "\n")
	return r
}

// miss counts a try that failed, on disk, and then answers with the guidance of
// the stage that it was to pass. The last one is the end of the session.
func (t *turn) miss(key string, to Stage, c Constitution, ps []Problem) Result {
	if t.hand.Retries == nil {
		t.hand.Retries = map[string]int{}
	}
	t.hand.Retries[key]++
	n := t.hand.Retries[key]
	t.hand.Terminal = n >= maxTries
	if err := t.save(); err != nil {
		return t.no(unwritten(err))
	}
	r := t.no(ps...)
	r.Terminal = t.hand.Terminal
	r.Guidance, r.Template = Guide(to, ps, t.givenOf(c, n))
	if r.Terminal {
		r.Template = ""
	}
	return r
}

func (t *turn) givenOf(c Constitution, attempt int) Given {
	return Given{Mode: t.hand.Mode, Strictness: t.hand.Strictness, Role: t.hand.Role, Attempt: attempt, Of: maxTries, Constitution: c}
}

// save writes the handshake where it is now.
func (t *turn) save() error {
	t.hand.UpdatedAt = t.World.Now.UTC()
	b, err := pretty(t.hand)
	if err != nil {
		return err
	}
	return t.write(handshakeFile, b)
}

// advance writes the handshake at a new stage, with the payload that led there.
func (t *turn) advance(to Stage, passed string) error {
	t.hand.Stage = to
	if t.hand.PayloadSHA256 == nil {
		t.hand.PayloadSHA256 = map[string]string{}
	}
	t.hand.PayloadSHA256[passed] = t.sum
	return t.save()
}

// next is the command that goes on from a stage.
func next(s Stage, m Mode, token string) string {
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
