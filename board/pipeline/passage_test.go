package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A passage has the time, the money, the note and the commit of its phase.
func TestPassages(t *testing.T) {
	t.Parallel()
	s := newSim()
	steps := whole()
	steps[Plan] = func(context.Context, Op) (Out, error) {
		s.now = s.now.Add(1500 * time.Millisecond)
		return Out{Next: Generate, Note: "two files, tests first"}, nil
	}
	s.run(t, Limits{}, steps)
	stories, problems := ReadOps(s.records(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range Passages(stories[0]) {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %v %d %s %v", p.Phase, p.Elapsed, p.Spent, p.Note, p.Moved), " []"))
	}
	want := strings.Split("classify 0s 0|route 0s 0|expand 0s 0|plan 1.5s 0 two files, tests first|generate 0s 0 no fence|generate 0s 18000|validate 0s 0|repair 0s 1000|validate 0s 0|gate 0s 1000|approve 0s 0|apply 0s 0  [{refs/heads/odd/review/tidy.1  p1}|verify 0s 0|waiting 0s 0", "|")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
