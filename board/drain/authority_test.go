package drain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// governed is a world under an active lease of three days, as change leaves it.
func governed(t *testing.T, change func(*gate.File), tasks ...string) *world {
	t.Helper()
	w := newWorld(t, paid, tasks...)
	w.require()
	w.gates(change)
	return w
}

// require takes the key out of odd.toml: missing is required.
func (w *world) require() {
	w.t.Helper()
	b := strings.Replace(w.read("refs/heads/main", "odd.toml"), "[governance]\nlease = \"off\"\n", "", 1)
	w.commit(repo.Changes{"odd.toml": []byte(b)}, "leases on")
}

// active is a lease that a person could have activated at begin.
func active() gate.File {
	return gate.File{Version: 1, Stance: gate.Execution, Lease: gate.Lease{
		ID: "L-0001", State: gate.Active, Frame: "read the handbook", Horizon: "short", Success: []string{"it is read"}, NonGoals: []string{"no code"},
		RenewalPrompt: "Is it still worth it?", ActivatedAt: begin, ExpiresAt: begin.Add(72 * time.Hour), MaxTasks: 20,
		Scope: gate.Scope{Paths: []string{"knowledge/**"}},
	}}
}

// gates commits governance files of a lease and of the two acts that made it.
func (w *world) gates(change func(*gate.File)) {
	w.t.Helper()
	f := active()
	if change != nil {
		change(&f)
	}
	file := gate.PrintLease(f)
	sum := sha256.Sum256(file)
	row := gate.Row{TS: begin, By: "human:ann@example.org", Reason: "begin", LeaseSum: hex.EncodeToString(sum[:])}
	var chain []byte
	add := func(g gate.Gate, to gate.Stance, act, lease string) {
		row.Gate, row.From, row.To, row.Act, row.Lease = g, "", to, act, lease
		var err error
		if chain, _, err = gate.Append(chain, row); err != nil {
			w.t.Fatal(err)
		}
	}
	if f.Lease.ID != "L-0001" {
		add(gate.Framing, gate.Discovery, "draft", "L-0001")
		add(gate.EvaluationGate, gate.Evaluation, "release", "L-0001")
	}
	add(gate.Framing, gate.Discovery, "draft", f.Lease.ID)
	if f.Lease.State != gate.Draft {
		add(gate.Commitment, gate.Execution, "activate", f.Lease.ID)
	}
	if f.Lease.State == gate.Suspended {
		add(gate.Emergency, gate.Sensemaking, "suspend", f.Lease.ID)
	}
	w.commit(repo.Changes{"knowledge/governance/lease.toml": file, "knowledge/governance/gates.jsonl": chain}, "gate")
}

func TestUnderALease(t *testing.T) {
	t.Parallel()
	w := governed(t, nil, "a")
	r := w.must()
	if len(r.Tasks) != 1 || r.Tasks[0].State != board.Review {
		t.Fatalf("%+v", r)
	}
	claim := w.records(r.Run)[0]
	if claim.Claim().Lease != "L-0001" {
		t.Errorf("the claim does not say under which lease: %+v", claim)
	}
	for _, ref := range []string{"refs/heads/main", "refs/heads/" + r.Tasks[0].Branch} {
		oid, err := w.repo.Ref(ref)
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.repo.Commit(oid)
		if err != nil || !strings.Contains(c.Message, "\nOdd-Lease: L-0001\n") {
			t.Errorf("%s: %v\n%s", ref, err, c.Message)
		}
	}
}

