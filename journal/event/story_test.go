package event

import (
	"fmt"
	"testing"
)

func TestTell(t *testing.T) {
	t.Parallel()
	usd := func(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1e6) }
	for _, c := range []struct {
		r    Record
		want string
	}{
		{Record{Kind: Claim, Task: "tidy", Role: "editor", Reserved: 250_000, Data: ClaimData{Attempt: 2}}, "claimed tidy as editor, attempt 2, holding $0.25"},
		{Record{Kind: Claim, Task: "tidy", Data: ClaimData{Attempt: 1}}, "claimed tidy"},
		{Record{Kind: Session, Cost: 20_000, Data: SessionData{Substrate: "exec", Model: "m-1", Turns: 3, Outcome: "failed", Failure: "timeout"}},
			"ran exec with m-1 for 3 turns, spending $0.02; it ended as timeout"},
		{Record{Kind: Session, Data: SessionData{Substrate: "extract", Model: "extract", Turns: 1, Outcome: "completed"}}, "ran extract for 1 turn"},
		{Record{Kind: Session, Data: SessionData{Outcome: "refused"}}, "ran a session; it ended as refused"},
		{Record{Kind: Reconcile, Data: ReconcileData{Counts: map[string]int64{"updated": 1, "added": 12, "guarded": 1, "conflict": 0}, Held: []Held{{ID: "editor"}}}},
			"atoms: 12 added, 1 guarded, 1 updated; left to a person: editor"},
		{Record{Kind: Reconcile, Data: ReconcileData{Counts: map[string]int64{"declined": 7}, Held: []Held{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}, {ID: "f"}, {ID: "g"}}}},
			"atoms: 7 declined; left to a person: a, b, c, d, e and 2 more"},
		{Record{Kind: Reconcile}, "delivered no atom"},
		{Record{Kind: Outcome, Task: "tidy", Data: OutcomeData{Verdict: "review", Branch: "odd/review/tidy.1", Paths: make([]ProposedPath, 2)}},
			"proposed 2 files on odd/review/tidy.1, for a person to judge"},
		{Record{Kind: Outcome, Task: "tidy", Data: OutcomeData{Verdict: "blocked", Reason: "no owner"}}, "blocked tidy: no owner"},
		{Record{Kind: Outcome, Task: "tidy", Data: OutcomeData{Verdict: "lost"}}, "lost tidy: it was no longer this run's"},
		{Record{Kind: Outcome, Task: "tidy"}, "ended tidy as nothing said"},
		{Record{Kind: Abandoned, Task: "tidy", DeadRun: "run-0", Cost: 1_000_000}, "swept tidy, left behind by run-0, charging $1.00"},
		{Record{Kind: Refused, Data: StopData{Code: "budget"}}, "stopped: budget"},
		{Record{Kind: Paused, Data: StopData{Reason: "hard stop"}}, "paused the board: hard stop"},
		{Record{Kind: Claim, Run: "run-1", Task: "run-1", Reserved: 500_000, Data: ClaimData{Sessions: 1, ContractRole: "explorer", Asked: "Which tide?"}},
			`began a session as explorer: "Which tide?", holding $0.50`},
		{Record{Kind: Claim, Run: "run-1", Task: "run-1", Data: ClaimData{Sessions: 3, ContractRole: "validator", Artifact: "a.md", Override: &Override{By: "human:ann", Reason: "a flood"}}},
			"began 3 sessions as validator on a.md, under an override by human:ann: a flood"},
		{Record{Kind: Claim, Run: "run-1", Task: "tidy", Data: ClaimData{Override: &Override{By: "human:ann", Reason: "a flood"}}},
			"claimed tidy, under an override by human:ann: a flood"},
		{Record{Kind: Session, Data: SessionData{Substrate: "exec", Handoff: "h.md", Contract: &SessionContract{Role: "planner"}}}, "ran exec as planner; it handed over h.md"},
		{Record{Kind: Session, Data: SessionData{Substrate: "exec", Contract: &SessionContract{Role: "general"}}}, "ran exec"},
		{Record{Kind: Claim, Run: "run-2", Task: "tidy", Role: "editor", Data: ClaimData{Attempt: 2, RefreshOf: "run-1"}}, "refreshed the proposal of tidy; no agent ran"},
		{Record{Kind: Outcome, Run: "run-1", Task: "run-1", Data: OutcomeData{Verdict: "yielded", Reason: "Which tide?"}}, "ended as yielded: Which tide?"},
		{Record{Kind: Outcome, Run: "run-1", Task: "run-1", Data: OutcomeData{Verdict: "completed"}}, "ended as completed"},
		{Record{Kind: Abandoned, Task: "run-0", DeadRun: "run-0", Cost: 1_000_000}, "swept a session that died, run-0, charging $1.00"},
		{Record{Kind: Anchor, Role: "editor", Data: AnchorData{Mode: "express", GeneratedBy: "server", Allow: []string{"knowledge/**"}}}, "could write knowledge/** as editor"},
		{Record{Kind: Anchor, Role: "editor", Data: AnchorData{Mode: "full", GeneratedBy: "agent", Allow: []string{"a/*", "b/*", "c"}}},
			"could write a/*, b/*, c as editor (permit mode full, which it proved itself)"},
		{Record{Kind: Anchor, Role: "editor", DeadRun: "run-0"}, "released the permit of editor, left behind by run-0"},
		{Record{Kind: Op, Data: OpData{Op: "op-1", Mark: "enter", To: "gate", Spent: int64(20_000)}}, "op-1 entered gate, spending $0.02"},
		{Record{Kind: Op, Data: OpData{Op: "op-1", Mark: "intent", To: "apply", Ref: "refs/heads/r"}}, "op-1 is about to move refs/heads/r"},
		{Record{Kind: Op, Data: OpData{Op: "op-1", Mark: "applied", To: "apply", Ref: "refs/heads/r"}}, "op-1 moved refs/heads/r"},
		{Record{Kind: OpEnd, Data: OpData{Op: "op-1", Mark: "enter", To: "complete", Reason: "merged"}}, "op-1 complete: merged"},
		{Record{Kind: OpEnd}, "an op nothing said: no reason given"},
		{Record{Kind: "promotion"}, "recorded promotion"},
	} {
		if got := c.r.Tell(usd); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
