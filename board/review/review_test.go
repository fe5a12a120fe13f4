package review

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/okf"
)

var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ann   = Person{"Ann", "ann@example.org"}
	agent = Person{"odd-agent", "odd@localhost"}
)

// terminal answers with what it was made with and keeps what it was asked.
type terminal struct {
	strings.Reader
	asked bytes.Buffer
}

func (t *terminal) Write(b []byte) (int, error) { return t.asked.Write(b) }

func tty(answer string) *terminal { return &terminal{Reader: *strings.NewReader(answer)} }

func person(t *testing.T) Human {
	t.Helper()
	h, err := Confirm(tty("t-1\n"), "approve t-1", "t-1", ann, Place{Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func code(err error) string {
	if r, ok := errors.AsType[*refusal.Refusal](err); ok {
		return r.Code
	}
	return ""
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		who    Person
		at     Place
		want   string
	}{
		"typed":            {"t-1\n", ann, Place{Agent: agent}, ""},
		"typed with space": {"  t-1 \r\n", ann, Place{Agent: agent}, ""},
		"another word":     {"yes\n", ann, Place{Agent: agent}, "unconfirmed"},
		"a prefix":         {"t-12\n", ann, Place{Agent: agent}, "unconfirmed"},
		"nothing":          {"", ann, Place{Agent: agent}, "unconfirmed"},
		"endless":          {strings.Repeat("x", 1<<20), ann, Place{Agent: agent}, "unconfirmed"},
		"in CI":            {"t-1\n", ann, Place{CI: true, Agent: agent}, "not-a-person"},
		"in a session":     {"t-1\n", ann, Place{Session: "ODD_RUN is set", Agent: agent}, "not-a-person"},
		"as the agent":     {"t-1\n", Person{"Ann", "ODD@localhost"}, Place{Agent: agent}, "not-a-person"},
		"without e-mail":   {"t-1\n", Person{"Ann", ""}, Place{Agent: agent}, "not-a-person"},
		"e-mail as YAML":   {"t-1\n", Person{"Ann", "a}, by: human:x"}, Place{Agent: agent}, "not-a-person"},
	} {
		h, err := Confirm(tty(c.answer), "approve t-1", "t-1", c.who, c.at)
		if code(err) != c.want {
			t.Errorf("%s: %v, want code %q", name, err, c.want)
		}
		if (h != Human{}) != (c.want == "") {
			t.Errorf("%s: human = %v", name, h)
		}
	}
}

// What the terminal is asked carries no escape: an id may be a file's name.
func TestConfirmShowsPlainText(t *testing.T) {
	t.Parallel()
	term := tty("no\n")
	_, err := Confirm(term, "approve e\x1b[31mx", "e\x1b[31mx", Person{"A\u202enn", ann.Email}, Place{Agent: agent})
	if code(err) != "unconfirmed" {
		t.Error(err)
	}
	if got := term.asked.String(); okf.Visible(got) != got || !strings.Contains(got, "type e[31mx to confirm") {
		t.Errorf("asked %q", got)
	}
}

func TestSignedNeedsTheRule(t *testing.T) {
	t.Parallel()
	if _, err := Signed("approve t-1", ann, Place{Agent: agent}, false); code(err) != "unconfirmed" {
		t.Errorf("without require_signed: %v", err)
	}
	if _, err := Signed("approve t-1", ann, Place{CI: true}, true); code(err) != "not-a-person" {
		t.Errorf("in CI: %v", err)
	}
	if h, err := Signed("approve t-1", ann, Place{Agent: agent}, true); err != nil || h.By() != "human:ann@example.org" {
		t.Errorf("%v, %v", h, err)
	}
}

// in is a task in a state.
func in(t *testing.T, state board.State) board.Task {
	t.Helper()
	a, err := okf.Parse("tasks/t-1.md", []byte("---\ntype: task\nid: t-1\ntitle: One\nstate: "+string(state)+"  # by hand\ntags: [x, 'approved-by:old']\n---\nBody.\n"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := board.Parse(&a)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Of all states, approve and reject leave only review, and ready only backlog and blocked.
func TestActsByState(t *testing.T) {
	t.Parallel()
	h := person(t)
	for _, s := range board.States() {
		_, approve := Approve(in(t, s), "f", nil, Verify{}, h, now)
		_, reject := Reject(in(t, s), "why", false, h, now)
		_, ready := Ready(in(t, s), h)
		_, halt := Halt(in(t, s), "stop", h)
		if (halt == nil) != (s == board.InProgress) {
			t.Errorf("%s: halt %v", s, halt)
		}
		if (approve == nil) != (s == board.Review) || (reject == nil) != (s == board.Review) {
			t.Errorf("%s: approve %v, reject %v", s, approve, reject)
		}
		if want := s == board.Backlog || s == board.Blocked; (ready == nil) != want {
			t.Errorf("%s: ready %v", s, ready)
		}
	}
}

// Nobody is not a person.
func TestNobodyActs(t *testing.T) {
	t.Parallel()
	if _, err := Approve(in(t, board.Review), "f", nil, Verify{}, Human{}, now); code(err) != "not-a-person" {
		t.Errorf("approve: %v", err)
	}
	if _, err := Reject(in(t, board.Review), "why", false, Human{}, now); code(err) != "not-a-person" {
		t.Errorf("reject: %v", err)
	}
	if _, err := Ready(in(t, board.Backlog), Human{}); code(err) != "not-a-person" {
		t.Errorf("ready: %v", err)
	}
	if _, err := Halt(in(t, board.InProgress), "stop", Human{}); code(err) != "not-a-person" {
		t.Errorf("halt: %v", err)
	}
}

func TestApproveWritesOnlyItsKeys(t *testing.T) {
	t.Parallel()
	atom := []byte("---\ntype: term\nid: skeg\nstatus: draft\nconfidence: inferred # low\n---\nA fin.\n")
	files, err := Approve(in(t, board.Review), "k/tasks/t-1.md", Files{"k/terms/skeg.md": atom}, Verify{All: true}, person(t), now)
	if err != nil {
		t.Fatal(err)
	}
	want := "---\ntype: task\nid: t-1\ntitle: One\nstate: done  # by hand\ntags: [x, approved-by:ann@example.org, approved-on:2026-03-02]\nverified:\n  - {by: human:ann@example.org, at: 2026-03-02T09:00:00Z}\n---\nBody.\n"
	if d := cmp.Diff(want, string(files["k/tasks/t-1.md"])); d != "" {
		t.Error(d)
	}
	a, err := okf.Parse("terms/skeg.md", files["k/terms/skeg.md"])
	if err != nil {
		t.Fatal(err)
	}
	if a.Confidence() != okf.Verified || a.Status != "stable" || string(a.Body()) != "A fin.\n" {
		t.Errorf("atom = %s", files["k/terms/skeg.md"])
	}
}

func TestExcept(t *testing.T) {
	t.Parallel()
	atom := []byte("---\ntype: term\nid: skeg\n---\n")
	files, err := Approve(in(t, board.Review), "f", Files{"k/skeg.md": atom}, Verify{All: true, Except: []okf.ID{"skeg"}}, person(t), now)
	if err != nil || len(files) != 1 {
		t.Errorf("files = %v, %v", files, err)
	}
	nameless := Files{"k/terms/skeg.md": []byte("---\ntype: term\n---\n")}
	if files, err := Approve(in(t, board.Review), "k/tasks/t-1.md", nameless, Verify{All: true, Except: []okf.ID{"terms/skeg"}}, person(t), now); err != nil || len(files) != 1 {
		t.Errorf("an atom without an id of its own: %v, %v", files, err)
	}
	if files, err := Approve(in(t, board.Review), "f", Files{"k/skeg.md": atom}, Verify{Only: []okf.ID{"skeg"}}, person(t), now); err != nil || len(files) != 2 {
		t.Errorf("named: files = %v, %v", files, err)
	}
	if _, err := Approve(in(t, board.Review), "f", Files{"k/skeg.md": atom}, Verify{Only: []okf.ID{"keel"}}, person(t), now); code(err) != "state" {
		t.Errorf("an unknown name: %v", err)
	}
	if !strings.Contains(string(files["f"]), "excepted: [skeg]") {
		t.Errorf("the exception is not recorded:\n%s", files["f"])
	}
	if _, err := Approve(in(t, board.Review), "f", Files{"k/skeg.md": atom}, Verify{All: true, Except: []okf.ID{"keel"}}, person(t), now); code(err) != "state" {
		t.Errorf("an unknown exception: %v", err)
	}
}

func TestRejectKeepsEveryReason(t *testing.T) {
	t.Parallel()
	task := in(t, board.Review)
	for i, reason := range []string{"first: \"no\"\n", "second\u200b"} {
		b, err := Reject(task, reason, i == 1, person(t), now)
		if err != nil {
			t.Fatal(err)
		}
		a, err := okf.Parse("tasks/t-1.md", bytes.Replace(b, []byte("state: backlog"), []byte("state: review"), 1))
		if err != nil {
			t.Fatal(err)
		}
		if task, err = board.Parse(&a); err != nil {
			t.Fatal(err)
		}
	}
	want := []board.Rejection{{By: "human:ann@example.org", At: "2026-03-02T09:00:00Z", Reason: `first: "no"`}, {By: "human:ann@example.org", At: "2026-03-02T09:00:00Z", Reason: "second"}}
	if d := cmp.Diff(want, task.Rejected); d != "" {
		t.Error(d)
	}
	if task.State != board.Ready {
		t.Errorf("state = %s after --retry", task.State)
	}
	if _, err := Reject(in(t, board.Review), " \n", false, person(t), now); err == nil {
		t.Error("a rejection without a reason")
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	outcome := func(verdict string) event.Record {
		return event.Record{Kind: event.Outcome, Task: "t-1", Trace: "ab", Cost: 7, Data: eventtest.Data(event.Outcome, map[string]any{
			"verdict": verdict, "proposal": "p1", "branch": "odd/review/t-1.1", "base": "b0", "artifacts": "a0",
			"paths": []any{map[string]any{"path": "k/x.md", "base": "", "result": "r1"}},
		})}
	}
	other := event.Record{Kind: event.Outcome, Task: "t-2", Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "review", "proposal": "p9"})}
	counted := event.Record{Kind: event.Reconcile, Task: "t-1", Data: eventtest.Data(event.Reconcile, map[string]any{"counts": map[string]any{"added": int64(1)}, "held": []any{map[string]any{"effect": "guarded", "id": "skeg", "path": "k/skeg.md", "reason": "verified"}}})}
	task := in(t, board.Review)
	task.Result = board.Result{Run: "run-1", Commit: "p1", Branch: "odd/review/t-1.1"}
	p, err := Read(task, "run-1", []event.Record{{Kind: event.Claim, Task: "t-1"}, counted, outcome("review"), other})
	if err != nil {
		t.Fatal(err)
	}
	want := Proposal{Task: "t-1", Run: "run-1", Commit: "p1", Branch: "odd/review/t-1.1", Base: "b0", Trace: "ab", Artifacts: "a0", Cost: 7,
		Paths: []Path{{"k/x.md", "", "r1"}}, Counts: map[string]int{"added": 1}, Held: []Held{{"guarded", "skeg", "k/skeg.md", "verified"}}}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
	for name, r := range map[string]board.Result{
		"another commit": {Commit: "p2", Branch: "odd/review/t-1.1"},
		"another branch": {Commit: "p1", Branch: "odd/review/t-1.2"},
		"nothing":        {},
	} {
		task.Result = r
		if _, err := Read(task, "run-1", []event.Record{outcome("review")}); code(err) != "branch" {
			t.Errorf("the task names %s: %v", name, err)
		}
	}
	for name, rs := range map[string][]event.Record{
		"no records":          nil,
		"blocked":             {outcome("blocked")},
		"claimed again since": {outcome("review"), {Kind: event.Claim, Task: "t-1"}},
	} {
		if _, err := Read(in(t, board.Review), "run-1", rs); code(err) != "state" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every difference between what was judged and what would be merged is found.
// A refusal says each fault once, with the first files that have it.
func TestUnboundSaysEachFaultOnce(t *testing.T) {
	t.Parallel()
	moved := []Moved{{Path: "z", What: "is gone"}}
	for _, p := range []string{"e", "d", "c", "b", "a"} {
		moved = append(moved, Moved{Path: p, What: "changed"})
	}
	if got, want := Unbound("read", moved, "odd x does").Error(), "read: 5 files: each changed: a, b, c and 2 more; z is gone; odd x does"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	p := Proposal{Paths: []Path{{"a.md", "a0", "a1"}, {"b.md", "", "b1"}}}
	board, proposal := map[string]string{"a.md": "a0"}, map[string]string{"a.md": "a1", "b.md": "b1"}
	for name, c := range map[string]struct {
		change func(b, p map[string]string) []string
		want   []string
	}{
		"as judged":               {func(b, p map[string]string) []string { return nil }, nil},
		"already there":           {func(b, p map[string]string) []string { b["b.md"] = "b1"; return nil }, nil},
		"the base moved":          {func(b, p map[string]string) []string { b["a.md"] = "a9"; return nil }, []string{"a.md"}},
		"a new file was taken":    {func(b, p map[string]string) []string { b["b.md"] = "b9"; return nil }, []string{"b.md"}},
		"the base is gone":        {func(b, p map[string]string) []string { delete(b, "a.md"); return nil }, []string{"a.md"}},
		"other bytes":             {func(b, p map[string]string) []string { p["b.md"] = "b9"; return nil }, []string{"b.md"}},
		"a path nobody recorded":  {func(b, p map[string]string) []string { return []string{"a.md", "odd.toml"} }, []string{"odd.toml"}},
		"a recorded path is gone": {func(b, p map[string]string) []string { delete(p, "a.md"); return nil }, []string{"a.md"}},
	} {
		b, r := map[string]string{}, map[string]string{}
		for k, v := range board {
			b[k] = v
		}
		for k, v := range proposal {
			r[k] = v
		}
		changed := c.change(b, r)
		var got []string
		for _, m := range Bound(p, func(s string) string { return b[s] }, func(s string) string { return r[s] }, changed) {
			got = append(got, m.Path)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestSyncedNeedsAnApproval(t *testing.T) {
	t.Parallel()
	if _, err := Synced(in(t, board.Review), "", "human:ann@example.org", now, nil); err == nil {
		t.Error("done without an approval")
	}
	if _, err := Synced(in(t, board.Review), "oid", "odd/1", now, nil); err == nil {
		t.Error("done on a machine's word")
	}
	b, err := Synced(in(t, board.Review), "oid", "human:ann@example.org", now, nil)
	if err != nil || !bytes.Contains(b, []byte("state: done")) {
		t.Errorf("%s, %v", b, err)
	}
}

// Only the recorded change is the proposal: each path, from its base to its result.
func TestMadeByIsExact(t *testing.T) {
	t.Parallel()
	p := Proposal{Paths: []Path{{"a.md", "", "a1"}, {"b.md", "b0", "b1"}}}
	for _, c := range []struct {
		name    string
		changes []Path
		all     bool
		others  []string
	}{
		{"exactly", []Path{{"b.md", "b0", "b1"}, {"a.md", "", "a1"}}, true, nil},
		{"and a path more", []Path{{"a.md", "", "a1"}, {"b.md", "b0", "b1"}, {"c.md", "", "c"}}, true, []string{"c.md"}},
		{"a path less", []Path{{"a.md", "", "a1"}}, false, nil},
		{"other bytes", []Path{{"a.md", "", "a2"}, {"b.md", "b0", "b1"}}, false, nil},
		{"over other bytes", []Path{{"a.md", "", "a1"}, {"b.md", "bx", "b1"}}, false, nil},
		{"taken away", []Path{{"a.md", "", "a1"}, {"b.md", "b0", ""}}, false, nil},
		{"nothing", nil, false, nil},
	} {
		all, others := p.MadeBy(c.changes)
		if d := cmp.Diff(c.others, others); d != "" || all != c.all {
			t.Errorf("%s: all %t, want %t; others %s", c.name, all, c.all, d)
		}
	}
}

// A task's contract is that of its last session; a run that judged an emission
// again leads to the run that made it.
func TestContracted(t *testing.T) {
	t.Parallel()
	session := func(task, role string) event.Record {
		return event.Record{Kind: event.Session, Task: task, Data: eventtest.Data(event.Session, map[string]any{"handoff": "h.md", "contract": map[string]any{
			"role": role, "mode": "execution", "persona": "oddie@2", "participants": []any{"orville@1"}, "tainted": "override of planning",
			"handoffs": []any{map[string]any{"path": "p.md"}}, "override": map[string]any{"by": "human:ann", "risks": []any{"haste"}}}})}
	}
	claim := func(task, of string) event.Record {
		return event.Record{Kind: event.Claim, Task: task, Data: event.ClaimData{RefreshOf: of}}
	}
	want := &Contract{Role: "builder", Mode: "execution", Persona: "oddie@2", Others: []string{"orville@1"}, From: []string{"p.md"}, To: "h.md", Tainted: "override of planning", Override: "human:ann", Risks: []string{"haste"}}
	for name, c := range map[string]struct {
		records []event.Record
		want    *Contract
		judged  string
	}{
		"the last session":      {[]event.Record{claim("t", ""), session("t", "planner"), session("t", "builder"), session("u", "resolver")}, want, ""},
		"a later claim":         {[]event.Record{session("t", "builder"), claim("t", "")}, nil, ""},
		"judged again":          {[]event.Record{claim("t", "run-1")}, nil, "run-1"},
		"another's":             {[]event.Record{session("u", "builder")}, nil, ""},
		"before contracts were": {[]event.Record{{Kind: event.Session, Task: "t", Data: eventtest.Data(event.Session, map[string]any{"turns": int64(1)})}}, nil, ""},
	} {
		got, judged := Contracted("t", c.records)
		if diff := cmp.Diff(c.want, got); diff != "" || judged != c.judged {
			t.Errorf("%s: judged %q, want %q (-want +got)\n%s", name, judged, c.judged, diff)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	keel, skeg := Path{"k/keel.md", "", "r1"}, Path{"k/my skeg.md", "b2", "r2"}
	p := Proposal{Task: "t", Paths: []Path{keel, skeg}}
	has := map[okf.ID]Path{"keel": keel, "my skeg": skeg}
	rest, out, err := p.Without([]LeftOut{{"my skeg", "vague"}}, has)
	if err != nil || len(rest.Paths) != 1 || rest.Paths[0] != keel || len(out) != 1 || out[0] != skeg {
		t.Errorf("%v, %v, %v", rest.Paths, out, err)
	}
	for name, left := range map[string][]LeftOut{"all": {{"keel", ""}, {"my skeg", ""}}, "twice": {{"keel", ""}, {"keel", "no"}}, "another": {{"skeg", ""}}} {
		if _, _, err := p.Without(left, has); code(err) != "state" {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, ok := NamedIn([]string{"keel", "my skeg too vague"}, has)
	if d := cmp.Diff([]LeftOut{{"keel", ""}, {"my skeg", "too vague"}}, got); d != "" || !ok {
		t.Error(d)
	}
	if _, ok := NamedIn([]string{"keels"}, has); ok {
		t.Error("an atom that is not there")
	}
}

// A decline is added to those that stand, by whoever confirmed it.
func TestDecline(t *testing.T) {
	t.Parallel()
	task := in(t, board.Review)
	for _, id := range []okf.ID{"skeg", "desk"} {
		b, err := Decline(task.Atom.Bytes(), task, []board.Decline{{ID: id, Text: "sha256:11", Reason: "no: \"word\""}}, person(t), now)
		if err != nil {
			t.Fatal(err)
		}
		a, err := okf.Parse("tasks/t-1.md", b)
		if err != nil {
			t.Fatal(err)
		}
		if task, err = board.Parse(&a); err != nil {
			t.Fatal(err)
		}
	}
	d := board.Decline{ID: "skeg", Text: "sha256:11", By: "human:ann@example.org", At: "2026-03-02T09:00:00Z", Reason: "no: \"word\""}
	second := d
	second.ID = "desk"
	if diff := cmp.Diff([]board.Decline{d, second}, task.Declined); diff != "" {
		t.Error(diff)
	}
}

// Whatever the reason, what a trailer names is read back as it was written.
func FuzzNamedIn(f *testing.F) {
	f.Add("keel", "too vague")
	f.Add("my skeg", "")
	f.Fuzz(func(t *testing.T, id, reason string) {
		l := LeftOut{okf.ID(strings.Join(strings.Fields(id), " ")), strings.Join(strings.Fields(reason), " ")}
		if l.ID == "" {
			t.Skip()
		}
		got, ok := NamedIn([]string{l.String()}, map[okf.ID]Path{l.ID: {}})
		if !ok || len(got) != 1 || got[0] != l {
			t.Errorf("%q is read as %q", l, got)
		}
		if _, ok := NamedIn([]string{l.String()}, map[okf.ID]Path{"x" + l.ID: {}}); ok {
			t.Errorf("%q names another atom", l)
		}
	})
}
