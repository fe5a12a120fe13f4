package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// taken is the way an op took, a record a word.
func taken(s Story) string {
	var out []string
	for _, t := range s.Told {
		w := string(t.Op.last.To)
		if !t.Op.last.entersPhase() {
			w = t.Op.last.mark
		}
		out = append(out, w)
	}
	if o := s.Op(); o.Reason != "" {
		out = append(out, "("+string(o.Reason)+")")
	}
	return strings.Join(out, " ")
}

const long = "classify route expand plan generate generate validate repair validate gate approve apply verify"

// how is one way a phase can go, and what must come of it.
type how struct {
	name  string
	steps func(*sim, context.CancelFunc) Steps
	l     Limits
	want  string // the path
}

func failsIn(p Phase, w func(s *sim, cancel context.CancelFunc) Work) func(*sim, context.CancelFunc) Steps {
	return func(s *sim, cancel context.CancelFunc) Steps {
		all := whole()
		all[p] = w(s, cancel)
		return all
	}
}

func returns(out Out, err error) func(*sim, context.CancelFunc) Work {
	return func(*sim, context.CancelFunc) Work {
		return func(context.Context, Op) (Out, error) { return out, err }
	}
}

func sets(p Phase, facts ...string) func(*sim, context.CancelFunc) Work {
	return func(*sim, context.CancelFunc) Work { return setting(p, facts...) }
}

func stops(r Reason) func(*sim, context.CancelFunc) Work {
	return returns(Out{Reason: r, Note: "so it is", Spent: 5}, nil)
}

