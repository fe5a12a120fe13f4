package anchor

import (
	"slices"
	"strings"

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

// Context is Desk.Context for the session.
func (s *Session) Context(w World, payload []byte) Result {
	return s.runStage(w, payload, (*stageCall).runContext)
}

// Proof is Desk.Proof for the session.
func (s *Session) Proof(w World, payload []byte) Result {
	return s.runStage(w, payload, (*stageCall).runProof)
}

// Express is Desk.Express for the session.
func (s *Session) Express(w World, payload []byte) Result {
	return s.runStage(w, payload, (*stageCall).runExpress)
}

func (s *Session) runStage(w World, payload []byte, call func(*stageCall) Result) Result {
	s.World, s.payload, s.sum = w, payload, hexSum(payload)
	if s.place == active {
		return s.refuse(Problem{Code: Taken, At: "token", Text: "the session is bound already"})
	}
	if r, over := s.checkEnded(); over {
		return r
	}
	return call(&s.stageCall)
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
