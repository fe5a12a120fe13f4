package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// facts is what the world says about the op of a process that is gone.
func (s *sim) facts(o Op) Facts {
	return Facts{Now: s.now, Held: true, Candidate: true, Tip: s.refs[o.Pending.Ref]}
}

// carry is the next process: it reads the ledger, resumes and carries on.
func (s *sim) carry(t testing.TB, run string, steps Steps, f func(*Facts)) Course {
	t.Helper()
	story, ok := s.story(t)
	if !ok {
		return Course{Do: Leave}
	}
	facts := s.facts(story.Op())
	if f != nil {
		f(&facts)
	}
	n := Resume(story, facts)
	process(func() { _, _ = Carry(context.Background(), s.world(run), Limits{}, steps, story, n) })
	return n
}

// settled takes the op as far as it goes, and returns its story.
func (s *sim) settle(t testing.TB, steps Steps, f func(*Facts)) (Story, bool) {
	t.Helper()
	s.dead, s.dieAt = false, 0
	for n := range 9 {
		story, ok := s.story(t)
		if !ok || !story.Open() || story.Op().Phase == Waiting {
			return story, ok
		}
		s.carry(t, fmt.Sprintf("run-%d", 5+n), steps, f)
	}
	t.Fatal("it is never settled")
	return Story{}, false
}

// crash runs an op in a process that dies at a tick.
func crash(t testing.TB, steps Steps, tick int) *sim {
	s := newSim()
	s.dieAt = tick
	process(func() { _, _ = Run(context.Background(), s.world("run-1"), Limits{}, steps, began(t, s.now)) })
	return s
}

// TestACrashAnywhere kills a run at every tick, before and after each record and
// on both sides of each move of a ref, and the process that resumes it at every
// tick too. Whatever happens, the op ends once or waits, and no ref moves twice.
func TestACrashAnywhere(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		steps func() Steps
		f     func(*Facts)
		twice bool // the second process dies too
	}{
		"to waiting":   {whole, nil, false},
		"landing":      {landing, nil, false},
		"and again":    {straight, nil, true},
		"claim gone":   {landing, func(f *Facts) { f.Held = false }, false},
		"nothing left": {whole, func(f *Facts) { f.Candidate = false }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := crash(t, c.steps(), 0).ticks
			for k := 1; k <= first; k++ {
				s := crash(t, c.steps(), k)
				s.dead, s.ticks, s.dieAt = false, 0, 0
				s.now = s.now.Add(time.Hour)
				s.settle(t, c.steps(), c.f)
				second := s.ticks
				s.once(t, fmt.Sprintf("%s, died at %d", name, k))
				for m := 1; c.twice && m <= second; m += 1 + (k+m)%3 { // of the pairs, a third or so
					s := crash(t, c.steps(), k)
					s.dead, s.ticks, s.dieAt = false, 0, m
					s.now = s.now.Add(time.Hour)
					s.carry(t, "run-2", c.steps(), c.f)
					s.settle(t, c.steps(), c.f)
					s.once(t, fmt.Sprintf("%s, died at %d and %d", name, k, m))
				}
			}
		})
	}
}

// once reports a ref that moved twice, and an op that did not end once.
func (s *sim) once(t *testing.T, when string) {
	t.Helper()
	for ref, n := range s.moves {
		if n > 1 {
			t.Errorf("%s: %s moved %d times", when, ref, n)
		}
	}
	s.consistent(t)
	story, ok := s.story(t)
	if !ok {
		return // it died before its first record: there is no op
	}
	ends := 0
	for _, r := range s.records(t) {
		if r.Kind == "op_end" {
			ends++
		}
	}
	if o := story.Op(); ends != 1 && (ends != 0 || o.Phase != Waiting) {
		t.Errorf("%s: %d endings, in %s: %s", when, ends, o.Phase, taken(story))
	}
	if t.Failed() {
		t.FailNow()
	}
}

