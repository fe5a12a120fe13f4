package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// saying is a report as its checks would make it: "" passes, else a class and what
// failed, "test:a,b" or "env:disk".
func saying(class string) Report {
	class, ids, _ := strings.Cut(class, ":")
	r := Report{Want: []Check{{Name: "check"}}, Done: true}
	ran := Ran{Check: r.Want[0], Done: true, Exit: 1}
	var out strings.Builder
	for _, id := range strings.Split(ids, ",") {
		switch class {
		case "test":
			fmt.Fprintf(&out, "--- FAIL: %s (0.00s)\n", id)
		case "syntax":
			fmt.Fprintf(&out, "a.go:1:1: %s\n", id)
		case "env":
			out.WriteString(map[string]string{"disk": "write /x: no space left on device\n", "module": "no required module provides package x.org/y; to add it:\n"}[id])
		}
	}
	switch class {
	case "":
		ran.Exit = 0
	case "test":
		out.WriteString("FAIL\tm\t0.00s\n")
	}
	ran.Output = []byte(out.String())
	r.Ran = []Ran{ran}
	return r
}

// turn is one iteration of a script: what is generated, what the checks say of it.
type turn struct {
	text string        // content of a.go; "" is what the checks are run on again
	says string        // see saying
	took time.Duration // of the run
	do   func(*answer) error
	run  error
}

// answer is what is generated.
type answer struct {
	files []Edit
	out   Out
}

// play is a Repairer that follows a script and says what it was asked for.
func play(s *sim, script []turn) (*Repairer, *[]string) {
	var asked []string
	next := func() turn {
		if len(script) == 0 {
			panic("the script is over")
		}
		return script[0]
	}
	r := &Repairer{Timebox: 2 * time.Minute, Now: func() time.Time { return s.now }, Files: []Edit{{Path: "a.go", Before: []byte("0"), After: []byte("1"), OldMode: modePlain, NewMode: modePlain}}}
	r.Generate = func(_ context.Context, f Failure) ([]Edit, Out, error) {
		asked = append(asked, f.String())
		a := answer{[]Edit{{Path: "a.go", Before: []byte("0"), After: []byte(next().text), OldMode: modePlain, NewMode: modePlain}}, Out{Spent: 10, Set: map[string]string{FactCandidate: "t" + next().text}}}
		var err error
		if next().do != nil {
			err = next().do(&a)
		}
		return a.files, a.out, err
	}
	r.Run = func(context.Context) (Report, error) {
		t := next()
		if text := string(r.Files[0].After); t.text != "" && t.text != text {
			panic("the checks ran on " + text)
		}
		script = script[1:]
		s.now = s.now.Add(t.took)
		return saying(t.says), t.run
	}
	return r, &asked
}

// repaired runs a whole op whose repair follows the script, and counts the iterations
// that it records.
func repaired(t testing.TB, l Limits, script []turn) (Story, int, []string) {
	t.Helper()
	s := newSim()
	r, asked := play(s, script)
	steps := whole()
	steps[Repair] = r.Work
	o := s.run(t, l, steps)
	n := 0
	for n < len(iterationFacts) && o.Fact(iterationFacts[n]) != "" {
		n++
	}
	story, _ := s.story(t)
	return story, n, *asked
}

