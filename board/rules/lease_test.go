package rules

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// active is governance/ after an activation at G-0001.
func active() *Governance {
	return &Governance{Governance: state.Governance{
		HasLease: true, LeaseSum: "s1", Lease: gate.File{Stance: gate.Execution, Lease: gate.Lease{ID: "L-0001", State: gate.Active}}, Faults: map[string]error{},
		Chain: gate.Chain{Rows: []gate.Row{
			{ID: "G-0001", TS: noon, Gate: gate.Framing, To: gate.Discovery, Act: "draft", Lease: "L-0001", LeaseSum: "s0", By: "human:ann@example.org"},
			{ID: "G-0002", TS: noon.Add(time.Hour), Gate: gate.Commitment, To: gate.Execution, Act: "activate", Lease: "L-0001", LeaseSum: "s1", By: "human:ann@example.org"},
		}},
	}}
}

// TestGovernanceIsWhole: the lease is the one that the gates made, as they left it.
func TestGovernanceIsWhole(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(s *Governance){
		"":   func(*Governance) {},
		"; ": func(s *Governance) { *s = Governance{} },
		"governance/b: x": func(s *Governance) {
			s.Faults["governance/c"], s.Faults["governance/b"] = errors.New("y"), errors.New("x")
		},
		"lease.toml is missing, and the gates say":      func(s *Governance) { s.HasLease = false },
		"the lease is L-0002, the gates made it L-0001": func(s *Governance) { s.Lease.Lease.ID = "L-0002" },
		"the lease is L-0001, the gates made it none":   func(s *Governance) { s.Chain.Rows = nil },
		"is not as G-0002 left it":                      func(s *Governance) { s.LeaseSum = "s0" },
		"says discovery, the gates say execution":       func(s *Governance) { s.Lease.Stance = gate.Discovery },
		"says L-0001 is draft, the gates say active":    func(s *Governance) { s.Lease.Lease.State = gate.Draft },
	} {
		s := active()
		do(s)
		name, why := s.firstFault()
		if whole := want == "" || want == "; "; whole != (why == "") || !whole && !strings.Contains(name+": "+why, want) {
			t.Errorf("%s: %q, want %q", name, why, want)
		}
	}
}

// TestGovernedFiles: a file is governed if it differs from every parent, all of them only
// where leases are required.
func TestGovernedFiles(t *testing.T) {
	t.Parallel()
	at := func(files ...string) *Governance {
		g := &Governance{Files: map[string]repo.OID{}}
		for i := 0; i+1 < len(files); i += 2 {
			g.Files[files[i]] = repo.OID(files[i+1])
		}
		return g
	}
	for _, c := range []struct {
		lease  string
		now    *Governance
		before []*Governance
		want   []string
	}{
		{"off", at(gate.GatesPath, "2", "governance/x.md", "2"), []*Governance{at(gate.GatesPath, "1", "governance/x.md", "1")}, []string{gate.GatesPath}},
		{"required", at(gate.GatesPath, "2", "governance/x.md", "2"), []*Governance{at(gate.GatesPath, "1", "governance/x.md", "1")}, []string{gate.GatesPath, "governance/x.md"}},
		{"off", at(), []*Governance{at(gate.LeasePath, "1")}, []string{gate.LeasePath}},
		{"off", at(gate.LeasePath, "1"), []*Governance{at(), at(gate.LeasePath, "1")}, nil},
		{"off", at(gate.LeasePath, "1"), []*Governance{at(gate.LeasePath, "1")}, nil},
	} {
		j := &judge{Act: &Act{Law: &config.Config{Lease: c.lease}}}
		if got := j.changedGovernance(c.now, c.before); !slices.Equal(got, c.want) {
			t.Errorf("leases %s, %v after %v: %q, want %q", c.lease, c.now.Files, c.before, got, c.want)
		}
	}
}

// gateCommit is a person's commit that passes the gate of G-0002.
func gateCommit(trailers string) *judge {
	c := repo.Commit{OID: "c1", Parents: []repo.OID{"p1"}, Message: "gate\n\n" + trailers}
	c.Author.Email, c.Author.When = "ann@example.org", noon.Add(time.Hour)
	return &judge{Act: &Act{Commit: c, Root: "knowledge/", Law: &config.Config{}}}
}

