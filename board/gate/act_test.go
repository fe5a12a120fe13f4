package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ann = "human:ann@example.org"

func newDecision(text string) *Decision {
	return &Decision{Decision: text, Rationale: []string{"it was wrong"}, Tradeoffs: "none known", Confidence: "med"}
}

// fixture is a slow memory on which acts are done one after the other.
type fixture struct {
	t   testing.TB
	s   Slow
	now time.Time
}

func newDesk(t testing.TB) *fixture { return &fixture{t: t, now: nine} }

func (d *fixture) tryAct(a Act) (Outcome, error) {
	d.t.Helper()
	d.now = d.now.Add(time.Minute)
	a.Now = d.now
	if a.By == "" {
		a.By = ann
	}
	if a.Reason == "" && needsReason(a.Kind) {
		a.Reason = "as agreed"
	}
	before, _ := ParseLease(LeasePath, d.s.LeaseFile)
	out, err := Do(d.s, a)
	if err != nil {
		var no Refusals
		if !errors.As(err, &no) || no.Refused() == "" || out.Files != nil {
			d.t.Fatalf("%s %s: %v is no refusal, or wrote %d files", a.Gate, a.Kind, err, len(out.Files))
		}
		return out, err
	}
	if found := Audit(out.Row.Gate, out.Row.Act, before, out.Lease, sortedKeys(out.Files)); len(found) > 0 {
		d.t.Fatalf("%s %s: audit: %q", a.Gate, a.Kind, found)
	}
	if b, ok := out.Files[LeasePath]; ok {
		d.s.LeaseFile = b
	}
	if b, ok := out.Files[DecisionsPath]; ok {
		d.s.Decisions = b
	}
	d.s.Gates = out.Files[GatesPath]
	return out, nil
}

func (d *fixture) mustDo(a Act) Outcome {
	d.t.Helper()
	out, err := d.tryAct(a)
	if err != nil {
		d.t.Fatalf("%s %s: %v", a.Gate, a.Kind, err)
	}
	return out
}

func (d *fixture) draftLease() *Lease {
	l := DraftOf(d.now, Plan{Ready: []Work{{"fix-it", "Fix it", "fix"}}}).Lease
	return &l
}

func (d *fixture) activateLease() Outcome {
	d.mustDo(Act{Gate: Framing, Lease: d.draftLease()})
	return d.mustDo(Act{Gate: Commitment})
}

func (d *fixture) suspendLease() Outcome {
	d.activateLease()
	return d.mustDo(Act{Gate: Emergency, Reason: "wrong path", Decision: newDecision("stop")})
}

