package gate

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// alter holds one change of each field of lease.toml.
var alter = map[string]func(*File){
	"version":                 func(f *File) { f.Version = 2 },
	"lease.id":                func(f *File) { f.Lease.ID = "L-0042" },
	"lease.state":             func(f *File) { f.Lease.State = "other" },
	"lease.frame":             func(f *File) { f.Lease.Frame = "Another." },
	"lease.horizon":           func(f *File) { f.Lease.Horizon = "long" },
	"lease.success_criteria":  func(f *File) { f.Lease.Success = []string{"Another."} },
	"lease.non_goals":         func(f *File) { f.Lease.NonGoals = []string{"Another."} },
	"lease.renewal_prompt":    func(f *File) { f.Lease.RenewalPrompt = "Another?" },
	"lease.activated_at":      func(f *File) { f.Lease.ActivatedAt = f.Lease.ActivatedAt.Add(time.Second) },
	"lease.expires_at":        func(f *File) { f.Lease.ExpiresAt = f.Lease.ExpiresAt.Add(-time.Second) },
	"lease.max_tasks":         func(f *File) { f.Lease.MaxTasks++ },
	"lease.milestone":         func(f *File) { f.Lease.Milestone = []string{"other"} },
	"lease.signals":           func(f *File) { f.Lease.Signals = []string{"failures"} },
	"lease.budget_usd":        func(f *File) { f.Lease.Budget++ },
	"lease.scope.kinds":       func(f *File) { f.Lease.Scope.Kinds = []string{"document"} },
	"lease.scope.roles":       func(f *File) { f.Lease.Scope.Roles = []string{"other"} },
	"lease.scope.tags":        func(f *File) { f.Lease.Scope.Tags = []string{"other"} },
	"lease.scope.tasks":       func(f *File) { f.Lease.Scope.Tasks = []string{"other"} },
	"lease.scope.paths":       func(f *File) { f.Lease.Scope.Paths = []string{"other/**"} },
	"lease.scope.work_orders": func(f *File) { f.Lease.Scope.WorkOrders = map[string]string{"x": WorkOrder(nil)} },
}

// Each field by itself at each act: what the act may not change is caught, and
// what it may is not.
func TestAuditKnowsEveryField(t *testing.T) {
	t.Parallel()
	if n := len(fields); n != len(alter)+1 { // stance is the transition's
		t.Fatalf("%d fields, %d changes", n, len(alter))
	}
	free := map[string][]string{ // beside what each act writes by itself
		"activate": {"lease.activated_at", "lease.expires_at", "lease.scope.work_orders"},
		"renew":    {"lease.activated_at", "lease.expires_at", "lease.scope.work_orders"},
		"draft": {"lease.expires_at", "lease.frame", "lease.horizon", "lease.success_criteria", "lease.non_goals", "lease.renewal_prompt", "lease.max_tasks",
			"lease.milestone", "lease.signals", "lease.budget_usd", "lease.scope.kinds", "lease.scope.roles", "lease.scope.tags", "lease.scope.tasks", "lease.scope.paths", "lease.scope.work_orders"},
		"revise": {"lease.frame", "lease.horizon", "lease.success_criteria", "lease.non_goals", "lease.renewal_prompt", "lease.max_tasks", "lease.milestone", "lease.signals",
			"lease.budget_usd", "lease.scope.kinds", "lease.scope.roles", "lease.scope.tags", "lease.scope.tasks", "lease.scope.paths", "lease.scope.work_orders"},
	}
	for _, g := range Gates() {
		for _, act := range acts[g] {
			before, after := auditEnds(g, act)
			changed := []string{LeasePath, GatesPath, DecisionsPath}
			if act == "frame" {
				changed = changed[:2]
			}
			if found := Audit(g, act, before, after, changed); len(found) > 0 {
				t.Errorf("%s %s: %q", g, act, found)
			}
			for field, change := range alter {
				f := after
				change(&f)
				caught := len(Audit(g, act, before, f, changed)) > 0
				if caught == slices.Contains(free[act], field) {
					t.Errorf("%s %s of %s: caught %v", g, act, field, caught)
				}
			}
		}
	}
}

// auditEnds is a lease before and after an act that does only what it must.
func auditEnds(g Gate, act string) (before, after File) {
	before = wholeLease()
	before.Lease.ExpiresAt = before.Lease.ExpiresAt.Add(-time.Hour)
	if act == "activate" || act == "draft" {
		before.Lease.State, before.Lease.ActivatedAt = Draft, time.Time{}
	}
	before.Stance = Sensemaking
	after = before
	after.Stance, _ = nextStance(before.Stance, g, act, "")
	after.Lease.State, _ = stateAfter(before.Lease.State, act)
	if act == "activate" {
		after.Lease.ActivatedAt = nine
	}
	return before, after
}

