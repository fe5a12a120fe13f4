package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/event"
)

// taken is the way an op took, a record a word.
func taken(s Story) string {
	var out []string
	for _, t := range s.Told {
		w := string(t.Op.last.To)
		if m := t.Op.last.Mark; m != Enter {
			w = string(m)
		}
		out = append(out, w)
	}
	if o := s.Op(); o.Reason != "" {
		out = append(out, "("+string(o.Reason)+")")
	}
	return strings.Join(out, " ")
}

const long = "classify route expand plan generate generate validate repair validate gate approve apply intent applied verify"

// how is one way a phase can go, and what must come of it.
type how struct {
	name  string
	steps func(*sim, context.CancelFunc) Steps
	world func(*sim)
	l     Limits
	want  string // the path
	err   string // of Run
}

func failsIn(p Phase, w func(s *sim, cancel context.CancelFunc) Work) func(*sim, context.CancelFunc) Steps {
	return func(s *sim, cancel context.CancelFunc) Steps {
		all := whole()
		all.set(p, w(s, cancel))
		return all
	}
}

func (s *Steps) set(p Phase, w Work) {
	*map[Phase]*Work{
		Classify: &s.Classify, Route: &s.Route, Expand: &s.Expand, Plan: &s.Plan, Generate: &s.Generate, Validate: &s.Validate,
		Repair: &s.Repair, Gate: &s.Gate, Approve: &s.Approve, Apply: &s.Apply, Verify: &s.Verify,
	}[p] = w
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
	return returns(Out{}, fmt.Errorf("in short: %w", &Stop{Reason: r, Text: "so it is", Spent: 5}))
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
				do = returns(Out{Next: Blocked, Reason: r, Set: map[string]string{FactTier: "BLOCKED"}}, nil)
			}
			h := how{name: string(r), steps: failsIn(p, do)}
			h.want = want + " " + string(ending(Op{Phase: p, Moved: map[Phase][]Effect{Verify: {{}}}[p]}, r)) + " (" + string(r) + ")"
			all = append(all, h)
		}
	}
	return append(all, []how{
		{name: "waits", want: long + " waiting"},
		{name: "lands", steps: func(*sim, context.CancelFunc) Steps { return landing() }, want: long + " intent applied complete (landed)"},
		{name: "nothing to do", steps: failsIn(Generate, returns(Out{Next: Complete, Reason: Noop}, nil)), want: "classify route expand plan generate complete (noop)"},
		{name: "an error", steps: failsIn(Route, returns(Out{Next: Plan}, errors.New("the disk"))), want: "classify route failed_permanent (step_failed)"},
		{name: "an error after the ref", steps: failsIn(Verify, returns(Out{}, errors.New("the disk"))), want: long + " postmortem (step_failed)"},
		{name: "a panic", steps: failsIn(Gate, func(*sim, context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { panic("nil map") }
		}), want: to(Gate) + " failed_permanent (step_panicked)"},
		{name: "a panic after the ref", steps: failsIn(Verify, func(*sim, context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { panic(errors.New("nil map")) }
		}), want: long + " postmortem (step_panicked)"},
		{name: "its goroutine ends", steps: failsIn(Gate, func(*sim, context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { runtime.Goexit(); return Out{}, nil }
		}), want: to(Gate) + " failed_permanent (step_panicked)"},
		{name: "no work", steps: failsIn(Plan, func(*sim, context.CancelFunc) Work { return nil }), want: to(Plan) + " failed_permanent (step_failed)"},
		{name: "an illegal move", steps: failsIn(Route, returns(Out{Next: Apply}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "no such phase", steps: failsIn(Route, returns(Out{Next: "party"}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "no move", steps: failsIn(Route, returns(Out{}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "an ending without a reason", steps: failsIn(Route, returns(Out{Next: Cancelled}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "a reason for elsewhere", steps: failsIn(Route, stops(Merged)), want: "classify route failed_permanent (illegal_move)"},
		{name: "money back", steps: failsIn(Route, returns(Out{Next: Plan, Spent: -1}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "more money than there is", steps: failsIn(Route, returns(Out{Next: Plan, Spent: 1 << 62}, nil)), want: "classify route failed_permanent (illegal_move)"},
		{name: "a ref moved too early", steps: failsIn(Gate, returns(Out{Next: Approve, Effect: Effect{Ref: branch, New: "p1"}}, nil)), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "apply that moves nothing", steps: failsIn(Apply, returns(Out{Next: Verify}, nil)), want: to(Apply) + " failed_permanent (illegal_move)"},
		{name: "a gate without a tier", steps: failsIn(Gate, sets(Approve, FactRules, "r1")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "a gate that lets BLOCKED through", steps: failsIn(Gate, sets(Approve, FactRules, "r1", FactTier, "BLOCKED")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "a tier that does not exist", steps: failsIn(Gate, sets(Approve, FactRules, "r1", FactTier, "GREEN")), want: to(Gate) + " failed_permanent (illegal_move)"},
		{name: "another candidate behind the gate", steps: failsIn(Approve, sets(Apply, FactCandidate, "c3")), want: to(Approve) + " failed_permanent (illegal_move)"},
		{name: "a tier lowered behind the gate", steps: failsIn(Approve, sets(Apply, FactTier, "SAFE_AUTO")), want: to(Approve) + " failed_permanent (illegal_move)"},
		{name: "no candidate", steps: failsIn(Generate, sets(Validate)), want: "classify route expand plan generate failed_permanent (illegal_move)"},
		{name: "lands as APPROVAL_REQUIRED", steps: failsIn(Verify, returns(Out{Next: Complete, Reason: Landed, Effect: Effect{Ref: target, Old: "t0", New: "p1"}}, nil)), want: long + " postmortem (illegal_move)"},
		{name: "lands what was not verified", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s.Verify = returns(Out{Next: Complete, Reason: Landed, Effect: Effect{Ref: target, Old: "t0", New: "p2"}}, nil)(nil, nil)
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "lands as NOTIFY_APPLY", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s.Gate = setting(Approve, FactRules, "r1", FactTier, "NOTIFY_APPLY", FactPreviewed, "human:ann@example.org")
			return s
		}, want: long + " intent applied complete (landed)"},
		{name: "lands as NOTIFY_APPLY unseen", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s.Gate = setting(Approve, FactRules, "r1", FactTier, "NOTIFY_APPLY")
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "applies twice", steps: func(*sim, context.CancelFunc) Steps {
			s := landing()
			s.Verify = returns(Out{Next: Complete, Reason: Landed, Effect: Effect{Ref: branch, Old: "p1", New: "p2"}}, nil)(nil, nil)
			return s
		}, want: long + " postmortem (illegal_move)"},
		{name: "tries generate for ever", steps: failsIn(Generate, returns(Out{Next: Generate, Note: "no fence"}, nil)), want: "classify route expand plan generate generate failed_permanent (retries_exhausted)"},
		{name: "validates for ever", steps: failsIn(Validate, returns(Out{Next: Validate}, nil)),
			want: "classify route expand plan generate generate" + strings.Repeat(" validate validate validate repair", 5) + " validate validate validate failed_permanent (retries_exhausted)"},
		{name: "repairs for ever", steps: failsIn(Repair, returns(Out{Next: Repair}, nil)),
			want: "classify route expand plan generate generate validate" + strings.Repeat(" repair", 5) + " failed_permanent (retries_exhausted)"},
		{name: "stopped while at work", steps: failsIn(Gate, func(_ *sim, cancel context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { cancel(); return Out{Next: Approve}, nil }
		}), want: to(Gate) + " cancelled (interrupted)"},
		{name: "stopped after the ref", steps: failsIn(Verify, func(_ *sim, cancel context.CancelFunc) Work {
			return func(ctx context.Context, _ Op) (Out, error) { cancel(); return Out{}, ctx.Err() }
		}), want: long + " postmortem (interrupted)"},
		{name: "too slow", steps: failsIn(Plan, func(s *sim, _ context.CancelFunc) Work {
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
		}), want: long + " postmortem (phase_deadline)"},
		{name: "the swap takes for ever", world: func(s *sim) { s.onMove = func(Effect) error { s.now = s.now.Add(61 * time.Second); return nil } },
			want: strings.TrimSuffix(long, " verify") + " postmortem (phase_deadline)"},
		{name: "a clock that goes back", steps: failsIn(Plan, func(s *sim, _ context.CancelFunc) Work {
			return func(context.Context, Op) (Out, error) { s.now = s.now.Add(-time.Hour); return Out{Next: Generate}, nil }
		}), want: long + " waiting"},
		{name: "a swap that fails", world: func(s *sim) { s.onMove = func(Effect) error { return errors.New("locked") } },
			want: to(Apply) + " intent postmortem (apply_failed)"},
		{name: "a swap that fails and happened", world: func(s *sim) { s.after = func(Effect) error { return errors.New("the line was cut") } },
			want: long + " waiting"},
		{name: "a swap that panics", world: func(s *sim) { s.onMove = func(Effect) error { panic("nil") } },
			want: to(Apply) + " intent postmortem (apply_failed)"},
		{name: "somebody was there first", world: func(s *sim) { s.onMove = func(Effect) error { s.refs[branch] = "x9"; return nil } },
			want: to(Apply) + " intent postmortem (ref_moved)"},
		{name: "nobody knows where the ref is", world: func(s *sim) {
			s.onMove = func(Effect) error { return errors.New("the line was cut") }
			s.onTip = func(string) error { return errors.New("the line was cut") }
		}, want: to(Apply) + " intent", err: "may have moved"},
		{name: "a full disk", world: fullAt("gate", 1), want: long[:strings.Index(long, " gate")] + " failed_permanent (sink_failed)", err: "could not be saved"},
		{name: "a full disk before the ref", world: fullAt("intent", 1), want: to(Apply) + " failed_permanent (sink_failed)", err: "could not be saved"},
		{name: "a full disk after the ref", world: fullAt("applied", 1), want: to(Apply) + " intent postmortem (sink_failed)", err: "could not be saved"},
		{name: "a full disk for good", world: fullAt("gate", 99), want: long[:strings.Index(long, " gate")], err: "could not be recorded either"},
		{name: "a full disk at once", world: fullAt("classify", 99), want: "", err: "not begun"},
	}...)
}

// fullAt makes a sink that fails n times, from a transition on.
func fullAt(word string, n int) func(*sim) {
	return func(s *sim) {
		on := false
		s.onSink = func(r event.Record) error {
			on = on || r.Op().Mark == word || r.Op().Mark == "enter" && r.Op().To == word
			if on && n > 0 {
				n--
				return errors.New("no space left")
			}
			return nil
		}
	}
}

func (h how) run(t *testing.T) (*sim, Op) {
	t.Helper()
	s := newSim()
	if h.world != nil {
		h.world(s)
	}
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
	o, err = Run(ctx, s.world("run-1"), h.l, steps, o)
	if h.err == "" && err != nil || h.err != "" && (err == nil || !strings.Contains(err.Error(), h.err)) {
		t.Errorf("Run: %v; want %q", err, h.err)
	}
	return s, o
}

// TestWhateverAPhaseDoes is promise 1: the path, exactly one ending, and a ref
// that moved if and only if a record says so.
func TestWhateverAPhaseDoes(t *testing.T) {
	t.Parallel()
	for _, h := range hows() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s, o := h.run(t)
			story, ok := s.story(t)
			got := ""
			if ok {
				got = taken(story)
				if d := cmp.Diff(story.Op().Hash, o.Hash); d != "" && h.err == "" {
					t.Errorf("the value is not what the records say: %s", d)
				}
			}
			if d := cmp.Diff(h.want, got); d != "" {
				t.Error(d)
			}
			if strings.Contains(h.err, "may have moved") {
				return
			}
			s.consistent(t)
		})
	}
}

// consistent reports a ref that moved and no record says so, or the other way round.
func (s *sim) consistent(t testing.TB) {
	t.Helper()
	story, ok := s.story(t)
	applied := map[string]string{}
	if ok {
		for _, e := range story.Op().Moved {
			applied[e.Ref] = e.New
		}
	}
	for _, ref := range []string{branch, target} {
		is, ours := s.refs[ref], strings.HasPrefix(s.refs[ref], "p")
		if (applied[ref] != "" || ours) && applied[ref] != is {
			t.Errorf("%s is at %q, the ledger applied %q", ref, is, applied[ref])
		}
	}
}

// TestEveryReasonIsReached shows that no reason is in the list for nothing.
func TestEveryReasonIsReached(t *testing.T) {
	t.Parallel()
	reached := map[Reason]Phase{}
	gone := crash(t, whole(), 9).abandon(t).Op()
	reached[gone.Reason] = gone.Phase
	waits, err := Run(t.Context(), newSim().world("run-1"), Limits{}, whole(), began(t, dawn))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Reason{Merged, Rejected, ReviewExpired} { // the writers are a person and the sweep
		o, err := End(waits, waits.ID, dawn.Add(DefaultWait), r, "")
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
		if reached[r] == "" && r != OpDeadline { // which only an older odd gave
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
	steps.Plan = func(context.Context, Op) (Out, error) {
		s.now = s.now.Add(44 * time.Second)
		return Out{Next: Generate}, nil
	}
	steps.Repair = func(_ context.Context, o Op) (Out, error) {
		s.now = s.now.Add(119 * time.Second)
		return Out{Next: Validate}, nil
	}
	o, err := Begin("op-01", "tasks/tidy", "run-1", s.now, Limits{Op: time.Minute}, map[string]string{FactBase: "t0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Run(t.Context(), s.world("run-1"), Limits{Op: time.Minute}, steps, o); err != nil {
		t.Fatal(err)
	}
	story, _ := s.story(t)
	var got []string
	for _, told := range story.Told {
		c := told.Op.last.Clocks
		if told.Op.last.Mark == Enter {
			got = append(got, fmt.Sprintf("%s %v/%v %s", told.Op.Phase, c.Phase.Sub(told.Op.At), c.Op.Sub(told.Op.At), c.By))
		}
	}
	want := []string{
		"classify 30s/1m0s phase", "route 10s/1m0s phase", "expand 30s/1m0s phase", "plan 45s/1m0s phase",
		"generate 3m0s/16s op", "generate 3m0s/16s op",
		"validate 1m0s/18m0s fresh", "repair 2m0s/20m0s fresh", // the op's clock is moved for them and what follows
		"validate 1m0s/18m1s phase", "gate 1m0s/18m1s phase", "approve 10m0s/18m1s phase", "apply 1m0s/18m1s phase", "verify 5m0s/18m1s phase",
		"waiting 336h0m0s/18m1s review",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestANoteIsTidyAndShort(t *testing.T) {
	t.Parallel()
	tidy := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	got := Note("a\n  b \xff hunter2 "+strings.Repeat("ü", 400), tidy)
	if len(got) > maxNote || !strings.HasPrefix(got, "a b \uFFFD [redacted] ü") || !strings.HasSuffix(got, "ü…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
