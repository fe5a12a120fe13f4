package ledger

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
		{Record{Kind: Claim, Task: "tidy", Role: "editor", Reserved: 250_000, Data: map[string]any{"attempt": int64(2)}}, "claimed tidy as editor, attempt 2, holding $0.25"},
		{Record{Kind: Claim, Task: "tidy", Data: map[string]any{"attempt": int64(1)}}, "claimed tidy"},
		{Record{Kind: Session, Cost: 20_000, Data: map[string]any{"substrate": "exec", "model": "m-1", "turns": int64(3), "outcome": "failed", "failure": "timeout"}},
			"ran exec with m-1 for 3 turns, spending $0.02; it ended as timeout"},
		{Record{Kind: Session, Data: map[string]any{"substrate": "extract", "model": "extract", "turns": int64(1), "outcome": "completed"}}, "ran extract for 1 turn"},
		{Record{Kind: Session, Data: map[string]any{"outcome": "refused"}}, "ran a session; it ended as refused"},
		{Record{Kind: Reconcile, Data: map[string]any{"counts": map[string]any{"updated": int64(1), "added": int64(12), "guarded": int64(1), "conflict": int64(0)}, "held": []any{map[string]any{"id": "editor"}}}},
			"reconciled 12 added, 1 guarded, 1 updated; left to a person: editor"},
		{Record{Kind: Reconcile}, "reconciled nothing"},
		{Record{Kind: Outcome, Task: "tidy", Data: map[string]any{"verdict": "review", "branch": "odd/review/tidy.1", "paths": []any{1, 2}}},
			"proposed 2 files on odd/review/tidy.1, for a person to judge"},
		{Record{Kind: Outcome, Task: "tidy", Data: map[string]any{"verdict": "blocked", "reason": "no owner"}}, "blocked tidy: no owner"},
		{Record{Kind: Outcome, Task: "tidy", Data: map[string]any{"verdict": "lost"}}, "lost tidy: it was no longer this run's"},
		{Record{Kind: Outcome, Task: "tidy"}, "ended tidy as nothing said"},
		{Record{Kind: Abandoned, Task: "tidy", DeadRun: "run-0", Cost: 1_000_000}, "swept tidy, left behind by run-0, charging $1.00"},
		{Record{Kind: Refused, Data: map[string]any{"code": "budget"}}, "stopped: budget"},
		{Record{Kind: Paused, Data: map[string]any{"reason": "hard stop"}}, "paused the board: hard stop"},
		{Record{Kind: Claim, Run: "run-1", Task: "run-1", Reserved: 500_000, Data: map[string]any{"sessions": int64(1), "contract_role": "explorer", "asked": "Which tide?"}},
			`began a session as explorer: "Which tide?", holding $0.50`},
		{Record{Kind: Claim, Run: "run-1", Task: "run-1", Data: map[string]any{"sessions": int64(3), "contract_role": "validator", "artifact": "a.md", "override": map[string]any{"by": "human:ann", "reason": "a flood"}}},
			"began 3 sessions as validator on a.md, under an override by human:ann: a flood"},
		{Record{Kind: Claim, Run: "run-1", Task: "tidy", Data: map[string]any{"override": map[string]any{"by": "human:ann", "reason": "a flood"}}},
			"claimed tidy, under an override by human:ann: a flood"},
		{Record{Kind: Session, Data: map[string]any{"substrate": "exec", "handoff": "h.md", "contract": map[string]any{"role": "planner"}}}, "ran exec as planner; it handed over h.md"},
		{Record{Kind: Session, Data: map[string]any{"substrate": "exec", "contract": map[string]any{"role": "general"}}}, "ran exec"},
		{Record{Kind: Outcome, Run: "run-1", Task: "run-1", Data: map[string]any{"verdict": "yielded", "reason": "Which tide?"}}, "ended as yielded: Which tide?"},
		{Record{Kind: Outcome, Run: "run-1", Task: "run-1", Data: map[string]any{"verdict": "completed"}}, "ended as completed"},
		{Record{Kind: Abandoned, Task: "run-0", DeadRun: "run-0", Cost: 1_000_000}, "swept a session that died, run-0, charging $1.00"},
		{Record{Kind: Anchor, Role: "editor", Data: map[string]any{"mode": "express", "generated_by": "server", "allow": []any{"knowledge/**"}}}, "held a permit as editor under express, for knowledge/**"},
		{Record{Kind: Anchor, Role: "editor", Data: map[string]any{"mode": "full", "generated_by": "agent", "allow": []any{"a/*", "b/*", "c"}}},
			"held a permit as editor under full, which it proved itself, for a/* and 2 more"},
		{Record{Kind: Anchor, Role: "editor", DeadRun: "run-0"}, "released the permit of editor, left behind by run-0"},
		{Record{Kind: Op, Data: map[string]any{"op": "op-1", "mark": "enter", "to": "gate", "spent_micro_usd": int64(20_000)}}, "op-1 entered gate, spending $0.02"},
		{Record{Kind: Op, Data: map[string]any{"op": "op-1", "mark": "intent", "to": "apply", "ref": "refs/heads/r"}}, "op-1 is about to move refs/heads/r"},
		{Record{Kind: Op, Data: map[string]any{"op": "op-1", "mark": "applied", "to": "apply", "ref": "refs/heads/r"}}, "op-1 moved refs/heads/r"},
		{Record{Kind: OpEnd, Data: map[string]any{"op": "op-1", "mark": "enter", "to": "complete", "reason": "merged"}}, "ended op-1 as complete: merged"},
		{Record{Kind: OpEnd}, "ended an op as nothing said: no reason given"},
		{Record{Kind: "promotion"}, "recorded promotion"},
		{Record{Kind: Reconcile, Data: map[string]any{"counts": "many", "held": 1}}, "reconciled nothing"},
	} {
		if got := c.r.Tell(usd); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
