package pipeline

import (
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
	s.run(t, Limits{}, landing())
	story, _ := s.story(t)
	at := func(to Phase, nth int) Op { // as it came there the nth time
		for _, told := range story.Told {
			if told.Op.last.To == to {
				if nth--; nth == 0 {
					return told.Op
				}
			}
		}
		t.Fatal(to)
		return Op{}
	}
	enter := func(o Op, to Phase) Step {
		return Step{To: to, By: "run-1", At: o.At, Until: o.At.Add(time.Minute)}
	}
	but := func(s Step, f func(*Step)) Step { f(&s); return s }
	gate, second, apply, verify, repair := at(Gate, 1), at(Generate, 2), at(Apply, 1), at(Verify, 1), at(Repair, 1)
	repair.Repairs = 5
	end := func(o Op, to Phase, r Reason) Step {
		return Step{To: to, By: "run-1", At: o.At, Reason: r}
	}
	first := Step{To: Classify, By: "r", At: dawn, Until: dawn.Add(time.Minute)}
	moves := func(o Op, to Phase, e Effect) Step { return but(enter(o, to), func(s *Step) { s.Moved = e }) }
	lands := func(e Effect) Step { return but(end(verify, Complete, Landed), func(s *Step) { s.Moved = e }) }
	for _, c := range []struct {
		name string
		o    Op
		s    Step
		want string
	}{
		{"allowed", gate, but(enter(gate, Approve), func(s *Step) { s.Set = map[string]string{FactRules: "r", FactTier: "SAFE_AUTO"} }), ""},
		{"applied", apply, moves(apply, Verify, Effect{branch, "", "p1"}), ""},
		{"landed", verify, lands(Effect{target, "t0", "p1"}), ""},
		{"an ending that hides a move", verify, end(verify, Cancelled, Interrupted), "cannot move from verify to cancelled"},
		{"a postmortem of nothing", gate, end(gate, Postmortem, StepFailed), "cannot move from gate to postmortem"},
		{"a postmortem before a ref moved", apply, end(apply, Postmortem, StepFailed), "postmortem is the ending, and the only one"},
		{"nothing applied", apply, enter(apply, Verify), "no record says that a ref was moved"},
		{"a ref in passing", gate, but(moves(gate, Approve, Effect{branch, "", "p1"}), func(s *Step) { s.Set = map[string]string{FactRules: "r", FactTier: "SAFE_AUTO"} }), "only apply and verify move a ref"},
		{"a ref that stays", apply, moves(apply, Verify, Effect{branch, "p1", "p1"}), "moves \"" + branch},
		{"no ref", apply, moves(apply, Verify, Effect{"HEAD", "", "p2"}), `moves "HEAD"`},
		{"a ref and then a person", verify, moves(verify, Waiting, Effect{target, "t0", "p1"}), "only apply and verify move a ref"},
		{"applied too late", apply, but(moves(apply, Verify, Effect{branch, "", "p1"}), func(s *Step) { s.At, s.Until = s.At.Add(time.Hour), s.Until.Add(time.Hour) }), "after apply had until"},
		{"lands twice on one ref", verify, lands(Effect{branch, "p1", "p2"}), "applies twice: " + branch},
		{"lands something else", verify, lands(Effect{target, "t0", "p2"}), "what was verified is p1 on t0"},
		{"back in time", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(-time.Second) }), "before 2026-03-02T09:00:00.000Z"},
		{"finer than a millisecond", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(time.Microsecond) }), "finer than a millisecond"},
		{"a deadline finer than a millisecond", gate, but(enter(gate, Approve), func(s *Step) { s.Until = s.Until.Add(time.Microsecond) }), "finer than a millisecond"},
		{"once too often", second, enter(second, Generate), "generate is tried again 2 times, at most 1"},
		{"a sixth repair", repair, enter(repair, Repair), "repair is tried again 6 times, at most 5"},
		{"after its time", gate, but(enter(gate, Approve), func(s *Step) { s.At = s.At.Add(time.Hour) }), "after gate had until"},
		{"no time at all", gate, but(enter(gate, Approve), func(s *Step) { s.Until = s.At }), "has until"},
		{"nobody's", gate, but(enter(gate, Approve), func(s *Step) { s.By = "" }), `by "" that spends`},
		{"a deadline of an ending", gate, but(end(gate, Cancelled, Interrupted), func(s *Step) { s.Until = gate.Until }), "has a deadline"},
		{"a ref in an ending", gate, but(end(gate, Cancelled, Interrupted), func(s *Step) { s.Moved = Effect{branch, "", "x"} }), "gate moves " + branch},
		{"late for its time", gate, end(gate, Expired, PhaseDeadline), "it had until"},
		{"a tier of its own", gate, end(gate, Blocked, TierBlocked), "blocked by its tier, which is not known"},
		{"landed and did not", verify, end(verify, Complete, Landed), "landed by itself with 1 refs moved"},
		{"a long note", gate, but(enter(gate, Approve), func(s *Step) { s.Note = strings.Repeat("n", maxNote+1) }), "a note of 401 bytes"},
		{"a fact without a name", gate, but(enter(gate, Approve), func(s *Step) { s.Set = map[string]string{"A b": "x"} }), `fact "A b"`},
		{"begins elsewhere", Op{ID: "op-9", Task: "t"}, but(first, func(s *Step) { s.To = Gate }), "an op begins in classify"},
		{"of no task", Op{ID: "op-9"}, first, "an op of no task"},
		{"a name that is none", Op{ID: "../x", Task: "t"}, first, "is no op id"},
	} {
		err := errors.Join(c.o.checkStep(c.s)...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
