package gate

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decided makes results a day apart, the last of them now: + is accepted, - rejected.
func decided(kinds string, marks string) (out []Result) {
	for i, m := range marks {
		out = append(out, Result{Task: fmt.Sprint("t", i), Kind: kinds, At: nine.Add(time.Duration(i-len(marks)+1) * 24 * time.Hour), Accepted: m == '+', Goal: true})
	}
	return out
}

func works(kind string, n int) (out []Work) {
	for i := range n {
		out = append(out, Work{ID: fmt.Sprint(kind, i), Kind: kind})
	}
	return out
}

func TestPerceive(t *testing.T) {
	t.Parallel()
	times := []time.Time{nine.Add(-20 * 24 * time.Hour), nine.Add(-3 * time.Hour), nine.Add(-2 * time.Hour), nine.Add(-time.Hour)}
	at := func(st Stance, l Lately) Signs {
		return newSigns(func(s *Signs) { s.File.Stance, s.Lately = st, l })
	}
	all := func(string) bool { return true }
	noGoal := decided("fix", "+++++")
	for i := range 3 {
		noGoal[i].Goal = false
	}
	for _, c := range []struct {
		name  string
		signs Signs
		want  []string // gate severity confidence key
	}{
		{"nothing", at(Execution, Lately{}), nil},
		{"four results", at(Execution, Lately{Results: decided("fix", "----")}), nil},
		{"half rejected", at(Execution, Lately{Results: decided("fix", "+-+-+-")}), []string{"evaluation medium medium drifting#2026-07-01T09:00:00Z"}},
		{"less than half rejected", at(Execution, Lately{Results: decided("fix", "+-+-+")}), nil},
		{"long ago", at(Execution, Lately{Results: decided("fix", "-----+++++++++++++++")[:5]}), nil},
		{"four in review", at(Execution, Lately{Review: []string{"a", "b", "c", "d"}, ReviewFrom: nine.Add(-9 * day)}), nil},
		{"five in review for a week", at(Execution, Lately{Review: []string{"a", "b", "c", "d", "e"}, ReviewFrom: nine.Add(-7 * day)}), []string{"evaluation medium medium pacing#a"}},
		{"two held back", at(Evaluation, Lately{Ready: works("fix", 2)}), nil},
		{"three held back", at(Evaluation, Lately{Ready: works("fix", 3)}), []string{"commitment low low stance#" + Digest([]string{"fix0", "fix1", "fix2"})}},
		{"some run", at(Evaluation, Lately{Ready: append(works("fix", 3), works("audit", 1)...)}), []string{"commitment low low stance#" + Digest([]string{"fix0", "fix1", "fix2", "audit0"})}},
		{"one runs", at(Execution, Lately{Ready: append(works("audit", 3), works("fix", 1)...)}), nil},
		{"outside", at(Execution, Lately{Ready: works("fix", 4), Outside: []string{"fix0", "fix1", "fix2"}}), []string{"evaluation low low scope#" + Digest([]string{"fix0", "fix1", "fix2"})}},
		{"no goal served", at(Execution, Lately{Results: noGoal, HasGoals: true}), []string{"evaluation low medium tangent#t4"}},
		{"no goals", at(Execution, Lately{Results: noGoal}), nil},
		{"surroundings", at(Execution, Lately{Overrides: times, Outages: times, Limits: times[:3]}), []string{
			"framing low low overrides#2026-07-01T08:00:00Z", "evaluation low low outages#2026-07-01T08:00:00Z"}},
		{"nine accepted", at(Execution, Lately{Results: decided("fix", "-+++++++++")}), nil},
		{"ten accepted", at(Execution, Lately{Results: decided("fix", "-++++++++++")}), []string{"evaluation low high graduate:fix#"}},
		{"ten accepted, and lands alone", at(Execution, Lately{Results: decided("fix", "++++++++++"), LandsAlone: all}), nil},
		{"three rejected of what lands alone", at(Execution, Lately{Results: decided("fix", "+++++++---"), LandsAlone: all}), []string{"evaluation medium low distrust:fix#2026-07-01T09:00:00Z"}},
		{"three rejected", at(Execution, Lately{Results: decided("fix", "+++++++---")}), nil},
	} {
		var got []string
		for _, p := range Decay(c.signs) {
			if p.Source != Perception || p.checkReport() != nil {
				t.Errorf("%s: %+v", c.name, p)
			}
			got = append(got, fmt.Sprint(p.Gate, " ", p.Severity, " ", p.Confidence, " ", p.Key))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: (- want + got)\n%s", c.name, d)
		}
	}
}

// TestReport: the digest counts what is recent, and leaves out zeroes.
func TestReport(t *testing.T) {
	t.Parallel()
	s := newSigns(func(s *Signs) {
		s.LastGate, s.Refused = nine.Add(-49*time.Hour), 2
		s.Lately = Lately{Filed: 3, Results: decided("fix", "--------------+-+")}
	})
	if got, want := ReportLine(s.Report()), "3 filed, 2 accepted, 13 rejected, 2 refused drains, 2 days since gate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for signs, want := range map[string]string{"+": Converging, "+-": "", "+-+-+-": Drifting} {
		if got := newSigns(func(s *Signs) { s.Lately.Results = decided("fix", signs) }).Trajectory(); got != want {
			t.Errorf("%s: %q, want %q", signs, got, want)
		}
	}
	if got := newSigns(func(s *Signs) { s.Failures, s.Lately.Results = 3, decided("fix", "+") }).Trajectory(); got != Stuck {
		t.Errorf("%q, want %q", got, Stuck)
	}
}

// TestLapsed: a mild request expires after 30 days, a grave one and an answered one never.
func TestLapsed(t *testing.T) {
	t.Parallel()
	old := nine.Add(-31 * day)
	b := Buffer{Proposals: []Proposal{
		{ID: "P-1", Severity: Low, TS: old}, {ID: "P-2", Severity: High, TS: old}, {ID: "P-3", Severity: Medium, TS: nine.Add(-30 * day)},
		{ID: "P-4", Severity: Medium, TS: old}, {ID: "P-5", Severity: Low, TS: old},
	}, Dispositions: map[string]Disposition{"P-5": {}}}
	if d := cmp.Diff([]string{"P-1"}, b.findLapsed(nine, []string{"P-4"})); d != "" {
		t.Error(d)
	}
}

// TestStanceCost names what a stance suppresses, and what waits for another.
func TestStanceCost(t *testing.T) {
	t.Parallel()
	for s := range transitions[Framing] {
		if n := len(Suppressed(s)) + len(Kinds(s)); n != 16 {
			t.Errorf("%s: %d kinds", s, n)
		}
	}
	if got, want := StanceCost(Discovery, []string{"b", "a"}), "holds back implement, produce, extract, document, fix, change, review, assess, verify, measure; 2 ready tasks wait for another: a, b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
