package pipeline

import (
	"strings"
	"testing"
	"time"
)

// TestIterationFacts: the longest iteration fits a fact.
func TestIterationFacts(t *testing.T) {
	t.Parallel()
	it := Iteration{N: 2, At: dawn, Retest: true, Class: ClassSyntax, Failing: 1000, Failure: strings.Repeat("f", 16), Patch: strings.Repeat("p", 16),
		Took: 20 * time.Minute, Stop: StopGenerate + ":" + StopReason(CostCapExceeded)}
	const want = "repair.iter.v1 n=2 at=1772442000000 class=syntax ids=1000 fail=ffffffffffffffff patch=pppppppppppppppp ms=1200000 retest=1 stop=generate_error:cost_cap_exceeded"
	if got := it.iterationFacts()["repair_two"]; got != want || len(got) > maxFact {
		t.Errorf("%s", got)
	}
	it.Stop, it.Class = "", ""
	if got := it.iterationFacts()["repair_two"]; !strings.HasSuffix(got, " outcome=converged") {
		t.Errorf("%s", got)
	}
}