// TestGateTrailers: the row of a gate is its commit's: gate, lease, person and time.
func TestGateTrailers(t *testing.T) {
	t.Parallel()
	const whole = "Odd-Gate: commitment\nOdd-Lease: L-0001\nOdd-By: human:ann@example.org\n"
	for _, c := range []struct {
		trailers string
		do       func(r *gate.Row)
		want     string
	}{
		{whole, func(*gate.Row) {}, ""},
		{whole, func(r *gate.Row) { r.TS = r.TS.Add(Skew) }, ""},
		{whole, func(r *gate.Row) { r.TS = r.TS.Add(-Skew) }, ""},
		{whole, func(r *gate.Row) { r.TS = r.TS.Add(Skew + time.Second) }, "G-0002 is dated"},
		{whole, func(r *gate.Row) { r.TS = r.TS.Add(-Skew - time.Second) }, "G-0002 is dated"},
		{whole, func(r *gate.Row) { r.Lease = "" }, "G-0002 says no lease, the commit's Odd-Lease says L-0001"},
		{strings.Replace(whole, "commitment", "framing", 1), func(*gate.Row) {}, "G-0002 says commitment, the commit's Odd-Gate says framing"},
		{strings.Replace(whole, "Odd-Lease: L-0001\n", "", 1), func(*gate.Row) {}, "the commit's Odd-Lease is missing"},
		{strings.Replace(whole, "ann@", "bob@", 1), func(r *gate.Row) { r.By = "human:bob@example.org" }, "G-0002 is by human:bob@example.org, in a commit by ann@example.org"},
	} {
		j := gateCommit(c.trailers)
		r := active().Chain.Rows[1]
		c.do(&r)
		j.checkGateTrailers(r, 2)
		got := ""
		for _, f := range j.found {
			got += f.Message
		}
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) || len(j.found) > 1 || len(j.found) == 1 && (j.found[0].Line != 2 || j.found[0].Path != "knowledge/"+gate.GatesPath) {
			t.Errorf("%q: %v, want %q", c.trailers, j.found, c.want)
		}
	}
}

// TestDecisions: a new decision is by the commit's author, at the gate passed last, which
// decides.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(d *gate.Decision, now *Governance, j *judge){
		"": func(*gate.Decision, *Governance, *judge) {},
		"D-2 is decided by human:bob@x at G-0002, in a commit by ann@example.org": func(d *gate.Decision, _ *Governance, _ *judge) { d.By = "human:bob@x" },
		"at G-0001, in a commit by ann@example.org after G-0002":                  func(d *gate.Decision, _ *Governance, _ *judge) { d.Act = "G-0001" },
		"after no gate": func(_ *gate.Decision, now *Governance, _ *judge) { now.Chain.Rows = nil },
		"D-2 is decided at G-0002, which decides nothing": func(_ *gate.Decision, now *Governance, _ *judge) {
			now.Chain.Rows[1].Gate, now.Chain.Rows[1].Act = gate.Framing, "frame"
		},
		"D-2 is decided at the commitment gate, the commit says framing": func(_ *gate.Decision, _ *Governance, j *judge) { j.Message = "x\n\nOdd-Gate: framing\n" },
	} {
		old := gate.Decision{ID: "D-1", By: "human:eve@x"}
		d := gate.Decision{ID: "D-2", By: "human:ann@example.org", Act: "G-0002"}
		now, j := active(), gateCommit("Odd-Gate: commitment\n")
		do(&d, now, j)
		now.Decided = []gate.Decision{old, d}
		j.judgeDecisions(now, &Governance{Governance: state.Governance{Decided: []gate.Decision{old}}})
		got := ""
		for _, f := range j.found {
			got += f.Message
		}
		if got == "" != (want == "") || !strings.Contains(got, want) || len(j.found) > 1 || len(j.found) == 1 && j.found[0].Line != 2 {
			t.Errorf("%v, want %q", j.found, want)
		}
	}
}

// TestLeaseNamesATask: a lease may name a task in any way, and means its id; its use counts
// from its last draft, activation or renewal on.
func TestLeaseNamesATask(t *testing.T) {
	t.Parallel()
	task := board.Task{Row: board.Row{ID: okf.ID("tasks/t-1"), Path: "tasks/t-1.md"}}
	l := gate.Lease{Scope: gate.Scope{Tasks: []string{"t-1", "tasks/t-1.md", "tasks/t-1", "t-2"}, WorkOrders: map[string]string{"t-1": "sha256:1", "t-2": "sha256:2"}}}
	got := resolveLeaseTask(l, task).Scope
	if !slices.Equal(got.Tasks, []string{"tasks/t-1", "tasks/t-1", "tasks/t-1", "t-2"}) || got.WorkOrders["tasks/t-1"] != "sha256:1" || got.WorkOrders["t-2"] != "sha256:2" || len(got.WorkOrders) != 2 || l.Scope.Tasks[0] != "t-1" {
		t.Errorf("%+v of %+v", got, l.Scope)
	}
	chain := active().Chain
	if at := leaseStart(chain, "L-0001"); !at.Equal(noon.Add(time.Hour)) {
		t.Error(at)
	}
	for act, want := range map[string]time.Duration{"renew": 2 * time.Hour, "enter": time.Hour, "release": time.Hour} {
		more := gate.Chain{Rows: append(slices.Clone(chain.Rows), gate.Row{Lease: "L-0001", Act: act, TS: noon.Add(2 * time.Hour)}, gate.Row{Lease: "L-0002", Act: "draft", TS: noon.Add(3 * time.Hour)})}
		if at := leaseStart(more, "L-0001"); !at.Equal(noon.Add(want)) {
			t.Errorf("%s: %v", act, at)
		}
	}
	for text, want := range map[string]int{"line 7: x": 7, "x": 1, "x: line 12: y": 12, "line x": 1} {
		if got := lineNumberIn(text); got != want {
			t.Errorf("%q: line %d", text, got)
		}
	}
}
