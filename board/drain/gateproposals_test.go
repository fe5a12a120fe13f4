package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// proposed are the proposals on the board.
func (w *world) proposed() gate.Buffer {
	w.t.Helper()
	oid, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		w.t.Fatal(err)
	}
	var b gate.Buffer
	changes, err := w.repo.Diff(context.Background(), "", oid)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range changes {
		if strings.HasPrefix(c.Path, "knowledge/proposals/") {
			if err := b.ReadProposals([]byte(w.read("refs/heads/main", c.Path))); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return b
}

// asks is an emission with proposals of these severities.
func asks(severities ...string) session.Emission {
	e := says(term("tide"))
	for n, s := range severities {
		e.Proposals = append(e.Proposals, session.Proposal{Severity: s, Gate: "framing", Reason: fmt.Sprint("reason ", n)})
	}
	return e
}

// The words package session reads are those of the gates.
func TestAgentsUseTheGatesWords(t *testing.T) {
	t.Parallel()
	for _, s := range gate.Severities() {
		for _, g := range gate.Gates() {
			text := fmt.Sprintf("```json\n{\"schema\":\"odd.proposal.1\",\"severity\":%q,\"gate\":%q,\"reason\":\"x\"}\n```\n", s, g)
			if e, bad := session.Parse([]byte(text)); len(bad) > 0 || len(e.Proposals) != 1 {
				t.Errorf("%s %s: %v", s, g, bad)
			}
		}
	}
}

// An agent proposes as an agent, at most ten times a drain, in the result's commit.
func TestAnAgentProposes(t *testing.T) {
	t.Parallel()
	w := governed(t, nil, "a", "b")
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		return asks("low", "high", "low", "low", "low", "low", "low"), nil
	}
	r := w.must()
	b := w.proposed()
	if len(r.Tasks) != 2 || len(b.Proposals) != gate.MaxPerDrain {
		t.Fatalf("%+v\n%d proposals", r.Tasks, len(b.Proposals))
	}
	p := b.Open()[0]
	if p.Source != gate.TaskAgent || p.Severity != gate.High || p.Lease != "L-0001" || p.Run != r.Run || p.Reason != "reason 1" {
		t.Errorf("%+v", p)
	}
	if r.Tasks[0].State != board.Review || r.Tasks[1].State != board.Review {
		t.Errorf("what is proposed changes nothing else: %+v", r.Tasks)
	}
	if chain := w.read("refs/heads/main", "knowledge/governance/gates.jsonl"); strings.Count(chain, "\n") != 2 {
		t.Errorf("a gate was passed:\n%s", chain)
	}
}

// What a session proposed is heard also where its work was sent back and done again.
func TestWhatIsSentBackIsHeard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs)
	asked := 0
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := delivers(1, "# A\n")
		if asked++; asked == 1 {
			e.Change.Text, e.Proposals = []byte(`{"schema_version": "2b.1"}`), asks("low").Proposals
		}
		return e, nil
	}
	if r := w.must(); asked != 2 || r.Tasks[0].State != board.Review || len(w.proposed().Proposals) != 1 {
		t.Errorf("asked %d times: %+v\n%+v", asked, r.Tasks, w.proposed().Proposals)
	}
}

// An agent's emergency stops the drain at once and every later one, with leases
// or without, and moves no stance.
func TestAnEmergencyStopsTheDrain(t *testing.T) {
	t.Parallel()
	for _, leases := range []bool{true, false} {
		t.Run(fmt.Sprint("leases ", leases), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid, "a", "b")
			if leases {
				w.require()
				w.gates(nil)
			}
			w.answer = answers(asks("emergency", "low"))
			r, err := w.drain(context.Background())
			if code(err) != "lease-emergency-open" || len(r.Tasks) != 1 || r.Tasks[0].State != board.Blocked || r.Tasks[0].Reason != "emergency: reason 0" || r.Tasks[0].Branch != "" {
				t.Fatalf("%+v, %v", r.Tasks, err)
			}
			if id := w.proposed().Emergency(); id == "" {
				t.Error("it was not appended")
			}
			if _, err := w.drain(context.Background()); code(err) != "lease-emergency-open" {
				t.Errorf("the next drain: %v", err)
			}
			if leases && !strings.Contains(w.read("refs/heads/main", "knowledge/governance/lease.toml"), `stance = "execution"`) {
				t.Error("the stance moved")
			}
			if _, err := w.invoke(1); code(err) != "lease-emergency-open" {
				t.Errorf("an invocation: %v", err)
			}
		})
	}
}

