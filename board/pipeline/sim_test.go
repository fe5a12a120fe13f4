package pipeline

import (
	"bytes"
	"context"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/event"
)

const (
	branch = "refs/heads/odd/review/tidy.1"
	target = "refs/heads/main"
)

var dawn = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// sim is a world in memory: a clock that only the test moves, and ledgers. It dies at
// one of its ticks, as a process does: whatever calls it then is gone.
type sim struct {
	now   time.Time
	files map[string][]byte // a ledger a run
	ticks int
	dieAt int // 0 for never
	dead  bool
}

func newSim() *sim { return &sim{now: dawn, files: map[string][]byte{}} }

// tick is a place where the process may die.
func (s *sim) tick() {
	s.ticks++
	if s.ticks == s.dieAt {
		s.dead = true
	}
	if s.dead {
		runtime.Goexit()
	}
}

func (s *sim) world(run string, w Steps) World {
	return World{
		Run: run, Now: func() time.Time { return s.now },
		Work: func(ctx context.Context, o Op) (Out, error) {
			s.tick()
			return w[o.Phase](ctx, o)
		},
		Keep: func(o Op) {
			s.tick()
			s.add(o.Record())
			s.tick()
		},
	}
}

// run takes an op of run-1 through these steps.
func (s *sim) run(t testing.TB, l Limits, w Steps) Op {
	t.Helper()
	o, err := Begin("op-01", "tasks/tidy", "run-1", s.now, l, map[string]string{FactBase: "t0", FactSignal: "proposal p-1"})
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), s.world("run-1", w), l, o)
}

// add appends a record to its run's ledger.
func (s *sim) add(r event.Record) {
	f := s.files[r.Run]
	r.Seq = 1 + bytes.Count(f, []byte("\n"))
	b, err := event.Append(f, r)
	if err != nil {
		panic(err)
	}
	s.files[r.Run] = b
}

// records are those of all ledgers, the last run's first: ReadOps finds the order.
func (s *sim) records(t testing.TB) []event.Record {
	t.Helper()
	var out []event.Record
	for _, run := range slices.Backward(slices.Sorted(maps.Keys(s.files))) {
		all, err := event.Read(s.files[run])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, all...)
	}
	return out
}

// story is the one story of the ledger, without a problem; ok is false for an empty ledger.
func (s *sim) story(t testing.TB) (Story, bool) {
	t.Helper()
	stories, problems := ReadOps(s.records(t))
	for _, p := range problems {
		t.Error(p)
	}
	if len(stories) == 0 {
		return Story{}, false
	}
	if len(stories) != 1 || !stories[0].Sound {
		t.Fatalf("%d stories, the first sound: %v", len(stories), stories[0].Sound)
	}
	return stories[0], true
}

// process runs f as a process: it comes back when f returns or has died.
func process(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	<-done
}

// Work is the work of one phase, Steps that of all.
type (
	Work  func(context.Context, Op) (Out, error)
	Steps map[Phase]Work
)

func goTo(p Phase) Work { return func(context.Context, Op) (Out, error) { return Out{Next: p}, nil } }

func setting(p Phase, facts ...string) Work {
	set := map[string]string{}
	for i := 0; i < len(facts); i += 2 {
		set[facts[i]] = facts[i+1]
	}
	return func(context.Context, Op) (Out, error) { return Out{Next: p, Set: set, Spent: 1000}, nil }
}

// whole are steps that go through every phase, with a retry and a repair, to Waiting.
func whole() Steps {
	return Steps{
		Classify: goTo(Route), Route: goTo(Expand), Expand: goTo(Plan), Plan: goTo(Generate),
		Generate: func(_ context.Context, o Op) (Out, error) {
			if o.Tries == 1 {
				return Out{Next: Generate, Note: "no fence"}, nil
			}
			return Out{Next: Validate, Set: map[string]string{FactCandidate: "c1"}, Spent: 18_000}, nil
		},
		Validate: func(_ context.Context, o Op) (Out, error) {
			if o.Repairs == 0 {
				return Out{Next: Repair}, nil
			}
			return Out{Next: Gate}, nil
		},
		Repair: setting(Validate, FactCandidate, "c2"),
		Gate:   setting(Approve, FactRules, "r1", FactTier, "APPROVAL_REQUIRED"), Approve: goTo(Apply),
		Apply: func(context.Context, Op) (Out, error) {
			return Out{Next: Verify, Moved: Effect{Ref: branch, New: "p1"}}, nil
		},
		Verify: goTo(Waiting),
	}
}

// landing are steps that land by themselves.
func landing() Steps {
	s := whole()
	s[Gate] = setting(Approve, FactRules, "r1", FactTier, "SAFE_AUTO")
	s[Verify] = func(context.Context, Op) (Out, error) {
		return Out{Reason: Landed, Moved: Effect{Ref: target, Old: "t0", New: "p1"}}, nil
	}
	return s
}

// straight are steps that land by themselves, by the shortest way.
func straight() Steps {
	s := landing()
	s[Route], s[Generate], s[Validate] = goTo(Generate), setting(Validate, FactCandidate, "c1"), goTo(Gate)
	return s
}