func TestAuditKnowsEveryPath(t *testing.T) {
	t.Parallel()
	may := map[Gate]string{
		Framing: LeasePath, Commitment: LeasePath + " " + DecisionsPath, EvaluationGate: LeasePath + " " + DecisionsPath + " canon/law.md",
		Emergency: LeasePath + " " + DecisionsPath + " pause.toml tasks/a.md",
	}
	for _, g := range Gates() {
		act := map[Gate]string{Framing: "frame", Commitment: "enter", EvaluationGate: "enter", Emergency: "suspend"}[g]
		before, after := auditEnds(g, act)
		for _, p := range []string{LeasePath, DecisionsPath, "canon/law.md", "pause.toml", "tasks/a.md", "/odd.toml", "odd.toml", "roles/editor.md", "/src/a.go", "journal/x.tsv", "ledger/2026-01/r.jsonl",
			"governance/other", "proposals/x/y.jsonl"} {
			changed := []string{GatesPath, LeasePath, "proposals/ann.jsonl", p}
			if g == Emergency {
				changed = append(changed, DecisionsPath)
			}
			found := Audit(g, act, before, after, changed)
			if want := slices.Contains(strings.Fields(may[g]), p); want != (len(found) == 0) {
				t.Errorf("%s %s: %q", g, p, found)
			}
		}
	}
	for act, g := range map[string]Gate{"activate": Commitment, "release": EvaluationGate} {
		before, after := auditEnds(g, act)
		if found := Audit(g, act, before, after, []string{GatesPath, LeasePath, "/odd.toml"}); len(found) > 0 {
			t.Errorf("%s may write odd.toml: %q", act, found)
		}
	}
}

func TestAuditCatches(t *testing.T) {
	t.Parallel()
	paths := []string{LeasePath, GatesPath, DecisionsPath}
	for _, c := range []struct {
		name    string
		g       Gate
		act     string
		change  func(before, after *File)
		changed []string
		want    string
	}{
		{"an act of another gate", Commitment, "release", nil, paths, `no act "release"`},
		{"no row", Commitment, "renew", nil, []string{LeasePath}, "has no new row"},
		{"a silent emergency", Emergency, "suspend", nil, []string{LeasePath, GatesPath}, "logged no decision"},
		{"a lease by the side door", Commitment, "renew", func(_, a *File) { a.Lease.ExpiresAt = a.Lease.ExpiresAt.Add(time.Minute) }, []string{GatesPath}, "is not among the changed"},
		{"two steps at once", EvaluationGate, "renew", func(_, a *File) { a.Stance = Execution }, paths, "does not lead from sensemaking"},
		{"execution after release", EvaluationGate, "release", func(b, a *File) { b.Stance, a.Stance = Evaluation, Execution }, paths, "execution with a lease that is released"},
		{"a longer emergency", Emergency, "suspend", func(_, a *File) { a.Lease.ExpiresAt = a.Lease.ExpiresAt.Add(time.Minute) }, paths, "may not change lease.expires_at"},
		{"suspended, drafted and longer", Framing, "draft", func(b, a *File) {
			b.Lease.State, a.Lease.ExpiresAt = Suspended, a.Lease.ExpiresAt.Add(time.Minute)
		}, paths, "lasts longer now"},
		{"renewal of a suspended one", Commitment, "renew", func(b, a *File) { b.Lease.State = Suspended }, paths, "went from suspended to active"},
		{"a lease taken away", EvaluationGate, "release", func(_, a *File) { *a = File{} }, paths, "went from active to none"},
		{"beyond its horizon", Commitment, "renew", func(_, a *File) { a.Lease.ExpiresAt = a.Lease.ExpiresAt.Add(2 * time.Hour) }, paths, "more than 14 days"},
	} {
		before, after := auditEnds(c.g, c.act)
		if c.change != nil {
			c.change(&before, &after)
		}
		if found := strings.Join(Audit(c.g, c.act, before, after, c.changed), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("%s: %q, want %q", c.name, found, c.want)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := *newDecision("one glossary")
	if _, err := Decide(d.s, made, ann, nine); err == nil || !strings.Contains(err.Error(), "no gate was ever passed") {
		t.Error(err)
	}
	d.activateLease()
	out, err := Decide(d.s, made, ann, d.now)
	if err != nil || len(out.Files) != 1 || out.Decision.ID != "D-0001" || out.Decision.Act != "G-0002" || out.Decision.By != ann {
		t.Fatalf("%+v %v", out, err)
	}
	d.s.Decisions = out.Files[DecisionsPath]
	for name, c := range map[string]struct {
		made Decision
		by   string
		want string
	}{
		"an agent":           {made, "odd-agent", "is not a person"},
		"unknown before":     {Decision{Decision: "x", Rationale: []string{"y"}, Tradeoffs: "z", Confidence: "low", Supersedes: "D-0009"}, ann, "no decision in force"},
		"a day that is none": {Decision{Decision: "x", Rationale: []string{"y"}, Tradeoffs: "z", Confidence: "low", Revisit: []string{"2026-02-30"}}, ann, "is not a day"},
	} {
		if out, err := Decide(d.s, c.made, c.by, d.now); err == nil || out.Files != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	d.mustDo(Act{Gate: EvaluationGate})
	if _, err := Decide(d.s, made, ann, d.now); err == nil {
		t.Error("the evaluation gate let a new decision be made")
	}
	made.Supersedes, made.Revisit = "D-0001", []string{"2026-07-02", "task ship done"}
	out, err = Decide(d.s, made, ann, d.now)
	if err != nil {
		t.Fatal(err)
	}
	ds, err := ReadDecisions(out.Files[DecisionsPath])
	due := func(now time.Time, done func(string) bool) int {
		return len(slices.DeleteFunc(InForce(ds), func(d Decision) bool { return d.Due(now, done) == "" }))
	}
	if err != nil || due(nine, nil) != 0 || due(nine.Add(day), nil) != 1 || due(nine, func(id string) bool { return id == "ship" }) != 1 {
		t.Errorf("%v %v", ds, err)
	}
	d.mustDo(Act{Gate: Emergency, Reason: "x", Decision: newDecision("stop")})
	if _, err := Decide(d.s, *newDecision("more"), ann, d.now); err == nil {
		t.Error("an emergency let a second decision be made")
	}
}
