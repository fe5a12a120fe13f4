package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
)

// TestOutcomeCosts: an outcome costs what its sessions do, and above its reservation what
// it says.
func TestOutcomeCosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cost, over, spent int64
		team, want        string
	}{
		"all of it":          {10, 0, 10, "docs", ""},
		"more than sessions": {9, 0, 8, "docs", ""},
		"told above":         {12, 2, 12, "docs", ""},
		"one above":          {11, 0, 10, "docs", "costs $0.000011, reserved were $0.00001, and it does not tell"},
		"told less":          {12, 1, 12, "docs", "does not tell of as much above"},
		"told for nothing":   {10, 1, 10, "docs", "tells of $0.000001 above its reservation"},
		"less than sessions": {9, 0, 10, "docs", "the outcome costs $0.000009, its sessions $0.00001"},
		"of another team":    {10, 0, 10, "ops", `paid by team "ops", the claim was team "docs"'s`},
	} {
		claim := claimed(nil)
		claim.Reserved, claim.Team, claim.Spent = 10, "docs", c.spent
		l := Line{Claim: claim, Record: event.Record{Kind: event.Outcome, Task: "t-1", Cost: c.cost, Team: c.team, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "review", "over_micro_usd": c.over})}}
		if got := checkClosed(l); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := checkClosed(Line{Record: event.Record{Task: "t-1"}}); got != "an outcome without an open claim of t-1" {
		t.Error(got)
	}
}

// TestReserved: sessions without a task reserve for each of them, unless their lease has
// less or they are free, and a task's team pays for it.
func TestReserved(t *testing.T) {
	t.Parallel()
	costly := config.Default()
	costly.Session.Substrate, costly.Session.MaxCost = "claude", 10
	free := config.Default()
	for _, c := range []struct {
		law         config.Config
		sessions    int64
		reserved    int64
		left        budget.MicroUSD
		ok, forTask bool
	}{
		{costly, 2, 20, 100, true, false}, {costly, 2, 19, 100, false, false}, {costly, 2, 19, 19, true, false}, {costly, 2, 18, 19, false, false}, {free, 2, 0, 100, true, false},
		{costly, 0, 20, 100, false, false}, {costly, 1, 10, 100, true, false}, {costly, 0, 10, 100, true, true}, {costly, 0, 9, 100, false, true}, {costly, 0, 9, 9, true, true},
	} {
		m := spendJudge{judge: &judge{Act: &Act{Law: &c.law}}}
		r := event.Record{Kind: event.Claim, Reserved: c.reserved, Team: "docs", Data: eventtest.Data(event.Claim, map[string]any{"sessions": c.sessions})}
		got := m.checkSessionReservation(r, c.left)
		if c.forTask {
			got = m.checkTaskReservation(board.Task{Team: "docs"}, r, c.left)
			if m.checkTaskReservation(board.Task{Team: "ops"}, r, c.left) == "" {
				t.Error("a team pays for another's task")
			}
		}
		if got == "" != c.ok {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// outcomeAt is an outcome of a task at a line of a file.
func outcomeAt(path string, n int, task string) Line {
	return Line{Path: path, N: n, Record: event.Record{Kind: event.Outcome, Run: "run-1", Task: task, TS: noon, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "review"})}}
}

// TestSessionIsPaidFor: a session runs under a claim that its ledger had, and has its outcome
// behind it in the same commit and file.
func TestSessionIsPaidFor(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(l *Line, all *[]Line){
		"":                                 func(*Line, *[]Line) {},
		"before money was reserved":        func(l *Line, _ *[]Line) { l.Claim = nil },
		"was reserved for it in":           func(l *Line, _ *[]Line) { l.Claim.Known = false },
		"in an earlier commit":             func(l *Line, _ *[]Line) { l.Claim.Data = event.ClaimData{RefreshOf: "run-0"} },
		"a session has no outcome in its ": func(_ *Line, all *[]Line) { *all = nil },
		"has no outcome":                   func(_ *Line, all *[]Line) { (*all)[0].N = 2 },
		"no outcome in":                    func(_ *Line, all *[]Line) { (*all)[0].Path = "b" },
		"its cost is counted nowhere":      func(_ *Line, all *[]Line) { (*all)[0].Record.Task = "t-2" },
		"so its cost":                      func(_ *Line, all *[]Line) { (*all)[0].Record.Kind = event.Reconcile },
	} {
		l := Line{Path: "a", N: 2, Record: event.Record{Kind: event.Session, Run: "run-1", Task: "t-1", TS: noon}, Claim: claimed(nil)}
		l.Claim.Known = true
		all := []Line{outcomeAt("a", 3, "t-1")}
		do(&l, &all)
		c := repo.Commit{}
		c.Author.When = noon
		m := spendJudge{judge: &judge{Act: &Act{Commit: c, Lines: all}}}
		if got := m.checkRecord(l); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDated: a record is dated within an hour of its commit, and what happened in a change
// while its claim was worked on, whenever that was.
func TestDated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    event.Kind
		at      time.Duration
		claimed time.Duration
		ok      bool
	}{
		{event.Reconcile, -Skew, 0, true}, {event.Reconcile, Skew, 0, true}, {event.Reconcile, -Skew - time.Second, -9 * time.Hour, false}, {event.Reconcile, Skew + time.Second, 0, false},
		{event.Op, -2 * Skew, -2 * Skew, true}, {event.OpEnd, -2 * Skew, -2 * Skew, true}, {event.Op, -2*Skew - time.Second, -2 * Skew, false}, {event.Op, Skew + time.Second, -2 * Skew, false},
	} {
		commit := repo.Commit{}
		commit.Author.When = noon
		claim := claimed(nil)
		claim.TS = noon.Add(c.claimed)
		m := spendJudge{judge: &judge{Act: &Act{Commit: commit, Kind: Board}}}
		got := m.checkRecord(Line{Record: event.Record{Kind: c.kind, Run: "run-1", Task: "t-1", TS: noon.Add(c.at)}, Claim: claim})
		if got == "" != c.ok {
			t.Errorf("%s %v from its commit, claimed %v: %q", c.kind, c.at, c.claimed, got)
		}
	}
}
