package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// abandon is the next process: it reads the ledger and ends what it finds at work.
func (s *sim) abandon(t testing.TB) Story {
	t.Helper()
	s.dead, s.dieAt = false, 0
	story, ok := s.story(t)
	if !ok {
		return story // it died before its first record: there is no op
	}
	o, ok, err := Abandon(story, "run-5", s.now, "its run died")
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		s.add(o.Record())
		story, _ = s.story(t)
	}
	return story
}

// crash runs an op in a process that dies at a tick.
func crash(t testing.TB, steps Steps, tick int) *sim {
	s := newSim()
	s.dieAt = tick
	process(func() { s.run(t, Limits{}, steps) })
	return s
}

// TestACrashAnywhere kills a run at every tick, at work and before and after each
// record. Whatever happens, the op ends once or waits.
func TestACrashAnywhere(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]func() Steps{"to waiting": whole, "landing": landing, "straight": straight} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := range crash(t, steps(), 0).ticks {
				s := crash(t, steps(), k+1)
				s.now = s.now.Add(time.Hour)
				s.abandon(t)
				s.abandon(t)
				s.once(t, fmt.Sprintf("died at %d", k+1))
			}
		})
	}
}

// once reports an op that did not end once.
func (s *sim) once(t *testing.T, when string) {
	t.Helper()
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

func TestAbandon(t *testing.T) {
	t.Parallel()
	s := newSim()
	s.run(t, Limits{}, landing())
	all, _ := s.story(t)
	seen := map[string]bool{}
	for n := range all.Told {
		at := Story{Told: all.Told[:n+1], Sound: true}
		was := at.Op()
		want := Cancelled
		if was.mayHaveMoved() {
			want = Postmortem
		}
		o, ok, err := Abandon(at, "run-2", dawn.Add(time.Hour), "its run died")
		switch {
		case err != nil, ok == was.Ended(), ok && (o.Phase != want || o.Reason != Abandoned):
			t.Errorf("after %s: %s for %s, %v, %v; want %s", was.Last().To, o.Phase, o.Reason, ok, err, want)
		}
		seen[string(o.Phase)] = true
		at.Sound = false
		if o, ok, err := Abandon(at, "run-2", dawn, ""); ok || err != nil || o.Phase != was.Phase {
			t.Errorf("an unsound story got an ending: %s, %v", o.Phase, err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("ended as %v only", seen)
	}
}

func TestEndWaitExpire(t *testing.T) {
	t.Parallel()
	s := newSim()
	o := s.run(t, Limits{Wait: 48 * time.Hour}, whole())
	if o.Phase != Waiting {
		t.Fatal(o.Phase)
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
	s.add(end.Record())
	story, _ := s.story(t)
	if d := cmp.Diff(long+" waiting expired (review_expired)", taken(story)); d != "" {
		t.Error(d)
	}
}
