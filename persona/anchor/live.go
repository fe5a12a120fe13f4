package anchor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Session is a handshake that one process holds: it goes through the stages, and
// nothing of it is written anywhere. It ends with its process, as a drain's does.
type Session struct{ stageCall }

// Begin opens a session as Identity does. The mode is one that binds.
func Begin(w World, q IdentityRequest) (*Session, Result) {
	d := Desk{World: w}
	q, c, ps := d.checkRequest(q)
	if len(ps) == 0 && q.Mode == Untracked {
		ps = []Problem{{Code: ModeUnknown, At: "mode", Text: "the mode untracked binds no session", Want: "full, express or lite"}}
	}
	if len(ps) > 0 {
		return nil, refuseOutside("", ps...)
	}
	h, err := w.newHandshake(q, c)
	if err != nil {
		return nil, refuseOutside("", persistProblem(err))
	}
	return &Session{stageCall{Desk: d, token: h.Token, storedSession: storedSession{place: pending, stage: AtIdentity, hand: h}}}, h.answerOpened(c)
}

// Send judges the payload of the stage that comes next, in the world w.
func (s *Session) Send(w World, payload []byte) Result {
	s.World, s.payload, s.sum = w, payload, hexSum(payload)
	r, over := s.checkEnded()
	switch {
	case over:
		return r
	case s.place == active:
		return s.refuse(Problem{Code: Taken, At: "token", Text: "the session is bound already"})
	case s.hand.Mode == Express:
		return s.runExpress()
	case s.stage == AtIdentity:
		return s.runContext()
	}
	return s.runProof()
}

// Live returns the permit of the session. It covers nothing until the session is bound.
func (s *Session) Live() Live { return Live{s.stageCall.bound.Anchor} }

// Live is a permit that a handshake has bound. What turns an agent's work into
// changes takes one: Session.Live alone makes one that covers anything, and the
// zero value covers nothing.
type Live struct{ anchor Anchor }

// Anchor returns the anchor of the permit; the zero value has an empty one.
func (l Live) Anchor() Anchor { return l.anchor }

// Check says why the permit does not hold in the world w: a Refusal, or nil.
func (l Live) Check(w World) error {
	if l.anchor.Token == "" {
		return Refusal{{Code: Locked, At: "token", Text: "there is no permit; the session was not bound"}}
	}
	if _, no := (Desk{World: w}).newPermitCheck().checkPermit(l.anchor.Permit, ""); no != nil {
		return Refusal(no)
	}
	return nil
}

