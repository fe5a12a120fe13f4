package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestWhatAStepMayNotBe holds the one judge of writers and readers to its rules:
// nobody is between it and a forged record.
func TestWhatAStepMayNotBe(t *testing.T) {
	t.Parallel()
	s := newSim()
	if _, err := Run(context.Background(), s.world("run-1"), Limits{}, landing(), began(t, s.now)); err != nil {
		t.Fatal(err)
	}
	story, _ := s.story(t)
	at := func(to Phase, mark Mark, nth int) Op { // after the nth such transition
		for _, told := range story.Told {
			if l := told.Op.last; l.Mark == mark && l.To == to {
				if nth--; nth == 0 {
					return told.Op
				}
			}
		}
		t.Fatal(to, mark)
		return Op{}
	}
	enter := func(o Op, to Phase) Step {
		return Step{Mark: Enter, To: to, By: "run-1", At: o.At, Clocks: Limits{}.enter(o.Clocks, to, o.At)}
	}
	but := func(s Step, f func(*Step)) Step { f(&s); return s }
	moving, verify, second := at(Apply, Intent, 1), at(Verify, Enter, 1), at(Generate, Enter, 2)
	gate, repair := at(Gate, Enter, 1), at(Repair, Enter, 1)
	repair.Repairs = 5
	end := func(o Op, to Phase, r Reason) Step {
		return Step{Mark: Enter, To: to, By: "run-1", At: o.At, Reason: r}
	}
	for _, c := range []struct {
		name string
		o    Op
		s    Step
		want string
	}{
		{"allowed", gate, but(enter(gate, Approve), func(s *Step) { s.Set = map[string]string{FactRules: "r", FactTier: "SAFE_AUTO"} }), ""},
		{"a phase while a ref may have moved", moving, enter(moving, Verify), "verify is entered while " + branch + " may have been moved"},
		{"an ending that hides a move", moving, end(moving, FailedPermanent, StepFailed), "postmortem is the ending, and the only one"},
		{"a postmortem of nothing", gate, end(gate, Postmortem, StepFailed), "cannot move from gate to postmortem"},
		{"back in time", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(-time.Second) }), "before 2026-03-02T09:00:00.000Z"},
		{"finer than a millisecond", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(time.Microsecond) }), "finer than a millisecond"},
		{"once too often", second, enter(second, Generate), "generate is tried again 2 times, at most 1"},
		{"a sixth repair", repair, enter(repair, Repair), "repair is tried again 6 times, at most 5"},
		{"after its time", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(time.Minute) }), "after gate had until"},
		{"a clock set back", gate, but(enter(gate, Approve), func(s *Step) { s.Clocks.Op = s.Clocks.Op.Add(-time.Second) }), "is never set back"},
		{"no time at all", gate, but(enter(gate, Approve), func(s *Step) { s.Clocks.Phase = s.At }), "a clock runs after its beginning"},
		{"nobody's", gate, but(enter(gate, Approve), func(s *Step) { s.By = "" }), `by "" that spends`},
		{"a clock in an ending", gate, but(end(gate, Cancelled, Interrupted), func(s *Step) { s.Clocks = gate.Clocks }), "sets a clock"},
		{"a ref in an ending", gate, but(end(gate, Cancelled, Interrupted), func(s *Step) { s.Effect = Effect{branch, "", "x"} }), "with the effect"},
		{"another ref applied", moving, Step{Mark: Applied, To: Apply, By: "run-1", At: moving.At, Clocks: moving.Clocks, Effect: Effect{branch, "", "p2"}}, "and the intent was " + branch},
		{"a clock for a move", moving, Step{Mark: Applied, To: Apply, By: "run-1", At: moving.At, Effect: moving.Pending}, "sets a clock"},
		{"a second intent", moving, Step{Mark: Intent, To: Apply, By: "run-1", At: moving.At, Clocks: moving.Clocks, Effect: Effect{target, "", "p2"}}, "a second intent before"},
		{"no ref", verify, Step{Mark: Intent, To: Verify, By: "run-1", At: verify.At, Clocks: verify.Clocks, Effect: Effect{"HEAD", "", "p2"}}, `an intent to move "HEAD"`},
		{"late for its time", gate, end(gate, Expired, PhaseDeadline), "it had until"},
		{"a tier of its own", gate, end(gate, Blocked, TierBlocked), "blocked by its tier, which is not known"},
		{"landed and did not", verify, end(verify, Complete, Landed), "landed by itself with 1 refs moved"},
		{"no mark", gate, but(enter(gate, Approve), func(s *Step) { s.Mark = "leap" }), `"leap" is no mark`},
		{"a long note", gate, but(enter(gate, Approve), func(s *Step) { s.Note = strings.Repeat("n", maxNote+1) }), "a note of 401 bytes"},
		{"a fact without a name", gate, but(enter(gate, Approve), func(s *Step) { s.Set = map[string]string{"A b": "x"} }), `fact "A b"`},
		{"begins elsewhere", Op{ID: "op-9", Task: "t"}, Step{Mark: Enter, To: Gate, By: "r", At: dawn, Clocks: Limits{}.begin(dawn)}, "an op begins in classify"},
		{"of no task", Op{ID: "op-9"}, Step{Mark: Enter, To: Classify, By: "r", At: dawn, Clocks: Limits{}.begin(dawn)}, "an op of no task"},
		{"a name that is none", Op{ID: "../x", Task: "t"}, Step{Mark: Enter, To: Classify, By: "r", At: dawn, Clocks: Limits{}.begin(dawn)}, "is no op id"},
	} {
		err := errors.Join(c.o.wrong(c.s)...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