func TestResumeDecides(t *testing.T) {
	t.Parallel()
	at := func(n int) Story { // the story of the first n records of a run that lands
		s := newSim()
		if _, err := Run(context.Background(), s.world("run-1"), Limits{}, landing(), began(t, s.now)); err != nil {
			t.Fatal(err)
		}
		all, _ := s.story(t)
		all.Told = all.Told[:n]
		return all
	}
	whereIs := func(word string, nth int) int {
		for i, told := range at(18).Told {
			if told.Op.last.Mark == Mark(word) || told.Op.last.Mark == Enter && told.Op.last.To == Phase(word) {
				if nth--; nth == 0 {
					return i + 1
				}
			}
		}
		t.Fatal(word)
		return 0
	}
	waiting := at(whereIs("verify", 1))
	o, err := Wait(waiting.Op(), "run-1", dawn, Limits{}, HeldMoved, "")
	if err != nil {
		t.Fatal(err)
	}
	waiting.Told = append(waiting.Told, Told{Op: o, Record: o.Record()})
	worn := func(s Story) Story {
		o := s.Op()
		o.Resumes = maxResumes
		s.Told = append(s.Told[:len(s.Told)-1:len(s.Told)-1], Told{Op: o})
		return s
	}
	held := Facts{Now: dawn, Held: true, Candidate: true}
	with := func(f func(*Facts)) Facts { g := held; f(&g); return g }
	for _, c := range []struct {
		name string
		s    Story
		f    Facts
		want string
	}{
		{"ended", at(18), held, "leave  "},
		{"early", at(2), held, "go_on  "},
		{"early, nothing made yet", at(4), with(func(f *Facts) { f.Candidate = false }), "go_on  "},
		{"the candidate is gone", at(whereIs("gate", 1)), with(func(f *Facts) { f.Candidate = false }), "finish cancelled abandoned"},
		{"the claim is gone", at(2), with(func(f *Facts) { f.Held = false }), "finish cancelled abandoned"},
		{"the claim is gone behind the ref", at(whereIs("verify", 1)), with(func(f *Facts) { f.Held = false }), "finish postmortem abandoned"},
		{"too often", worn(at(2)), held, "finish failed_permanent resumed_too_often"},
		{"intent, not moved", at(whereIs("intent", 1)), held, "go_on  "},
		{"intent, not moved, too often", worn(at(whereIs("intent", 1))), held, "finish postmortem resumed_too_often"},
		{"intent, moved", at(whereIs("intent", 1)), with(func(f *Facts) { f.Tip = "p1" }), "settle  "},
		{"intent, moved, too often", worn(at(whereIs("intent", 1))), with(func(f *Facts) { f.Tip = "p1" }), "settle postmortem resumed_too_often"},
		{"intent, moved and built upon", at(whereIs("intent", 1)), with(func(f *Facts) { f.Tip, f.Holds = "x", true }), "settle  "},
		{"intent, moved, the claim is gone", at(whereIs("intent", 1)), with(func(f *Facts) { f.Tip, f.Held = "p1", false }), "settle postmortem abandoned"},
		{"intent, not moved, the claim is gone", at(whereIs("intent", 1)), with(func(f *Facts) { f.Held = false }), "finish postmortem abandoned"},
		{"intent, somebody else's", at(whereIs("intent", 1)), with(func(f *Facts) { f.Tip = "x" }), "finish postmortem ref_moved"},
		{"landing, moved", at(whereIs("intent", 2)), with(func(f *Facts) { f.Tip, f.Held = "p1", false }), "settle complete landed"},
		{"waits", waiting, with(func(f *Facts) { f.Held = false }), "leave  "},
		{"waits, merged", waiting, Facts{Now: dawn, Decision: WasMerged}, "finish complete merged"},
		{"waits, merged late", waiting, Facts{Now: dawn.Add(400 * time.Hour), Decision: WasMerged}, "finish complete merged"},
		{"waits, rejected", waiting, Facts{Now: dawn, Decision: WasDenied}, "finish cancelled rejected"},
		{"waits a day", waiting, Facts{Now: dawn.Add(24 * time.Hour)}, "leave  "},
		{"waits a millisecond short", waiting, Facts{Now: dawn.Add(DefaultWait - time.Millisecond)}, "leave  "},
		{"waits too long", waiting, Facts{Now: dawn.Add(DefaultWait)}, "finish expired review_expired"},
		{"not sound", Story{Told: at(2).Told}, held, "look  "},
	} {
		n := Resume(c.s, c.f)
		if got := fmt.Sprintf("%s %s %s", n.Do, n.To, n.Reason); got != c.want || n.Why == "" {
			t.Errorf("%s: %s: %s; want %s", c.name, got, n.Why, c.want)
		}
	}
}

func TestEndWaitExpire(t *testing.T) {
	t.Parallel()
	s := newSim()
	o, err := Run(t.Context(), s.world("run-1"), Limits{Wait: 48 * time.Hour}, whole(), began(t, s.now))
	if err != nil || o.Phase != Waiting {
		t.Fatal(o.Phase, err)
	}
	if _, err := Expire(o, "run-2", dawn.Add(47*time.Hour)); err == nil || !strings.Contains(err.Error(), "it had until 2026-03-04T09:00:00.000Z") {
		t.Errorf("expired too early: %v", err)
	}
	for r, want := range map[Reason]string{Merged: "complete", Rejected: "cancelled", CancelledByPerson: "cancelled", Superseded: "cancelled", RefMoved: "postmortem", Landed: "", Noop: ""} {
		end, err := End(o, o.ID, dawn.Add(time.Hour), r, "so\nit is")
		if (err != nil) != (want == "") || err == nil && (string(end.Phase) != want || end.Last().Note != "so it is") {
			t.Errorf("%s: %s, %v", r, end.Phase, err)
		}
	}
	end, err := Expire(o, "run-2", dawn.Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := End(end, "run-3", dawn, Merged, ""); err == nil || !strings.Contains(err.Error(), "nothing follows an ending") {
		t.Errorf("a second ending: %v", err)
	}
	if _, err := Wait(end, "run-3", dawn, Limits{}, HeldMoved, ""); err == nil {
		t.Error("waits after its ending")
	}
	s.add(end.Record())
	story, _ := s.story(t)
	if d := cmp.Diff(long+" waiting expired (review_expired)", taken(story)); d != "" {
		t.Error(d)
	}
}