// Writable returns the globs of a session whose task writes task and whose role
// writes role, in a repository whose atoms all means, like knowledge/**.
//
// If both have globs, it returns those of one that plainly lie in one of the other; if
// one has, its own; and all if neither has. A task without a glob for atoms keeps the
// role's globs for atoms, which land beside its change. It returns none if nothing
// that the task names is the role's.
func Writable(task, role []string, all string) []string {
	atoms := []string{all}
	if len(role) > 0 {
		atoms = role
	}
	if len(task) == 0 {
		return atoms
	}
	out := commonGlobs(task, role)
	if len(out) == 0 || slices.ContainsFunc(task, func(g string) bool { return coversAtoms(g, all) }) {
		return out
	}
	for _, g := range commonGlobs(atoms, []string{all}) {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// commonGlobs returns the globs of each that plainly lie in one of the other, the first's
// where there is no other.
func commonGlobs(a, b []string) []string {
	if len(b) == 0 {
		return slices.Clone(a)
	}
	var out []string
	for _, t := range a {
		for _, r := range b {
			both := ""
			switch {
			case t == r, liesBelow(t, r):
				both = t
			case liesBelow(r, t):
				both = r
			}
			if both != "" && !slices.Contains(out, both) {
				out = append(out, both)
			}
		}
	}
	return out
}

// liesBelow reports that all that a means lies in the folder that b is all of.
func liesBelow(a, b string) bool {
	dir, ok := strings.CutSuffix(b, "**")
	return ok && !strings.ContainsAny(dir, "*?[") && strings.HasPrefix(a, dir)
}

// coversAtoms reports a glob that some Markdown file of the folder that all is all
// of may be: knowledge/terms/**, **/*.md, but not **/*.go.
func coversAtoms(glob, all string) bool {
	g := strings.Split(glob, "/")
	last := g[len(g)-1]
	tail := last[strings.LastIndexAny(last, `*?]`)+1:]
	if !strings.HasSuffix(tail, ".md") && !strings.HasSuffix(".md", tail) {
		return false
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSuffix(all, "**"), "/"), "/") {
		switch {
		case name == "" || g[0] == "**":
			return true
		case !policy.MatchGlob(g[0], name) || len(g) == 1:
			return false
		}
		g = g[1:]
	}
	return true
}

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
	state, no := d.openState(token, true)
	if no != nil {
		return nil, no
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
func (t *stageCall) checkEnded() (r Result, over bool) {
	var no []Problem
	switch {
	case t.err != nil:
		no = []Problem{firstProblem(t.err)}
	case t.place == pending:
		no = t.hand.checkEnded(t.World.Now)
	}
	if no == nil {
		return r, false
	}
	r = t.refuse(no...)
	r.Terminal = t.place == pending && t.hand.Terminal
	return r, true
}

// checkEnded says why a pending session has ended.
func (h Handshake) checkEnded(now time.Time) []Problem {
	again := "a new session by `odd anchor identity " + h.Role + "`"
	switch {
	case h.Terminal:
		return []Problem{{Code: Exhausted, At: "token", Text: fmt.Sprintf("a stage of this session failed %d times, and it is over", maxTries), Want: "a person who looks at what failed, and then " + again}}
	case !now.Before(h.ExpiresAt):
		return []Problem{{Code: TokenExpired, At: "token", Text: "the session was not bound before " + formatTime(h.ExpiresAt), Want: again}}
	}
	return nil
}

// refuseOutside answers a call that has no session.
func refuseOutside(token string, ps ...Problem) Result {
	return Result{Stage: "LOBBY", Token: token, Errors: ps, NextStep: "odd anchor identity ROLE"}
}

// refuse answers a call without changing anything or counting a try.
func (t *stageCall) refuse(ps ...Problem) Result {
	r := Result{Stage: cmp.Or(string(t.stage), "LOBBY"), Token: t.token, Errors: ps, NextStep: nextCommand(t.stage, t.hand.Mode, t.token)}
	if t.place == pending && t.hand.checkEnded(t.World.Now) != nil {
		r.NextStep = nextCommand("", "", "")
	}
	return r
}

// countFailure counts a try that failed, on disk, and then answers with the guidance of
// the stage that it was to pass. The last one is the end of the session.
func (t *stageCall) countFailure(c Constitution, ps []Problem) Result {
	key := t.hand.retryKey()
	t.hand.Retries[key]++
	t.hand.Terminal = t.hand.Retries[key] >= maxTries
	if err := t.writeHandshake(); err != nil {
		return t.refuse(persistProblem(err))
	}
	r := t.refuse(ps...)
	r.Guidance, r.Template = t.hand.guide(c, ps)
	if r.Terminal = t.hand.Terminal; r.Terminal {
		r.Template = ""
	}
	return r
}

// writeHandshake writes the handshake where it is now.
func (t *stageCall) writeHandshake() error {
	t.hand.UpdatedAt = t.World.Now.UTC()
	b, err := formatIndented(t.hand)
	if err != nil {
		return err
	}
	return t.write(handshakeFile, b)
}

// writeStage writes the handshake at a new stage, with the payload that led there.
func (t *stageCall) writeStage(to Stage, passed string) error {
	t.hand.Stage = to
	if t.hand.PayloadSHA256 == nil {
		t.hand.PayloadSHA256 = map[string]string{}
	}
	t.hand.PayloadSHA256[passed] = t.sum
	return t.writeHandshake()
}

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