// hows are all the ways; the reasons an op can end for come from here.
func hows() []how {
	to := func(p Phase) string { return long[:strings.LastIndex(long+" ", " "+string(p)+" ")+1+len(p)] }
	var all []how
	for p, rs := range map[Phase][]Reason{
		Classify: {TierBlocked}, Gate: {RuleRefused}, Approve: {CancelledByPerson}, Apply: {StaleBase},
		Plan: {PlanWrong, Superseded}, Generate: {CostCapExceeded, SessionTimeout, TurnLimit, DegenerateLoop, NoOutcome, TransportFailed}, Repair: {RepairStopped, CandidateUnusable}, Validate: {ValidationFailed}, Verify: {VerifyFailed},
	} {
		for _, r := range rs {
			want := to(p)
			switch p {
			case Classify:
				want = "classify"
			case Generate:
				want = "classify route expand plan generate"
			case Validate:
				want = "classify route expand plan generate generate validate"
			}
			do := stops(r)
			if r == TierBlocked {
				do = returns(Out{Reason: r, Set: map[string]string{FactTier: "BLOCKED"}}, nil)
			}
			h := how{name: string(r), steps: failsIn(p, do)}
			h.want = want + " " + string(endingFor(Op{Phase: p, Moved: map[Phase][]Effect{Verify: {{}}}[p]}, r)) + " (" + string(r) + ")"
			all = append(all, h)
		}
	}
	return append(all, []how{
		{name: "waits", want: long + " waiting"},
		{name: "lands", steps: func(*sim, context.CancelFunc) Steps { return landing() }, want: long + " complete (landed)"},
		{name: "nothing to do", steps: failsIn(Generate, returns(Out{Reason: Noop}, nil)), want: "classify route expand plan generate complete (noop)"},
		{name: "an error", steps: failsIn(Route, returns(Out{Next: Plan}, errors.New("the disk"))), want: "classify route failed_permanent (step_failed)"},
		{name: "an error after the ref", steps: failsIn(Verify, returns(Out{}, errors.New("the disk"))), want: long + " postmortem (step_failed)"},
		{name: "a panic", steps: failsIn(Gate, func(*sim, context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { panic("nil map") }
		}), want: to(Gate) + " failed_permanent (step_panicked)"},
		{name: "a panic after the ref", steps: failsIn(Verify, func(*sim, context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { panic(errors.New("nil map")) }
		}), want: long + " postmortem (step_panicked)"},
		{name: "no work", steps: failsIn(Plan, func(*sim, context.CancelFunc) Work { return nil }), want: to(Plan) + " failed_permanent (step_panicked)"},
		{name: "an illegal move", steps: failsIn(Route, returns(Out{Next: Apply}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "no such phase", steps: failsIn(Route, returns(Out{Next: "party"}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "no move", steps: failsIn(Route, returns(Out{}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "an ending without a reason", steps: failsIn(Route, returns(Out{Next: Cancelled}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "a reason for elsewhere", steps: failsIn(Route, stops(Merged)), want: "classify route failed_permanent (illegal_move)"},
		{name: "money back", steps: failsIn(Route, returns(Out{Next: Plan, Spent: -1}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "more money than there is", steps: failsIn(Route, returns(Out{Next: Plan, Spent: 1 << 62}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "a ref moved too early", steps: failsIn(Gate, returns(Out{Next: Approve, Moved: Effect{Ref: branch, New: "p1"}}, nil)), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "apply that moves nothing", steps: failsIn(Apply, returns(Out{Next: Verify}, nil)), want: to(Apply) + " failed_permanent (illegal_move)"},
		{name: "a gate without a tier", steps: failsIn(Gate, sets(Approve, FactRules, "r1")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "a gate that lets BLOCKED through", steps: failsIn(Gate, sets(Approve, FactRules, "r1", FactTier, "BLOCKED")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "a tier that does not exist", steps: failsIn(Gate, sets(Approve, FactRules, "r1", FactTier, "GREEN")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "another candidate behind the gate", steps: failsIn(Approve, sets(Apply, FactCandidate, "c3")), want: to(Approve) + " failed_permanent (illegal_move)"},
		{name: "a tier lowered behind the gate", steps: failsIn(Approve, sets(Apply, FactTier, "SAFE_AUTO")), want: to(Approve) + " failed_permanent (illegal_move)"},
		{name: "no candidate", steps: failsIn(Generate, sets(Validate)), want: "classify route expand plan generate failed_permanent (illegal_move)"},
		{name: "lands as APPROVAL_REQUIRED", steps: failsIn(Verify, returns(Out{Reason: Landed, Moved: Effect{Ref: target, Old: "t0", New: "p1"}}, nil)), want: long + " postmortem (illegal_move)"},
		{name: "lands what was not verified", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s[Verify] = returns(Out{Reason: Landed, Moved: Effect{Ref: target, Old: "t0", New: "p2"}}, nil)(nil, nil)
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "lands as NOTIFY_APPLY", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s[Gate] = setting(Approve, FactRules, "r1", FactTier, "NOTIFY_APPLY", FactPreviewed, "human:ann@example.org")
			return s
		}, want: long + " complete (landed)"},
		{name: "lands as NOTIFY_APPLY unseen", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s[Gate] = setting(Approve, FactRules, "r1", FactTier, "NOTIFY_APPLY")
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "applies twice", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s[Verify] = returns(Out{Reason: Landed, Moved: Effect{Ref: branch, Old: "p1", New: "p2"}}, nil)(nil, nil)
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "tries generate for ever", steps: failsIn(Generate, returns(Out{Next: Generate, Note: "no fence"}, nil)), want: "classify route expand plan generate generate failed_permanent (illegal_move)"},
		{name: "validates for ever", steps: failsIn(Validate, returns(Out{Next: Validate}, nil)),
			want: "classify route expand plan generate generate validate validate validate failed_permanent (illegal_move)"},
		{name: "repairs for ever", steps: failsIn(Repair, returns(Out{Next: Repair}, nil)),
			want: "classify route expand plan generate generate validate" + strings.Repeat(" repair", 5) + " failed_permanent (illegal_move)"},
		{name: "stopped while at work", steps: failsIn(Gate, func(_ *sim, cancel context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { cancel(); return Out{Next: Approve}, nil }
		}), want: to(Gate) + " cancelled (interrupted)"},
		{name: "stopped after the ref", steps: failsIn(Verify, func(_ *sim, cancel context.CancelFunc) Work {
			return func(ctx context.Context, _ Op) (Out, error) { cancel(); return Out{}, ctx.Err() }
		}), want: long + " postmortem (interrupted)"},
		{name: "too slow", l: Limits{Session: 45 * time.Second}, steps: failsIn(Plan, func(s *sim, _ context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) {
				s.now = s.now.Add(45 * time.Second)
				return Out{Next: Generate}, nil
			}
		}), want: to(Plan) + " expired (phase_deadline)"},
		{name: "too slow in all", l: Limits{Op: 20 * time.Second}, steps: failsIn(Plan, func(s *sim, _ context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) {
				s.now = s.now.Add(time.Minute)
				return Out{}, context.DeadlineExceeded
			}
		}), want: to(Plan) + " expired (lease_expired)"},
		{name: "too slow after the ref", steps: failsIn(Verify, func(s *sim, _ context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { s.now = s.now.Add(time.Hour); return Out{Next: Waiting}, nil }
		}), want: long + " postmortem (lease_expired)"},
		{name: "a clock that goes back", steps: failsIn(Plan, func(s *sim, _ context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { s.now = s.now.Add(-time.Hour); return Out{Next: Generate}, nil }
		}), want: long + " waiting"},
	}...)
}

func (h how) run(t *testing.T) (*sim, Op) {
	t.Helper()
	s := newSim()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := whole()
	if h.steps != nil {
		steps = h.steps(s, cancel)
	}
	o, err := Begin("op-01", "tasks/tidy", "run-1", s.now, h.l, map[string]string{FactBase: "t0"})
	if err != nil {
		t.Fatal(err)
	}
	return s, Run(ctx, s.world("run-1", steps), h.l, o)
}

// TestWhateverAPhaseDoes is promise 1: the path, and exactly one ending.
func TestWhateverAPhaseDoes(t *testing.T) {
	t.Parallel()
	for _, h := range hows() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s, o := h.run(t)
			story, _ := s.story(t)
			if d := cmp.Diff(h.want, taken(story)); d != "" {
				t.Error(d)
			}
			if is := story.Op(); is.Phase != o.Phase || is.Spent != o.Spent || len(is.Moved) != len(o.Moved) {
				t.Errorf("the value is not what the records say: %+v, %+v", o, is)
			}
		})
	}
}

// TestEveryReasonIsReached shows that no reason is in the list for nothing.
func TestEveryReasonIsReached(t *testing.T) {
	t.Parallel()
	reached := map[Reason]Phase{}
	gone := crash(t, whole(), 9).abandon(t).Op()
	reached[gone.Reason] = gone.Phase
	waits := newSim().run(t, Limits{}, whole())
	for _, r := range []Reason{Merged, Rejected, ReviewExpired} { // the writers are a person and the sweep
		o, err := End(waits, waits.ID, waits.Until, r, "")
		if err != nil {
			t.Fatal(err)
		}
		reached[r] = o.Phase
	}
	for _, h := range hows() {
		s, _ := h.run(t)
		if story, ok := s.story(t); ok && !story.Open() {
			reached[story.Op().Reason] = story.Op().Phase
		}
	}
	for _, r := range Reasons() {
		older := []Reason{OpDeadline, SinkFailed, ApplyFailed, RefMoved, RetriesExhausted} // which only an older odd gave
		if (reached[r] == "") != slices.Contains(older, r) {
			t.Errorf("%s: no op ends for it", r)
		}
		if len(Explain(r)) < 20 || strings.HasSuffix(Explain(r), ".") {
			t.Errorf("%s: %q explains nothing", r, Explain(r))
		}
		delete(reached, r)
	}
	if len(reached) > 0 {
		t.Errorf("reasons that are not in the list: %v", reached)
	}
	if Explain("party") != "" {
		t.Error("a word that is no reason is explained")
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	s := newSim()
	steps := whole()
	steps[Plan] = func(context.Context, Op) (Out, error) {
		s.now = s.now.Add(44 * time.Second)
		return Out{Next: Generate}, nil
	}
	steps[Repair] = func(_ context.Context, o Op) (Out, error) {
		s.now = s.now.Add(119 * time.Second)
		return Out{Next: Validate}, nil
	}
	s.run(t, Limits{Op: time.Minute, Session: 45 * time.Second, Checks: 2 * time.Minute}, steps)
	story, _ := s.story(t)
	var got []string
	for _, told := range story.Told {
		got = append(got, fmt.Sprintf("%s %v", told.Op.Phase, told.Op.Until.Sub(told.Op.At)))
	}
	want := []string{
		"classify 1m0s", "route 1m0s", "expand 45s", "plan 45s", "generate 16s", "generate 16s", // what the op has left
		"validate 2m0s", "repair 2m45s", "validate 2m0s", "gate 2m0s", "approve 2m0s", "apply 2m0s", "verify 2m0s", // however little it has left
		"waiting 336h0m0s",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestANoteIsTidyAndShort(t *testing.T) {
	t.Parallel()
	got := noteText("a\n  b \xff ghp_" + strings.Repeat("aB3", 12) + " " + strings.Repeat("ü", 400))
	if len(got) > maxNote || !strings.HasPrefix(got, "a b \uFFFD ") || strings.Contains(got, "aB3aB3") || !strings.HasSuffix(got, "ü…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