// Neither a person's interruption nor a fault at the end hides what a session stopped the drain for.
func TestAnEmergencyIsToldWhateverFollows(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{true, false} {
		w := newWorld(t, paid, "a")
		ctx, stop := context.WithCancel(t.Context())
		w.answer = func(context.Context, session.Request) (session.Emission, error) {
			if interrupted {
				stop()
				return asks("emergency"), nil
			}
			old := "refs/odd/run/run-01ARZ3NDEKTSV4RRFFQ69G5FAV" // which is pruned
			tip, err := w.repo.Ref("refs/heads/main")
			err = errors.Join(err, w.repo.Update(ctx, repo.RefUpdate{Name: old, New: tip}))
			return asks("emergency"), errors.Join(err, os.WriteFile(filepath.Join(w.repo.CommonDir(), old+".lock"), nil, 0o600))
		}
		r, err := w.drain(ctx)
		if code(err) != "lease-emergency-open" || interrupted == strings.Contains(strings.Join(r.Notes, "\n"), "01ARZ3NDEK") {
			t.Errorf("interrupted %v: %v, notes %q", interrupted, err, r.Notes)
		}
		stop()
	}
}

// A session that fails is heard all the same.
func TestAFailedSessionIsHeard(t *testing.T) {
	t.Parallel()
	w := governed(t, nil, "a")
	e := asks("high")
	e.Outcome, e.Failure, e.Atoms = session.Failed, "no-access", nil
	w.answer = answers(e)
	if r := w.must(); r.Tasks[0].State != board.Blocked || len(w.proposed().Open()) != 1 {
		t.Errorf("%+v", r.Tasks)
	}
}

// What decays is proposed once, in a commit of its own, by a drain that is then refused.
func TestExpiryIsProposedOnce(t *testing.T) {
	t.Parallel()
	w := governed(t, nil, "a")
	w.now = begin.Add(80 * time.Hour)
	before, _ := w.repo.Ref("refs/heads/main")
	for range 12 {
		if _, err := w.drain(context.Background()); code(err) != "lease-time-expired" {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Hour)
	}
	var keys []string
	for _, p := range w.proposed().Open() {
		keys = append(keys, fmt.Sprintf("%s %s %s", p.Source, p.Severity, p.Key))
	}
	want := []string{"decay_manager high lease-expired:L-0001:2026-03-05T09:00:00Z", "decay_manager low nudge:G-0002"}
	if d := cmp.Diff(want, keys); d != "" {
		t.Error(d)
	}
	tip, _ := w.repo.Ref("refs/heads/main")
	changes, err := w.repo.Diff(context.Background(), before, tip)
	if err != nil || len(changes) != 2 || !strings.HasPrefix(changes[0].Path, "knowledge/proposals/") {
		t.Errorf("%+v, %v", changes, err)
	}
}

// The tenth refused drain proposes low and once that somebody pass a gate; one
// that is not refused begins the count again.
func TestTheNudge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.require()
	for n := 1; n <= 12; n++ {
		if n == 5 {
			w.gates(nil)
			w.must()
			w.commit(repo.Changes{"knowledge/governance/lease.toml": nil, "knowledge/governance/gates.jsonl": nil}, "gone")
		}
		if _, err := w.drain(context.Background()); code(err) != "lease-none" {
			t.Fatal(err)
		}
	}
	if open := w.proposed().Open(); len(open) != 0 {
		t.Errorf("after eight: %+v", open)
	}
	for range 4 {
		_, _ = w.drain(context.Background())
	}
	if open := w.proposed().Open(); len(open) != 1 || open[0].Severity != gate.Low || open[0].Gate != gate.Framing {
		t.Errorf("%+v", open)
	}
}

// Sessions without a task are under the lease too, by their role.
func TestInvokeUnderALease(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	if _, err := w.invoke(1); code(err) != "lease-kind" {
		t.Errorf("an explorer in execution: %v", err)
	}
	w = governed(t, func(f *gate.File) {
		f.Stance, f.Lease.State, f.Lease.ActivatedAt = gate.Discovery, gate.Draft, time.Time{}
	})
	w.answer = answers(finds("x"))
	r := w.mustInvoke(2)
	claim := w.records(r.Run)[0]
	if claim.Claim().Lease != "L-0001" || r.Said[0].Handoff == "" {
		t.Errorf("%+v %+v", claim, r.Said)
	}
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		w.clock.Lock()
		defer w.clock.Unlock()
		w.now = begin.Add(72 * time.Hour)
		return finds("late"), nil
	}
	if s := w.mustInvoke(2).Said; s[0].Outcome != "failed" || !strings.HasPrefix(s[0].Reason, "lease expired") || s[0].Handoff != "" || s[1].Handoff != "" {
		t.Errorf("%+v", s)
	}
}