// Every reason for a lease not to be valid refuses with its code, and nothing is written.
func TestADeadLeaseBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		code   string
	}{
		"none":          {func(w *world) { w.commit(repo.Changes{"knowledge/governance/lease.toml": nil}, "x") }, "lease-none"},
		"no TOML":       {func(w *world) { w.commit(repo.Changes{"knowledge/governance/lease.toml": []byte("[")}, "x") }, "lease-unreadable"},
		"empty":         {func(w *world) { w.commit(repo.Changes{"knowledge/governance/lease.toml": {}}, "x") }, "lease-schema"},
		"edited":        {func(w *world) { w.edit("knowledge/governance/lease.toml", "max_tasks = 20", "max_tasks = 21") }, "lease-chain-broken"},
		"at the moment": {func(w *world) { w.now = begin.Add(72 * time.Hour) }, "lease-time-expired"},
		"suspended": {func(w *world) {
			w.gates(func(f *gate.File) { f.Lease.State, f.Stance = gate.Suspended, gate.Sensemaking })
		}, "lease-suspended"},
		"a torn proposal": {func(w *world) { w.commit(repo.Changes{"knowledge/proposals/x.jsonl": []byte("{")}, "x") }, "lease-unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := governed(t, nil, "a")
			c.change(w)
			before, _ := w.repo.Ref("refs/heads/main")
			if _, err := w.drain(context.Background()); code(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
			if after, _ := w.repo.Ref("refs/heads/main"); after != before && !strings.Contains(c.code, "expired") {
				t.Error("a refused drain wrote")
			}
			if !strings.Contains(w.task("a"), "state: ready") {
				t.Error(w.task("a"))
			}
		})
	}
	w := governed(t, nil, "a")
	w.now = begin.Add(72*time.Hour - time.Second)
	if r := w.must(); len(r.Tasks) != 1 || !strings.Contains(fmt.Sprint(r.Tasks[0].State), "review") {
		t.Errorf("a second before: %+v", r.Tasks)
	}
}

func (w *world) edit(name, old, now string) {
	w.t.Helper()
	b := w.read("refs/heads/main", name)
	if !strings.Contains(b, old) {
		w.t.Fatalf("%s: no %q", name, old)
	}
	w.commit(repo.Changes{name: []byte(strings.Replace(b, old, now, 1))}, "edit")
}

// A lease that dies while a session runs ends its task as blocked, never as review.
func TestTheLeaseDiesMidTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		reason string
	}{
		"time": {func(w *world) { w.now = begin.Add(72 * time.Hour) }, "lease expired: L-0001 ended at 2026-03-05T09:00:00Z"},
		"suspended": {func(w *world) {
			w.gates(func(f *gate.File) { f.Lease.State, f.Stance = gate.Suspended, gate.Sensemaking })
		}, "lease suspended: "},
		"another": {func(w *world) {
			w.gates(func(f *gate.File) { f.Lease.ID, f.Lease.Scope.Tasks = "L-0002", []string{"a"} })
		}, "lease released: L-0002 replaced L-0001"},
		"a milestone": {func(w *world) { w.edit("knowledge/tasks/goal.md", "state: ready", "state: done") }, "lease milestone reached"},
	} {
		for _, turns := range []int{1, 2} { // between turns, and after the last
			t.Run(fmt.Sprint(name, " ", turns), func(t *testing.T) {
				t.Parallel()
				w := governed(t, func(f *gate.File) { f.Lease.Milestone, f.Lease.Scope.Tasks = []string{"goal"}, []string{"a"} }, "a", "goal")
				w.now = begin.Add(71*time.Hour + 50*time.Minute)
				w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
					c.change(w)
					if turns == 2 {
						if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
							return e, nil
						}
						t.Error("another turn was allowed")
					}
					return says(term("tide")), nil
				}
				r := w.must()
				o := r.Tasks[0]
				if len(r.Tasks) != 1 || o.State != board.Blocked || !strings.HasPrefix(o.Reason, c.reason) || o.Branch != "" || len(o.Effects) > 0 {
					t.Errorf("%+v", r.Tasks)
				}
				if refs, _ := w.repo.Refs("refs/heads/odd/review/"); len(refs) > 0 {
					t.Errorf("%v", refs)
				}
				if !strings.Contains(w.task("a"), "state: blocked") {
					t.Error(w.task("a"))
				}
			})
		}
	}
}

