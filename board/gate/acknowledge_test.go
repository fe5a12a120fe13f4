package gate

import (
	"strings"
	"testing"
	"time"
)

// To acknowledge findings leaves the lease and the stance as they are, and is a row like
// any other: of a person, with a reason, and of nothing but findings.
func TestAcknowledge(t *testing.T) {
	t.Parallel()
	finding := strings.Repeat("a", 40) + ":14:knowledge/ledger/2026-03/run-1.jsonl"
	act := Act{Gate: EvaluationGate, Kind: Acknowledge, Findings: []string{finding}, Reason: "a tool did it", By: "human:ann@example.org", Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	out, err := Do(Slow{}, act)
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Row; r.From != Sensemaking || r.To != Sensemaking || len(out.Files) != 1 {
		t.Errorf("%+v, %d files", r, len(out.Files))
	}
	if c, err := ReadChain(out.Files[GatesPath]); err != nil || len(c.Rows) != 1 || c.Rows[0].Findings[0] != finding {
		t.Errorf("%v %+v", err, c)
	}
	for name, change := range map[string]func(*Act){
		"no reason":       func(a *Act) { a.Reason = "" },
		"no person":       func(a *Act) { a.By = "odd-agent" },
		"no finding":      func(a *Act) { a.Findings = nil },
		"no commit":       func(a *Act) { a.Findings = []string{"abc:14:x"} },
		"no path":         func(a *Act) { a.Findings = []string{strings.Repeat("a", 40) + ":14"} },
		"another gate":    func(a *Act) { a.Gate = Commitment },
		"another act":     func(a *Act) { a.Kind = "enter" },
		"another stance":  func(a *Act) { a.To = Evaluation },
		"with a lease":    func(a *Act) { a.Lease = &Lease{} },
		"a longer lease":  func(a *Act) { a.Extend = time.Hour },
		"an unknown gate": func(a *Act) { a.Gate = "other" },
	} {
		a := act
		if change(&a); a.Kind != "" {
			if _, err := Do(Slow{}, a); err == nil {
				t.Errorf("%s: done", name)
			}
		}
	}
}
