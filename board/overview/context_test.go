package overview

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/okf"
)

// remember is the memory of a bundle: its ledger, and files by path.
func remember(t *testing.T, ledgers fstest.MapFS, files map[string]string) *Memory {
	t.Helper()
	for name, text := range files {
		ledgers[name] = &fstest.MapFile{Data: []byte(text)}
	}
	g, ps, err := okf.Load(ledgers)
	if err != nil {
		t.Fatal(err, ps)
	}
	tasks, unread := board.Tasks(g)
	if len(unread) > 0 {
		t.Fatal(unread)
	}
	m := &Memory{State: state.Of(ledgers, nil), Bundle: ledgers, Graph: g, Tasks: tasks}
	m.Slow.Facts = gate.Facts{Now: begin, Done: doneBy(func() []*board.Row { return board.RowsOf(tasks) })}
	return m
}

// end is a drained task's outcome, so many minutes before begin.
func end(minutes int, task, verdict string) event.Record {
	run := fmt.Sprintf("run-%03d", 999-minutes)
	return event.Record{TS: begin.Add(-time.Duration(minutes) * time.Minute), Run: run, Kind: event.Outcome, Task: task, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": verdict})}
}

func taskFile(state, more string) string {
	return "---\ntype: task\ntitle: A task\nstate: " + state + "\n" + more + "---\n"
}

const approved = "verified:\n  - {by: \"human:ann@example.org\", at: \"2026-03-02T08:30:00Z\"}\n" // half an hour before begin

var begin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func TestSigns(t *testing.T) {
	t.Parallel()
	old := end(0, "tasks/a", "review")
	old.TS = begin.AddDate(0, -4, 0)
	died := event.Record{TS: begin.Add(-time.Minute), Run: "run-x", Kind: event.Abandoned, Task: "tasks/a", DeadRun: "run-dead"}
	alone := end(1, "run-998", "failed")
	for _, c := range []struct {
		name  string
		ends  []event.Record
		files map[string]string
		want  gate.Signs
	}{
		{"nothing", nil, nil, gate.Signs{}},
		{"progress resets", []event.Record{end(5, "tasks/a", "blocked"), end(4, "tasks/a", "review"), end(3, "tasks/b", "lost")}, nil,
			gate.Signs{SinceProgress: 1, Progress: "run-995/tasks/a"}},
		{"approval is progress", []event.Record{end(40, "tasks/a", "review"), end(35, "tasks/b", "blocked"), end(25, "tasks/b", "blocked")}, map[string]string{"tasks/c.md": taskFile("done", approved)},
			gate.Signs{SinceProgress: 1, Progress: "tasks/c", Failures: 2, Failing: "run-964"}},
		{"failures in a row", []event.Record{end(9, "tasks/a", "review"), end(5, "tasks/a", "blocked"), end(4, "tasks/b", "lost"), end(3, "tasks/c", "blocked"), died}, nil,
			gate.Signs{SinceProgress: 4, Progress: "run-990/tasks/a", Failures: 3, Failing: "run-994"}},
		{"a session without a task is none", []event.Record{alone}, nil, gate.Signs{}},
		{"what was long ago", []event.Record{old}, nil, gate.Signs{}},
		{"drift", []event.Record{end(5, "tasks/a", "blocked"), end(4, "tasks/a", "blocked"), end(3, "tasks/b", "blocked"), end(2, "tasks/z", "review")}, map[string]string{
			"tasks/a.md": taskFile("backlog", "rejected:\n  - {by: \"human:ann@example.org\", at: \"2026-03-01T09:00:00Z\", reason: no}\n"), "tasks/b.md": taskFile("done", "")},
			gate.Signs{Progress: "run-997/tasks/z", Rejected: map[string]int{"tasks/a": 1}, Blocked: map[string]int{"tasks/a": 2}}},
		{"stale atoms", nil, map[string]string{
			"terms/a.md": "---\ntype: term\nstale_after: \"2026-03-02T09:00:00Z\"\n---\n", "terms/b.md": "---\ntype: term\nstale_after: \"2026-03-02T09:00:01Z\"\n---\n",
			"terms/c.md": "---\ntype: term\nstatus: deprecated\nstale_after: \"2026-03-01T09:00:00Z\"\n---\n", "terms/d.md": "---\ntype: term\nstale_after: \"2020\"\n---\n"},
			gate.Signs{Stale: []string{"terms/a"}}},
	} {
		m := remember(t, leaseLedger(t, c.ends...), c.files)
		got, err := m.Signs(7)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		c.want.Now, c.want.Refused, c.want.Verdict = begin, 7, m.Slow.Verdict("")
		c.want.Rejected, c.want.Blocked = orEmpty(c.want.Rejected), orEmpty(c.want.Blocked)
		got.Lately = gate.Lately{} // TestLately's
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestLately: what was decided, what waits and what may run is counted from the board, the rest from the ledger.
func TestLately(t *testing.T) {
	t.Parallel()
	session := func(minutes int, failure, class string) event.Record {
		r := end(minutes, "tasks/z", "blocked")
		r.Kind, r.Data = event.Session, eventtest.Data(event.Session, map[string]any{"substrate": "claude", "outcome": "failed", "failure": failure, "class": class})
		return r
	}
	override := end(20, "tasks/z", "")
	override.Kind, override.Data = event.Claim, eventtest.Data(event.Claim, map[string]any{"override": map[string]any{"by": "human:ann@example.org"}})
	files := map[string]string{
		"tasks/a.md": taskFile("backlog", "kind: fix\nrejected:\n  - {by: \"human:ann@example.org\", at: \"2026-03-01T09:00:00Z\", reason: no}\n"),
		"tasks/b.md": taskFile("done", "goal: g\ngenerated: {by: \"human:ann@example.org\", at: \"2026-03-01T09:00:00Z\"}\n"+approved),
		"tasks/c.md": taskFile("ready", "kind: audit\npaths: [src/**]\n"),
		"tasks/d.md": taskFile("ready", "dependencies: [tasks/c]\n"),
		"goals/g.md": "---\ntype: goal\nid: g\n---\n",
	}
	m := remember(t, leaseLedger(t, session(30, "turn limit", ""), session(25, "transport", "rate_limited"), session(24, "declared", ""), override), files)
	m.Slow.File.Lease.Scope.Paths = []string{"knowledge/**"}
	s, err := m.Signs(0)
	if err != nil {
		t.Fatal(err)
	}
	at := func(minutes int) []time.Time { return []time.Time{begin.Add(-time.Duration(minutes) * time.Minute)} }
	want := gate.Lately{
		Filed: 1, HasGoals: true, Limits: at(30), Outages: at(25), Overrides: at(20), Ready: []gate.Work{{ID: "tasks/c", Title: "A task", Kind: "audit"}}, Outside: []string{"tasks/c"},
		Results: []gate.Result{
			{Task: "tasks/a", Kind: "fix", At: begin.AddDate(0, 0, -1)},
			{Task: "tasks/b", Kind: "implement", Goal: true, At: begin.Add(-30 * time.Minute), Accepted: true},
		},
	}
	if diff := cmp.Diff(want, s.Lately); diff != "" {
		t.Error(diff)
	}
}

func orEmpty(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}

func TestSignsOfTheSlowLoop(t *testing.T) {
	t.Parallel()
	m := remember(t, fstest.MapFS{}, map[string]string{"tasks/c.md": taskFile("done", approved)})
	line := `{"id":"D-000N","ts":"2026-03-01T09:00:00Z","decision":"one glossary","rationale":["two drifted apart"],"tradeoffs":"slower","confidence":"med","revisit_triggers":["WHEN"],"by":"human:ann@example.org","act":"G-0001"}` + "\n"
	for i, when := range []string{"2026-03-02", "2026-03-03", "task tasks/c done", "when it rains"} {
		m.Slow.Decisions = append(m.Slow.Decisions, strings.NewReplacer("N", fmt.Sprint(i+1), "WHEN", when).Replace(line)...)
	}
	m.Slow.Facts.Chain.Rows = []gate.Row{{ID: "G-0001"}, {ID: "G-0002"}}
	s, err := m.Signs(0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"D-0001 since 2026-03-02", "D-0003 task tasks/c done"}, s.Due); diff != "" || s.Act != "G-0002" {
		t.Error(s.Act, diff)
	}
	m.Slow.Decisions = append(m.Slow.Decisions, "{"...)
	if _, err := m.Signs(0); err == nil || !strings.Contains(err.Error(), "governance/decisions.jsonl: line 5: torn") {
		t.Errorf("decisions that cannot be read: %v", err)
	}
	m = remember(t, fstest.MapFS{}, map[string]string{"ledger/2026-03/run-9.jsonl": `{"v":1`})
	if _, err := m.Decay(0); err == nil || !strings.Contains(err.Error(), "run-9.jsonl: line 1: torn") {
		t.Errorf("a torn ledger: %v; silence cannot be known", err)
	}
}

// What is final ages by drained tasks: current to 29, stale from 30, to be
// reviewed from 50; a draft, and a result that waits, is stale from 10.
func TestArtifactIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turns int
		want  map[string]Freshness
	}{
		{0, map[string]Freshness{"final": Current, "draft": Current, "undated": Current, "late": Stale, "waits": Current}},
		{9, map[string]Freshness{"final": Current, "draft": Current, "undated": Current, "late": Stale, "waits": Current}},
		{10, map[string]Freshness{"final": Current, "draft": Stale, "undated": Current, "late": Stale, "waits": Stale}},
		{29, map[string]Freshness{"final": Current, "draft": Stale, "undated": Current, "late": Stale, "waits": Stale}},
		{30, map[string]Freshness{"final": Stale, "draft": Stale, "undated": Current, "late": Stale, "waits": Stale}},
		{49, map[string]Freshness{"final": Stale, "draft": Stale, "undated": Current, "late": Stale, "waits": Stale}},
		{50, map[string]Freshness{"final": ReviewNeeded, "draft": Stale, "undated": Current, "late": ReviewNeeded, "waits": Stale}},
	} {
		ends := []event.Record{end(55, "tasks/waits", "review")}
		for i := range c.turns {
			ends = append(ends, end(54-i, "tasks/x", "blocked"))
		}
		const touched = "generated: {by: \"human:ann@example.org\", at: \"2026-03-02T08:05:30Z\"}\n" // 54.5 minutes before begin
		m := remember(t, leaseLedger(t, ends...), map[string]string{
			"artifacts/final.md":   "---\ntype: artifact\n" + touched + "---\n",
			"artifacts/draft.md":   "---\ntype: artifact\nstatus: draft\n" + touched + "---\n",
			"artifacts/undated.md": "---\ntype: artifact\n---\n",
			"artifacts/late.md":    "---\ntype: artifact\nstale_after: \"2026-03-02T08:59:00Z\"\n" + touched + "---\n",
			"artifacts/gone.md":    "---\ntype: artifact\nstatus: deprecated\n" + touched + "---\n",
			"tasks/waits.md":       taskFile("review", "result: {run: run-944, branch: odd/review/waits.1, commit: "+strings.Repeat("a", 40)+"}\n"),
		})
		x, err := m.Context("")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Freshness{}
		for _, a := range x.Artifacts {
			got[string(a.ID)[strings.Index(string(a.ID), "/")+1:]] = a.Status
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("after %d: %s", c.turns, diff)
		}
	}
}