// TestEveryStop reaches each reason to stop through a whole op.
func TestEveryStop(t *testing.T) {
	t.Parallel()
	test := func(text, ids string) turn { return turn{text: text, says: "test:" + ids} }
	short := Limits{Op: time.Second, Session: time.Second, Checks: 5 * time.Second}
	stop := Out{Reason: CostCapExceeded, Note: "3 of 3 cents", Spent: 5}
	tests := []struct {
		name   string
		l      Limits
		script []turn
		want   string // reason of the op and its note's beginning
		its    int
	}{
		{name: "deadline_budget_exhausted", l: short, want: "repair_stopped deadline_budget_exhausted"},
		{name: "timebox_exhausted", script: []turn{{says: "test:a,b", took: 70 * time.Second}, {text: "2", says: "test:a", took: 70 * time.Second}},
			want: "repair_stopped timebox_exhausted; test: m.a", its: 2},
		{name: "max_iterations_exhausted", script: []turn{{says: "syntax:a,b"}, {text: "2", says: "syntax:a"}, test("3", "a,b,c"), test("4", "a,b"), test("5", "a")},
			want: "repair_stopped max_iterations_exhausted; test: m.a", its: 5},
		{name: "generate_error", script: []turn{{says: "test:a"}, {do: func(*answer) error { return fmt.Errorf("asking: %w", context.DeadlineExceeded) }}},
			want: "repair_stopped generate_error: asking: context deadline exceeded", its: 2},
		{name: "generate_error for its own reason", script: []turn{{says: "test:a"}, {do: func(a *answer) error { a.out = stop; return nil }}},
			want: "cost_cap_exceeded 3 of 3 cents", its: 2},
		{name: "candidate_unusable, a file is missing", script: []turn{{says: "test:a"}, {text: "2", do: func(a *answer) error { a.files[0].Path = "b.go"; return nil }}},
			want: "repair_stopped candidate_unusable: a.go is missing; a repair delivers every file of the change, changed or not", its: 2},
		{name: "sandbox_infra_error", script: []turn{{run: errors.New("no room")}}, want: "repair_stopped sandbox_infra_error: no room", its: 1},
		{name: "non_retryable_env", script: []turn{{says: "test:a"}, {text: "2", says: "env:module"}},
			want: "repair_stopped non_retryable_env:module; env (module): check: exit 1", its: 2},
		{name: "non_retryable_env, the second time", script: []turn{{says: "env:disk"}, {says: "env:disk"}},
			want: "repair_stopped non_retryable_env:resource; env (resource): check: exit 1", its: 2},
		{name: "oscillation_detected", script: []turn{test("", "a"), test("2", "b"), test("1", "a")},
			want: "repair_stopped oscillation_detected; test: m.a", its: 3},
		{name: "no_progress_streak", script: []turn{test("", "a"), test("2", "b"), test("3", "c")},
			want: "repair_stopped no_progress_streak; test: m.c", its: 3},
	}
	reached := map[StopReason]bool{}
	for _, tt := range tests {
		story, its, _ := repaired(t, tt.l, tt.script)
		o := story.Op()
		if got := string(o.Reason) + " " + o.Last().Note; got != tt.want || o.Phase != FailedPermanent {
			t.Errorf("%s: %s %s\nwant %s", tt.name, o.Phase, got, tt.want)
		}
		if its != tt.its {
			t.Errorf("%s: %d iterations, want %d", tt.name, its, tt.its)
		}
		code, _, _ := strings.Cut(tt.name, ",")
		code, _, _ = strings.Cut(code, " ")
		reached[StopReason(code)] = true
	}
	for _, code := range stopReasons() {
		if !reached[code] {
			t.Errorf("nothing stops for %s", code)
		}
	}
}

// TestRepairs are repairs that end well.
func TestRepairs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script []turn
		path   string
		asked  []string
		tree   string
	}{
		{"a flake: the same bytes pass at the second look", []turn{{}}, "repair validate gate", nil, "c1"},
		{"the second iteration", []turn{{says: "test:a,b"}, {text: "2"}}, "repair repair validate gate", []string{"test: m.a, m.b"}, "t2"},
		{"from syntax to tests to well", []turn{{says: "syntax:a"}, {text: "2", says: "test:a,b,c"}, {text: "3", says: "test:c"}, {text: "4"}},
			"repair repair repair repair validate gate", []string{"syntax: a.go: a", "test: m.a, m.b, m.c", "test: m.c"}, "t4"},
		{"a disk that was full for a moment", []turn{{says: "env:disk"}, {says: "test:a"}, {text: "3"}},
			"repair repair repair validate gate", []string{"test: m.a"}, "t3"},
		{"one step without progress", []turn{{says: "test:a"}, {text: "2", says: "test:a,b"}, {text: "3", says: "test:a"}, {text: "4"}},
			"repair repair repair repair validate gate", []string{"test: m.a", "test: m.a, m.b", "test: m.a"}, "t4"},
	}
	for _, tt := range tests {
		story, its, asked := repaired(t, Limits{}, tt.script)
		if got := taken(story); !strings.Contains(got, " validate "+tt.path+" ") {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.path)
		}
		if d := cmp.Diff(tt.asked, asked); d != "" || its != len(tt.script) {
			t.Errorf("%s: asked (-want +got)\n%s%d", tt.name, d, its)
		}
		if got := story.Op().Fact(FactCandidate); got != tt.tree {
			t.Errorf("%s: the candidate is %s, want %s", tt.name, got, tt.tree)
		}
	}
}