// The last task and the last money of a lease may be used to their end.
func TestTheLastTaskOfALease(t *testing.T) {
	t.Parallel()
	w := governed(t, func(f *gate.File) { f.Lease.MaxTasks, f.Lease.Budget = 2, 150_000 }, "a", "b", "c")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		if r.Task == "b" && r.MaxCost != 70_000 {
			t.Errorf("the second session may cost %d, and 70000 are left", r.MaxCost)
		}
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		e := says(term("tide"))
		e.Usage.Cost = 80_000
		if r.Task == "b" {
			e.Usage.Cost = 60_000
		}
		return e, nil
	}
	r := w.must()
	if len(r.Tasks) != 2 || r.Tasks[1].State != board.Review || len(r.Notes) == 0 || !strings.Contains(fmt.Sprint(r.Notes), "2 of 2 tasks") {
		t.Errorf("%+v", r)
	}
	if _, err := w.drain(context.Background()); code(err) != "lease-tasks-exhausted" {
		t.Errorf("%v", err)
	}
}

// Kind, scope and hash lock are asked for each task; what one is refused for
// keeps no other waiting.
func TestTheScopeOfALease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task   string
		change func(*gate.File)
		code   string
	}{
		"kind": {"a", func(f *gate.File) { f.Lease.Scope.Kinds = []string{"document"} }, "lease-scope"},
		"stance": {"a", func(f *gate.File) {
			f.Stance, f.Lease.State, f.Lease.ActivatedAt = gate.Discovery, gate.Draft, time.Time{}
		}, "lease-kind"},
		"role":       {"a", func(f *gate.File) { f.Lease.Scope.Roles = []string{"editor"} }, "lease-scope"},
		"tag":        {"a", func(f *gate.File) { f.Lease.Scope.Tags = []string{"now"} }, "lease-scope"},
		"task":       {"a", func(f *gate.File) { f.Lease.Scope.Tasks = []string{"b"} }, "lease-scope"},
		"path":       {"a paths: [docs/**]", nil, "lease-scope"},
		"governance": {"a paths: [knowledge/governance/**]", nil, "lease-scope"},
		"hash":       {"a", func(f *gate.File) { f.Lease.Scope.WorkOrders = map[string]string{"a": gate.WorkOrder([]byte("other"))} }, "lease-work-order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := governed(t, c.change, c.task)
			if _, err := w.drain(context.Background()); code(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
			p, err := Explain(context.Background(), w.repo, w.o)
			if err != nil || len(p.Tasks) != 1 || p.Tasks[0].Run {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	w := governed(t, func(f *gate.File) { f.Lease.Scope.Tasks = []string{"tasks/b.md"} }, "a", "b")
	if r := w.must(); len(r.Tasks) != 1 || r.Tasks[0].Task != "b" {
		t.Errorf("%+v", r.Tasks)
	}
	w = governed(t, nil, "a")
	w.gates(func(f *gate.File) {
		f.Lease.Scope.WorkOrders = map[string]string{"a": gate.WorkOrder([]byte(w.task("a")))}
	})
	if r := w.must(); len(r.Tasks) != 1 {
		t.Errorf("the lock holds what is as it was: %+v", r)
	}
}

// What a session writes outside of the lease's paths lands nowhere.
func TestWritesStayInTheLease(t *testing.T) {
	t.Parallel()
	w := governed(t, func(f *gate.File) { f.Lease.Scope.Paths = []string{"knowledge/processes/**"} }, "a")
	r := w.must()
	if o := r.Tasks[0]; o.State != board.Blocked || !strings.Contains(o.Reason, "knowledge/terms/tide.md is outside the lease's") {
		t.Errorf("%+v", o)
	}
}

// Whatever sessions emit, no commit of a drain touches governance: atoms that
// lie there, under whatever spelling, are kept out, and the one place where
// commits are made refuses the path.
func TestNoDrainWritesGovernance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	var tasks []string
	for n := range 12 {
		tasks = append(tasks, fmt.Sprintf("t%02d", n))
	}
	w := governed(t, nil, tasks...)
	names := []string{"governance/%d.md", "Governance/%d.md", "governance/deep/%d.md", "GOVERNANCE/lease.%d.md", "terms/%d.md", "terms/governance/%d.md", "canon/%d.md"}
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := says()
		for range 1 + r.IntN(4) {
			id := r.IntN(1000)
			name := fmt.Sprintf(names[r.IntN(len(names))], id)
			a, err := okf.Parse(name, fmt.Appendf(nil, "---\ntype: %s\ntitle: n%d\n---\nIt is.\n", []string{"term", "policy", "principle", "decision"}[r.IntN(4)], id))
			if err != nil {
				return e, err
			}
			e.Atoms = append(e.Atoms, session.Atom{Atom: a, At: "emission:1"})
		}
		return e, nil
	}
	tip, _ := w.repo.Ref("refs/heads/main")
	rep := w.must()
	ends := []repo.OID{}
	for _, o := range rep.Tasks {
		if o.Proposal != "" {
			ends = append(ends, o.Proposal)
		}
	}
	now, _ := w.repo.Ref("refs/heads/main")
	if len(ends) == 0 {
		t.Error("nothing landed, so nothing was tested")
	}
	for _, end := range append(ends, now) {
		changes, err := w.repo.Diff(context.Background(), tip, end)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if p := strings.ToLower(c.Path); strings.HasPrefix(p, "knowledge/governance") || p == "odd.toml" {
				t.Errorf("%s was written", c.Path)
			}
		}
	}
	d := &drain{boardWriter: boardWriter{repo: w.repo, at: &snapshot{tip: now}}}
	d.at.cfg.Root = "knowledge"
	for _, name := range []string{"knowledge/governance/lease.toml", "knowledge/Governance/x", "knowledge/terms/../governance/x", "odd.toml"} {
		if _, err := d.makeCommit(context.Background(), now, repo.Changes{name: []byte("x")}, repo.Signature{}, "x"); err == nil || !strings.Contains(err.Error(), "odd drain must not write this file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a stance does not make lands in no review.
func TestWhatAStanceMakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // the stances that make it
		"type: term": "sensemaking discovery execution", "type: decision\nstatus: draft": "sensemaking discovery execution", "type: decision\nstatus: stable": "execution",
		"type: Artifact\nstatus: draft": "discovery execution", "type: artifact": "execution", "type: process": "execution", "type: task": "sensemaking discovery execution evaluation",
	} {
		a, err := okf.Parse("x.md", []byte("---\n"+text+"\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range gate.Stances() {
			if whyUnmade(s, a) == "" {
				got = append(got, string(s))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is made in %v, want %s", text, got, want)
		}
	}
	w := governed(t, func(f *gate.File) {
		f.Stance, f.Lease.State, f.Lease.ActivatedAt = gate.Discovery, gate.Draft, time.Time{}
	}, "a")
	w.edit("knowledge/tasks/a.md", "kind: extract", "kind: prototype")
	a, err := okf.Parse("processes/x.md", []byte("---\ntype: process\nid: x\ntitle: X\n---\nIt is.\n"))
	if err != nil {
		t.Fatal(err)
	}
	w.answer = answers(says(session.Atom{Atom: a, At: "emission:1"}))
	if o := w.must().Tasks[0]; o.State != board.Blocked || !strings.Contains(o.Reason, "processes/x.md is a process, but in discovery an agent may only make term, concept, decision, artifact") {
		t.Errorf("%+v", o)
	}
}

// A person passes the emergency gate while a session runs: the task is theirs,
// nothing of the session lands, and no further task is taken.
func TestAnEmergencyGateStopsARunningDrain(t *testing.T) {
	t.Parallel()
	w := governed(t, nil, "a", "b")
	var said error
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		w.gates(func(f *gate.File) { f.Lease.State, f.Stance = gate.Suspended, gate.Sensemaking })
		held := w.task("a")
		w.commit(repo.Changes{
			"knowledge/pause.toml": board.PauseFile("emergency", "human:ann@example.org", w.now),
			"knowledge/tasks/a.md": []byte(strings.Replace(held, "state: in_progress", "state: blocked", 1)),
		}, "gate: emergency")
		said = r.Turn(session.Usage{})
		return says(term("tide")), nil
	}
	r := w.must()
	if len(r.Tasks) != 1 || r.Tasks[0].State != "" || said == nil || !strings.Contains(said.Error(), "paused") {
		t.Errorf("%+v, and the next turn: %v", r.Tasks, said)
	}
	if refs, _ := w.repo.Refs("refs/heads/odd/review/"); len(refs) > 0 || !strings.Contains(w.task("a"), "state: blocked") {
		t.Errorf("%v\n%s", refs, w.task("a"))
	}
	if _, err := w.drain(context.Background()); code(err) != "paused" {
		t.Errorf("%v", err)
	}
}

// A person commits at every moment of a drain that proposes in turn: what
// decayed is proposed once, and both are in history.
func TestAPersonCommitsWhileALeaseDecays(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 6, 9, 12, 16} {
		w := governed(t, nil, "a")
		w.now = begin.Add(71 * time.Hour)
		calls := 0
		w.o.Now = func() time.Time {
			if calls++; calls == n {
				w.commit(repo.Changes{"notes.txt": []byte("x\n")}, "a note")
			}
			return w.now
		}
		r, err := w.drain(context.Background())
		if err != nil || len(r.Tasks) != 1 || r.Tasks[0].State != board.Review {
			t.Errorf("at moment %d: %+v, %v", n, r, err)
		}
		w.o.Now = func() time.Time { return w.now }
		if open := w.proposed().Open(); len(open) != 1 || !strings.HasPrefix(open[0].Key, "lease-ending:") {
			t.Errorf("at moment %d: %+v", n, open)
		}
		if calls >= n && w.read("refs/heads/main", "notes.txt") == "" {
			t.Errorf("at moment %d: the person's commit is gone", n)
		}
	}
}

// What a dry run prints is the brief that the session gets, with the end of the lease in it.
func TestADryRunShowsTheLeaseEnd(t *testing.T) {
	t.Parallel()
	w := governed(t, func(f *gate.File) { f.Lease.ExpiresAt = begin.Add(5 * time.Minute) }, "a")
	o := w.o
	o.Run, o.Task = "run-01KJPWD6M0E8497ANGJ5R0NA99", "a"
	b, _, err := BriefFor(context.Background(), w.repo, o, Invocation{})
	if err != nil || !strings.Contains(string(b.Text), "\n- At most 5m0s.\n") {
		t.Errorf("%v\n%s", err, b.Text)
	}
}

// No turn begins once what a session works under has ended, whatever the agent does: its permit, its
// claim, the task as it was claimed, or that drains run at all.
func TestNoTurnAfterTheEnd(t *testing.T) {
	t.Parallel()
	role := "knowledge/roles/shore-lead.md"
	for name, c := range map[string]struct {
		does    func(*world)
		refused string // the turn
		reason  string // of the task
		state   board.State
	}{
		"nothing happened": {func(*world) {}, "", "", board.Review},
		"the permit ended": {func(w *world) { w.now = w.now.Add(31 * time.Minute) }, "anchor expired", "anchor expired", board.Blocked},
		"its constitution changed": {func(w *world) {
			w.commit(repo.Changes{role: []byte(w.read("refs/heads/main", role) + "\nMore.\n")}, "a rule")
		}, "anchor void", "anchor void", board.Blocked},
		"the claim ended": {func(w *world) { w.now = w.now.Add(61 * time.Minute) }, "the claim on the task ended", "lease_expired", board.Blocked},
		"somebody took the task": {func(w *world) {
			w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "title: a", "title: b", 1))}, "mine")
		}, "somebody changed the task", "result discarded", ""},
		"drains are paused": {func(w *world) {
			w.commit(repo.Changes{"knowledge/pause.toml": board.PauseFile("lunch", "Ann", w.now)}, "pause")
		}, "drains were paused: lunch", "session failed", board.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid+"[anchor]\nttl = \"30m\"\n", "a")
			w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
				c.does(w)
				e, ok := r.BeginTurn(ctx, session.Usage{})
				if ok != (c.refused == "") || !strings.Contains(e.Detail, c.refused) {
					t.Errorf("a turn begins: %v; %s", ok, e.Detail)
				}
				if ok {
					e = says(term("tide"))
				}
				return e, nil
			}
			r, _ := w.drain(t.Context())
			if o := r.Tasks[0]; o.State != c.state || !strings.Contains(o.Reason, c.reason) || (o.Branch == "") != (c.state != board.Review) {
				t.Errorf("%s: %q, on %q", o.State, o.Reason, o.Branch)
			}
		})
	}
}