// What only detects, and for no task, runs in every stance and outside of every
// scope, but under no lease that has ended. A task that asks for it keeps its kind.
func TestDetectingUnderALease(t *testing.T) {
	t.Parallel()
	draft := func(to gate.Stance) func(*gate.File) {
		return func(f *gate.File) { f.Stance, f.Lease.State, f.Lease.ActivatedAt = to, gate.Draft, time.Time{} }
	}
	for name, c := range map[string]struct {
		lease func(*gate.File)
		after time.Duration
		want  string
	}{
		"execution": {nil, 0, "<nil>"},
		"discovery": {draft(gate.Discovery), 0, "<nil>"},
		"a scope":   {func(f *gate.File) { f.Lease.Scope.Kinds, f.Lease.Scope.Tasks = []string{"extract"}, []string{"a"} }, 0, "<nil>"},
		"time":      {nil, 80 * time.Hour, "lease-time-expired"},
		"suspended": {func(f *gate.File) { f.Lease.State, f.Stance = gate.Suspended, gate.Sensemaking }, 0, "lease-suspended"},
	} {
		for _, role := range []contract.Role{contract.Observer, contract.Validator} {
			w := governed(t, c.lease, "a")
			w.now, w.o.Call.Role = w.now.Add(c.after), role
			e := says()
			e.Deliverable = &deliver.Deliverable{Schema: deliver.SchemaCommentary, Commentary: &deliver.Commentary{Says: []string{"quiet"}}}
			w.answer = answers(e)
			got := "<nil>"
			if role == contract.Observer {
				r, err := w.invoke(1)
				if got = code(err); err == nil && (r.Said[0].Outcome != "completed" || w.records(r.Run)[0].Claim().Lease != "L-0001") {
					t.Errorf("%s, %s: %+v", role, name, r.Said)
				}
			} else {
				_, err := Resolve(context.Background(), w.repo, w.o, Invocation{})
				var no contract.Refusals
				_ = errors.As(err, &no) // it has nothing to judge here; what the lease says stands beside that
				for _, one := range no {
					if strings.HasPrefix(one.Code, "lease-") {
						got = one.Code
					}
				}
			}
			if got != c.want {
				t.Errorf("%s, %s: got %q, want %q", role, name, got, c.want)
			}
		}
	}
	w := governed(t, draft(gate.Discovery), "a contract_role: validator")
	if _, err := w.drain(context.Background()); code(err) != "lease-kind" {
		t.Errorf("a task that asks for a validator: %v", err)
	}
}

// A brief tells what is to be known before asking, but never to a fresh context,
// and not where there is no slow loop.
func TestContextInTheBrief(t *testing.T) {
	t.Parallel()
	brief := func(w *world) string {
		w.t.Helper()
		var got string
		w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
			got = string(r.Brief)
			return says(), nil
		}
		w.must()
		return got
	}
	w := governed(t, nil, "a")
	if b := brief(w); !strings.Contains(b, "\n## context\n") || strings.Index(b, "\n## context\n") > strings.Index(b, "\n## task\n") || !strings.Contains(b, "read the handbook") {
		t.Errorf("%s", b)
	}
	if b := brief(newWorld(t, paid, "a")); b == "" || strings.Contains(b, "\n## context\n") {
		t.Errorf("without a slow loop:\n%s", b)
	}
	w = newWorld(t, paid, "a")
	w.gates(nil)
	if b := brief(w); !strings.Contains(b, "\n## context\n") {
		t.Errorf("leases off, and yet there is one:\n%s", b)
	}
}

// What an agent proposes is quoted to nobody who works in a mode.
func TestNoModeReadsAnAgentsWordsInItsContext(t *testing.T) {
	t.Parallel()
	for role, quoted := range map[string]bool{"general": true, "explorer": false} {
		w := newWorld(t, paid, "a contract_role: "+role)
		line := `{"t":"proposal","id":"P-1","ts":"2026-03-01T08:00:00Z","source":"task_agent","severity":"low","gate":"framing","reason":"the plan is WRONG","run":"run-a","key":"k"}` + "\n"
		w.commit(repo.Changes{"knowledge/proposals/run-a.jsonl": []byte(line)}, "proposed")
		var brief string
		w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
			brief = string(r.Brief)
			return says(), nil
		}
		w.must()
		if !strings.Contains(brief, "P-1 low, task_agent proposes the framing gate") || strings.Contains(brief, "WRONG") != quoted {
			t.Errorf("%s:\n%s", role, brief)
		}
	}
}
