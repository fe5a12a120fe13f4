package start

import (
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/cmd/internal/governance"
)

// The next act is the gravest thing that waits, then a drain, and with leases off the
// slow loop is quiet.
func TestTheNextHumanAct(t *testing.T) {
	t.Parallel()
	with := func(states ...board.State) firstTasks {
		var tasks []*board.Row
		for _, s := range states {
			tasks = append(tasks, &board.Row{ID: "t", State: s})
		}
		return firstOfRows(tasks)
	}
	reason := func(why string) firstTasks {
		return firstOfRows([]*board.Row{{ID: "t", State: board.Blocked, BlockedReason: why}})
	}
	held := firstOfRows([]*board.Row{{ID: "t", State: board.InProgress, ClaimedBy: "run-1"}})
	dirty, merging := cloneState{dirty: []string{"a.md", "b.md"}}, cloneState{dirty: []string{"a.md"}, unmerged: []string{"a.md"}}
	var high, low overview.SlowLoop
	high.Buffer.Proposals = []gate.Proposal{{ID: "P-1", Severity: gate.High, Reason: "look"}}
	low.Buffer.Proposals = []gate.Proposal{{ID: "P-2", Severity: gate.Low, Reason: "look"}}
	alarm := overview.SlowLoop{Facts: gate.Facts{OpenEmergency: "P-3"}}
	off := governance.LeaseJSON{Verdict: gate.Verdict{Code: "none", Way: "draft one"}}
	valid := governance.LeaseJSON{Required: true, Lease: gate.Lease{State: gate.Active}, Verdict: gate.Verdict{Valid: true}}
	expired := governance.LeaseJSON{Required: true, Verdict: gate.Verdict{Way: "renew it"}}
	for _, c := range []struct {
		name   string
		tasks  firstTasks
		l      governance.LeaseJSON
		loop   overview.SlowLoop
		paused bool
		here   cloneState
		want   string
	}{
		{"paused is before all", with(board.Review), expired, alarm, true, cloneState{}, "odd drain resume lets tasks run again"},
		{"an emergency", with(board.Review), expired, alarm, false, cloneState{}, `an emergency is reported: odd gate proposals reject P-3 --reason "WHY" if it is none; else odd gate emergency --because P-3 (odd help gate emergency shows what else it asks for)`},
		{"a dead lease", with(board.Review), expired, high, false, cloneState{}, "renew it"},
		{"a draft", with(board.Review), governance.LeaseJSON{Required: true, Lease: gate.Lease{State: gate.Draft}, Verdict: valid.Verdict}, low, false, cloneState{}, "odd gate commitment activates the lease; until then only research tasks run"},
		{"what is high", with(board.Review), off, high, false, cloneState{}, "odd gate proposals show P-1: look"},
		{"what is low, with leases off", with(board.Review), off, low, false, cloneState{}, `odd review t shows the proposal; then odd approve t, or odd reject t --reason "WHY"`},
		{"what is low, with leases on", with(board.Review), valid, low, false, cloneState{}, "odd gate proposals show P-2: look"},
		{"a backlog", with(board.Backlog), valid, overview.SlowLoop{}, false, cloneState{}, "odd task ready t marks it ready, so that odd drain works on it"},
		{"ready tasks", with(board.Backlog, board.Ready), off, overview.SlowLoop{}, false, cloneState{}, "odd drain works on the ready tasks"},
		{"a ready task that is refused", firstTasks{First: with(board.Ready).First, refused: "it has no role"}, off, overview.SlowLoop{}, false, cloneState{}, "odd drain would refuse t: it has no role"},
		{"nothing", with(board.Done), off, overview.SlowLoop{}, false, cloneState{}, `odd task add "TITLE" adds the next task`},
		{"a merge is before all", with(board.Review), expired, alarm, true, merging, "a git merge is not finished: resolve the conflict in a.md, then git add and git commit; git status says how to undo it instead"},
		{"edits are before a drain", with(board.Ready), off, overview.SlowLoop{}, false, dirty, "git add and git commit a.md and 1 more; then odd drain works on the ready tasks"},
		{"edits are in nobody's way", with(board.Backlog), off, overview.SlowLoop{}, false, dirty, "odd task ready t marks it ready, so that odd drain works on it"},
		{"a killed run", held, off, overview.SlowLoop{}, false, cloneState{killed: []string{"run-1"}}, "odd drain frees t, whose run was killed, and works on the ready tasks"},
		{"a run at work", held, off, overview.SlowLoop{}, false, cloneState{killed: []string{"run-0"}}, ""},
		{"blocked", reason("agent: no answer; run odd task ready t to try again"), off, overview.SlowLoop{}, false, cloneState{}, "odd task show t says why it is blocked; mend that and commit, then odd task ready t and odd drain"},
		{"interrupted", reason("interrupted; run odd task ready t to try again"), off, overview.SlowLoop{}, false, cloneState{}, "odd task ready t, then odd drain: its run was interrupted, and there is nothing to mend"},
	} {
		if got := nextAct(c.l, c.loop, c.paused, c.tasks, c.here); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