// A person's way through the whole loop, with what each act leaves behind.
func TestLoop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	revised := func() *Lease {
		f, _ := ParseLease("x", d.s.LeaseFile)
		f.Lease.Frame, f.Lease.MaxTasks = "Fix more of it.", 30
		return &f.Lease
	}
	for _, c := range []struct {
		act  Act
		want string
	}{
		{Act{Gate: Framing, To: Discovery}, "G-0001 frame discovery  none"},
		{Act{Gate: Framing, Lease: d.draftLease(), Decision: newDecision("this is the frame")}, "G-0002 draft sensemaking L-0001 draft"},
		{Act{Gate: Framing, To: Discovery}, "G-0003 frame discovery L-0001 draft"},
		{Act{Gate: Commitment, Locks: map[string]string{"a": WorkOrder(nil)}}, "G-0004 activate execution L-0001 active"},
		{Act{Gate: EvaluationGate}, "G-0005 enter evaluation L-0001 active"},
		{Act{Gate: EvaluationGate, Kind: "revise", To: Execution, Lease: revised(), Decision: &Decision{
			Decision: "that is the frame", Rationale: []string{"seen"}, Tradeoffs: "none known", Confidence: "high", Supersedes: "D-0001"}}, "G-0006 revise execution L-0001 active"},
		{Act{Gate: Framing, Kind: "renew", To: Discovery}, "G-0007 renew discovery L-0001 active"},
		{Act{Gate: Commitment, Kind: "renew", Extend: time.Hour}, "G-0008 renew execution L-0001 active"},
		{Act{Gate: Emergency, Decision: newDecision("stop")}, "G-0009 suspend sensemaking L-0001 suspended"},
		{Act{Gate: Framing, Kind: "draft"}, "G-0010 draft sensemaking L-0001 draft"},
		{Act{Gate: Commitment}, "G-0011 activate execution L-0001 active"},
		{Act{Gate: EvaluationGate, Kind: "expire"}, "G-0012 expire evaluation L-0001 expired"},
		{Act{Gate: EvaluationGate, To: Sensemaking}, "G-0013 enter sensemaking L-0001 expired"},
		{Act{Gate: Framing, Lease: d.draftLease()}, "G-0014 draft sensemaking L-0002 draft"},
		{Act{Gate: EvaluationGate, Kind: "release"}, "G-0015 release evaluation L-0002 released"},
	} {
		if c.act.Kind == "revise" {
			c.act.Lease = revised()
		}
		if c.act.Kind == "suspend" || c.act.Gate == Emergency {
			c.act.Reason = "wrong path"
		}
		out := d.mustDo(c.act)
		state := stateOf(out.Lease)
		if got := fmt.Sprintf("%s %s %s %s %s", out.Row.ID, out.Row.Act, out.Row.To, out.Row.Lease, state); got != c.want {
			t.Fatalf("got %s, want %s", got, c.want)
		}
		if asks := out.Row.Act == "activate" || out.Row.Act == "renew"; asks != (out.Asks != "") {
			t.Errorf("%s asks %q", out.Row.ID, out.Asks)
		}
	}
	chain, err := ReadChain(d.s.Gates)
	if err != nil || len(chain.Rows) != 15 {
		t.Fatalf("%d rows, %v", len(chain.Rows), err)
	}
	if ds, err := ReadDecisions(d.s.Decisions); err != nil || len(ds) != 3 || ds[1].Act != "G-0006" || len(InForce(ds)) != 2 {
		t.Errorf("decisions %v, %v", ds, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	none := func(*fixture) {}
	drafted := func(d *fixture) { d.mustDo(Act{Gate: Framing, Lease: d.draftLease()}) }
	active := func(d *fixture) { d.activateLease() }
	suspended := func(d *fixture) { d.suspendLease() }
	late := func(d *fixture) { d.activateLease(); d.now = d.now.Add(4 * day) }
	evaluation := func(d *fixture) { d.activateLease(); d.mustDo(Act{Gate: EvaluationGate}) }
	lease := func(change func(*Lease)) *Lease {
		l := DraftOf(nine, Plan{}).Lease
		change(&l)
		return &l
	}
	for _, c := range []struct {
		name  string
		begin func(*fixture)
		act   Act
		codes string
		says  string
	}{
		{"nobody", none, Act{Gate: Framing, By: "odd-agent"}, "person", "is not a person"},
		{"no gate", none, Act{Gate: "framming"}, "act", `did you mean "framing"?`},
		{"no act of it", active, Act{Gate: Commitment, Kind: "revise"}, "act", "it has: activate, renew, enter"},
		{"no draft to commit to", none, Act{Gate: Commitment, Kind: "activate"}, "state", "odd gate framing"},
		{"execution without a lease", none, Act{Gate: Commitment}, "execution", "needs an active lease"},
		{"execution with a draft", drafted, Act{Gate: Commitment, Kind: "enter"}, "execution", "L-0001 is draft"},
		{"execution after release", func(d *fixture) {
			evaluation(d)
			d.mustDo(Act{Gate: EvaluationGate, Kind: "release", To: Sensemaking})
		}, Act{Gate: Commitment}, "execution", "released"},
		{"evaluation from itself", evaluation, Act{Gate: EvaluationGate}, "transition", "say which"},
		{"a second frame", active, Act{Gate: Framing, Lease: lease(func(*Lease) {})}, "state", "prolong it with odd gate commitment --renew"},
		{"draft with four criteria", none, Act{Gate: Framing, Lease: lease(func(l *Lease) { l.Success = []string{"a.", "b.", "c.", "d."} })}, "lease", "want 1 to 3"},
		{"draft of a wrong id", none, Act{Gate: Framing, Lease: lease(func(l *Lease) { l.ID = "L-0007" })}, "lease", "want L-0001"},
		{"draft beyond its horizon", none, Act{Gate: Framing, Lease: lease(func(l *Lease) { l.ExpiresAt = l.ExpiresAt.Add(time.Hour) })}, "lease", "3 days"},
		{"activation without criteria", func(d *fixture) { d.mustDo(Act{Gate: Framing, Lease: lease(func(l *Lease) { l.Success = nil })}) },
			Act{Gate: Commitment}, "lease", "success_criteria: has 0 entries"},
		{"activation with a placeholder", func(d *fixture) { d.mustDo(Act{Gate: Framing, Lease: lease(func(l *Lease) { l.Frame = "TB" + "D" })}) },
			Act{Gate: Commitment}, "lease", "placeholder"},
		{"activation of a late draft", func(d *fixture) { drafted(d); d.now = d.now.Add(4 * day) }, Act{Gate: Commitment}, "time_expired", "say how long it lasts, as --extend 3d"},
		{"activation beyond the horizon", drafted, Act{Gate: Commitment, Extend: 4 * day}, "lease", "3 days"},
		{"frame churn at commitment", drafted, Act{Gate: Commitment, Lease: lease(func(*Lease) {})}, "writes", "takes the lease as it is"},
		{"a term at framing", none, Act{Gate: Framing, Extend: time.Hour}, "writes", "does not take --extend or --lock"},
		{"entering with an ended lease", late, Act{Gate: Commitment, Kind: "enter"}, "time_expired", "ended at"},
		{"revision of the expiry", evaluation, Act{Gate: EvaluationGate, Kind: "revise", To: Execution, Lease: lease(func(l *Lease) { l.ExpiresAt = l.ExpiresAt.Add(-time.Hour) })},
			"writes", "changes lease.expires_at"},
		{"revision without one", evaluation, Act{Gate: EvaluationGate, Kind: "revise", To: Execution}, "draft", "name its file with --revise FILE"},
		{"no reason to release", active, Act{Gate: EvaluationGate, Kind: "release", Reason: "\u202e"}, "reason", "invisible characters"},
		{"a decision without a frame", none, Act{Gate: Framing, Decision: newDecision("x")}, "decision", "only together with draft or renew"},
		{"a new decision at evaluation", active, Act{Gate: EvaluationGate, Decision: newDecision("x")}, "decision", "only supersedes"},
		{"a silent emergency", active, Act{Gate: Emergency, Reason: "x"}, "decision", "needs a decision"},
		{"an emergency again", suspended, Act{Gate: Emergency, Reason: "x", Decision: newDecision("x"), Drained: 2}, "cooldown", "odd drain pause stops all work at any time"},
		{"renewal of a suspended one", suspended, Act{Gate: EvaluationGate, Kind: "renew"}, "state", "suspended"},
		{"suspended and longer", suspended, Act{Gate: Framing, Lease: lease(func(l *Lease) { l.ExpiresAt = l.ExpiresAt.Add(2 * time.Minute) })}, "longer", "emergency"},
		{"suspended, drafted and longer", func(d *fixture) { suspended(d); d.mustDo(Act{Gate: Framing, Kind: "draft"}) }, Act{Gate: Commitment, Extend: 3 * day}, "longer", "emergency"},
		{"an unknown proposal", none, Act{Gate: Framing, Because: []string{"P-1"}}, "proposal", "no proposal"},
		{"a clock set back", func(d *fixture) { active(d); d.now = d.now.Add(-time.Hour) }, Act{Gate: EvaluationGate}, "clock", "before the last gate"},
		{"all at once", evaluation, Act{Gate: EvaluationGate, By: "me", Because: []string{"P-1"}, Decision: newDecision("x")}, "person transition decision proposal", ""},
		{"a lease changed by hand", func(d *fixture) {
			active(d)
			d.s.LeaseFile = []byte(strings.Replace(string(d.s.LeaseFile), "max_tasks = 20", "max_tasks = 21", 1))
		},
			Act{Gate: EvaluationGate}, "memory", "was changed after the last gate"},
		{"a lease that is gone", func(d *fixture) { active(d); d.s.LeaseFile = nil }, Act{Gate: EvaluationGate}, "memory", "is missing"},
		{"a lease no gate made", func(d *fixture) { d.s.LeaseFile = PrintLease(DraftOf(nine, Plan{ID: "L-0001"})) }, Act{Gate: Commitment}, "memory", "last gate"},
		{"an unreadable lease", func(d *fixture) { active(d); d.s.LeaseFile = []byte("version = 1\n[lease\n") }, Act{Gate: Emergency}, "memory", "lease.toml:2"},
		{"a torn chain", func(d *fixture) { active(d); d.s.Gates = d.s.Gates[:len(d.s.Gates)-1] }, Act{Gate: EvaluationGate}, "memory", "line 2: torn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			c.begin(d)
			_, err := d.tryAct(c.act)
			var no Refusals
			if !errors.As(err, &no) {
				t.Fatalf("got %v, want refusals", err)
			}
			var codes []string
			for _, r := range no {
				if !slices.Contains(codes, r.Code) {
					codes = append(codes, r.Code)
				}
			}
			for _, want := range strings.Fields(c.codes) {
				if !slices.Contains(codes, want) {
					t.Errorf("codes %v, want %s: %v", codes, want, err)
				}
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestCooldownIsCountedFromTheChain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.suspendLease()
	again := Act{Gate: Emergency, Kind: "suspend", Decision: newDecision("again"), Drained: 1}
	d.mustDo(Act{Gate: Framing})
	if _, err := d.tryAct(again); err == nil {
		t.Error("an emergency two acts after another")
	}
	d.mustDo(Act{Gate: Framing})
	d.mustDo(again)
}

func TestReleaseSupersedesWhatIsOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.activateLease()
	about := func(lease string) func(*Proposal) { return func(p *Proposal) { p.Lease = lease } }
	d.s.Buffer = read(t, propose(t, newProposal("P-01J00000000000000000000001", "a", about("L-0001")),
		newProposal("P-01J00000000000000000000002", "b", about("L-0001")), newProposal("P-01J00000000000000000000003", "c", about("L-0009"))))
	out := d.mustDo(Act{Gate: EvaluationGate, Kind: "release", Because: []string{"P-01J00000000000000000000002"}})
	if want := []string{"P-01J00000000000000000000001"}; !slices.Equal(out.Superseded, want) || len(out.Row.Proposals) != 1 {
		t.Errorf("superseded %v, want %v; answers %v", out.Superseded, want, out.Row.Proposals)
	}
}

// Whatever people do, the chain stays whole, Do and Audit agree, and a suspended
// lease lasts no longer; whatever is proposed, nothing moves.
func TestRandomActs(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, g := range Gates() {
		kinds = append(kinds, acts[g]...)
	}
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t)
		for range rapid.IntRange(1, 25).Draw(r, "acts") {
			a := Act{
				Gate: rapid.SampledFrom(Gates()).Draw(r, "gate"), Kind: rapid.SampledFrom(append(kinds, "")).Draw(r, "kind"),
				To: rapid.SampledFrom(append(Stances(), "")).Draw(r, "to"), Extend: rapid.SampledFrom([]time.Duration{0, 0, time.Hour, 2 * day}).Draw(r, "extend"),
				Drained: rapid.IntRange(0, 3).Draw(r, "drained"), Reason: "as agreed",
			}
			if rapid.Bool().Draw(r, "lease") {
				a.Lease = d.draftLease()
			}
			if rapid.Bool().Draw(r, "decision") {
				a.Decision = newDecision("x")
			}
			before, _ := ParseLease("x", d.s.LeaseFile)
			old, _ := ReadChain(d.s.Gates)
			d.now = d.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(r, "hours")) * time.Hour)
			out, err := d.tryAct(a)
			if err != nil {
				continue
			}
			chain, err := ReadChain(d.s.Gates)
			if err != nil || len(chain.Rows) != len(old.Rows)+1 {
				r.Fatalf("chain: %v", err)
			}
			id := before.Lease.ID
			if old.isSuspended(id) && out.Lease.Lease.ID == id && out.Lease.Lease.ExpiresAt.After(before.Lease.ExpiresAt) {
				r.Fatalf("%s: %s was suspended and ends at %s instead of %s", out.Row.Act, id, out.Lease.Lease.ExpiresAt, before.Lease.ExpiresAt)
			}
			if gid, state := chain.Lease(); gid != out.Lease.Lease.ID || state != stateOf(out.Lease) {
				r.Fatalf("chain says %s %s, the lease %s %s", gid, state, out.Lease.Lease.ID, stateOf(out.Lease))
			}
			if out.Lease.Stance == Execution && out.Lease.Lease.State != Active {
				r.Fatalf("execution with a lease that is %s", out.Lease.Lease.State)
			}
		}
	})
}

func TestProposalsAloneMoveNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.activateLease()
	buffer := read(t, propose(t, newProposal("P-01J00000000000000000000001", "a", func(p *Proposal) { p.Severity, p.Gate = EmergencySeverity, Emergency })))
	with := d.s
	with.Buffer = buffer
	f, err := ParseLease("x", with.LeaseFile)
	if err != nil || f.Lease.State != Active || f.Stance != Execution {
		t.Fatalf("%v %v", f, err)
	}
	for _, by := range []string{"", "odd-agent", "human:", "agent:a@b"} {
		if out, err := Do(with, Act{Gate: Emergency, Because: []string{"P-01J00000000000000000000001"}, By: by, Now: d.now, Reason: "x", Decision: newDecision("x")}); err == nil || out.Files != nil {
			t.Errorf("by %q: acted", by)
		}
	}
}
