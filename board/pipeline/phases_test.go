package pipeline

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens")

// everywhere is every phase and ending.
func everywhere() []Phase { return append(phases(), endingPhases()...) }

// TestTheWholeSquare tries every move there could be against a picture of those there are.
func TestTheWholeSquare(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, from := range everywhere() {
		fmt.Fprintf(&got, "%-17s", from)
		for _, to := range everywhere() {
			o := Op{ID: "op-1", N: 1, Phase: from, Tries: 1}
			if from.Ends() {
				o.Reason = Noop
			}
			errs := o.checkStep(Step{To: to})
			allowed := !slices.ContainsFunc(errs, func(e error) bool { return strings.Contains(e.Error(), "cannot move") }) && !from.Ends()
			if allowed != slices.Contains(from.Next(), to) {
				t.Errorf("%s → %s: allowed %v, Next says %v", from, to, allowed, from.Next())
			}
			if allowed {
				fmt.Fprintf(&got, " %s", to)
			}
		}
		got.WriteString("\n")
	}
	const golden = "testdata/moves.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), got.String()); d != "" {
		t.Error(d)
	}
}

func TestAnIllegalMoveNamesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	_, err := Op{ID: "op-1", N: 1, Phase: Route}.Advance(Step{To: Apply})
	if want := "op-1: cannot move from route to apply; want one of expand, plan, generate, cancelled, expired, failed_permanent"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestEveryPhaseReachesAnEnding shows that nothing in the table is out of reach,
// and that nothing is stuck.
func TestEveryPhaseReachesAnEnding(t *testing.T) {
	t.Parallel()
	seen := map[Phase]bool{}
	var walk func(Phase)
	walk = func(p Phase) {
		if !seen[p] {
			seen[p] = true
			for _, n := range p.Next() {
				walk(n)
			}
		}
	}
	walk(Classify)
	for _, p := range everywhere() {
		if !seen[p] {
			t.Errorf("%s is out of reach", p)
		}
		if !p.Ends() && len(p.phaseRow().ends) == 0 {
			t.Errorf("%s has no ending", p)
		}
	}
	for _, r := range rows {
		if (r.retries > 0) != slices.Contains(r.next, r.phase) {
			t.Errorf("%s: %d retries, moves to itself: %v", r.phase, r.retries, slices.Contains(r.next, r.phase))
		}
	}
}

// phases lists the phases in their order, Waiting last.
func phases() []Phase {
	out := make([]Phase, len(rows))
	for i, r := range rows {
		out[i] = r.phase
	}
	return out
}