// TestSteady: what would fail the same again is not run again as it is.
func TestSteady(t *testing.T) {
	t.Parallel()
	s := newSim()
	r, asked := play(s, []turn{{text: "2"}})
	r.Last = &Failure{Class: ClassTest, Steady: true, IDs: []string{"check: timeout"}}
	op := Op{ID: "op-01", Phase: Repair, Until: s.now.Add(time.Hour)}
	if out, err := r.Work(t.Context(), op); err != nil || out.Next != Validate {
		t.Errorf("%+v, %v", out, err)
	}
	if d := cmp.Diff([]string{"test: check: timeout"}, *asked); d != "" {
		t.Error(d)
	}
}

// TestRepairAlwaysEnds: whatever is generated and whatever the checks do, a
// repair ends within its limits, and never passes on a fault.
func TestRepairAlwaysEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newSim()
		passed, entries, runs := false, 0, 0
		r := &Repairer{Timebox: 2 * time.Minute, Now: func() time.Time { return s.now }, Files: []Edit{{Path: "a.go", After: []byte("1"), NewMode: modePlain}}}
		r.Generate = func(context.Context, Failure) ([]Edit, Out, error) {
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 70).Draw(rt, "generating")) * time.Second)
			files := []Edit{{Path: "a.go", After: []byte(rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(rt, "text")), NewMode: modePlain}}
			out := Out{Spent: 1, Set: map[string]string{FactCandidate: "t"}}
			switch rapid.IntRange(0, 30).Draw(rt, "generated") {
			case 0:
				return nil, Out{}, errors.New("no")
			case 1:
				panic("generate")
			case 2:
				out = Out{Reason: CostCapExceeded, Note: "no"}
			}
			return files, out, nil
		}
		r.Run = func(context.Context) (Report, error) {
			runs++
			passed = false
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "running")) * time.Second)
			says := rapid.SampledFrom([]string{"test:a", "test:a,b", "test:a,b,c", "test:b", "syntax:a", "syntax:a,b", "env:disk", "env:module", ""}).Draw(rt, "says")
			switch rapid.IntRange(0, 30).Draw(rt, "ran") {
			case 0:
				return Report{}, errors.New("no room")
			case 1:
				panic("run")
			case 2:
				return Report{}, nil // nobody went through the checks
			}
			passed = says == ""
			return saying(says), nil
		}
		steps := whole()
		steps[Repair] = func(ctx context.Context, o Op) (Out, error) {
			entries++
			out, err := r.Work(ctx, o)
			if out.Next == Validate && (err != nil || !passed) {
				rt.Fatalf("it passed: %+v, %v", out, err)
			}
			return out, err
		}
		steps[Validate] = func(context.Context, Op) (Out, error) {
			return Out{Next: rapid.SampledFrom([]Phase{Repair, Gate, Repair}).Draw(rt, "validated")}, nil
		}
		steps[Generate] = setting(Validate, FactCandidate, "c1")
		o := s.run(t, Limits{}, steps)
		if !o.Ended() && o.Phase != Waiting || entries > repairIterations+1 || runs > repairIterations {
			rt.Fatalf("%s after %d entries and %d runs", o.Phase, entries, runs)
		}
	})
}
