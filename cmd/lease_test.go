package cmd

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/okf"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"": 0, "3d": 72 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, err := parseSpan("gate", s); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"d", "soon", "-3d", "0h", "3", "400d", "9999999d", "1d1d"} {
		if got, err := parseSpan("gate", s); err == nil {
			t.Errorf("%s: taken for %v", s, got)
		}
	}
}

func TestHowLong(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		72 * time.Hour: "3d", 50 * time.Hour: "2d 2h", 90 * time.Minute: "1h 30m", time.Second: "1m", 24*time.Hour - time.Second: "23h 59m",
	} {
		if got := howLong(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// The next act is the gravest thing that waits, then a drain, and with leases off the
// slow loop is quiet.
func TestTheNextHumanAct(t *testing.T) {
	t.Parallel()
	with := func(states ...board.State) *view {
		var tasks []*board.Row
		for _, s := range states {
			tasks = append(tasks, &board.Row{ID: "t", State: s})
		}
		return &view{listed: listOf(tasks)}
	}
	var high, low drain.SlowLoop
	high.Buffer.Proposals = []gate.Proposal{{ID: "P-1", Severity: gate.High, Reason: "look"}}
	low.Buffer.Proposals = []gate.Proposal{{ID: "P-2", Severity: gate.Low, Reason: "look"}}
	alarm := drain.SlowLoop{Facts: gate.Facts{OpenEmergency: "P-3"}}
	off := leaseJSON{Verdict: gate.Verdict{Code: "none", Way: "draft one"}}
	valid := leaseJSON{Required: true, State: gate.Active, Verdict: gate.Verdict{Valid: true}}
	expired := leaseJSON{Required: true, Verdict: gate.Verdict{Way: "renew it"}}
	for _, c := range []struct {
		name   string
		v      *view
		l      leaseJSON
		loop   drain.SlowLoop
		paused bool
		want   string
	}{
		{"paused is before all", with(board.Review), expired, alarm, true, "odd drain resume lets tasks run again"},
		{"an emergency", with(board.Review), expired, alarm, false, `an emergency is reported: odd gate proposals reject P-3 --reason "WHY" if it is none; else odd gate emergency --because P-3 (odd help gate emergency shows what else it asks for)`},
		{"a dead lease", with(board.Review), expired, high, false, "renew it"},
		{"a draft", with(board.Review), leaseJSON{Required: true, State: gate.Draft, Verdict: valid.Verdict}, low, false, "odd gate commitment activates the lease; until then only research tasks run"},
		{"what is high", with(board.Review), off, high, false, "odd gate proposals show P-1: look"},
		{"what is low, with leases off", with(board.Review), off, low, false, `odd review t shows the proposal; then odd approve t, or odd reject t --reason "WHY"`},
		{"what is low, with leases on", with(board.Review), valid, low, false, "odd gate proposals show P-2: look"},
		{"a backlog", with(board.Backlog), valid, drain.SlowLoop{}, false, "odd task ready t marks it ready, so that odd drain works on it"},
		{"ready tasks", with(board.Backlog, board.Ready), off, drain.SlowLoop{}, false, "odd drain works on the ready tasks"},
		{"nothing", with(board.Done), off, drain.SlowLoop{}, false, ""},
	} {
		if got := c.v.nextAct(c.l, c.loop, c.paused); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever people put on the board, the prefilled draft is a lease that may be
// committed to as it is.
func TestThePrefilledDraftNeedsNoEdit(t *testing.T) {
	t.Parallel()
	v := &view{workspace: &workspace{}}
	v.cfg.Root = "knowledge"
	v.env.Now = func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 1, time.UTC) }
	tasks := []board.Task{
		{Row: board.Row{ID: "a", Title: "TBD", State: board.Ready, Kind: "extract"}, Paths: []string{"src/**", "odd.toml", ".github/**", "/abs", "a\\b", "[", "../x", "knowledge/terms/**"}},
		{Row: board.Row{ID: "b", Title: "Two\tlines\nand \u202eworse", State: board.Ready, Kind: "no-such-kind"}, Paths: []string{"src/**", ""}},
		{Row: board.Row{ID: "c", State: board.Backlog}, Paths: []string{"docs/"}},
	}
	v.whole, v.listed = func() []board.Task { return tasks }, listOf(board.RowsOf(tasks))
	l := v.newDraft(drain.SlowLoop{}).Lease
	l.ActivatedAt = v.actTime()
	for _, p := range l.Check(true) {
		t.Errorf("%s", p)
	}
}

// listOf are rows as a view has them.
func listOf(rows []*board.Row) func() ([]*board.Row, []okf.Problem) {
	return func() ([]*board.Row, []okf.Problem) { return rows, nil }
}
