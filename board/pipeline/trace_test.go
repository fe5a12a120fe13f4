package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func usd(n int64) string { return fmt.Sprintf("%.3f", float64(n)/1e6) }

// traced is a story that took its time, and one that failed for the same task.
func traced(t *testing.T) []Story {
	t.Helper()
	s := newSim()
	steps := whole()
	steps[Plan] = func(context.Context, Op) (Out, error) {
		s.now = s.now.Add(1500 * time.Millisecond)
		return Out{Next: Generate, Note: "two files, tests first"}, nil
	}
	s.run(t, Limits{}, steps)
	o, err := Begin("op-02", "tasks/tidy", "run-2", s.now, Limits{}, map[string]string{FactSignal: "proposal p-1"})
	if err != nil {
		t.Fatal(err)
	}
	steps[Classify] = func(context.Context, Op) (Out, error) {
		s.now = s.now.Add(time.Second)
		return Out{Reason: RuleRefused, Note: "no\u202Esuch\tpath"}, nil
	}
	Run(t.Context(), s.world("run-2", steps), Limits{}, o)
	stories, problems := ReadOps(s.records(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return stories
}

func TestTheTreeFromSignalToCommit(t *testing.T) {
	t.Parallel()
	stories := traced(t)
	got := Render(slices.Concat(Trace(stories[0]), Trace(stories[1])), usd)
	want := strings.TrimPrefix(`
signal proposal p-1
└─ task tasks/tidy
   └─ claim run-2
      └─ op op-02  1s  blocked: rule_refused
         └─ classify  1s  nosuch path
signal proposal p-1
└─ task tasks/tidy
   └─ claim run-1
      └─ op op-01  $0.020  in waiting
         ├─ classify
         ├─ route
         ├─ expand
         ├─ plan  1.5s  two files, tests first
         ├─ generate  no fence
         ├─ generate again  $0.018
         ├─ validate
         ├─ repair  $0.001
         ├─ validate
         ├─ gate  $0.001
         ├─ approve
         ├─ apply
         │  └─ commit p1  refs/heads/odd/review/tidy.1
         ├─ verify
         └─ waiting
`, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