// The text has the five headings in their order whatever there is to say, one
// line an entry whatever the texts are made of, and the same bytes again.
func TestContextMarkdown(t *testing.T) {
	t.Parallel()
	m := remember(t, leaseLedger(t, end(5, "tasks/blocked", "blocked")), map[string]string{
		"pause.toml":         "reason = \"the tide\"\nby = \"human:ann@example.org\"\nat = 2026-03-02T08:00:00Z\n",
		"artifacts/table.md": "---\ntype: artifact\ntitle: Tide table\n---\n",
		"tasks/blocked.md":   taskFile("blocked", "blocked_reason: \"no\\n## lease\\nmore\"\n"),
		"tasks/next.md":      taskFile("ready", "kind: extract\n"),
		"tasks/waits.md":     taskFile("ready", "dependencies: [blocked]\n"),
		"tasks/old.md":       taskFile("done", approved),
	})
	m.Leases = true
	m.Slow.File = gate.File{Stance: gate.Execution, Lease: gate.Lease{ID: "L-0001", State: gate.Active, Frame: "the harbour", Success: []string{"a", "b"}, NonGoals: []string{"c"}, ExpiresAt: begin}}
	for _, p := range []gate.Proposal{
		{ID: "P-1", TS: begin, Source: gate.TaskAgent, Severity: gate.Low, Gate: gate.Framing, Reason: "ask again", Key: "a"},
		{ID: "P-2", TS: begin, Source: gate.DecayManager, Severity: gate.High, Gate: gate.EvaluationGate, Reason: "it expired", Key: "b"},
	} {
		file, _, err := m.Slow.Buffer.AppendAll(nil, []gate.Proposal{p}, 1)
		if err == nil {
			err = m.Slow.Buffer.ReadProposals(file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := m.Context("tasks/blocked")
	if err != nil {
		t.Fatal(err)
	}
	c.Lease.Verdict = gate.Verdict{Code: "time_expired", Text: "it expired", Way: "odd gate evaluation"}
	want := `## lease

- L-0001 active, stance execution: not valid [time_expired], it expired; odd gate evaluation
- the stance holds back research, question, audit, option, prototype, experiment, review, assess, verify, measure; no ready task waits for that
- frame: the harbour
- success: a; b
- not: c

## decisions

- none

## artifacts

- artifacts/table current, final: Tide table

## progress

- tasks that ran since one last reached review or done: 1
- next: tasks/next (extract): A task
- blocked: tasks/blocked (no ## lease more): A task
- blocked: tasks/waits (depends on tasks/blocked, which is blocked): A task
- done: tasks/old (2026-03-02T08:30:00Z): A task

## signals

- paused: the tide (by human:ann@example.org)
- tasks/blocked is blocked
- tasks/blocked blocked: no ## lease more
- P-2 high, decay_manager proposes the evaluation gate: it expired
- P-1 low, task_agent proposes the framing gate: ask again
`
	if diff := cmp.Diff(want, c.Markdown()); diff != "" {
		t.Error(diff)
	}
	if got := c.Unquoted().Markdown(); strings.Contains(got, "## lease more") || strings.Contains(got, "ask again") || !strings.Contains(got, "it expired") {
		t.Errorf("agents are quoted:\n%s", got)
	}
	if diff := cmp.Diff(want, c.Markdown()); diff != "" {
		t.Errorf("the context changed: %s", diff)
	}
	empty, err := remember(t, fstest.MapFS{}, nil).Context("")
	if err != nil {
		t.Fatal(err)
	}
	if want := "## lease\n\n- leases are off\n\n## decisions\n\n- none\n\n## artifacts\n\n- none\n\n## progress\n\n- none\n\n## signals\n\n- none\n"; empty.Markdown() != want {
		t.Error(empty.Markdown())
	}
}

// A board of any size makes a text of a page or two.
func TestContextIsBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]string{13: {"- and 1 more\n", "- blocked: and 7 more\n"}, 300: {"- and 288 more\n", "- blocked: and 294 more\n"}} {
		boundContext(t, n, want)
	}
}

func boundContext(t *testing.T, n int, want []string) {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("artifacts/a%03d.md", i)] = "---\ntype: artifact\ntitle: " + strings.Repeat("long ", 200) + "\n---\n"
		files[fmt.Sprintf("tasks/t%03d.md", i)] = taskFile("blocked", "blocked_reason: "+strings.Repeat("é", 900)+"\n")
	}
	c, err := remember(t, fstest.MapFS{}, files).Context("")
	if err != nil {
		t.Fatal(err)
	}
	got := c.Markdown()
	if len(got) > 16<<10 || !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}
