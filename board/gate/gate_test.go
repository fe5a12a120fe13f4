package gate

import (
	"slices"
	"strings"
	"testing"
)

// The whole square: every gate from every stance to every target.
func TestNextIsTheTable(t *testing.T) {
	t.Parallel()
	want := map[Gate]map[Stance]string{
		Framing:        {Sensemaking: "sensemaking discovery", Discovery: "sensemaking discovery", Execution: "sensemaking discovery", Evaluation: "sensemaking discovery"},
		Commitment:     {Sensemaking: "execution", Discovery: "execution", Execution: "execution", Evaluation: "execution"},
		EvaluationGate: {Sensemaking: "evaluation", Discovery: "evaluation", Execution: "evaluation", Evaluation: "sensemaking execution"},
		Emergency:      {Sensemaking: "sensemaking", Discovery: "sensemaking", Execution: "sensemaking", Evaluation: "sensemaking"},
	}
	defaults := map[Gate]Stance{Framing: Sensemaking, Commitment: Execution, EvaluationGate: Evaluation, Emergency: Sensemaking}
	for _, g := range Gates() {
		for _, from := range Stances() {
			allowed := strings.Fields(want[g][from])
			for _, to := range append(Stances(), "", "elsewhere") {
				target := to
				if to == "" {
					target = defaults[g]
				}
				got, err := stanceAfter(from, g, to)
				if ok := slices.Contains(allowed, string(target)); ok != (err == nil) || ok && got != target || !ok && got != "" {
					t.Errorf("Next(%s, %s, %q) = %q, %v; allowed are %v", from, g, to, got, err, allowed)
				}
			}
		}
	}
}

func TestNextSaysTheWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from Stance
		g    Gate
		to   Stance
		want string
	}{
		{Evaluation, EvaluationGate, "", "the evaluation gate from evaluation leads to sensemaking or execution; say which with --to"},
		{Execution, Commitment, Discovery, "the commitment gate from execution leads to execution, not to discovery"},
		{Execution, "evalution", "", `unknown gate "evalution"; did you mean "evaluation"?`},
		{"dreaming", Framing, "", `unknown stance "dreaming"; one of sensemaking, discovery, execution, evaluation`},
		{Execution, Framing, "discovry", `unknown stance "discovry"; did you mean "discovery"?`},
	} {
		if _, err := stanceAfter(c.from, c.g, c.to); err == nil || err.Error() != c.want {
			t.Errorf("Next(%s, %s, %q): %v, want %s", c.from, c.g, c.to, err, c.want)
		}
	}
}

func TestKindsOfAStance(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, s := range Stances() {
		for _, k := range Kinds(s) {
			seen[k]++
			if want := s == Sensemaking || s == Discovery; Explores(k) != want {
				t.Errorf("Explores(%s) = %v in %s", k, Explores(k), s)
			}
		}
	}
	for _, k := range []string{"research", "question", "audit"} {
		if seen[k] != 2 {
			t.Errorf("%s is in %d stances, want sensemaking and discovery", k, seen[k])
		}
	}
	if len(seen) != 16 || Kinds("elsewhere") != nil || Explores("implement") || Explores("") {
		t.Errorf("kinds = %v", seen)
	}
}
