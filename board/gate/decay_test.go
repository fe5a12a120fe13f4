package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newSigns(change ...func(*Signs)) Signs {
	s := Signs{Now: nine, Act: "G-0002",
		File: File{Lease: Lease{ID: "L-0003", State: Active, ActivatedAt: nine.Add(-24 * time.Hour), ExpiresAt: nine.Add(24 * time.Hour),
			MaxTasks: 20, Budget: 5_000_000, Milestone: []string{"tasks/ship"}}},
		Verdict: Verdict{Valid: true, Remaining: 24 * time.Hour, Tasks: 20, Budget: 5_000_000}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func withCode(code string) func(*Signs) { return func(s *Signs) { s.Verdict = Verdict{Code: code} } }

func withState(st State) func(*Signs) { return func(s *Signs) { s.File.Lease.State = st } }

func TestDecay(t *testing.T) {
	t.Parallel()
	const expires = "L-0003:2026-07-02T09:00:00Z"
	for _, c := range []struct {
		name  string
		signs Signs
		want  []string // source gate severity key
	}{
		{"nothing", newSigns(), nil},
		{"leases off", Signs{Now: nine}, nil},
		{"expired", newSigns(withCode("time_expired")), []string{"decay_manager evaluation high lease-expired:" + expires}},
		{"a draft expired", newSigns(withCode("time_expired"), withState(Draft)), []string{"decay_manager framing high lease-expired:" + expires}},
		{"a fresh draft", newSigns(withState(Draft), func(s *Signs) { s.File.Lease.ActivatedAt = time.Time{} }), nil},
		{"no task left", newSigns(withCode("tasks_exhausted")), []string{"decay_manager evaluation high lease-expired:" + expires}},
		{"no money left", newSigns(withCode("budget_exhausted")), []string{"decay_manager evaluation high lease-expired:" + expires}},
		{"expired and evaluated", newSigns(withCode("time_expired"), withState(Expired)), nil},
		{"milestone", newSigns(withCode("milestone_reached")), []string{"decay_manager evaluation medium milestone:" + expires}},
		{"a fifth of the time", newSigns(func(s *Signs) { s.Verdict.Remaining = 48 * time.Hour / 5 }), []string{"decay_manager evaluation low lease-ending:" + expires}},
		{"more than a fifth of the time", newSigns(func(s *Signs) { s.Verdict.Remaining = 48*time.Hour/5 + 1 }), nil},
		{"a fifth of the tasks", newSigns(func(s *Signs) { s.Verdict.Tasks = 4 }), []string{"decay_manager evaluation low lease-ending:" + expires}},
		{"more than a fifth of the tasks", newSigns(func(s *Signs) { s.Verdict.Tasks = 5 }), nil},
		{"a fifth of the money", newSigns(func(s *Signs) { s.Verdict.Budget = 1_000_000 }), []string{"decay_manager evaluation low lease-ending:" + expires}},
		{"more than a fifth of the money", newSigns(func(s *Signs) { s.Verdict.Budget = 1_000_001 }), nil},
		{"no money of its own", newSigns(func(s *Signs) { s.File.Lease.Budget, s.Verdict.Budget = 0, 0 }), nil},
		{"all of it short", newSigns(func(s *Signs) { s.Verdict = Verdict{Valid: true} }), []string{"decay_manager evaluation low lease-ending:" + expires}},
		{"little left of a dead lease", newSigns(withCode("stance_mismatch")), nil},
		{"nine silent tasks", newSigns(func(s *Signs) { s.SinceProgress = 9 }), nil},
		{"ten silent tasks", newSigns(func(s *Signs) { s.SinceProgress, s.Progress = 10, "run-7" }), []string{"decay_manager evaluation medium progress-silent:run-7"}},
		{"stale", newSigns(func(s *Signs) { s.Stale = []string{"terms/b", "terms/a"} }), []string{"decay_manager evaluation low stale-atoms#" + Digest([]string{"terms/a", "terms/b"})}},
		{"sources", newSigns(func(s *Signs) { s.Lost = []string{"terms/a"} }), []string{"decay_manager evaluation low lost-sources#" + Digest([]string{"terms/a"})}},
		{"rejected once", newSigns(func(s *Signs) { s.Rejected = map[string]int{"tasks/a": 1} }), nil},
		{"rejected twice, blocked thrice", newSigns(func(s *Signs) {
			s.Rejected, s.Blocked = map[string]int{"tasks/b": 2, "tasks/a": 2}, map[string]int{"tasks/a": 3, "tasks/c": 1}
		}), []string{"decay_manager framing medium rejected:tasks/a#2", "decay_manager framing medium rejected:tasks/b#2", "decay_manager framing medium blocked:tasks/a#3"}},
		{"two failures", newSigns(func(s *Signs) { s.Failures = 2 }), nil},
		{"three failures", newSigns(func(s *Signs) { s.Failures, s.Failing = 3, "run-5" }), []string{"continuous_eval evaluation high failures:run-5"}},
		{"nine refusals", newSigns(func(s *Signs) { s.Refused = 9 }), nil},
		{"ten refusals", newSigns(func(s *Signs) { s.Refused = 10 }), []string{"decay_manager evaluation low nudge:G-0002"}},
		{"ten refusals of a draft", newSigns(withState(Draft), func(s *Signs) { s.Refused = 10 }), []string{"decay_manager commitment low nudge:G-0002"}},
		{"ten refusals without a lease", Signs{Now: nine, Refused: 12}, []string{"decay_manager framing low nudge:"}},
		{"due", newSigns(func(s *Signs) { s.Due = []string{"D-0001 since 2026-06-30"} }), []string{"decay_manager evaluation low decisions-due#" + Digest([]string{"D-0001 since 2026-06-30"})}},
		{"the gravest first", newSigns(withCode("time_expired"), func(s *Signs) {
			s.Due, s.Failures, s.Failing, s.SinceProgress = []string{"D-0001"}, 3, "run-5", 10
		}), []string{
			"decay_manager evaluation high lease-expired:" + expires, "continuous_eval evaluation high failures:run-5",
			"decay_manager evaluation medium progress-silent:", "decay_manager evaluation low decisions-due#" + Digest([]string{"D-0001"}),
		}},
	} {
		var got []string
		for _, p := range Decay(c.signs) {
			got = append(got, fmt.Sprint(p.Source, " ", p.Gate, " ", p.Severity, " ", p.Key))
			if p.Lease != c.signs.File.Lease.ID || !p.TS.Equal(nine) || p.ID != "" {
				t.Errorf("%s: %+v", c.name, p)
			}
			if p.ID = "P-1"; p.checkProposal() != nil {
				t.Errorf("%s: %v", c.name, p.checkProposal())
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(Decay(c.signs), Decay(c.signs)); diff != "" {
			t.Errorf("%s: not the same again: %s", c.name, diff)
		}
	}
}

func TestDecayReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signs Signs
		want  string
	}{
		{newSigns(withCode("time_expired")), "lease L-0003 expired at 2026-07-02T09:00:00Z; look at the results, then prolong it (odd gate commitment --renew) or end it (odd gate evaluation --release)"},
		{newSigns(withCode("milestone_reached")), "lease L-0003 reached its milestone: tasks/ship"},
		{newSigns(func(s *Signs) { s.Verdict = Verdict{Valid: true, Remaining: time.Hour, Tasks: 1, Budget: 10_000} }), "lease L-0003 nears its end: 1h0m0s, 1 of 20 tasks, $0.01 of $5.00 left"},
		{newSigns(func(s *Signs) { s.Stale = []string{"d", "c", "b", "a"} }), "4 atoms are past stale_after: a, b, c, and 1 more"},
		{newSigns(func(s *Signs) { s.Due = []string{"D-0001"} }), "1 decision is to be looked at again: D-0001"},
		{newSigns(func(s *Signs) { s.Stale = []string{strings.Repeat("x", 600) + "\x1b"} }), "1 atom is past stale_after: " + strings.Repeat("x", 500-len("1 atom is past stale_after: "))},
	} {
		if got := Decay(c.signs)[0].Reason; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// decide is one decay as a drain does it: what was not said yet is appended.
func decide(t *testing.T, file []byte, s Signs) ([]byte, int) {
	t.Helper()
	b := read(t, file)
	ps := b.Unheard(Decay(s))
	for i := range ps {
		ps[i].Run = "run-1"
	}
	file, done, err := b.AppendAll(file, ps, MaxPerDrain)
	if err != nil {
		t.Fatal(err)
	}
	return file, len(done)
}

// disposeAll rejects what is open.
func disposeAll(t *testing.T, file []byte) []byte {
	t.Helper()
	b := read(t, file)
	for _, p := range b.Open() {
		next, err := b.AppendDisposition(file, Disposition{ID: p.ID, TS: nine, By: "human:ann@example.org", Decision: Rejected, Reason: "known"})
		if err != nil {
			t.Fatal(err)
		}
		file = next
	}
	return file
}

// expiry_proposed_once, and nudge_once: not again while open, nor after a person
// has turned it down, but again when a renewal, or a gate act, made it new.
func TestDecayOnce(t *testing.T) {
	t.Parallel()
	renewed := func(s *Signs) { s.File.Lease.ExpiresAt = nine.Add(72 * time.Hour) }
	refused := func(act string) func(*Signs) { return func(s *Signs) { s.Refused, s.Act = 11, act } }
	stale := func(ids ...string) func(*Signs) { return func(s *Signs) { s.Stale = ids } }
	for _, c := range []struct {
		name            string
		sign, next      Signs
		whileOpen, then int // how often next is said while the sign is open, and after it was turned down
	}{
		{"expiry", newSigns(withCode("time_expired")), newSigns(withCode("tasks_exhausted")), 0, 0},
		{"expiry after a renewal", newSigns(withCode("time_expired")), newSigns(withCode("time_expired"), renewed), 1, 1},
		{"nudge", newSigns(refused("G-0002")), newSigns(refused("G-0002")), 0, 0},
		{"nudge after a gate", newSigns(refused("G-0002")), newSigns(refused("G-0003")), 1, 1},
		{"another atom stale", newSigns(stale("a")), newSigns(stale("a", "b")), 0, 1},
	} {
		file, n := decide(t, nil, c.sign)
		if n != 1 {
			t.Fatalf("%s: said %d times at first", c.name, n)
		}
		for range 3 {
			if _, n := decide(t, file, c.sign); n != 0 {
				t.Errorf("%s: said again while open", c.name)
			}
		}
		if _, n := decide(t, file, c.next); n != c.whileOpen {
			t.Errorf("%s: changed and open, said %d times", c.name, n)
		}
		file = disposeAll(t, file)
		if _, n := decide(t, file, c.sign); n != 0 {
			t.Errorf("%s: said again after it was turned down", c.name)
		}
		if _, n := decide(t, file, c.next); n != c.then {
			t.Errorf("%s: changed, said %d times", c.name, n)
		}
	}
}
